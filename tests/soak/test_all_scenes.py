"""Every scene of the menu: laps of the pace car, loading, and a server that goes through all of them many times."""

import itertools
import json
import time
import tracemalloc

import numpy as np
import psutil
import pytest

from donkeysim.drivers.human_driver import HumanDriver
from donkeysim.drivers.path_follower import PathFollower
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import SceneSpec, WorldSpec
from donkeysim.world.tracks import list_scenes, load_scene
from driving import CAR, Course
from e2e.simulator_process import SimulatorProcess
from e2e.wire_client import WireClient

pytestmark = [pytest.mark.soak, pytest.mark.timeout(1800)]

SWITCHES = 100

NAMES = list_scenes()
"""Scenes of the menu, and one of ours that is loaded by its name."""


class Hands:
    """What the hands of a human driver do, whatever it means to do."""

    def __init__(self, driver):
        self._driver = driver

    def drive(self, ledger, car):
        action, _ = self._driver.drive(ledger, car)
        return action


DRIVERS = {
    "steady": lambda scene: PathFollower(scene, CAR, "steady"),
    "fast": lambda scene: PathFollower(scene, CAR, "fast"),
    "human": lambda scene: Hands(HumanDriver(scene, CAR, seed=0)),
    "another human": lambda scene: Hands(HumanDriver(scene, CAR, seed=1)),
}


def report(case, **figures):
    print("\n" + json.dumps({"case": case, **figures}), flush=True)


def measure_room(path, ledger):
    """Return how far the middle of car 0 is from the nearer edge of its lane [m], negative beyond it.

    A car may start beside its lane, as on sparkfun_avc and circuit_launch: ask after the first crossing of the line.
    """
    node, offset = int(ledger.node_index[0]), float(ledger.offset[0])
    return min(path.width_left[node] - offset, path.width_right[node] + offset)


@pytest.mark.parametrize("style", DRIVERS)
@pytest.mark.parametrize("name", NAMES)
def test_every_driver_laps_three_times_on_the_road_without_a_hit(name, style):
    scene = load_scene(SceneSpec(name))
    course, driver, room = Course(scene), DRIVERS[style](scene), []
    hits, off_road = set(), 0
    for _ in range(40_000):
        seen = course.drive(driver, seconds=0.05)
        hits, off_road = hits | seen.hits, off_road + seen.off_road
        if course.ledger.lap[0] > 0:
            room.append(measure_room(scene.path, course.ledger))
        if course.ledger.lap[0] == 4:
            break
    report("scene_laps", scene=name, driver=style, laps=int(course.ledger.lap[0]) - 1, room_m=round(min(room), 3))
    assert course.ledger.lap[0] == 4
    assert (off_road, hits) == (0, set())
    assert style != "steady" or min(room) > 0.0, "the pace car keeps to its lane"


@pytest.mark.parametrize("name", NAMES)
def test_a_scene_loads_within_a_second_and_300_megabytes(name):
    Simulator(WorldSpec(SceneSpec(name))).close()
    seconds, ready = [], []
    for _ in range(5):
        begin = time.perf_counter()
        load_scene(SceneSpec(name))
        seconds.append(time.perf_counter() - begin)
        begin = time.perf_counter()
        Simulator(WorldSpec(SceneSpec(name))).close()
        ready.append(time.perf_counter() - begin)
    tracemalloc.start()
    load_scene(SceneSpec(name))
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    report(
        "scene_load",
        scene=name,
        seconds=round(min(seconds), 3),
        simulator_s=round(min(ready), 3),
        peak_mb=round(peak, 1),
    )
    assert min(seconds) < 1.0
    assert min(ready) < 1.5, "with physics and mip levels, all that a server needs to go on there"
    assert peak < 300.0


def test_a_server_goes_through_all_scenes_a_hundred_times_without_growing():
    memory, slowest = [], 0.0
    with SimulatorProcess() as simulator, WireClient(simulator.address, seconds=600.0) as client:
        process = psutil.Process(simulator.process.pid)
        client.read_until("scene_selection_ready")
        for turn, name in zip(range(SWITCHES), itertools.cycle(list_scenes()), strict=False):
            begin = time.perf_counter()
            client.send({"msg_type": "load_scene", "scene_name": name})
            assert client.read_until("car_loaded", "error", seconds=600.0).get("scene_name") == name
            telemetry = client.read_until("telemetry", "error")
            assert telemetry["msg_type"] == "telemetry"
            slowest = max(slowest, time.perf_counter() - begin) if turn else slowest
            client.send({"msg_type": "exit_scene"})
            client.read_until("scene_selection_ready")
            memory.append(process.memory_info().rss / 2**20)
    rounds = [max(part) for part in np.array_split(memory, SWITCHES // len(list_scenes()))]
    growth = rounds[-1] - rounds[1]
    report("scene_switching", switches=SWITCHES, rss_mib=[round(r) for r in rounds], slowest_s=round(slowest, 2))
    assert growth < 60.0, "what a round of all scenes needs at most stays as it is"
