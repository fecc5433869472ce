"""Milliseconds that a pilot takes for a picture on one core, and to load, by type and kind of file."""

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Figure
from donkeysim.learn.architectures import build_model
from donkeysim.learn.files.model_file import ENDINGS, save_model
from donkeysim.learn.kinds import KINDS
from donkeysim.learn.pilot import NetworkPilot, load_pilot

GOAL = 5.0
"""At most [ms] per picture."""

PICTURES = 200


class _Defaults:
    """A configuration that leaves every key at its default: pictures of 160x120."""


def run() -> list[Figure]:
    """Measure linear in every kind of file, the other types in one."""
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            model = build_model(kind, _Defaults)
            for ending in ENDINGS if kind == "linear" else (".h5",):
                path = Path(folder) / f"{kind}{ending}"
                save_model(model, path, kind, _Defaults)
                figures += _measure(path)
            if kind == "linear":
                figures.append(
                    _figure("linear: a forward pass of Keras on PyTorch, for comparison", _time_keras(model))
                )
    return figures


def _time_keras(model: Any) -> list[float]:
    import torch

    torch.set_num_threads(1)
    picture = torch.rand(1, 120, 160, 3)
    times = []
    with torch.inference_mode():
        for _ in range(PICTURES):
            start = time.perf_counter()
            model(picture, training=False)
            times.append((time.perf_counter() - start) * 1e3)
    return times


def _measure(path: Path) -> list[Figure]:
    load_times = []
    for _ in range(5):
        start = time.perf_counter()
        pilot = load_pilot(path)
        load_times.append((time.perf_counter() - start) * 1e3)
    return [
        _figure(f"{path.name}: a picture (at most {GOAL:g})", _time_pictures(pilot)),
        _figure(f"{path.name}: load", load_times),
    ]


def _time_pictures(pilot: NetworkPilot) -> list[float]:
    random = np.random.default_rng(0)
    others = [random.random({"imu": 6, "behavior": 2}[pilot.kind])] if pilot.input_names else []
    times = []
    for _ in range(PICTURES):
        picture = random.integers(0, 256, pilot.image_shape, dtype=np.uint8)
        start = time.perf_counter()
        pilot.run(picture, *others)
        times.append((time.perf_counter() - start) * 1e3)
    return times


def _figure(what: str, times: list[float]) -> Figure:
    return Figure("pilots", what, statistics.median(times), min(times), "ms")
