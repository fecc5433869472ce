"""Environments that draw: what was drawn is told, a seed gives the same wherever it runs, and off tells nothing."""

import gymnasium
import numpy as np
import pytest

import donkeysim  # noqa: F401  (registers the ids)
from batches import draw_actions
from donkeysim.core.errors import SpecError
from donkeysim.envs.sb3_vec_env import _split_info
from donkeysim.envs.track_env import TrackEnv, TrackVectorEnv
from donkeysim.racing.env import parallel_env
from donkeysim.world.specs import CameraSpec

CAMERA = CameraSpec(width=32, height=24, crop_top=5)


def make_batch(count, **settings):
    return TrackVectorEnv(count, camera=CAMERA, randomization="wide", threads=1, autoreset_mode="SameStep", **settings)


def test_a_seed_gives_the_same_car_and_pictures_alone_and_in_a_batch():
    actions = draw_actions(12, 3)
    batch = make_batch(3)
    seen, info = batch.reset(seed=20)
    together = [seen] + [batch.step(row)[0] for row in actions]
    alone = TrackEnv(camera=CAMERA, randomization="wide")
    for car in range(3):
        seen, told = alone.reset(seed=20 + car)
        assert told["randomization"] == {
            name: values[car] for name, values in info["randomization"].items() if not name.startswith("_")
        }
        assert np.array_equal(seen, together[0][car])
        for row, step in zip(actions, together[1:], strict=True):
            assert np.array_equal(alone.step(row[car])[0], step[car])


def test_an_episode_that_ends_tells_its_own_draws_and_the_next_one_has_others():
    batch = make_batch(2, time_limit=0.1)
    _, first = batch.reset(seed=1)
    for _ in range(2):
        *_, truncated, info = batch.step(np.zeros((2, 2)))
    assert truncated.all()
    assert np.array_equal(info["final_info"]["randomization"]["car.mass"], first["randomization"]["car.mass"])
    assert not np.array_equal(info["randomization"]["car.mass"], first["randomization"]["car.mass"])
    rows = _split_info(info, 2)
    assert rows[1]["randomization"]["car.mass"] == info["randomization"]["car.mass"][1]


def test_the_originals_ids_draw_by_their_conf_single_and_in_batches():
    conf = {"randomization": {"picture": {"noise": (5, 9)}}, "cam_resolution": (24, 32, 3)}
    single = gymnasium.make("donkey-generated-track-v0", conf=conf)
    batch = gymnasium.make_vec(
        "donkey-generated-track-v0", num_envs=2, vectorization_mode="vector_entry_point", conf=conf
    )
    seen, info = single.reset(seed=4)
    many, told = batch.reset(seed=4)
    assert 5.0 <= info["randomization"]["picture.noise"] <= 9.0
    assert told["randomization"]["picture.noise"].shape == (2,)
    assert seen.shape == many[0].shape
    _, again = single.reset(seed=4)
    assert again["randomization"] == info["randomization"]
    _, other = single.reset()
    assert other["randomization"] != info["randomization"]


def test_cars_of_a_race_draw_each_for_itself():
    race = parallel_env(cars=2, camera=CAMERA, randomization={"car": {"mass": (0.8, 1.2)}}, threads=1)
    _, infos = race.reset(seed=2)
    first, second = (infos[name]["randomization"]["car.mass"] for name in race.possible_agents)
    assert first != second


def test_off_tells_nothing():
    env = TrackEnv(camera=CAMERA)
    _, info = env.reset(seed=1)
    assert "randomization" not in info


@pytest.mark.parametrize(
    ("conf", "sentence"),
    [
        ({"randomization": "mild", "port": 9999}, "start the server with donkey_sim --randomization"),
        ({"randomization": {"car": {"mas": (1, 1)}}}, "did you mean 'mass'?"),
        ({"randomization": "milt"}, "did you mean 'mild'?"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_a_sentence(conf, sentence):
    with pytest.raises(SpecError) as told:
        gymnasium.make("donkey-generated-track-v0", conf=conf)
    assert sentence in str(told.value)
