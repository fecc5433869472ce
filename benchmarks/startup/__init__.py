"""Seconds from the start of `donkey_sim` to listening and to the first telemetry; warm and empty kernel cache."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from benchmarks.measure import Figure
from benchmarks.program import Client, Program


def run() -> list[Figure]:
    """Start with an empty cache, then twice with the cache that this filled."""
    with tempfile.TemporaryDirectory() as folder:
        cold = _start(Path(folder))
        warm = min((_start(Path(folder)) for _ in range(3)), key=lambda pair: pair[1])
    return [
        _figure("listening, empty kernel cache (at most 2)", cold[0]),
        _figure("first telemetry, empty kernel cache (at most 30)", cold[1]),
        _figure("listening, warm (at most 2)", warm[0]),
        _figure("first telemetry, warm (at most 4)", warm[1]),
    ]


def _start(cache: Path) -> tuple[float, float]:
    with Program("--scene", "generated_track", cache=cache) as program:
        client = Client(program.port)
        client.wait_for("telemetry")
        seconds = time.perf_counter() - program.started
        client.close()
        return program.seconds_to_listen, seconds


def _figure(what: str, seconds: float) -> Figure:
    return Figure("startup", f"start to {what}", seconds, seconds, "s")
