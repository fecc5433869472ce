"""Batches keep Gymnasium's rules: each car is as it would be alone, in all three autoreset modes."""

import gymnasium
import numpy as np
import pytest

from batches import assert_same, assert_same_info, draw_actions, list_arrays, make_theirs
from donkeysim.core.errors import SceneError, SpecError
from donkeysim.envs.autoreset import AutoresetMode
from donkeysim.envs.track_env import TrackEnv, TrackVectorEnv

MODES = [mode.value for mode in AutoresetMode]
SETTINGS = {"observe": ("grey", "vector"), "stack": 2, "time_limit": 1.5, "throttle_range": (0.0, 1.0)}


def make(count=3, **options):
    return TrackVectorEnv(count, **{"observe": "vector", "threads": 1, **options})


@pytest.mark.parametrize("mode", MODES)
def test_a_batch_is_as_gymnasium_s_own_of_the_same_cars(mode):
    tracks = ["generated_track", "flat", "generated_track"]
    batch = TrackVectorEnv(3, tracks, autoreset_mode=mode, threads=2, **SETTINGS)
    theirs = make_theirs([lambda track=track: TrackEnv(track, **SETTINGS) for track in tracks], mode)
    assert batch.metadata["autoreset_mode"] is theirs.metadata["autoreset_mode"]
    assert batch.autoreset_mode is theirs.autoreset_mode
    assert batch.observation_space == theirs.observation_space
    assert batch.action_space == theirs.action_space
    for own, other in zip(batch.reset(seed=7), theirs.reset(seed=7), strict=True):
        (assert_same_info if "driven" in other else assert_same)(own, other)
    ends = cuts = 0
    for actions in draw_actions(90, 3):
        *own, own_info = batch.step(actions)
        *other, other_info = theirs.step(actions)
        for mine, hers in zip(own, other, strict=True):
            assert_same(mine, hers)
        assert_same_info(own_info, other_info)
        over = other[2] | other[3]
        ends, cuts = ends + other[2].sum(), cuts + other[3].sum()
        if mode == "Disabled" and over.any():
            seen, info = batch.reset(options={"reset_mask": over})
            expected, expected_info = theirs.reset(options={"reset_mask": over})
            assert_same(seen, expected)
            assert_same_info(info, expected_info)
    assert ends > 0
    assert cuts > 2
    batch.close()
    theirs.close()


def test_the_step_that_begins_an_episode_pays_nothing_and_ignores_the_action():
    batches = [make(2, time_limit=0.2) for _ in range(2)]
    outcomes = []
    for batch, push in zip(batches, (1.0, -1.0), strict=True):
        batch.reset(seed=1)
        for index in range(5):
            actions = np.full((2, 2), push if index == 4 else 0.5)
            outcome = batch.step(actions)
        outcomes.append(outcome)
        assert not outcome[1].any()
        assert not (outcome[2] | outcome[3]).any()
        assert not outcome[4]["driven"].any()
    assert_same(outcomes[0][0], outcomes[1][0])


def test_what_another_car_hits_is_told_when_an_episode_begins():
    batch = TrackVectorEnv(2, "generated_track_2020", observe="vector", threads=1, time_limit=0.2)
    batch.reset(seed=1)
    for _ in range(4):
        batch.step(np.full((2, 2), 0.5))
    batch._verdicts.is_over[1] = False
    x, y, z = batch.fleet.simulator.scene.props.position[0].tolist()
    batch.fleet.simulator.move_car(1, (x - 0.15, y, z + 0.08))
    info = batch.step(np.full((2, 2), 0.5))[4]
    assert info["hit"].tolist() == [False, True]
    assert info["driven"][1] > info["driven"][0] == 0.0


def test_seeds_are_one_for_all_or_one_for_each():
    batch = make()
    first = batch.reset(seed=5)[0]
    assert_same(batch.reset(seed=[5, 6, 7])[0], first)
    assert_same(batch.reset(seed=np.int64(5))[0], first)
    again = batch.reset()[0]
    assert not np.array_equal(again, first)
    partly = batch.reset(seed=[None, 6, None])[0]
    assert np.array_equal(partly[1], first[1])
    assert not np.array_equal(partly[0], again[0])
    with pytest.raises(SpecError, match="2 seeds were given for 3"):
        batch.reset(seed=[1, 2])


def test_without_a_seed_no_two_batches_begin_alike():
    batches = [make(), make()]
    assert not np.array_equal(batches[0].reset()[0], batches[1].reset(seed=[None] * 3)[0])
    assert len({tuple(row) for row in batches[0].reset()[0]}) == 3


