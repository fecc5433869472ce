"""Learning to drive from pictures: what a policy sees, learns and leaves as a pilot."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from donkeysim.core.errors import PilotError, SpecError
from donkeysim.envs.deepracer import load_deepracer
from donkeysim.learn.files.model_file import save_model
from donkeysim.learn.pilot import load_pilot
from donkeysim.learn.shares import Shares
from donkeysim.rl import dagger, ppo
from donkeysim.rl.actor_file import read_actor, save_pilot
from donkeysim.rl.cars import TrainingCars
from donkeysim.rl.check import Checker
from donkeysim.rl.checkpoint import CHECKPOINT_NAME, read_checkpoint, write_checkpoint
from donkeysim.rl.progress import Check
from donkeysim.rl.school import SequentialTrainer, make_actor, make_trainer
from donkeysim.rl.session import Limit
from donkeysim.rl.setup import THROTTLE_RANGE, ObservationSpec, TrainingSetup, end_near_edge, make_even
from donkeysim.rl.task import TrainingTask, list_roads, read_task, write_task
from donkeysim.rl.teachers import PathTeacher, PilotTeacher
from donkeysim.world.specs import CameraSpec, SceneSpec
from donkeysim.world.tracks.catalogue import share_scene

CAR_COUNT = 8

REWARD = Path(__file__).parents[2] / "examples" / "deepracer" / "fast_on_the_road.py"

SHORT = replace(ppo.PpoSettings(), rollout=4, batch_size=16)


@pytest.fixture(scope="module")
def training_setup():
    """generated_track with a few cars."""
    specs = (SceneSpec("generated_track"),)
    scenes = [share_scene(spec) for spec in specs]
    yield TrainingSetup(specs, car_count=CAR_COUNT).plan(scenes)
    del scenes


@pytest.fixture(scope="module")
def lessons(training_setup):
    """Cars that observe all that anybody needs."""
    env = training_setup.make_train_env(("grey", "vector", "camera_b"))
    yield env
    env.close()


def make_actor_that_steers(observation, seed=0):
    """A policy with weights that matter."""
    torch.manual_seed(seed)
    actor = ppo.Actor(observation)
    with torch.no_grad():
        actor.command.weight.mul_(40.0)
        actor.command.bias.copy_(torch.tensor([0.1, 0.3]))
    return actor


# -- what it sees -----------------------------------------------------------------------------------------------------


def test_a_reward_of_ones_own_comes_at_the_scale_that_learning_expects(training_setup):
    lessons = replace(training_setup, car_count=2, reward=load_deepracer(REWARD)).make_train_env(("grey",))
    lessons.reset(seed=0)
    paid = [lessons.step(np.array([[0.0, 0.5], [1.0, 1.0]], np.float32))[1].tolist() for _ in range(30)]
    lessons.close()
    assert 0.3 < np.sqrt(np.mean(np.square(paid))) < 3.0
    assert make_even(lambda step: np.array([1000.0, -1000.0]))(None).tolist() == [1.0, -1.0]
    assert make_even(lambda step: np.zeros(2))(None).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("has_colour", [False, True])
def test_the_band_drawn_and_the_band_cut_from_a_picture_look_alike(training_setup, has_colour):
    observation = ObservationSpec(has_colour=has_colour)
    seeing = replace(training_setup, observation=observation, car_count=4).make_train_env(
        ("camera" if has_colour else "grey", "camera_b")
    )
    seen, _ = seeing.reset(seed=3)
    drawn = observation.read_crop(seen["camera" if has_colour else "grey"]).float()
    cut = 255.0 * observation.cut_crop(np.ascontiguousarray(seen["camera_b"]))
    seeing.close()
    assert drawn.shape == cut.shape == (4, *observation.shape)
    assert (drawn - cut).abs().mean() < 5.0
    assert drawn.std() > 20.0


@pytest.mark.parametrize("lens", ["", "fisheye"])
def test_a_check_sees_the_bytes_of_whole_pictures(training_setup, tmp_path, lens):
    camera = tmp_path / "camera.toml"
    camera.write_text("fov = 1.7\nfisheye = [0.4, 0.4]\n")
    setup = replace(training_setup, observation=ObservationSpec(crop_bottom=20), camera=str(camera) if lens else "")
    bands, wholes = setup.make_check_env(2), replace(setup, observation=ObservationSpec(crop_top=0)).make_check_env(2)
    band, whole = (seeing.reset(seed=5)[0] for seeing in (bands, wholes))
    np.testing.assert_array_equal(band, whole[:, 40:100])
    assert whole.shape == (2, 120, 160, 3)
    assert whole.std() > 20.0
    bands.close()
    wholes.close()


def test_a_band_that_pixels_do_not_fill_is_refused():
    with pytest.raises(SpecError, match="multiples of the pooling"):
        ObservationSpec(crop_top=41)


# -- the pilot that comes of it ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".h5", ".onnx"])
def test_a_pilot_drives_as_its_policy_does(tmp_path, ending):
    observation = ObservationSpec(has_colour=ending == ".h5")
    actor = make_actor_that_steers(observation)
    save_pilot(actor, tmp_path / "pilot", ["generated_track"])
    pilot = load_pilot(tmp_path / f"pilot{ending}")
    last, (low, high) = torch.zeros(1, 2), THROTTLE_RANGE
    steered = []
    for picture in np.random.default_rng(1).integers(0, 256, (4, 120, 160, 3), np.uint8):
        with torch.no_grad():
            last = actor(observation.cut_crop(picture[None]), last)
        steering, throttle = last[0].tolist()
        angle, answer = pilot.run(picture)
        assert angle == pytest.approx(steering, abs=1e-5)
        assert answer == pytest.approx(low + 0.5 * (throttle + 1.0) * (high - low), abs=1e-5)
        steered.append(steering)
    assert pilot.kind == "memory"
    assert np.ptp(steered) > 1e-3


def test_a_policy_is_read_back_from_its_pilot(tmp_path):
    actor = make_actor_that_steers(ObservationSpec(has_colour=True))
    save_pilot(actor, tmp_path / "pilot", ["warren"])
    again = read_actor(tmp_path / "pilot.h5")
    assert again.observation == actor.observation
    crops, last = torch.rand(3, *actor.observation.shape), torch.rand(3, 2)
    assert torch.allclose(again(crops, last), actor(crops, last), atol=1e-6)


def test_a_pilot_of_another_network_holds_no_policy(tmp_path):
    from stand_ins.untrained_models import DefaultConfig, get_model

    save_model(get_model("memory", DefaultConfig), tmp_path / "other.h5", "memory", DefaultConfig)
    assert read_actor(tmp_path / "other.h5") is None
    with pytest.raises(PilotError, match="there is no pilot"):
        read_actor(tmp_path / "none.h5")


# -- learning ---------------------------------------------------------------------------------------------------------


def learn(training_setup, lessons, seed, updates=2):
    """Weights after some updates."""
    actor = make_actor(TrainingTask(seed=seed, car_count=CAR_COUNT), training_setup)
    shares = Shares(seed)
    with shares.opened():
        trainer = ppo.PpoTrainer(TrainingCars(lessons, seed), actor, SHORT, shares)
        for _ in range(updates):
            trainer.advance()
    return torch.cat([weight.detach().flatten() for weight in actor.parameters()])


def test_the_same_seed_learns_the_same_weights(training_setup, lessons):
    first = learn(training_setup, lessons, 1)
    assert torch.equal(first, learn(training_setup, lessons, 1))
    assert not torch.equal(first, learn(training_setup, lessons, 2))


def test_what_was_learned_goes_on_from_a_checkpoint(training_setup, lessons, tmp_path, monkeypatch):
    monkeypatch.setattr(ppo.Actor, "SHIFT", 0)
    shares = Shares(0)
    with shares.opened():
        trainer = ppo.PpoTrainer(TrainingCars(lessons, 0), make_actor(TrainingTask(), training_setup), SHORT, shares)
        trainer.advance()
        write_checkpoint(tmp_path, {"learner": trainer.describe()})
        other = ppo.PpoTrainer(
            TrainingCars(lessons, 0), make_actor(TrainingTask(seed=5), training_setup), SHORT, shares
        )
        other.restore(read_checkpoint(tmp_path)["learner"])
        for one in (trainer, other):
            one.begin(9)
            one.advance()
    assert other.steps == 2 * CAR_COUNT * SHORT.rollout == trainer.steps
    pairs = zip(trainer.weights, other.weights, strict=True)
    assert all(torch.equal(mine, yours) for mine, yours in pairs)


def test_while_only_the_critic_learns_the_policy_stays(training_setup, lessons):
    actor = make_actor_that_steers(training_setup.observation)
    before, shares = [weight.clone() for weight in actor.parameters()], Shares(0)
    with shares.opened():
        trainer = ppo.PpoTrainer(TrainingCars(lessons, 0), actor, replace(SHORT, critic_first=1), shares)
        critic = [weight.clone() for weight in trainer.critic.parameters()]
        trainer.advance()
        assert all(map(torch.equal, before, actor.parameters()))
        assert not any(map(torch.equal, critic, trainer.critic.parameters()))
        trainer.advance()
    assert not all(map(torch.equal, before, actor.parameters()))


def test_advantages_end_where_episodes_do(training_setup, lessons):
    trainer = ppo.PpoTrainer(
        TrainingCars(lessons, 0), make_actor(TrainingTask(), training_setup), replace(SHORT, rollout=3), Shares(0)
    )
    rollout = trainer._make_rollout()
    with torch.no_grad():
        trainer.critic[-1].weight.zero_()
        trainer.critic[-1].bias.fill_(2.0)
    rollout.reward[:] = 1.0
    rollout.ended[1] = rollout.over[1] = 1.0
    advantage, target = trainer.judge(rollout)
    g, k = trainer.settings.discount, trainer.settings.trace
    last, ended = 1.0 + 2.0 * g - 2.0, 1.0 - 2.0
    assert advantage[:, 0].tolist() == pytest.approx([last + g * k * ended, ended, last], rel=1e-4)
    assert torch.allclose(target, advantage + 2.0)


def test_a_student_comes_nearer_to_its_teacher(training_setup, lessons):
    settings = replace(dagger.DaggerSettings(), rollout=8, batches=20, batch_size=64)
    shares = Shares(0)
    with shares.opened():
        teacher = PathTeacher(training_setup, lessons.fleet.simulator)
        student = dagger.DaggerTrainer(
            TrainingCars(lessons, 0), make_actor(TrainingTask(), training_setup), teacher, settings, shares
        )
        errors = []
        for _ in range(4):
            student.advance()
            errors.append(student.figures["steering_error"] ** 2 + student.figures["throttle_error"] ** 2)
    assert errors[-1] < 0.6 * errors[0]


def test_labels_that_are_much_alike_leave_a_student_able_to_learn(training_setup, lessons):
    """Saturated features have no gradient: once there, they stay."""
    shares, examples = Shares(0), 2_000
    draw = torch.Generator().manual_seed(0)
    with shares.opened():
        actor = make_actor(TrainingTask(), training_setup)
        settings = dagger.DaggerSettings(batch_size=128)
        student = dagger.DaggerTrainer(TrainingCars(lessons, 0), actor, None, settings, shares)
        crop = torch.randint(0, 256, (examples, *actor.observation.shape), generator=draw, dtype=torch.uint8)
        steering = 0.1 * torch.randn(examples, generator=draw)
        label = torch.stack([steering, torch.full((examples,), 0.9)], 1)
        student._keep(crop, torch.zeros(examples, 2), label, torch.zeros(examples))
        for _ in range(10):
            student.improve()
        with torch.no_grad():
            saturated = (actor.understand(crop).abs() > 0.99).float().mean()
    assert saturated < 0.05


def test_a_pilot_advises_what_it_would_do(training_setup, lessons, tmp_path):
    actor = make_actor_that_steers(training_setup.observation)
    save_pilot(actor, tmp_path / "pilot", ["generated_track"])
    teacher, cars = PilotTeacher(tmp_path / "pilot.onnx", CAR_COUNT), TrainingCars(lessons, 0)
    picture = np.ascontiguousarray(cars.seen["camera_b"])
    with torch.no_grad():
        meant = actor(training_setup.observation.cut_crop(picture), torch.zeros(CAR_COUNT, 2))
    assert torch.allclose(teacher.label(cars), meant, atol=1e-4)


class Countdown:
    """A learner that does nothing but count."""

    def __init__(self, is_student):
        self.is_student, self.steps = is_student, 0

    def advance(self):
        self.steps += 1


def test_the_second_learns_when_the_first_is_good_enough():
    pair = SequentialTrainer(Countdown(False), Countdown(True), lambda first: first.steps >= 2)
    turns = []
    for _ in range(4):
        pair.advance()
        turns.append(pair.is_student)
    assert turns == [False, False, True, True]
    assert pair.steps == 4


@pytest.mark.parametrize("teacher", ["", "expert", "learned"])
def test_every_way_to_learn_comes_to_a_policy(training_setup, teacher):
    task = TrainingTask(teacher=teacher, car_count=CAR_COUNT)
    actor, shares = make_actor(task, training_setup), Shares(0)
    before = [weight.clone() for weight in actor.parameters()]
    with shares.opened():
        trainer = make_trainer(task, training_setup, actor, shares)
        trainer.advance()
        trainer.restore(trainer.describe())
    assert trainer.is_student == (teacher != "learned")
    assert all(map(torch.equal, before, actor.parameters())) == (teacher == "learned")


# -- the task and its checks ------------------------------------------------------------------------------------------


def test_an_episode_ends_a_little_before_the_road_does(lessons):
    lessons.reset(seed=0, options={"s": 2.0})
    step = lessons.fleet.step
    assert not end_near_edge(step).any()
    lessons.reset(options={"s": 2.0, "offset": float(step.width_left[0]) - 0.02})
    assert end_near_edge(lessons.fleet.step).all()


def test_a_check_counts_laps_and_who_leaves_the_road(training_setup):
    checker = Checker(training_setup.checks, lap_count=1)
    teacher_like = checker.check(lambda crop, last: torch.tensor([1.0, 0.5]).expand(len(crop), 2))
    checker.close()
    (check,) = teacher_like
    assert check.departures > 0
    assert check.laps < 1.0
    assert not check.is_clean


@pytest.mark.parametrize(
    ("laps", "departures", "speed", "is_passed"),
    [(10.0, 0, 1.0, True), (9.9, 0, 1.0, False), (10.0, 1, 1.0, False), (10.0, 0, 0.9, False)],
)
def test_a_check_is_passed_with_laps_on_the_road_and_speed(laps, departures, speed, is_passed):
    check = Check("warren", laps, 10, departures, 5, speed, 1.0, 0.05)
    assert check.is_passed == is_passed


@pytest.mark.parametrize(
    ("limit", "steps", "end"),
    [
        (Limit(600.0), 1000, 600.0),
        (Limit(600.0, 9000), 1000, 450.0),
        (Limit(100.0, 9000), 1000, 100.0),
        (Limit(600.0, 9000), 0, 600.0),
        (Limit(600.0, 9000), 9500, 50.0),
    ],
)
def test_the_time_left_goes_by_whichever_limit_comes_first(limit, steps, end):
    assert limit.find_end(50.0, steps) == end


def test_a_task_is_kept_in_its_folder(tmp_path):
    task = TrainingTask(tracks=("warren", "flat"), roads=3, teacher="expert", seed=4, laps=2, has_colour=True)
    write_task(task, tmp_path)
    assert read_task(tmp_path) == task
    kept = json.loads((tmp_path / "task.json").read_bytes())
    (tmp_path / "task.json").write_text(json.dumps(kept | {"format": 1}))
    assert read_task(tmp_path) == replace(task, tracks=("carpet_hall", "flat")), "of an older version"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"teacher": "expart"}, "expert"),
        ({"teacher": "expert", "source": "a.h5"}, "give one of them"),
        ({"laps": 0}, "1 lap or more"),
        ({"share": 7.0}, "0.1 to 1.2"),
        ({"car_count": 2, "roads": 5}, "one for each of the 6 tracks"),
    ],
)
def test_a_task_that_is_not_possible_is_refused(wrong, message):
    with pytest.raises(SpecError, match=message):
        TrainingTask(**wrong)


def test_random_roads_differ_and_take_turns_in_style():
    roads = list_roads(range(1, 7))
    assert len(set(roads)) == 6
    assert [road.road.style for road in roads] == [1, 2, 3, 4, 0, 1]


def test_a_folder_without_a_task_or_with_a_broken_one_is_refused(tmp_path):
    with pytest.raises(SpecError, match="to continue from"):
        read_task(tmp_path)
    (tmp_path / "task.json").write_text('{"format": 99}')
    with pytest.raises(SpecError, match="format 99"):
        read_task(tmp_path)
    (tmp_path / "task.json").write_text('{"format": 1, "tracks": 7}')
    with pytest.raises(SpecError, match="cannot be read"):
        read_task(tmp_path)


@pytest.mark.parametrize("content", [b"", b"not an archive", b"PK\x03\x04 cut"])
def test_a_broken_checkpoint_is_named(tmp_path, content):
    (tmp_path / CHECKPOINT_NAME).write_bytes(content)
    with pytest.raises(SpecError, match="cannot be read"):
        read_checkpoint(tmp_path)


def test_a_checkpoint_holds_what_it_was_given(tmp_path):
    assert read_checkpoint(tmp_path) is None
    state = {"weights": {0: torch.arange(3.0)}, "numbers": [1, 2.5, None], "name": "a", "flag": True}
    write_checkpoint(tmp_path, state)
    again = read_checkpoint(tmp_path)
    assert torch.equal(again["weights"].pop(0), torch.arange(3.0))
    assert json.dumps({**again, "weights": {}}) == json.dumps({**state, "weights": {}})


def test_the_whole_picture_stays_as_the_car_sees_it():
    camera = ObservationSpec().make_camera(CameraSpec())
    assert (camera.width, camera.height, camera.crop_top, camera.grey) == (80, 60, 20, True)
    assert camera.fov == CameraSpec().fov
