"""`donkey rl` at length: seeds, teachers, a kill, and its pilots wherever a pilot drives.

DONKEYSIM_RL_SEEDS names the seeds ("0 1 2 3 4" unless told); `-k` chooses among the tests. Figures depend on the
machine and what else it does; the limits are those that two cores with nothing else to do must keep.
"""

import itertools
import json
import os
import signal
import subprocess
import sys
import time

import pytest
from websockets.sync.client import connect

from donkeysim.drivers.path_follower import PathFollower
from donkeysim.envs.donkey_env import DonkeyEnv
from donkeysim.learn.pilot import load_pilot
from donkeysim.rl.curve import read_curve
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import SceneSpec, WorldSpec
from e2e.car_process import CarProcess, make_car, say
from e2e.simulator_process import SimulatorProcess

pytestmark = [pytest.mark.soak, pytest.mark.timeout(0)]

SEEDS = [int(seed) for seed in os.environ.get("DONKEYSIM_RL_SEEDS", "0 1 2 3 4").split()]

WAYS = {"": 600.0, "learned": 240.0, "expert": 90.0}
"""Teachers, and the longest time from the command to a policy that drives ten laps [s]."""

LAPS = 3
"""To drive in real time."""


def list_words(folder, *options):
    """The command as one types it."""
    return [sys.executable, "-m", "donkeysim", "rl", "--page", "0", "--out", str(folder), *options]


def read_summary(folder):
    """The figures that it leaves."""
    return json.loads((folder / "summary.json").read_bytes())


def print_figures(**figures):
    """One line of JSON."""
    print(json.dumps(figures))


def measure_chatter(style):
    """Mean change of the path follower's steering from one picture to the next."""
    simulator = Simulator(WorldSpec(scene=SceneSpec("generated_track")))
    simulator.compile()
    car = simulator.add_car()
    driver, steering = PathFollower(simulator.scene, simulator.car_spec, style), []
    for _ in range(1200):
        action = driver.drive(simulator.ledger, car)
        steering.append(action.steer)
        simulator.drive_car(car, *action)
        simulator.step()
    simulator.close()
    return sum(abs(now - before) for before, now in itertools.pairwise(steering)) / len(steering)


