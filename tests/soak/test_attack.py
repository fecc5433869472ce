"""An honest client on a server under attack: ten and fifty hostile clients at 4,000 messages a second in all."""

import itertools
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from e2e.simulator_process import SimulatorProcess
from e2e.wire_client import WireClient
from soak.test_clients import report

pytestmark = pytest.mark.soak

SECONDS = float(os.environ.get("DONKEYSIM_ATTACK_SECONDS", "600"))
ATTACKERS = Path(__file__).with_name("attackers.py")
CONTROL = {"msg_type": "control", "steering": "0.1", "throttle": "0.1", "brake": "0.0"}


def drive_honestly(client, seconds):
    """Answer each telemetry with a control; return the moments at which they came."""
    moments = []
    deadline = time.perf_counter() + seconds
    while time.perf_counter() < deadline:
        client.read_until("telemetry")
        moments.append(time.perf_counter())
        client.send(CONTROL)
    return moments


@pytest.mark.parametrize("attackers", [10, 50])
def test_an_honest_client_does_not_feel_an_attack(attackers, tmp_path):
    log = tmp_path / "log.txt"
    with (
        SimulatorProcess("--scene", "generated_track", "-logFile", str(log)) as simulator,
        WireClient(simulator.address) as honest,
    ):
        drive_honestly(honest, 5.0)
        server = psutil.Process(simulator.process.pid)
        command = [sys.executable, str(ATTACKERS), str(simulator.address[1]), str(attackers), str(SECONDS + 10.0)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as attack:
            moments, memory = [], []
            drive_honestly(honest, 5.0)
            for _ in range(10):
                moments += drive_honestly(honest, SECONDS / 10)
                memory.append(server.memory_info().rss / 1e6)
            sent = json.loads(attack.communicate()[0])
        size = log.stat().st_size + sum(map(len, simulator.lines))
        assert simulator.interrupt() == 0
    gaps = [later - earlier for earlier, later in itertools.pairwise(moments)]
    rate = (len(moments) - 1) / (moments[-1] - moments[0])
    within = sum(0.035 <= gap <= 0.065 for gap in gaps) / len(gaps)
    figures = {"rate": rate, "gaps_within_15_ms": within, "gap_median": statistics.median(gaps), "gap_max": max(gaps)}
    report("attack", attackers=attackers, **figures, memory_MB=memory, log_bytes=size, sent=sent)
    assert 19.8 <= rate <= 20.2
    assert within >= 0.99
    assert max(gaps) <= 0.1
    assert statistics.mean(memory[-3:]) < statistics.mean(memory[2:5]) * 1.05 + 10, "no leak"
    assert size < 1e6
    assert sum(sent.values()) > 1000 * SECONDS, "the attackers really attacked"
