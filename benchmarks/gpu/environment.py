"""Whole environment steps: actions of the device in; picture, reward and ends out; and how long the first one takes."""

import itertools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.gpu.plan import Plan
from benchmarks.gpu.timing import free_memory, measure_frames
from benchmarks.measure import Figure
from donkeysim.core.device import Device, open_device
from donkeysim.envs.track_env import TrackVectorEnv
from donkeysim.world.specs import CameraSpec

SCENES = "generated_track", "canyon_road"

LEAST = {(64, 64): 1.5e6, (160, 120): 0.6e6}
"""What is asked for [steps/s]."""

LEAST_OF_FEW = {(160, 120): 0.3e6}
"""The same of the small batch."""

FIRST_STEP = {"nothing cached": 90.0, "cached": 10.0}
"""How long the first step may take from the start of the program [s]."""


def measure_steps(plan: Plan) -> Iterator[Figure]:
    """Measure all numbers of cars and sizes."""
    device = plan.open()
    for scene, count in itertools.product(SCENES, plan.counts):
        for size in plan.list_sizes(count):
            yield measure_batch(plan, device, scene, count, size)
    device.close()


def make_batch(device: Device, scene: str, count: int, size: tuple[int, int]) -> TrackVectorEnv:
    """Return cars on a device with a camera each."""
    free_memory()
    return TrackVectorEnv(count, scene, device=device, copy=False, camera=CameraSpec(width=size[0], height=size[1]))


def measure_batch(plan: Plan, device: Device, scene: str, count: int, size: tuple[int, int]) -> Figure:
    """Return the figure of one batch; cars drive at random, and episodes end and begin."""
    env = make_batch(device, scene, count, size)
    actions = draw_actions(count)
    given = device.upload(actions)
    env.reset(seed=0)
    for _ in range(plan.frames):
        env.step(given)
    pair = measure_frames(plan, device, lambda: env.step(given), count)
    memory = env.measure_memory().total / 2**20
    least = plan.ask(count, LEAST.get(size))
    if count == plan.few:
        least = LEAST_OF_FEW.get(size)
    what = f"environment {size[0]}x{size[1]}, {scene}, {count:,} cars"
    return Figure("gpu", what, *pair, "steps/s", least, f"{device.name}; {memory:,.0f} MB")


def draw_actions(count: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Return steering and throttle that differ from car to car."""
    random = np.random.default_rng(0)
    return np.stack([random.uniform(-0.3, 0.3, count), random.uniform(0.2, 0.8, count)], axis=1).astype(np.float32)


def measure_first_steps(plan: Plan) -> Iterator[Figure]:
    """Measure from the start of a program to the end of its first step, twice with one cache that is empty at first."""
    count = plan.asked or max(plan.counts)
    with tempfile.TemporaryDirectory() as folder:
        # The driver too keeps what it has compiled.
        kept = {"DONKEYSIM_KERNEL_CACHE": folder, "CUDA_CACHE_PATH": str(Path(folder, "driver"))}
        step = f"from benchmarks.gpu.environment import take_first_step; take_first_step({plan.name!r}, {count})"
        command = [sys.executable, "-c", step]
        for what, most in FIRST_STEP.items():
            begun = time.perf_counter()
            subprocess.run(command, env=os.environ | kept, check=True)
            seconds = time.perf_counter() - begun
            most_asked = most if plan.asked else None
            yield Figure(
                "gpu", f"first step, {what}, {count:,} cars", seconds, seconds, "s", None, plan.name, most_asked
            )


def take_first_step(name: str, count: int) -> None:
    """Take it with so many cars: what a program is started for."""
    device = open_device(name)
    env = make_batch(device, "generated_track", count, (160, 120))
    env.reset(seed=0)
    env.step(device.upload(draw_actions(count)))
    device.synchronize()
    env.close()
