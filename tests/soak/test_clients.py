"""Long runs against a real server: steady rates for many, chaos, real-time laps. Results are printed as JSON lines."""

import contextlib
import itertools
import json
import random
import selectors
import socket
import statistics
import threading
import time

import psutil
import pytest

from e2e.gym_client import GymClient
from e2e.simulator_process import SimulatorProcess
from e2e.test_drive_laps import CONFIGURATION, check_drive, drive_laps
from e2e.wire_client import WireClient
from wire.hostile import make_hostile

pytestmark = pytest.mark.soak

CONTROL = b'{"msg_type": "control", "steering": "0.1", "throttle": "0.1", "brake": "0.0"}'


def report(case, **figures):
    print("\n" + json.dumps({"case": case, **figures}))


def watch_telemetry(sockets, seconds):
    """Read all clients, answer each telemetry with a control; return the moments at which each got telemetry."""
    moments = [[] for _ in sockets]
    rests = [b"" for _ in sockets]
    begin = end = None
    with selectors.DefaultSelector() as selector:
        for index, connection in enumerate(sockets):
            connection.setblocking(False)
            selector.register(connection, selectors.EVENT_READ, index)
        while end is None or time.perf_counter() < end:
            for key, _ in selector.select(0.1):
                *lines, rests[key.data] = (rests[key.data] + key.fileobj.recv(1 << 18)).split(b"\n")
                for line in lines:
                    if line.startswith(b'{"msg_type":"telemetry"'):
                        moments[key.data].append(time.perf_counter())
                        key.fileobj.sendall(CONTROL)
            if end is None and all(moments):
                begin = time.perf_counter() + 2.0
                end = begin + seconds
    return [[moment for moment in own if moment >= begin] for own in moments]


@pytest.mark.parametrize("count", [16])
def test_many_clients_get_a_steady_twenty_telemetries_a_second(count):
    with SimulatorProcess("--scene", "generated_track") as simulator:
        sockets = [socket.create_connection(simulator.address) for _ in range(count)]
        moments = watch_telemetry(sockets, 60.0)
        for connection in sockets:
            connection.close()
    rates = [(len(own) - 1) / (own[-1] - own[0]) for own in moments]
    gaps = [b - a for own in moments for a, b in itertools.pairwise(own)]
    within = sum(0.040 <= gap <= 0.060 for gap in gaps) / len(gaps)
    report(
        "telemetry",
        clients=count,
        rate_min=min(rates),
        rate_max=max(rates),
        gaps_within_10_ms=within,
        gap_max=max(gaps),
    )
    assert min(rates) >= 19.8
    assert max(rates) <= 20.2
    assert within >= 0.99


def test_three_laps_in_real_time():
    with SimulatorProcess() as simulator:
        client = GymClient(simulator.address, configuration=CONFIGURATION)
        seen = drive_laps(client, 3)
        mean = check_drive(seen, client, 3)
        report("laps", lap_times=client.lap_times, mean_speed=mean, steps=len(seen))
        client.close()
        assert simulator.interrupt() == 0


def behave_badly(address, seed, stop, faults):
    """Connect, drive, reset, send nonsense, leave scenes and vanish in the middle of a message, again and again."""
    source = random.Random(seed)
    while not stop.is_set():
        try:
            with WireClient(address, seconds=30) as client:
                for _ in range(source.randint(1, 40)):
                    act_badly(client, source)
                    client.read()
                client.socket.sendall(b'{"msg_type":"control","stee')
                if source.random() < 0.5:
                    client.vanish()
        except (ConnectionError, EOFError):
            pass
        except (TimeoutError, AssertionError, ValueError) as error:
            faults.append(f"client {seed}: {error!r}")


