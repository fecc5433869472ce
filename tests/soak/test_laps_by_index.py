"""Laps among props, cones and other cars: worlds stepped index by index end with the bytes of the engine."""

import json
import time

import numpy as np
import pytest
from tests.stepping import OneRoomEach

from donkeysim.core.workers import Workers
from donkeysim.drivers.path_follower import PathFollower
from donkeysim.physics.engine import PhysicsEngine, make_book, make_derived, measure_world
from donkeysim.sim.simulator import Simulator
from donkeysim.world.ledger import EVENT_HIT, EVENT_LAP
from donkeysim.world.specs import ChallengeSpec, SceneSpec, WorldSpec
from donkeysim.world.state import HIT_CAR, Control, Layout, State

pytestmark = [pytest.mark.soak, pytest.mark.timeout(1800)]

LAPS, WORLDS, CARS = 3, 6, 2


class Twins:
    """Worlds of cars that drive along the path, some worlds worse than others; and the same worlds on a device.

    Attributes:
        simulator: Drives.
        stepper: Is given its controls.
    """

    def __init__(self, scene, world_count, cars_per_world):
        spec = WorldSpec(scene, world_count=world_count, cars_per_world=cars_per_world)
        self.simulator = Simulator(spec)
        for world in range(world_count):
            for _ in range(cars_per_world):
                self.simulator.add_car(world)
        place, self.rows = self.simulator.place, range(world_count * cars_per_world)
        layout = Layout(place.scenes, place.world_scene, place.car, world_count, cars_per_world, place.props_per_world)
        self.stepper = PhysicsEngine(layout, OneRoomEach(Workers(1)))
        self.derived = make_derived(len(self.rows))
        self.stepper.book = make_book(place.scenes, self.derived)
        self.state = State(*(array.copy() for array in self.simulator.state))
        self.control = Control(*(array.copy() for array in self.simulator.control))
        self.drivers = [PathFollower(place.scenes[0], place.car, ("steady", "fast")[car % 2]) for car in self.rows]
        # Alone a follower hits nothing: whoever steers badly meets cones, walls and the other car.
        self.clumsiness = np.repeat(np.linspace(0.0, 1.5, world_count), cars_per_world)
        self.props = self.state.prop_position.copy()
        self.random, self.kinds = np.random.default_rng(4), set()

    def drive(self, frames):
        """Drive, and step the other worlds likewise."""
        for _ in range(frames):
            noise = self.clumsiness * self.random.uniform(-1.0, 1.0, len(self.rows))
            for car, driver in enumerate(self.drivers):
                action = driver.drive(self.simulator.ledger, car)
                self.simulator.drive_car(car, float(np.clip(action.steer + noise[car], -1, 1)), *action[1:])
            for own, theirs in zip(self.control, self.simulator.control, strict=True):
                own[:] = theirs
            self.simulator.step(24)
            self.stepper.step(self.state, self.control, 24)
            self.kinds |= {(event.kind, event.value) for event in self.simulator.list_events()}

    def count_moved(self):
        """How many props do not stand where they were put."""
        return int((np.abs(self.simulator.state.prop_position - self.props).max(axis=1) > 0.01).sum())

    def list_differences(self):
        """The names of arrays whose bytes differ: of the state, of the ledger, of what happened."""
        events, ledger = self.simulator.physics.events, self.simulator.physics.book.derived
        noted = [(events.noted, self.stepper.events.noted)]
        noted += [
            (row[:count], own[:count])
            for row, own, count in zip(events.row, self.stepper.events.row, events.noted, strict=True)
        ]
        pairs = [
            *zip(State._fields, self.simulator.state, self.state, strict=True),
            *zip(ledger._fields, ledger, self.derived, strict=True),
            *(("events", one, other) for one, other in noted),
        ]
        return [name for name, one, other in pairs if one.tobytes() != other.tobytes()]


@pytest.mark.parametrize("name", ["pallet_hall", "generated_track"])
def test_three_laps_by_index_end_with_the_engine_s_bytes(name):
    twins, begun, frames = Twins(SceneSpec(name, challenges=ChallengeSpec(cones=12)), WORLDS, CARS), time.monotonic(), 0
    while twins.simulator.ledger.laps[: 2 * CARS].min() < LAPS and frames < 6000:
        twins.drive(20)
        frames += 20
        assert twins.list_differences() == []
    hits = {int(value) for kind, value in twins.kinds if kind == EVENT_HIT}
    print("\n" + json.dumps({
        "case": f"{name}, laps by index",
        "frames": frames,
        "laps": twins.simulator.ledger.laps.tolist(),
        "things hit": len(hits),
        "props moved": twins.count_moved(),
        "missed": int(twins.stepper.events.missed.sum()),
        "bytes per world": measure_world(twins.stepper.layout),
        "seconds": round(time.monotonic() - begun),
    }))  # fmt: skip
    assert twins.simulator.ledger.laps[: 2 * CARS].min() >= LAPS
    assert EVENT_LAP in {kind for kind, _ in twins.kinds}
    assert any(value >= HIT_CAR for value in hits)
    assert any(value < HIT_CAR for value in hits)
    assert twins.count_moved() > 0
    assert not twins.stepper.events.missed.any()
