"""A teacher whose commands are late aims at the road ahead: else it leaves the road itself, and so does its student."""

from dataclasses import replace

import numpy as np
import pytest

from donkeysim.drivers.lap_time import find_axles
from donkeysim.drivers.path_follower import PathFollower
from donkeysim.rl.cars import TrainingCars
from donkeysim.rl.setup import TrainingSetup
from donkeysim.rl.teachers import PathTeacher
from donkeysim.world.randomization import read_randomization
from donkeysim.world.specs import SceneSpec
from donkeysim.world.tracks.catalogue import share_scene
from driving import CAR

SECONDS = 12
"""One lap, about."""


@pytest.fixture(scope="module")
def late_cars():
    """Cars on generated_track whose commands are done 150 ms after they were given, and their course."""
    late = read_randomization({"delay": {"action": [0.15, 0.15]}})
    specs = (SceneSpec("generated_track"),)
    setup = TrainingSetup(specs, car_count=8, share=0.7, randomization=late).plan([share_scene(specs[0])])
    env = setup.make_train_env(("vector",))
    yield setup, TrainingCars(env, 0)
    env.close()


def drive(cars, teacher):
    """Return how often cars leave the road, per car and minute."""
    cars.begin(1)
    for _ in range(10 * SECONDS):
        cars.step(teacher.label(cars))
    return cars.take_figures()[0]["ends"]


def test_a_teacher_keeps_cars_on_the_road_whose_commands_are_late(late_cars):
    setup, cars = late_cars
    teacher = PathTeacher(setup, cars.env.simulator)
    assert drive(cars, teacher) == 0.0
    teacher._aims = False  # and now it steers as if the car obeyed at once
    assert drive(cars, teacher) > 1.0


def test_it_aims_only_where_commands_are_late(late_cars):
    setup, cars = late_cars
    env = replace(setup, car_count=2, randomization=read_randomization(None)).make_train_env(("vector",))
    assert PathTeacher(setup, cars.env.simulator)._aims
    assert not PathTeacher(setup, env.simulator)._aims
    env.close()


def test_pure_pursuit_steers_on_the_circle_that_leads_to_the_place_ahead(late_cars):
    setup, cars = late_cars
    cars.begin(2)
    follower, ledger = PathFollower(cars.env.simulator.get_scene(0), CAR, "steady"), cars.env.simulator.ledger
    base = sum(map(abs, find_axles(CAR)))
    for car in range(setup.car_count):
        steer = follower.aim(ledger, car, 0.8, 0.0)
        radius = base / np.tan(steer * CAR.steer_gain)
        yaw, (x, y, _) = ledger.yaw[car], ledger.position[car]
        centre = np.array([x - radius * np.sin(yaw), y + radius * np.cos(yaw)])
        away = np.abs(np.hypot(*(follower.plan.point - centre).T) - abs(radius))
        near = np.hypot(*(follower.plan.point - (x, y)).T)
        assert away[(near > 0.65) & (near < 0.95)].min() < 0.02
