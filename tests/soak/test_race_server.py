"""Races over the network: 16 clients of another process, two of them hostile; each race can be counted again."""

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from donkeysim.car.config import make_default_config
from donkeysim.drive.remote_car import RemoteSimulatedCar
from donkeysim.drive.simulator_settings import read_settings
from donkeysim.racing.run.race_file import load_report
from donkeysim.racing.run.verify import verify_race
from donkeysim.record.replay import Replay
from e2e.gym_client import GymClient, LaneKeeper
from e2e.simulator_process import SimulatorProcess

pytestmark = pytest.mark.soak

CLIENTS = Path(__file__).with_name("racing_clients.py")
CLUB = """title = "Club"
summary = "All together."
source = "these tests"
date = "2026-11-22"
cars = 24

[start]
settle = 0.5
countdown = 1.0

[race]
limit = {limit}

[[penalty]]
incidents = ["rear_end", "backed_into", "contact", "cut"]
seconds = 5.0

[[penalty]]
incidents = ["stuck", "rescued", "put_back"]
put_back = "path"
"""
RACES = int(os.environ.get("DONKEYSIM_RACES", "100"))


class RaceServer(SimulatorProcess):
    """`donkey race host`, ended with the block."""

    command = ("donkeysim", "race", "host")


def hold(folder, track, limit, count, hostile, *options):
    """Hold races of so many clients until the server ends; return what each client was told.

    Args:
        folder: For the files.
        track: Where.
        limit: Of a race [s]; for more than three laps it grows with them.
        count: Clients, `hostile` of them so.
        hostile: At most 2.
        options: Of the server.
    """
    book = folder / "club.toml"
    book.write_text(CLUB.format(limit=limit))
    shared = ("--track", track, "--rules", str(book), "--cars", str(count), "--out", str(folder))
    with RaceServer(*shared, *options) as server:
        words = [sys.executable, str(CLIENTS), str(server.address[1]), track, str(count), str(hostile), "3000"]
        clients = subprocess.run(words, capture_output=True, text=True, timeout=3200, check=False)
        print("\n".join(server.lines[-40:]))
        assert server.wait() == 0, server.lines[-20:]
    assert clients.returncode == 0, clients.stderr[-2000:]
    return {told["number"]: told["told"] for told in map(json.loads, clients.stdout.splitlines())}


@pytest.mark.timeout(3600)
def test_sixteen_clients_race_ten_laps_and_two_hostile_ones_spoil_nothing(tmp_path):
    scale = os.environ.get("DONKEYSIM_RACE_SCALE", "1")
    options = ("--races", "1", "--laps", "10", "--time-scale", scale, "--training-telemetry")
    told = hold(tmp_path, "generated_track", 120.0, 16, 2, *options)
    result = load_report(tmp_path / "race.json").result
    honest = [placing for placing in result.placings if int(placing.name.split()[1]) < 14]
    assert [placing.status for placing in honest] == ["finished"] * 14, result.placings
    assert verify_race(tmp_path / "race.dlog").is_confirmed
    assert all(told[number]["race_start"] == told[number]["race_stop"] == 1 for number in range(14))


@pytest.mark.timeout(3600)
def test_a_hundred_short_races_are_counted_again_and_every_pose_is_replayed(tmp_path):
    options = ("--races", str(RACES), "--laps", "1", "--pause", "1", "--time-scale", "6", "--training-telemetry")
    hold(tmp_path, "reading_room", 40.0, 16, 2, *options)
    confirmed = 0
    for number in range(1, RACES + 1):
        found = verify_race(tmp_path / ("race.dlog" if number == 1 else f"race-{number}.dlog"))
        confirmed += found.is_confirmed
        assert found.is_confirmed, (number, found.list_complaints())
    print(f"{confirmed} of {RACES} races: the recount equals the result, every frame is identical")
    first, again = (Replay(tmp_path / "race.dlog") for _ in range(2))
    for _ in zip(first.play(), again.play(), strict=True):
        assert np.array_equal(first.simulator.ledger.position, again.simulator.ledger.position)
        assert np.array_equal(first.simulator.ledger.orientation, again.simulator.ledger.orientation)


ORIGINAL = (
    {"msg_type": "cam_config", "fov": "0", "fish_eye_x": "0", "fish_eye_y": "0", "img_w": "80", "img_h": "60",
     "img_d": "3", "img_enc": "JPG", "offset_x": "0", "offset_y": "0", "offset_z": "0", "rot_x": "0"},
    {"msg_type": "car_config", "body_style": "donkey", "body_r": "9", "body_g": "9", "body_b": "200"},
)  # fmt: skip
"""What gym-donkeycar says of its car; without a name, so that we give it one."""


def drive_two_races(client):
    """Drive a client of the original's environment until it has heard of the end of two races."""
    client.wait_until_loaded()
    pilot, stops = LaneKeeper(speed=1.4), 0
    client.reset()  # as an environment begins
    while stops < 2 and not client.aborted:  # with the last race the server goes
        client.drive(*pilot.decide(client.telemetry))
        time.sleep(0.05)
        stops = sum(event["msg_type"] == "race_stop" for event in client.events)
    assert stops == 2, client.events[-10:]


@pytest.mark.timeout(600)
def test_clients_of_the_original_and_our_drive_loop_race_twice(tmp_path):
    book = tmp_path / "club.toml"
    book.write_text(CLUB.format(limit=60.0).replace("countdown = 1.0", "countdown = 1.0\nholds = true"))
    options = ("--track", "generated_track", "--rules", str(book), "--cars", "3", "--laps", "1", "--races", "2")
    with (
        RaceServer(*options, "--pause", "1", "--training-telemetry", "--out", str(tmp_path)) as server,
        ThreadPoolExecutor(3) as threads,
    ):
        changes = {"DONKEY_GYM": True, "DONKEY_SIM_PATH": "remote", "SIM_PORT": server.address[1]}
        changes |= {
            "GYM_CONF": {"car_name": "ours", "guid": "ours-1"},
            "DONKEY_GYM_ENV_NAME": "donkey-generated-track-v0",
        }
        ours = RemoteSimulatedCar(read_settings(make_default_config(changes=changes)))
        threads.submit(ours.update)
        clients = [GymClient(server.address, configuration=ORIGINAL) for _ in range(2)]
        drives = [threads.submit(drive_two_races, client) for client in clients]
        pilot = LaneKeeper(speed=1.2)
        try:
            while not any(drive.done() and drive.exception() for drive in drives) and server.process.poll() is None:
                sensed = ours.run_threaded(0.0, 0.0)
                if sensed is not None:
                    ours.run_threaded(*pilot.decide({"cte": sensed[1].cte, "speed": sensed[1].speed}))
                time.sleep(0.05)
            for drive in drives:
                drive.result()
            assert server.wait() == 0, server.lines[-20:]
        finally:
            ours.shutdown()
    for number in ("race", "race-2"):
        result = load_report(tmp_path / f"{number}.json").result
        status = {placing.name: placing.status for placing in result.placings}
        assert list(status.values()).count("finished") >= 2, "after a crash one may have lost its way"
        assert "ours" in status, "it has survived that its car was taken off"
        assert verify_race(tmp_path / f"{number}.dlog").is_confirmed