def act_badly(client, source):
    kind = source.random()
    if kind < 0.6:
        client.send({"msg_type": "control", "steering": str(source.uniform(-1, 1)), "throttle": str(source.random())})
    elif kind < 0.7:
        client.send({"msg_type": "reset_car"})
    elif kind < 0.7001:
        client.send({"msg_type": "exit_scene"}, {"msg_type": "load_scene", "scene_name": "generated_track"})
    elif kind < 0.9:
        client.socket.sendall(make_hostile(source) + b"\n")
    else:
        client.send({"msg_type": "get_scene_names"}, {"msg_type": "load_scene", "scene_name": "generated_track"})


def drive_well(address, stop, counts, faults):
    """A client that always behaves: it loads the scene when asked to and must see its own control come back."""
    with WireClient(address, seconds=30) as client:
        steering = 0.0
        while not stop.is_set():
            message = client.read()
            if message["msg_type"] == "scene_selection_ready":
                client.send({"msg_type": "load_scene", "scene_name": "generated_track"})
            elif message["msg_type"] == "telemetry":
                counts.append(time.perf_counter())
                if message["steering_angle"] not in (0.0, steering):
                    faults.append(f"steering {message['steering_angle']} after {steering}")
                client.send({"msg_type": "control", "steering": str(steering), "throttle": "0.1"})
                steering = 0.25
            elif message["msg_type"] == "error" and "exit_scene" not in message["error"]:
                faults.append(message["error"])


def run_chaos(client_count, seconds):
    stop, faults, counts = threading.Event(), [], []
    with SimulatorProcess("--scene", "generated_track", "--max-cars", "64") as simulator:
        with WireClient(simulator.address) as client:
            client.read_until("telemetry")
        process = psutil.Process(simulator.process.pid)
        memory = []
        threads = [
            threading.Thread(target=behave_badly, args=(simulator.address, seed, stop, faults))
            for seed in range(client_count)
        ]
        threads.append(threading.Thread(target=drive_well, args=(simulator.address, stop, counts, faults)))
        for thread in threads:
            thread.start()
        for _ in range(10):
            time.sleep(seconds / 10)
            memory.append(process.memory_info().rss / 1e6)
        stop.set()
        for thread in threads:
            thread.join(60)
        files = process.num_fds() if hasattr(process, "num_fds") else 0
        with WireClient(simulator.address) as client:
            if client.read()["msg_type"] == "scene_selection_ready":
                client.send({"msg_type": "load_scene", "scene_name": "generated_track"})
            client.read_until("telemetry")
        traceback = next((index for index, line in enumerate(simulator.lines) if "Traceback" in line), None)
        assert traceback is None, "\n".join(simulator.lines[traceback : traceback + 30])
        assert simulator.interrupt() == 0
    return faults, counts, memory, files


def test_sixty_four_clients_in_chaos_harm_nobody():
    faults, counts, memory, files = run_chaos(63, 120.0)
    gaps = [b - a for a, b in itertools.pairwise(counts)]
    figures = {"telemetries": len(counts), "gap_median": statistics.median(gaps), "gap_max": max(gaps)}
    report("chaos", clients=64, memory_MB=memory, open_files=files, faults=faults[:5], **figures)
    assert faults == []
    assert len(counts) > 120 * 20 * 0.3
    assert files < 64, "closed connections are really closed"
    assert statistics.mean(memory[-3:]) < statistics.mean(memory[2:5]) * 1.15 + 20, "no leak"


def test_a_client_that_never_reads_is_disconnected_after_thirty_seconds():
    with (
        SimulatorProcess("--scene", "generated_track", "--time-scale", "4") as simulator,
        contextlib.ExitStack() as stack,
    ):
        deaf = [stack.enter_context(WireClient(simulator.address)) for _ in range(2)]
        deaf[0].send({"msg_type": "cam_config", "img_w": "512", "img_h": "512", "img_enc": "TGA"})
        listener = stack.enter_context(WireClient(simulator.address))
        listener.read_until("telemetry")  # the kernels are compiled now
        begin = time.monotonic()
        while time.monotonic() < begin + 45:
            listener.read_until("telemetry")
        for client in deaf:
            started = time.monotonic()
            assert client.is_closed()
            assert time.monotonic() - started < 5