def test_a_seed_of_an_episode_that_goes_on_changes_nothing():
    batches = [make(autoreset_mode="Disabled") for _ in range(2)]
    for batch, seeds in zip(batches, ([9, 10, 11], [1, 10, 3]), strict=True):
        batch.reset(seed=1)
        batch.reset(seed=seeds, options={"reset_mask": np.array([False, True, False])})
    assert_same(batches[0].reset()[0], batches[1].reset()[0])


@pytest.mark.parametrize("mode", MODES)
def test_copied_pictures_are_nobody_else_s_and_those_that_are_lent_show_the_same(mode):
    seen = ("camera", "grey", "depth", "segmentation")
    batch = TrackVectorEnv(3, observe=seen, threads=1, autoreset_mode=mode, time_limit=0.5)
    twin = TrackVectorEnv(3, observe=seen, threads=2, autoreset_mode=mode, time_limit=0.5, copy=False)
    kept, then = [], []

    def compare(ours, theirs):
        for name, array in theirs[0].items():
            assert np.array_equal(ours[0][name], array)
            kept.append(ours[0][name][1, 5:])  # a part of it holds it all
            then.append(array[1, 5:].copy())
            ours[0][name][0] = 7  # the caller's own, to do with as they like

    compare(batch.reset(seed=1), twin.reset(seed=1))
    for index, actions in enumerate(draw_actions(40, 3)):
        ours, theirs = batch.step(actions), twin.step(actions)
        compare(ours, theirs)
        over = theirs[2] | theirs[3]
        mask = over if mode == "Disabled" else np.arange(3) == index % 3 if index % 7 == 3 else np.zeros(3, bool)
        if mask.any():
            compare(*(env.reset(options={"reset_mask": mask}) for env in (batch, twin)))
        if index % 5 == 4:
            del kept[::2], then[::2]
    assert all(np.array_equal(array, copy) for array, copy in zip(kept, then, strict=True))
    batch.close()
    twin.close()


@pytest.mark.parametrize("observe", ["camera", ("grey", "depth", "segmentation", "vector", "lidar")])
@pytest.mark.parametrize("stack", [1, 2])
def test_a_copy_is_nobody_else_s(observe, stack):
    batch = make(2, observe=observe, stack=stack, time_limit=0.3, autoreset_mode="SameStep")
    kept = [batch.reset(seed=2)[0]]
    then = [np.copy(array) for array in list_arrays(kept)]
    for actions in draw_actions(20, 2):
        seen, reward, _, _, info = batch.step(actions)
        kept.append((seen, reward, info))
        then.extend(np.copy(array) for array in list_arrays([kept[-1]]))
    arrays = list_arrays(kept)
    assert all(np.array_equal(array, copy) for array, copy in zip(arrays, then, strict=True))
    for index, array in enumerate(arrays):
        assert not any(np.shares_memory(array, other) for other in arrays[index + 1 :] if other is not array)


@pytest.mark.parametrize("stack", [1, 3])
def test_arrays_lent_are_valid_until_the_next_but_one_call(stack):
    batch = make(2, copy=False, observe="grey", stack=stack, autoreset_mode="Disabled")
    before, before_copy = batch.reset(seed=1)[0], None
    before_copy = before.copy()
    places = {before.ctypes.data}
    for index, actions in enumerate(draw_actions(12, 2)):
        if batch._verdicts.is_over.any() or index == 6:
            mask = batch._verdicts.is_over if batch._verdicts.is_over.any() else np.array([True, False])
            seen = batch.reset(options={"reset_mask": mask.copy()})[0]
        else:
            seen = batch.step(actions)[0]
        assert not np.shares_memory(seen, before)
        assert np.array_equal(before, before_copy)
        before, before_copy = seen, seen.copy()
        places.add(seen.ctypes.data)
    assert len(places) == 2


def test_begun_and_running_episodes_keep_their_stacks():
    batch = make(2, observe="vector", stack=2, autoreset_mode="Disabled")
    batch.reset(seed=1)
    seen = batch.step(np.full((2, 2), 0.8))[0]
    again = batch.reset(options={"reset_mask": np.array([True, False])})[0]
    assert np.array_equal(again[1], seen[1])
    width = again.shape[1] // 2
    assert np.array_equal(again[0, :width], again[0, width:])
    assert not np.array_equal(again[1, :width], again[1, width:])


