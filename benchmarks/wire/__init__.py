"""Telemetry messages and lock-step exchanges per second over TCP, as one client sees them."""

from __future__ import annotations

import statistics
import time

from benchmarks.measure import Figure
from benchmarks.program import Client, Program

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
            800.0,
        ),
    ]


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
