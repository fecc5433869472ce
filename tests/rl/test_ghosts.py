"""People may watch some of the cars that learn: the newest seconds, at the pace of the clock."""

import asyncio
import json

import numpy as np
import pytest

from donkeysim.rl.ghosts import KEPT, MOST, Ghosts
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import SceneSpec, WorldSpec

PERIOD = 0.1


@pytest.fixture(scope="module")
def simulator():
    made = Simulator(WorldSpec(scene=SceneSpec("flat"), world_count=MOST + 3))
    for world in range(MOST + 3):
        made.add_car(world)
        made.drive_car(world, 0.02 * world, 1.0)
    return made


class Watched:
    def __init__(self):
        self.now = 50.0
        self.ghosts = Ghosts(lambda: self.now)

    def look(self):
        return json.loads(asyncio.run(self.ghosts.take_moment()))


def drive(watched, simulator, steps):
    for _ in range(steps):
        simulator.step(48)
        watched.ghosts.note(simulator, PERIOD)


def test_before_the_first_step_there_is_nothing_to_see():
    watched = Watched()
    assert (watched.look()["cars"], watched.look()["place"]) == ([], "")
    assert watched.ghosts.write_place() is None
    assert watched.ghosts.find_place() is None


def test_some_cars_are_shown_step_by_step_whatever_their_worlds(simulator):
    watched = Watched()
    drive(watched, simulator, 3)
    places = [np.array(simulator.ledger.position)]
    first = watched.look()
    assert len(first["cars"]) == MOST
    assert [car["is_ghost"] for car in first["cars"]] == [False] + [True] * (MOST - 1)
    assert len({tuple(car["colour"]) for car in first["cars"]}) == MOST
    watched.now += 1.5 * PERIOD
    second = watched.look()
    assert second["time"] == pytest.approx(first["time"] + PERIOD)
    assert second["cars"][0]["pose"] != first["cars"][0]["pose"]
    watched.now += PERIOD
    third = watched.look()
    for car, place in zip(third["cars"], places[0], strict=False):
        assert np.allclose(car["pose"][:3], place, atol=1e-5)


def test_when_the_seconds_are_over_the_newest_ones_begin(simulator):
    watched = Watched()
    drive(watched, simulator, 5)
    watched.look()
    drive(watched, simulator, round(KEPT / PERIOD) + 7)
    watched.now += 4.5 * PERIOD
    still = watched.look()
    watched.now += PERIOD
    later = watched.look()
    assert np.linalg.norm(np.subtract(later["cars"][0]["pose"][:2], still["cars"][0]["pose"][:2])) > 0.3
    shown = set()
    for _ in range(round(KEPT / PERIOD)):
        shown.add(json.dumps(watched.look()["cars"][0]["pose"]))
        watched.now += PERIOD
    assert len(shown) == round(KEPT / PERIOD)


def test_other_cars_that_learn_take_their_place(simulator):
    watched = Watched()
    drive(watched, simulator, 2)
    other = Simulator(WorldSpec(scene=SceneSpec("flat")))
    other.add_car()
    drive(watched, other, 2)
    watched.look()
    watched.now += 10.0
    assert len(watched.look()["cars"]) == 1
