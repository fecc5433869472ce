"""Environments: one car, 64 in a batch on one and two threads, batches with smaller pictures, and what others have."""

import functools
import importlib
import os
import time
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv

import donkeysim  # noqa: F401  (registers the ids)
from benchmarks.measure import Figure, measure_rate
from donkeysim.core.types import Float32Array, FloatArray
from donkeysim.envs.step import Step
from donkeysim.world.specs import CameraSpec

OURS, ORIGINAL = "donkeysim/GeneratedTrack-v0", "donkey-generated-track-v0"
CARS = 64
SETTINGS: dict[str, Any] = {"time_limit": None, "throttle_range": (-1.0, 1.0)}
START = {"s": 1.0}

SMALL_CARS = 128
SMALL: dict[str, dict[str, Any]] = {
    "160x120 in colour": {},
    "80x60 grey": {"observe": "grey", "camera": CameraSpec(width=80, height=60)},
    "64x64 grey": {"observe": "grey", "camera": CameraSpec(width=64, height=64)},
    "64x32 grey, a band of 64x64": {
        "observe": "grey",
        "camera": CameraSpec(width=64, height=64, crop_top=24, crop_bottom=8),
    },
}
"""Pictures that are compared with the first ones."""


def run() -> list[Figure]:
    """Measure ours, then the peers, in one run."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    return [*measure_singles(), *measure_batches(), *measure_small(), *measure_peers()]


def measure_singles() -> list[Figure]:
    """Steps and resets of one car with its camera, on one core."""
    actions = record_lap()
    figures = []
    for name, settings in ((ORIGINAL, {}), (OURS, SETTINGS)):
        env = gymnasium.make(name, disable_env_checker=True, **settings).unwrapped

        def lap(env: Any = env) -> int:
            env.reset(seed=0, options=START)
            return len([env.step(action) for action in actions])

        median, best = measure_rate(lap, seconds=2.0)
        figures.append(Figure("envs", f"{name}, one car", median, best, "steps/s", 4000.0))
        median, best = measure_rate(lambda env=env: len([env.reset() for _ in range(20)]))
        figures.append(Figure("envs", f"{name}, one car", median, best, "resets/s", 1000.0))
        env.close()
    return figures


def record_lap() -> list[Float32Array]:
    """Return the actions of one car over 12 s of road."""
    batch: Any = gymnasium.make_vec(OURS, 1, "vector_entry_point", observe="vector", **SETTINGS)
    batch.reset(seed=0, options=START)
    actions = []
    for _ in range(240):
        actions.append(steer_along(batch.fleet.step)[0].astype(np.float32))
        _, _, terminated, _, _ = batch.step([actions[-1]])
        assert not terminated[0]
    batch.close()
    return actions


def steer_along(step: Step) -> FloatArray:
    """Return actions that keep every car on the road, at 1.5 m/s."""
    steer = np.clip(3.0 * step.offset + 2.0 * step.heading_error, -1.0, 1.0)
    return np.column_stack([steer, np.clip(0.8 * (1.5 - step.forward_speed), -0.2, 0.5)])


def measure_batches() -> list[Figure]:
    """Steps of 64 cars, each in a world of its own, and how they grow with a second thread."""
    figures = measure_threads()
    for name, note, settings in (
        (ORIGINAL, "two threads", {}),
        (OURS, "two threads, copy=False", {**SETTINGS, "copy": False}),
        (OURS, "two threads, lidar", {**SETTINGS, "observe": "lidar"}),
        (OURS, "two threads, vector", {**SETTINGS, "observe": "vector"}),
    ):
        median, best = measure_batch(name, 2, **settings)
        figures.append(Figure("envs", f"{name}, {CARS} cars, {note}", median, best, "steps/s"))
    return figures


def measure_threads() -> list[Figure]:
    """Steps of 64 cars on one thread and on two, by turns, so that both meet the same machine."""
    batches = [gymnasium.make_vec(OURS, CARS, "vector_entry_point", threads=count, **SETTINGS) for count in (1, 2)]
    laps = [make_batch_laps(batch) for batch in batches]
    rounds = [[measure_rate(work, seconds=0.5, rounds=1)[0] for work in laps] for _ in range(15)]
    for batch in batches:
        batch.close()
    one, two = np.transpose(rounds)
    what, ratio = f"{OURS}, {CARS} cars", two / one
    return [
        Figure("envs", f"{what}, one thread", float(np.median(one)), one.max(), "steps/s"),
        Figure("envs", f"{what}, two threads", float(np.median(two)), two.max(), "steps/s", 9000.0),
        Figure("envs", f"{what}, from one thread to two", float(np.median(ratio)), ratio.max(), "times", 1.8),
    ]


def measure_small() -> list[Figure]:
    """Car steps with small pictures against those with 160x120, by turns, processor time of one thread."""
    batches = [
        gymnasium.make_vec(OURS, SMALL_CARS, "vector_entry_point", threads=1, **{**SETTINGS, **small})
        for small in SMALL.values()
    ]
    laps = [make_batch_laps(batch, 3) for batch in batches]
    rounds = [
        [measure_rate(work, seconds=0.1, rounds=1, clock=time.process_time)[0] for work in laps] for _ in range(30)
    ]
    for batch in batches:
        batch.close()
    ratios = np.array(rounds)[:, 1:] / np.array(rounds)[:, :1]
    goals = (None, 2.4, 3.0)
    return [
        Figure(
            "envs",
            f"{name}, {SMALL_CARS} cars, steps per 160x120 step",
            float(np.median(row)),
            row.max(),
            "times",
            goal,
        )
        for name, row, goal in zip(list(SMALL)[1:], ratios.T, goals, strict=True)
    ]


def measure_batch(name: str, threads: int, **settings: Any) -> tuple[float, float]:
    """Return (median, best) car steps per second of a batch."""
    batch = gymnasium.make_vec(name, CARS, "vector_entry_point", threads=threads, **settings)
    rates = measure_rate(make_batch_laps(batch), seconds=2.0)
    batch.close()
    return rates


def make_batch_laps(batch: Any, count: int = 10) -> Callable[[], int]:
    """Return work that steers all cars along the road, `count` steps at a time."""
    batch.reset(seed=0)

    def drive() -> int:
        for _ in range(count):
            batch.step(steer_along(batch.fleet.step))
        return count * batch.num_envs

    return drive


def measure_peers() -> list[Figure]:
    """Steps of others' environments in Gymnasium's two batches, two cars each."""
    importlib.import_module("highway_env")  # registers its ids
    figures = []
    for name, seen in (("CarRacing-v3", "96x96 pictures"), ("racetrack-v1", "occupancy grids, no pictures")):
        maker = functools.partial(gymnasium.make, name, disable_env_checker=True)
        for kind in (SyncVectorEnv, AsyncVectorEnv):
            batch = kind([maker, maker])
            batch.reset(seed=0)
            actions = np.zeros(batch.action_space.shape, np.float32)

            def step(batch: Any = batch, actions: Any = actions) -> int:
                return 2 * len([batch.step(actions) for _ in range(10)])

            median, best = measure_rate(step, seconds=2.0, rounds=3)
            figures.append(Figure("envs", f"{name}, 2 cars, {kind.__name__}", median, best, "steps/s", None, seen))
            batch.close()
    return figures
