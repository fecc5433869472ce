"""Policies that see several pictures at once: what they see, how they are taught, and the pilots they leave."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from donkeysim.core.errors import SpecError
from donkeysim.learn.files.header import make_header
from donkeysim.learn.files.session import TfliteSession
from donkeysim.learn.files.tflite_writer import make_tflite
from donkeysim.learn.pilot import load_pilot
from donkeysim.learn.shares import Shares
from donkeysim.rl import dagger, ppo
from donkeysim.rl.actor_file import describe_actor, read_actor, save_pilot
from donkeysim.rl.cars import TrainingCars
from donkeysim.rl.check import VARIED_CARS, Checker
from donkeysim.rl.school import make_actor, make_trainer
from donkeysim.rl.setup import FRAME_SKIP, THROTTLE_RANGE, ObservationSpec, TrainingSetup
from donkeysim.rl.task import TrainingTask
from donkeysim.rl.teachers import PathTeacher, PilotTeacher
from donkeysim.world.randomization import read_randomization
from donkeysim.world.specs import SceneSpec
from donkeysim.world.tracks.catalogue import share_scene
from stand_ins.untrained_models import DefaultConfig

CAR_COUNT = 8

OBSERVATIONS = [ObservationSpec(pictures=2), ObservationSpec(has_colour=True, pictures=3)]


@pytest.fixture(scope="module")
def training_setup():
    """generated_track with a few cars that see two pictures."""
    specs = (SceneSpec("generated_track"),)
    scenes = [share_scene(spec) for spec in specs]
    yield TrainingSetup(specs, car_count=CAR_COUNT, observation=ObservationSpec(pictures=2)).plan(scenes)
    del scenes


@pytest.fixture(scope="module")
def lessons(training_setup):
    """Cars that observe all that anybody needs."""
    env = training_setup.make_train_env(("grey", "vector", "camera_b"))
    yield env
    env.close()


def make_actor_that_steers(observation):
    """A policy with weights that matter."""
    torch.manual_seed(0)
    actor = ppo.Actor(observation)
    with torch.no_grad():
        actor.command.weight.mul_(40.0)
    return actor


def draw_pictures(count):
    """Whole pictures, shape [count, 120, 160, 3]."""
    return np.random.default_rng(1).integers(0, 256, (count, 120, 160, 3), np.uint8)


def decide(actor, pictures):
    """Steering and throttle in the car's units, of the last pictures."""
    row = np.concatenate(list(pictures[-actor.observation.frames :]), axis=-1)[None]
    with torch.no_grad():
        steering, throttle = actor(actor.observation.cut_crop(row), torch.zeros(1, 2))[0].tolist()
    low, high = THROTTLE_RANGE
    return steering, low + 0.5 * (throttle + 1.0) * (high - low)


@pytest.mark.parametrize("count", [0, 5])
def test_no_picture_and_too_many_are_refused(count):
    with pytest.raises(SpecError, match="1 to 4"):
        TrainingTask(pictures=count).make_setup()


def test_bands_drawn_while_learning_and_cut_on_the_road_look_alike(training_setup, lessons):
    observation, cars = training_setup.observation, TrainingCars(lessons, 3)
    for _ in range(6):
        cars.step(torch.tensor([[0.0, 1.0]]).expand(CAR_COUNT, 2))
    old, new = np.split(cars.seen["camera_b"], 2, axis=-1)
    cut = 255.0 * observation.cut_crop(np.concatenate([old, np.zeros_like(old), new], axis=-1))
    drawn = observation.read_crop(cars.seen["grey"]).float()
    assert drawn.shape == cut.shape == (CAR_COUNT, *observation.shape)
    assert (drawn - cut).abs().mean() < 5.0
    assert (drawn[:, 0] - drawn[:, 1]).abs().mean() > 0.5


@pytest.mark.parametrize("observation", OBSERVATIONS)
def test_a_pilot_drives_as_its_policy_does(tmp_path, observation):
    actor = make_actor_that_steers(observation)
    for path in save_pilot(actor, tmp_path / "pilot", ["generated_track"]):
        pilot, pictures = load_pilot(path), draw_pictures(7)
        answers = [pilot.run(picture) for picture in pictures]
        assert pilot.kind == "3d"
        assert answers[-1] == pytest.approx(decide(actor, pictures), abs=1e-5)
        first = np.repeat(pictures[:1], observation.frames, axis=0)
        assert answers[0] == pytest.approx(decide(actor, first), abs=1e-5)
        assert np.ptp(answers, axis=0).min() > 1e-3


def test_a_car_drives_with_it_too():
    actor, pictures = make_actor_that_steers(OBSERVATIONS[0]), draw_pictures(3)
    session = TfliteSession(make_tflite(describe_actor(actor), make_header("3d", DefaultConfig)), "pilot.tflite")
    (answer,) = session.run(pictures, [])
    assert answer.ravel().tolist() == pytest.approx(decide(actor, pictures), abs=1e-5)


