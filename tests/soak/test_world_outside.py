"""A server that is stopped for a minute, and one that may open few files: what its clients and its log see of it."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from e2e.simulator_process import SimulatorProcess
from e2e.wire_client import WireClient

pytestmark = [pytest.mark.soak, pytest.mark.timeout(600), pytest.mark.skipif(os.name == "nt", reason="POSIX signals")]

STOPPED_SECONDS = float(os.environ.get("STOPPED", "60"))
OPEN_FILES = 40
CONTROL = {"msg_type": "control", "steering": "0.0", "throttle": "0.2", "brake": "0.0"}


def begin(simulator):
    client = WireClient(simulator.address)
    client.read_until("telemetry", seconds=300.0)
    return client


def stop(simulator, seconds):
    simulator.process.send_signal(signal.SIGSTOP)
    time.sleep(seconds)
    simulator.process.send_signal(signal.SIGCONT)


def read_times(client, seconds):
    """Drive for so long; return the simulated times of the telemetries."""
    times, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        client.send(CONTROL)
        times.append(client.read_until("telemetry")["time"])
    return times


def test_a_server_stopped_for_a_minute_neither_rushes_nor_sends_anybody_away():
    with SimulatorProcess("--scene", "generated_track", "--idle-timeout", "30") as simulator:
        driver, silent = begin(simulator), begin(simulator)
        half = begin(simulator)
        before = read_times(driver, 3.0)[-1]
        half.socket.sendall(b'{"msg_type":"con')  # the rest comes after the pause
        stop(simulator, STOPPED_SECONDS)
        half.socket.sendall(b'trol","steering":"0","throttle":"0","brake":"0"}')
        after = read_times(driver, 5.0)
        assert after[0] - before < 1.0, "the simulation has made up for the pause"
        assert 4.0 < after[-1] - before < 6.5
        for client in (silent, half):
            client.socket.settimeout(10.0)
            while client.read_until("telemetry")["time"] <= before:  # what lay in the system's buffers
                pass
        quiet = [line for line in simulator.lines if "WARNING" in line or "ERROR" in line]
        assert quiet == []
        for client in (driver, silent, half):
            client.vanish()


def measure_processor(process):
    """Return the processor time of a process [s]."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="reads /proc")
def test_a_server_that_may_open_few_files_stays_calm_and_takes_clients_again():
    with SimulatorProcess("--scene", "generated_track") as simulator:
        driver = begin(simulator)
        subprocess.run(["prlimit", f"--nofile={OPEN_FILES}", "--pid", str(simulator.process.pid)], check=True)
        crowd = [WireClient(simulator.address) for _ in range(2 * OPEN_FILES)]
        spent = measure_processor(simulator.process)
        times = read_times(driver, 10.0)
        spent = measure_processor(simulator.process) - spent
        assert spent < 9.0, "it spins"
        assert times[-1] - times[0] > 7.0
        told = [line for line in simulator.lines if "ERROR" in line or "Traceback" in line]
        assert len(told) == 1, told
        assert "Too many open files; close" in told[0]
        for client in crowd:
            client.vanish()
        begin(simulator).vanish()
        driver.vanish()
        print(f"\n{spent / 10.0:.2f} of a processor with {len(crowd)} clients and {OPEN_FILES} open files")
