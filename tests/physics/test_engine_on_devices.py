"""Worlds stepped on a device: the same bytes as the engine's, and what its memory takes."""

import numpy as np
import pytest
from tests.scenes import Bench, make_colliders, make_props, make_scene
from tests.stepping import FarDevice, OneRoomEach

from donkeysim.core.workers import Workers
from donkeysim.physics.contact import size_scratch
from donkeysim.physics.engine import PhysicsEngine, measure_world
from donkeysim.world.state import HIT_NONE, Layout, make_control, make_state


def make_crowds(world_count):
    """Worlds of two cars that touch each other, a wall, and a cone that leans on another; no two worlds are alike."""
    wall = (0, (0.5, 0.0, 0.25), (0.1, 2.0, 0.25), 0.1, 0.5, 1)
    props = make_props((0.2, 0.0, 0.0), (0.28, 0.03, 0.0), mass=0.2)
    bench = Bench(make_scene(colliders=make_colliders(wall), props=props), world_count, cars_per_world=2, threads=2)
    for car in range(2 * world_count):
        bench.place(car, 0.02, 0.2 * (car % 2), yaw=-0.5 * (car % 2), velocity=2.0 + 0.3 * car, z=0.09)
    bench.control.steer[:], bench.control.throttle[:] = 0.3, np.linspace(0.2, 1.0, 2 * world_count)
    return bench


def test_an_index_loop_gives_the_bytes_of_the_engine_whatever_its_working_memory():
    engine, other, device = make_crowds(3), make_crowds(3), FarDevice()
    layout = Layout([other.scene], np.zeros(3, np.int32), other.car, 3, 2, 2)
    stepper = PhysicsEngine(layout, device)
    state, control = device.upload(other.state), device.upload(other.control)
    for _ in range(4):
        engine.drive(24 / 480)
        stepper.step(state, control, 24)
    pairs = zip(engine.state._fields, engine.state, state, strict=True)
    assert [name for name, ours, theirs in pairs if ours.tobytes() != device.download(theirs).tobytes()] == []
    derived = zip(engine.engine.book.derived, stepper.book.derived, strict=True)
    assert all(ours.tobytes() == device.download(theirs).tobytes() for ours, theirs in derived)
    assert HIT_NONE not in engine.state.hit
    assert (engine.state.prop_velocity != 0.0).any(axis=1).all()
    assert not device.download(stepper.events.missed).any()


def pile_up(prop_count):
    """A car in a heap of props, and the stepper that holds it."""
    props = make_props(*((0.05 * prop, 0.0, 0.0) for prop in range(prop_count)), mass=0.2)
    bench = Bench(make_scene(props=props))
    layout = Layout([bench.scene], np.zeros(1, np.int32), bench.car, 1, 1, prop_count)
    return bench, PhysicsEngine(layout, OneRoomEach(Workers(1)))


def test_what_finds_no_room_is_counted():
    bench, stepper = pile_up(12)
    bench.state.prop_asleep[:] = 0
    stepper.step(bench.state, bench.control, 4)
    assert stepper.events.missed[0] == 0
    stepper.scratches = stepper.scratches._replace(contact=np.zeros((1, 8, stepper.scratches.contact.shape[2])))
    stepper.step(bench.state, bench.control, 4)
    once = stepper.events.missed[0]
    assert once > 0
    stepper.step(bench.state, bench.control, 4)
    assert stepper.events.missed[0] > once


@pytest.mark.parametrize(("cars", "props"), [(1, 0), (2, 15)])
def test_a_world_takes_the_memory_that_is_said(cars, props):
    def measure(world_count):
        scene = make_scene(props=make_props(*((float(prop), 0.0, 0.0) for prop in range(props))))
        layout = Layout([scene], np.zeros(world_count, np.int32), Bench().car, world_count, cars, props)
        stepper = PhysicsEngine(layout, OneRoomEach(Workers(1)))
        arrays = [
            *stepper.scratches, *stepper.events, *stepper.book.derived, stepper.car_params.packed, stepper.world_scene,
            *make_state(world_count, cars, props), *make_control(world_count * cars),
        ]  # fmt: skip
        return sum(array.nbytes for array in arrays), layout

    (two, _), (five, layout) = measure(2), measure(5)
    assert five - two == 3 * measure_world(layout)
    pairs, contacts = size_scratch(cars, props, is_small=True)
    assert measure_world(layout) < 64 * pairs + 520 * contacts + 32_768


def test_without_props_small_working_memory_holds_as_much_as_large():
    assert size_scratch(1, 0, is_small=True) == size_scratch(1, 0, is_small=False)
    assert size_scratch(4, 0, is_small=True) == size_scratch(4, 0, is_small=False)
    assert all(np.less(size_scratch(1, 15, is_small=True), size_scratch(1, 15, is_small=False)))
