"""Telemetry and lock-step exchanges per second over TCP, as one client sees them, and what a control costs."""

import statistics
import time
from typing import cast

from benchmarks.measure import Figure
from benchmarks.program import Client, Program
from donkeysim.serve.session import Session
from donkeysim.sim.simulator import Simulator
from donkeysim.wire.settings import make_command

TELEMETRY = b'{"msg_type":"telemetry"'


def run() -> list[Figure]:
    """Measure a free-running server at full speed, and lock-step with one client."""
    with Program("--scene", "generated_track", "--time-scale", "max") as program:
        client = Client(program.port)
        client.wait_for("telemetry")
        rates = [_count_telemetry(client, 2.0) for _ in range(5)]
        client.close()
    with Program("--scene", "generated_track") as program:
        client = Client(program.port)
        client.wait_for("telemetry")
        client.send(msg_type="step_mode", step_mode="synchronous", time_step="0.05")
        _drain(client)
        exchanges = [_count_exchanges(client, 2.0) for _ in range(5)]
        client.send(msg_type="cam_config", img_w="64", img_h="64")
        _count_exchanges(client, 0.5)
        small = [_count_exchanges(client, 2.0) for _ in range(5)]
        client.close()
    return [
        Figure(
            "wire", "TCP telemetry messages, one client, full speed", statistics.median(rates), max(rates), "messages/s"
        ),
        Figure(
            "wire",
            "lock-step exchanges, one client",
            statistics.median(exchanges),
            max(exchanges),
            "exchanges/s",
            4000.0,
        ),
        Figure("wire", "the same with a camera of 64x64", statistics.median(small), max(small), "exchanges/s", 4000.0),
        _measure_control(),
    ]


def _measure_control() -> Figure:
    """Measure processor time from the bytes of a control to the command, each of them another message."""
    session = Session("benchmark", tuple, lambda: 0.0)
    texts = (
        f'{{"msg_type": "control", "steering": "{i / 500 - 1:.4f}", "throttle": "0.3", "brake": "0.0"}}'
        for i in range(1000)
    )
    sent = [text.encode() for text in texts]
    nobody = cast(Simulator, None)  # a control asks nothing of the simulator
    times = []
    for _ in range(30):
        start = time.thread_time()
        made = [make_command(nobody, 0, request) for message in sent for request in session.receive(message).requests]
        times.append((time.thread_time() - start) / len(sent) * 1e6)
        assert len(made) == len(sent)
    note = "processor time"
    return Figure("wire", "control, bytes to command", statistics.median(times), min(times), "µs", note=note, most=15.0)


def _count_telemetry(client: Client, seconds: float) -> float:
    count, start = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - start) < seconds:
        count += client.read_line().startswith(TELEMETRY)
    return count / elapsed


def _drain(client: Client) -> None:
    """Read what was sent before lock-step began: the first answered control ends it."""
    client.send(msg_type="control", steering="0.0", throttle="0.0", brake="0.0")
    first = client.wait_for("telemetry")
    while first["throttle"] != 0.125:
        client.send(msg_type="control", steering="0.0", throttle="0.125", brake="0.0")
        first = client.wait_for("telemetry")


def _count_exchanges(client: Client, seconds: float) -> float:
    count, start = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - start) < seconds:
        client.send(msg_type="control", steering="0.0", throttle="0.1", brake="0.0")
        while not client.read_line().startswith(TELEMETRY):
            pass
        count += 1
    return count / elapsed
