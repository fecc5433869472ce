"""Random roads of all styles: whatever the seed, they can be driven, and nothing is hit."""

import contextlib
import json
import time

import psutil
import pytest

from donkeysim.drivers.path_follower import PathFollower
from donkeysim.world.specs import RoadSpec, SceneSpec
from donkeysim.world.tracks import load_scene
from driving import CAR, Course
from e2e.simulator_process import SimulatorProcess
from e2e.wire_client import WireClient

pytestmark = pytest.mark.soak

TURNS = (1.0, 0.3, 3.0, 20.0)


@pytest.mark.parametrize("seed", range(12))
def test_the_pace_car_laps_any_road_in_its_lane(seed):
    road = RoadSpec(style=seed % 5, seed=1000 + seed, turn=TURNS[seed % 4])
    scene = load_scene(SceneSpec("generated_road", road=road))
    course, driver = Course(scene), PathFollower(scene, CAR, "steady")
    hits, off_road, worst, steps = set(), 0, 0.0, 0
    while course.ledger.lap[0] <= 1 and steps < 20_000:
        seen = course.drive(driver, seconds=0.05)
        hits, off_road, steps = hits | seen.hits, off_road + seen.off_road, steps + 1
        worst = max(worst, abs(float(course.ledger.offset[0])))
    print("\n" + json.dumps({"case": "random_road", "road": str(road), "cte_m": round(worst, 3), "s": steps / 20}))
    assert course.ledger.lap[0] == 2
    assert (hits, off_road) == (set(), 0)
    assert worst < 0.3


def test_a_server_makes_thirty_roads_without_growing_or_falling_silent():
    with SimulatorProcess("--scene", "generated_road") as simulator, contextlib.ExitStack() as stack:
        clients = [stack.enter_context(WireClient(simulator.address, seconds=120.0)) for _ in range(3)]
        for client in clients:
            client.read_until("telemetry")
        process, memory, gaps, waits = psutil.Process(simulator.process.pid), [], [], []
        for number in range(30):
            asks = {"msg_type": "regen_road", "road_style": str(number % 5), "rand_seed": str(number)}
            clients[number % 3].send(asks)
            begin = last = time.perf_counter()
            while clients[0].read_until("telemetry", "error")["reset_count"] <= number:
                gaps.append(time.perf_counter() - last)
                last = time.perf_counter()
            waits.append(time.perf_counter() - begin)
            for client in clients[1:]:
                while client.read_until("telemetry")["reset_count"] <= number:
                    pass
            memory.append(process.memory_info().rss / 2**20)
        figures = {"rss_mib": [round(m) for m in memory[::5]], "longest_gap_s": round(max(gaps), 3)}
        print(
            "\n" + json.dumps({"case": "regen_road", **figures, "wait_s": [round(min(waits), 2), round(max(waits), 2)]})
        )
    assert max(memory[15:]) < max(memory[5:15]) + 60.0
