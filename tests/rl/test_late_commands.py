"""A teacher knows how late its commands are done: else it leaves the road itself, and so does who learns from it."""

from dataclasses import replace

import pytest

from donkeysim.rl.cars import TrainingCars
from donkeysim.rl.setup import TrainingSetup
from donkeysim.rl.teachers import PathTeacher
from donkeysim.world.randomization import read_randomization
from donkeysim.world.specs import SceneSpec
from donkeysim.world.tracks.catalogue import share_scene

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
    teacher._randomizer = None  # and now it does not know
    assert drive(cars, teacher) > 1.0


def test_nothing_is_late_where_nothing_is_drawn(late_cars):
    setup, cars = late_cars
    env = replace(setup, car_count=2, randomization=read_randomization(None)).make_train_env(("vector",))
    own = TrainingCars(env, 0)
    assert PathTeacher(setup, env.simulator)._find_lateness(own) == [0.0, 0.0]
    assert PathTeacher(setup, cars.env.simulator)._find_lateness(cars) == pytest.approx([0.15] * 8)
    env.close()