@pytest.mark.parametrize("observation", OBSERVATIONS)
def test_a_policy_is_read_back_from_its_pilot(tmp_path, observation):
    actor = make_actor_that_steers(observation)
    save_pilot(actor, tmp_path / "pilot", ["warren"])
    again = read_actor(tmp_path / "pilot.h5")
    assert again.observation == observation
    assert decide(again, draw_pictures(5)) == pytest.approx(decide(actor, draw_pictures(5)), abs=1e-6)


def test_a_check_shows_the_pictures_that_it_will_see_on_the_road(training_setup):
    checker, seen = Checker(replace(training_setup.checks, car_count=1), lap_count=1), []

    def drive(crop, last):
        seen.append(crop.clone())
        return torch.tensor([0.8, 1.0]).expand(len(crop), 2)

    checker.check(drive)
    checker.close()
    assert torch.equal(seen[0][:, 0], seen[0][:, 1])
    assert torch.equal(seen[9][:, 1], seen[9 + FRAME_SKIP][:, 0])
    assert not torch.equal(seen[9][:, 0], seen[9][:, 1])


def test_who_sees_its_speed_is_told_to_brake(training_setup, lessons):
    blind = replace(training_setup, observation=ObservationSpec())
    teachers = [PathTeacher(each, lessons.fleet.simulator) for each in (blind, training_setup)]
    cars, least = TrainingCars(lessons, 0), np.ones(2)
    for _ in range(40):
        least = np.minimum(least, [float(teacher.label(cars)[:, 1].min()) for teacher in teachers])
        cars.step(torch.tensor([[0.0, 1.0]]).expand(CAR_COUNT, 2))
    low, high = THROTTLE_RANGE
    assert least.tolist() == pytest.approx([-2.0 * low / (high - low) - 1.0, -1.0])


def test_pushed_cars_are_not_judged_and_the_student_learns_its_speed(training_setup, lessons):
    few = replace(dagger.DaggerSettings(), rollout=12, batches=20, batch_size=32, capacity=100)
    settings = replace(few, push=(0.1, 0.6), speed_weight=1.0)
    actor, shares, wrong = ppo.Actor(training_setup.observation), Shares(0), []
    with shares.opened():
        teacher = PathTeacher(training_setup, lessons.fleet.simulator)
        student = dagger.DaggerTrainer(TrainingCars(lessons, 0), actor, teacher, settings, shares)
        student.drive()
        for _ in range(6):
            student.improve()
            wrong.append(student.figures["speed_error"])
        student.restore(student.describe())
    assert wrong[-1] < 0.8 * wrong[0]
    assert student.cars.is_judged.tolist() == [True, False] * (CAR_COUNT // 2)
    pushes = student._push_cars()
    assert (pushes != 0.0).all(1).tolist() == [False, True] * (CAR_COUNT // 2)
    assert pushes[student.cars.is_judged].abs().max() == 0.0


def test_a_pilot_advises_of_the_newest_picture(lessons, tmp_path):
    blind = ppo.Actor(ObservationSpec())
    save_pilot(blind, tmp_path / "pilot", ["generated_track"])
    teacher, cars = PilotTeacher(tmp_path / "pilot.onnx", CAR_COUNT), TrainingCars(lessons, 0)
    newest = np.ascontiguousarray(cars.seen["camera_b"][..., -3:])
    with torch.no_grad():
        meant = blind(blind.observation.cut_crop(newest), torch.zeros(CAR_COUNT, 2))
    assert torch.allclose(teacher.label(cars), meant, atol=1e-4)


def test_cars_that_differ_are_checked_each_for_itself(training_setup):
    varied = replace(training_setup, randomization=read_randomization({"car": {"motor": (0.5, 2.0)}}))
    checker, speeds = Checker(varied.checks, lap_count=1, is_varied=True), []

    def drive(crop, last):
        speeds.append(checker._env.fleet.step.forward_speed if checker._env.fleet.step else np.zeros(len(crop)))
        return torch.tensor([0.3, 1.0]).expand(len(crop), 2)

    (check,) = checker.check(drive)
    checker.close()
    assert np.ptp(speeds[10]) > 0.1
    assert check.scene == "generated_track, randomised"
    assert check.departures == check.cars == VARIED_CARS
    assert 0.0 < check.laps < 1.0


@pytest.mark.parametrize("teacher", ["", "expert"])
def test_with_and_without_a_teacher_it_comes_to_a_policy(training_setup, teacher):
    task = TrainingTask(teacher=teacher, car_count=CAR_COUNT, pictures=2)
    actor, shares = make_actor(task, training_setup), Shares(0)
    before = [weight.clone() for weight in actor.parameters()]
    with shares.opened():
        trainer = make_trainer(task, training_setup, actor, shares)
        trainer.settings = replace(trainer.settings, rollout=4, batch_size=16)
        trainer.advance()
        trainer.restore(trainer.describe())
    assert actor.observation.pictures == 2
    assert not any(map(torch.equal, before, actor.parameters()))
