"""Moments for who draws elsewhere: cars, seats and props are where the simulator has them."""

import asyncio

import numpy as np
import pytest

from donkeysim.sim.simulator import Simulator
from donkeysim.watch.broadcast import Broadcast
from donkeysim.watch.moments import describe_moment, get_place_file
from donkeysim.watch.picture_cache import keep_snapshot
from donkeysim.watch.watchable import LOOKS, NewMoments
from donkeysim.world.specs import BodySpec, CameraSpec, SceneSpec, WorldSpec


@pytest.fixture(scope="module")
def simulator():
    made = Simulator(WorldSpec(scene=SceneSpec("warehouse"), cars_per_world=3))
    made.add_car(0, BodySpec("f1", (1, 2, 3), "half a pair \ud800"))
    made.add_car()
    made.add_car()
    made.retire_car(2)
    made.configure_camera(1, CameraSpec(width=320, height=160))
    made.step(24)
    return made


def describe(simulator, rows, **options):
    return describe_moment(keep_snapshot(simulator, rows, Broadcast(wants_cameras=False)), 1.5, 0.05, **options)


def test_cars_are_where_the_ledger_has_them(simulator):
    moment = describe(simulator, {7: 0, 9: 1, 11: 2})
    assert [car.id for car in moment.cars] == [7, 9], "the third has retired"
    for car, row in zip(moment.cars, (0, 1), strict=True):
        assert np.allclose(car.pose[:3], simulator.ledger.position[row], atol=1e-5)
        assert np.linalg.norm(car.pose[3:]) == pytest.approx(1.0, abs=1e-5)
        assert len(car.wheels) == len(car.extensions) == 4
    assert (moment.cars[0].style, moment.cars[0].colour, moment.cars[0].name) == ("f1", (1, 2, 3), "half a pair ?")
    assert (moment.time, moment.period, moment.is_still, moment.chosen) == (1.5, 0.05, False, -1)
    assert moment.seats[9].aspect == 2.0


def test_what_was_pushed_about_is_told_and_nothing_else(simulator):
    rows = {1: 0}
    if not len(simulator.scene.props.model):
        assert describe(simulator, rows).props == []
        return
    before = {index for index, *_ in describe(simulator, rows).props}
    simulator.state.prop_position[0] += (0.3, 0.0, 0.0)
    moved = {index: pose for index, *pose in describe(simulator, rows).props}
    assert set(moved) - before == {0} - before
    assert np.allclose(moved[0][:3], simulator.state.prop_position[0], atol=1e-5)


def test_a_place_keeps_its_name_and_another_one_gets_another(simulator):
    first, second = describe(simulator, {1: 0}), describe(simulator, {1: 0})
    assert first.place == second.place
    assert first.place.startswith("warehouse ")
    other = Simulator(WorldSpec(scene=SceneSpec("flat")))
    other.add_car()
    assert describe(other, {1: 0}).place != first.place
    assert get_place_file(simulator.scene, simulator.car_spec) is get_place_file(simulator.scene, simulator.car_spec)


def test_who_asks_again_waits_for_another_moment():
    told, count = [b"one", b"one", b"two"], 0

    async def take():
        nonlocal count
        count += 1
        return told[min(count, len(told)) - 1]

    async def ask():
        moments = NewMoments(take)
        return [await moments.take() for _ in range(3)]

    assert asyncio.run(ask()) == [b"one", b"two", b"two"]
    assert count == 3 + LOOKS, "and no longer than that"
