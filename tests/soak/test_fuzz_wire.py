"""Millions of made-up messages: through framing and session, and through sockets against a real server.

FUZZ_MESSAGES, FUZZ_SOCKET_MESSAGES and FUZZ_SEED say how many and which; FUZZ_WORKERS how many processes.
"""

import itertools
import json
import math
import os
import statistics
import threading
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

import pytest

from e2e.simulator_process import SimulatorProcess
from e2e.wire_client import WireClient
from wire.fuzzing import PING, Maker, Tally, run_shard
from wire.hostile import REAL

pytestmark = pytest.mark.soak

SEED = int(os.environ.get("FUZZ_SEED", "13"))
MESSAGES = int(os.environ.get("FUZZ_MESSAGES", "1_000_000"))
SOCKET_MESSAGES = int(os.environ.get("FUZZ_SOCKET_MESSAGES", "100_000"))
WORKERS = int(os.environ.get("FUZZ_WORKERS", "0")) or os.cpu_count()
SHARD_MESSAGES = 100_000
CLIENTS = 4
BURST_MESSAGES = 25


def report(case, **figures):
    print("\n" + json.dumps({"case": case, "seed": SEED, **figures}))


def test_made_up_messages_leave_sessions_quick_valid_and_awake():
    began, whole = time.perf_counter(), Tally()
    shards = [
        (SEED * 1_000_000_000 + first, min(SHARD_MESSAGES, MESSAGES - first))
        for first in range(0, MESSAGES, SHARD_MESSAGES)
    ]
    with ProcessPoolExecutor(WORKERS, get_context("spawn")) as pool:
        for done in as_completed([pool.submit(run_shard, *shard) for shard in shards]):
            whole.add(done.result())
    seconds = round(time.perf_counter() - began)
    longest = round(whole.longest * 1e3, 2)
    figures = {"messages": whole.sent, "requests": whole.requests, "errors": whole.errors, "longest_call_ms": longest}
    report("fuzz", **figures, seconds=seconds, workers=WORKERS)
    assert whole.sent == MESSAGES
    assert whole.requests > MESSAGES // 10


def tell_lies(address, seed, count, faults):
    """Send made-up messages in bursts, each with a good one at its end that must be answered."""
    maker, sent = Maker(seed, REAL), 0
    while sent < count:
        try:
            with WireClient(address, seconds=60) as client:
                while sent < count:
                    burst = [maker.make() for _ in range(BURST_MESSAGES)]
                    sent += len(burst)
                    client.socket.sendall(b"".join(burst) + PING)
                    client.read_until("protocol_version", seconds=60)
        except (ConnectionError, EOFError):
            pass  # it was sent away, as one who speaks HTTP or says too much at once is
        except (TimeoutError, AssertionError, ValueError) as error:
            faults.append(f"client {seed} after {sent} messages: {error!r}")
            return


def drive_honestly(address, stop, moments, faults):
    """Answer telemetry with controls; note when it came, and what is wrong with it."""
    with WireClient(address, seconds=60) as client:
        while not stop.is_set():
            message = client.read()
            if message["msg_type"] == "telemetry":
                moments.append(time.perf_counter())
                faults += [text for text in [find_fault(message)] if text]
                client.send({"msg_type": "control", "steering": "0.1", "throttle": "0.1"})


def find_fault(telemetry):
    """Return what is not valid about a telemetry, "" for nothing."""
    bad = [name for name, value in telemetry.items() if isinstance(value, float) and not math.isfinite(value)]
    is_far = max(abs(telemetry[name]) for name in ("pos_x", "pos_y", "pos_z")) > 1e5
    return f"{bad} not finite, or too far: {telemetry}" if bad or is_far else ""


def test_made_up_messages_through_sockets_harm_neither_the_server_nor_an_honest_client():
    stop, faults, moments = threading.Event(), [], []
    with SimulatorProcess("--scene", "generated_track") as simulator:
        with WireClient(simulator.address) as client:
            client.read_until("telemetry")  # the kernels are compiled now
        honest = threading.Thread(target=drive_honestly, args=(simulator.address, stop, moments, faults))
        share = -(-SOCKET_MESSAGES // CLIENTS)
        liars = [
            threading.Thread(target=tell_lies, args=(simulator.address, SEED + number, share, faults))
            for number in range(CLIENTS)
        ]
        began = time.perf_counter()
        for thread in (honest, *liars):
            thread.start()
        for thread in liars:
            thread.join()
        seconds = time.perf_counter() - began
        stop.set()
        honest.join(60)
        with WireClient(simulator.address) as client:
            after = [client.read_until("telemetry") for _ in range(20)]
        gaps = [later - earlier for earlier, later in itertools.pairwise(moments)]
        rate = len(moments) / seconds
        figures = {"messages": share * CLIENTS, "seconds": round(seconds), "honest_rate": round(rate, 2)}
        report("socket fuzz", **figures, gap_median=statistics.median(gaps), gap_max=max(gaps), faults=faults[:3])
        assert faults == []
        assert not any(find_fault(message) for message in after)
        assert not any("Traceback" in line for line in simulator.lines)
        assert max(gaps) < 5.0
        assert simulator.interrupt() == 0
