"""What the device is compared with, in the same run: our batch on this machine's cores, and what others have."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks import peers
from benchmarks.gpu.environment import draw_actions
from benchmarks.gpu.plan import Plan
from benchmarks.measure import Figure, measure_rate
from donkeysim.core.workers import count_cores
from donkeysim.envs.track_env import TrackVectorEnv
from donkeysim.world.specs import CameraSpec

CARS = 256
"""Of the batch on this machine's cores, at most."""

SCRIPT = Path(peers.__file__).with_name("mujoco_cameras.py")

PYTHON = "MUJOCO_WARP_PYTHON"
"""Environment variable: a Python that has mujoco-warp, if this one has not."""


def measure_others(plan: Plan) -> Iterator[Figure]:
    """Measure our batch, CarRacing-v3 and MuJoCo Warp's cameras."""
    yield from measure_cores(plan)
    yield from peers.run()
    yield from measure_mujoco(plan)


def measure_cores(plan: Plan) -> list[Figure]:
    """Measure environment steps of the batch that needs no device, on all cores."""
    figures, count, cores = [], min(CARS, max(plan.counts)), count_cores()
    for width, height in plan.sizes:
        camera = CameraSpec(width=width, height=height)
        env = TrackVectorEnv(count, "generated_track", threads=cores, camera=camera, copy=False)
        env.reset(seed=0)
        actions = draw_actions(count)

        def step(env: TrackVectorEnv = env, actions: np.ndarray = actions) -> int:  # type: ignore[type-arg]
            for _ in range(5):
                env.step(actions)
            return 5 * len(actions)

        pair = measure_rate(step, plan.seconds, max(plan.rounds, 3))
        what = f"environment {width}x{height} without a device, {count:,} cars"
        figures.append(Figure("gpu", what, *pair, "steps/s", None, f"{cores} cores"))
        env.close()
    return figures


def measure_mujoco(plan: Plan) -> list[Figure]:
    """Measure MuJoCo Warp's cameras on a plane with boxes, where it is installed; here or in another Python."""
    python, figures = os.environ.get(PYTHON, sys.executable), []
    if subprocess.run([python, "-c", "import mujoco_warp"], capture_output=True, check=False).returncode:
        print(f"MuJoCo Warp is left out: {python} does not have it; install mujoco-warp, or name a Python in {PYTHON}.")
        return []
    for count in plan.counts:
        for width, height in plan.sizes:
            words = [plan.name, str(count), str(width), str(height), str(plan.seconds)]
            ended = subprocess.run([python, SCRIPT, *words], stdout=subprocess.PIPE, text=True, check=True)
            rate = json.loads(ended.stdout.splitlines()[-1])
            what = f"MuJoCo Warp pictures {width}x{height}, plane and boxes, {count:,} worlds"
            figures.append(Figure("gpu", what, rate, rate, "pictures/s", None, plan.name))
    return figures