@pytest.mark.parametrize("teacher", WAYS)
def test_every_seed_learns_to_drive_ten_laps(teacher, tmp_path):
    taken, limit = [], WAYS[teacher]
    most = 2.0 * measure_chatter("fast")
    for seed in SEEDS:
        folder, begun = tmp_path / f"{teacher}{seed}", time.perf_counter()
        options = ("--seed", str(seed), *(("--teacher", teacher) if teacher else ()))
        with subprocess.Popen(list_words(folder, *options), stdout=subprocess.PIPE, text=True) as program:
            driven_at = next((time.perf_counter() for line in program.stdout if "It drives" in line), None)
            program.communicate()
        summary = read_summary(folder)
        (check,) = summary["checks"]
        taken.append(driven_at - begun if driven_at else float("inf"))
        print_figures(
            case="rl", teacher=teacher or "none", seed=seed, seconds=round(taken[-1], 1), steps=summary["steps"],
            speed=round(check["speed"], 2), chatter=round(check["chatter"], 4), chatter_most=round(most, 4),
            laps=round(check["laps"], 1), report=program.returncode,
        )  # fmt: skip
        judged = [sys.executable, "-m", "donkeysim", "evaluate", "--laps", "10", "--seed", "5", "--model"]
        assert summary["is_passed"]
        assert check["chatter"] <= most
        assert subprocess.run([*judged, str(folder / "pilot.h5")], cwd=tmp_path, check=False).returncode == 0
    print_figures(case="rl", teacher=teacher or "none", median=round(sorted(taken)[len(taken) // 2], 1))
    assert max(taken) <= limit


def test_a_killed_program_goes_on(tmp_path):
    """Killed at half time; both sittings together take at most a tenth longer than one that nobody kills.

    The time of a sitting is what the program counts: from the command on, its start included.
    """
    tracks = ("generated_track", "harbour_town", "carpet_hall", "hill_circuit")
    task = ("--track", *tracks, "--speed", "0.6", "--laps", "1", "--minutes", "10")
    assert subprocess.run(list_words(tmp_path / "whole", *task), check=False).returncode == 0
    whole = read_summary(tmp_path / "whole")["seconds"]
    folder = tmp_path / "killed"
    with subprocess.Popen(list_words(folder, *task)) as program:
        time.sleep(0.5 * whole)
        program.send_signal(signal.SIGKILL)
    words = [sys.executable, "-m", "donkeysim", "rl", "--page", "0", "--resume", str(folder), "--minutes", "10"]
    begun = time.perf_counter()
    assert subprocess.run(words, check=False).returncode == 0
    summary = read_summary(folder)
    together = summary["seconds"]
    print_figures(case="rl_killed", whole=whole, together=together, second=round(time.perf_counter() - begun, 1))
    assert summary["sittings"] == 2
    assert together <= 1.1 * whole


def test_a_run_leaves_a_pilot_and_goes_on_where_it_stopped(tmp_path):
    folder, quick = tmp_path / "out", ("--cars", "8", "--laps", "1", "--minutes", "0.2")
    assert subprocess.run(list_words(folder, *quick), check=False).returncode == 1
    first = read_summary(folder)
    assert not first["is_passed"]
    assert load_pilot(folder / "pilot.onnx").kind == load_pilot(folder / "pilot.h5").kind == "memory"
    assert (folder / "report.html").stat().st_size > 10_000
    words = [sys.executable, "-m", "donkeysim", "rl", "--page", "0", "--resume", str(folder), "--minutes", "0.5"]
    assert subprocess.run(words, check=False).returncode == 1
    again = read_summary(folder)
    assert again["steps"] > first["steps"]
    assert again["sittings"] == 2
    assert read_curve(folder / "curve.jsonl")[-1].steps == again["steps"]
    refused = subprocess.run(list_words(folder), capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert "--resume" in refused.stderr


@pytest.fixture(scope="module")
def pilot(tmp_path_factory):
    """A pilot that was just taught."""
    folder = tmp_path_factory.mktemp("pilot") / "out"
    assert subprocess.run(list_words(folder), check=False).returncode == 0
    return folder / "pilot.h5"


def test_the_pilot_drives_through_the_wire(pilot):
    driver = load_pilot(pilot)
    with SimulatorProcess() as simulator:
        env = DonkeyEnv(conf={"port": simulator.address[1], "max_cte": 100.0})
        picture, info = env.reset()
        laps, was_on_road = 0, True
        for _ in range(20 * 60):
            picture, _, ended, _, info = env.step(driver.run(picture))
            was_on_road &= env.telemetry.on_road
            laps = info["lap_count"]
            if ended or laps >= LAPS:
                break
        env.close()
    print_figures(case="rl_wire", laps=laps, last_lap=info["last_lap_time"])
    assert laps >= LAPS
    assert was_on_road


@pytest.mark.parametrize("is_remote", [False, True], ids=["in this process", "behind the wire"])
def test_the_pilot_drives_a_car_in_real_time(pilot, tmp_path, is_remote):
    with SimulatorProcess() as simulator:
        remote = f'DONKEY_SIM_PATH = "remote"\nSIM_PORT = {simulator.address[1]}\n' if is_remote else ""
        folder = make_car(tmp_path / "car", remote)
        with CarProcess(folder, "--model", str(pilot)) as car:
            address = car.wait_for(r"You can now go to http://(\S+) to drive your car")[1]
            with connect(f"ws://{address}/wsDrive?reports=1", proxy=None, close_timeout=0) as socket:
                say(socket, drive_mode="local")
                reports, begun = [], time.monotonic()
                while not reports or reports[-1]["lap_count"] < LAPS:
                    report = json.loads(socket.recv(10)).get("report")
                    reports += [report] if report else []
                    assert time.monotonic() - begun < 120, reports[-1]
            assert car.end() == 0
    rate = sorted(report["rate"] for report in reports[20:])[len(reports) // 2 - 10]
    print_figures(case="rl_drive", remote=is_remote, laps=reports[-1]["lap_times"], rate=rate)
    told = [report["on_road"] for report in reports if report["on_road"] is not None]  # None: nothing was heard yet
    assert told
    assert all(told)
    assert rate == pytest.approx(20.0, rel=0.05)