def test_every_car_has_the_track_it_was_told():
    batch = make(4, track=["generated_track", "flat"], starts_at_random=False)
    info = batch.reset(seed=0, options={"s": 1.0})[1]
    lengths = batch.fleet.step.path_length
    assert lengths[0] == lengths[2] != lengths[1] == lengths[3]
    assert np.allclose(info["along"], 1.0, atol=0.05)


def test_every_episode_has_its_own_camera_mounting_and_keeps_it():
    settings = {"observe": "camera", "starts_at_random": False, "autoreset_mode": "Disabled"}
    batch = make(3, camera_spread=(0.01, 0.05), **settings)
    plain = make(1, **settings).reset(seed=4)[0]
    first = batch.reset(seed=4)[0]
    assert not any(np.array_equal(picture, plain[0]) for picture in first)
    assert not np.array_equal(first[0], first[1])
    kept = batch.step(np.tile([0.0, -1.0], (3, 1)))[0]
    assert np.abs(kept.astype(int) - first).mean() < 1.0
    others = batch.reset(options={"reset_mask": np.array([True, False, False])})[0]
    assert not np.array_equal(others[0], first[0])
    assert np.array_equal(others[1:], kept[1:])
    alone = make(1, camera_spread=(0.01, 0.05), **settings)
    assert np.array_equal(alone.reset(seed=6)[0][0], first[2])


@pytest.mark.parametrize(
    "actions", [np.zeros((3, 3)), np.zeros((2, 2)), [[0.0, np.nan]] * 3, [[0.0], [0.0, 1.0]], "left", None]
)
def test_actions_that_are_none_are_refused(actions):
    batch = make()
    batch.reset(seed=0)
    with pytest.raises(SpecError, match="steering and throttle"):
        batch.step(actions)


def test_an_episode_must_have_begun():
    batch = make(autoreset_mode="Disabled", time_limit=0.05)
    with pytest.raises(gymnasium.error.ResetNeeded):
        batch.step(np.zeros((3, 2)))
    with pytest.raises(gymnasium.error.ResetNeeded, match="all of them first"):
        batch.reset(options={"reset_mask": np.array([True, False, False])})
    batch.reset(seed=0)
    batch.step(np.zeros((3, 2)))
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"\[0, 1, 2\] are over"):
        batch.step(np.zeros((3, 2)))


@pytest.mark.parametrize("mask", [[True, False], [1, 0, 1], np.zeros(3, bool), "all"])
def test_a_mask_that_is_none_is_refused(mask):
    batch = make()
    batch.reset(seed=0)
    with pytest.raises(SpecError, match="3 truth values"):
        batch.reset(options={"reset_mask": mask})


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"autoreset_mode": "NextSep"}, "did you mean 'NextStep'"),
        ({"render_mode": "human"}, "'rgb_array' or None"),
        ({"num_envs": 0}, "num_envs is 0"),
        ({"threads": 0}, "threads is 0"),
        ({"observe": ()}, "nothing is observed"),
        ({"stack": 1.5}, "stack is 1.5"),
        ({"threds": 1}, "did you mean 'threads'"),
        ({"camera_spread": (0.1, -0.1)}, "camera_spread"),
        ({"throttle_range": (0.5, 0.2)}, "lower one first"),
    ],
)
def test_settings_that_are_not_possible_are_refused(settings, told):
    with pytest.raises(SpecError, match=told):
        TrackVectorEnv(**settings)
    with pytest.raises(SceneError, match="atlantis"):
        TrackVectorEnv(2, ["flat", "atlantis"])


def test_a_reward_of_one_s_own_may_be_an_array_of_the_step():
    batch = make(2, reward=lambda step: step.driven)
    batch.reset(seed=0)
    first = batch.step(np.full((2, 2), 1.0))[1]
    before = first.copy()
    batch.step(np.full((2, 2), 1.0))
    assert np.array_equal(first, before)
    wrong = make(2, reward=lambda step: 1.0)
    wrong.reset(seed=0)
    with pytest.raises(SpecError, match="one number for each car"):
        wrong.step(np.zeros((2, 2)))


def test_every_car_is_seen_from_behind():
    batch = make(2, render_mode="rgb_array")
    batch.reset(seed=0)
    views = batch.render()
    assert [view.shape for view in views] == [(360, 640, 3)] * 2
    assert not np.array_equal(*views)
    assert make(1).render() is None


def test_closing_twice_does_no_harm():
    batch = make(threads=2)
    batch.reset(seed=0)
    batch.close()
    batch.close()
    assert batch.closed
