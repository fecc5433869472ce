"""256 connected clients: 32 drive at 20 Hz, the others come and go at random; every driver keeps its rate."""

import itertools
import os
import random
import selectors
import socket
import time
from multiprocessing import get_context

import pytest

from e2e.simulator_process import SimulatorProcess
from soak.test_clients import report, watch_telemetry

pytestmark = pytest.mark.soak

SECONDS = float(os.environ.get("DONKEYSIM_CROWD_SECONDS", "1800"))
DRIVERS, OTHERS = 32, 224
STAY_SECONDS = 30.0
"""On average, of those that come and go."""


def come_and_go(port, seconds, seed):
    """Keep so many connections, each of which ends at a random time and begins again; return how often."""
    source, selector = random.Random(seed), selectors.DefaultSelector()
    begin, visits, ends = time.monotonic(), 0, []
    while (now := time.monotonic()) < begin + seconds:
        while len(ends) < OTHERS:
            connection = socket.create_connection(("127.0.0.1", port))
            connection.setblocking(False)
            selector.register(connection, selectors.EVENT_READ)
            ends.append((now + source.expovariate(1.0 / STAY_SECONDS), connection))
            visits += 1
        for key, _ in selector.select(0.05):
            if not key.fileobj.recv(1 << 18):
                raise AssertionError("the server sent a client away")
        for end, connection in [pair for pair in ends if pair[0] < now]:
            selector.unregister(connection)
            connection.close()
            ends.remove((end, connection))
    return visits


def test_thirty_two_drivers_keep_their_rate_among_two_hundred_who_come_and_go():
    with SimulatorProcess("--scene", "generated_track") as simulator, get_context("spawn").Pool(1) as pool:
        drivers = [socket.create_connection(simulator.address) for _ in range(DRIVERS)]
        watch_telemetry(drivers, 3.0)
        others = pool.apply_async(come_and_go, (simulator.address[1], SECONDS + 10.0, 1))
        watch_telemetry(drivers, 5.0)
        moments = watch_telemetry(drivers, SECONDS)
        visits = others.get(60)
        for connection in drivers:
            connection.close()
        assert simulator.interrupt() == 0
    rates = [(len(own) - 1) / (own[-1] - own[0]) for own in moments]
    gaps = sorted(b - a for own in moments for a, b in itertools.pairwise(own))
    figures = {
        "rate_min": min(rates),
        "rate_max": max(rates),
        "gap_max": gaps[-1],
        "gap_99": gaps[len(gaps) * 99 // 100],
    }
    report("crowd", drivers=DRIVERS, others=OTHERS, visits=visits, **figures)
    assert min(rates) >= 19.7
    assert max(rates) <= 20.3
    assert visits > OTHERS * (1.0 + 0.5 * SECONDS / STAY_SECONDS)
