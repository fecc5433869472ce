"""Environments with a 160x120 camera: one car, 64 in a batch on one and two threads, and what others have."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np

import donkeysim  # noqa: F401  (registers the ids)
from benchmarks.measure import Figure, measure_rate

OURS, ORIGINAL = "donkeysim/GeneratedTrack-v0", "donkey-generated-track-v0"
CARS = 64
SETTINGS = {"time_limit": None, "throttle_range": (0.0, 1.0)}


def run() -> list[Figure]:
    """Measure ours, then the peers, in one run."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    return [*measure_singles(), *measure_batches(), *measure_peers()]


def measure_singles() -> list[Figure]:
    """Steps and resets of one car with its camera, on one core."""
    figures = []
    for name, settings in ((ORIGINAL, {}), (OURS, SETTINGS)):
        env = gymnasium.make(name, disable_env_checker=True, **settings).unwrapped
        median, best = measure_rate(make_laps(env, CARS), seconds=2.0)
        figures.append(Figure("envs", f"{name}, one car", median, best, "steps/s", 4000.0))
        median, best = measure_rate(lambda env=env: len([env.reset() for _ in range(20)]))
        figures.append(Figure("envs", f"{name}, one car", median, best, "resets/s", 1000.0))
        env.close()
    return figures


def make_laps(env: gymnasium.Env[Any, Any], step_count: int) -> Callable[[], int]:
    """Return work that drives so many steps along the road, over and over."""
    env.reset(seed=0)
    place = {"turn": 0}

    def drive() -> int:
        for _ in range(step_count):
            place["turn"] += 1
            steer = 0.3 if place["turn"] % 40 < 20 else -0.3
            _, _, terminated, truncated, _ = env.step(np.array([steer, 0.3], np.float32))
            if terminated or truncated:
                env.reset()
        return step_count

    return drive


def measure_batches() -> list[Figure]:
    """Steps of 64 cars, each in a world of its own, and how they grow with a second thread."""
    one, best_one = measure_batch(OURS, 1, **SETTINGS)
    two, best_two = measure_batch(OURS, 2, **SETTINGS)
    what = f"{OURS}, {CARS} cars"
    figures = [
        Figure("envs", f"{what}, one thread", one, best_one, "steps/s"),
        Figure("envs", f"{what}, two threads", two, best_two, "steps/s", 9000.0),
        Figure("envs", f"{what}, from one thread to two", two / one, best_two / best_one, "times", 1.8),
    ]
    for name, note, settings in (
        (ORIGINAL, "two threads", {}),
        (OURS, "two threads, copy=False", {**SETTINGS, "copy": False}),
        (OURS, "two threads, lidar", {**SETTINGS, "observe": "lidar"}),
        (OURS, "two threads, vector", {**SETTINGS, "observe": "vector"}),
    ):
        median, best = measure_batch(name, 2, **settings)
        figures.append(Figure("envs", f"{name}, {CARS} cars, {note}", median, best, "steps/s"))
    return figures


def measure_batch(name: str, threads: int, **settings: Any) -> tuple[float, float]:
    """Return (median, best) car steps per second of a batch."""
    batch = gymnasium.make_vec(name, CARS, "vector_entry_point", threads=threads, **settings)
    rates = measure_rate(make_batch_laps(batch), seconds=2.0)
    batch.close()
    return rates


def make_batch_laps(batch: Any) -> Callable[[], int]:
    """Return work that steers all cars along the road."""
    batch.reset(seed=0)

    def drive() -> int:
        for _ in range(10):
            step = batch.fleet.step
            steer = np.clip(2.0 * step.offset + 1.5 * step.heading_error, -1.0, 1.0)
            batch.step(np.column_stack([steer, np.full(batch.num_envs, 0.3)]))
        return 10 * batch.num_envs

    return drive


def measure_peers() -> list[Figure]:
    """Steps of others' environments in Gymnasium's two batches, two cars each."""
    importlib.import_module("highway_env")  # registers its ids
    figures = []
    for name, seen in (("CarRacing-v3", "96x96 pictures"), ("racetrack-v1", "occupancy grids, no pictures")):
        for mode in ("sync", "async"):
            batch = gymnasium.make_vec(name, 2, mode)
            batch.reset(seed=0)
            actions = np.zeros(batch.action_space.shape, np.float32)

            def step(batch: Any = batch, actions: Any = actions) -> int:
                return 2 * len([batch.step(actions) for _ in range(10)])

            median, best = measure_rate(step, seconds=2.0, rounds=3)
            figures.append(Figure("envs", f"{name}, 2 cars, {mode}", median, best, "steps/s", None, seen))
            batch.close()
    return figures
