"""Other simulators' cameras and ours, on one core in the same run: pictures, pixels and steps a second."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.lap import LapDrive
from benchmarks.measure import Figure, measure_rate
from donkeysim.world.specs import CameraSpec

WIDTH, HEIGHT = 160, 120
SCRIPT = Path(__file__).with_name("opengl_pictures.py")
SECONDS = 6.0
OTHERS = {"mujoco": "MuJoCo", "panda3d": "Panda3D"}
"""Packages that draw by OpenGL, and their names."""


def run() -> Iterator[Figure]:
    """Measure ourselves, Gymnasium's CarRacing-v3, and those of `OTHERS` that are installed."""
    drive = LapDrive(64, CameraSpec())
    yield from tell("donkeysim: car steps with a picture", *measure_rate(drive.advance_and_draw), (WIDTH, HEIGHT))
    yield from tell(*measure_car_racing(), (96, 96))
    for package, name in OTHERS.items():
        yield from measure_other(package, name)


def tell(what: str, median: float, best: float, size: tuple[int, int], note: str = "") -> Iterator[Figure]:
    """Give pictures a second, and the pixels that are in them."""
    pixels = size[0] * size[1]
    yield Figure("peers", what, median, best, "/s", None, f"{size[0]}x{size[1]}  {note}".strip())
    yield Figure("peers", f"{what}: pixels", median * pixels / 1e6, best * pixels / 1e6, "M pixels/s")


def measure_car_racing() -> tuple[str, float, float]:
    """Return what it is, and environment steps a second, median and best; each step draws a picture of 96x96."""
    import gymnasium

    env = gymnasium.make("CarRacing-v3", render_mode=None)
    env.reset(seed=0)
    action = np.array([0.0, 0.3, 0.0], dtype=np.float32)

    def step() -> int:
        for _ in range(20):
            _, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()
        return 20

    median, best = measure_rate(step, seconds=2.0, rounds=3)
    env.close()
    return f"Gymnasium {gymnasium.__version__}, CarRacing-v3: steps", median, best


def measure_other(package: str, name: str) -> Iterator[Figure]:
    """Give what a program draws that has nothing of ours, by `DONKEYSIM_PEERS`' Python or this one."""
    python = os.environ.get("DONKEYSIM_PEERS", sys.executable)
    command = [python, str(SCRIPT), package, str(WIDTH), str(HEIGHT), str(SECONDS)]
    done = subprocess.run(
        command, env=os.environ | {"LP_NUM_THREADS": "1"}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["it ended without a word"])[-1]
        print(f"{name}: not measured: {reason} (pip install {package}, and libegl1 on Linux)", flush=True)
        return
    told = json.loads(done.stdout.splitlines()[-1])
    yield from tell(
        f"{name} {told['version']}: pictures", told["rate"], told["best"], (WIDTH, HEIGHT), f"by {told['driver']}"
    )
