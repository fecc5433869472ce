"""Seconds from the start of `donkey_sim` to listening, the first telemetry and the first picture on its page.

With an empty kernel cache and with one that this filled.
"""

import json
import statistics
import tempfile
import time
from pathlib import Path

from websockets.sync.client import connect

from benchmarks.measure import Figure
from benchmarks.program import Client, Program

ROUNDS = 5
"""Warm starts, of each kind."""

SCENE = ("--scene", "generated_track")


def run() -> list[Figure]:
    """Start once with an empty cache, then some times with the cache that this filled."""
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        cold = _time_telemetry(cache)
        warm = zip(*(_time_telemetry(cache) for _ in range(ROUNDS)), strict=True)
        listening, telemetry = (list(seconds) for seconds in warm)
        picture = [_time_picture(cache) for _ in range(ROUNDS)]
    return [
        _figure("listening, empty kernel cache", [cold[0]], 2.0),
        _figure("first telemetry, empty kernel cache", [cold[1]], 30.0),
        _figure("listening, warm", listening, 2.0),
        _figure("first telemetry, warm", telemetry, 4.0),
        _figure("first picture on the watching page, warm", picture, 2.5),
    ]


def _time_telemetry(cache: Path) -> tuple[float, float]:
    """Return the seconds to listening and to the first telemetry."""
    with Program(*SCENE, cache=cache) as program:
        client = Client(program.port)
        client.wait_for("telemetry")
        seconds = time.perf_counter() - program.started
        client.close()
        return program.seconds_to_listen, seconds


def _time_picture(cache: Path) -> float:
    """Return the seconds until somebody who watches sees a car from behind."""
    with Program(*SCENE, "--pace-car", cache=cache, has_page=True) as program:
        address = program.page.replace("http", "ws", 1)
        with (
            connect(f"{address}/state", origin=program.page) as state,  # type: ignore[arg-type]
            connect(f"{address}/picture", origin=program.page) as pictures,  # type: ignore[arg-type]
        ):
            cars: list[dict[str, int]] = []
            while not cars:
                state.send("{}")
                cars = json.loads(state.recv())["cars"]
            question = json.dumps({"view": "chase", "car": cars[0]["id"], "width": 640, "height": 360})
            pictures.send(question)
            while not isinstance(pictures.recv(), bytes):
                pictures.send(question)
        return time.perf_counter() - program.started


def _figure(what: str, seconds: list[float], most: float) -> Figure:
    return Figure("startup", f"start to {what}", statistics.median(seconds), min(seconds), "s", most=most)
