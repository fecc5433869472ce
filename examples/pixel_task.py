"""What the examples that learn from pixels have in common: cars, camera, reward, the eye of the network, and the exam.

Each of them learns the same task with another tool, so that their times can be compared:

* 2 pictures, the last one and the one before, grey, 80x60; all else that the simulator knows stays hidden;
* ten actions a second: steering and throttle, the latter from -0.2 to 0.3 of what the car can do;
* the way made along the road earns points, up to 2 m/s; jerks of the steering wheel and leaving the road lose some;
* 16 cars that have not learned, each put somewhere on the road, are driven without chance: when each of them has made
  ten laps and none has left the road, the exam is passed and learning ends.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import psutil

import donkeysim  # noqa: F401  (registers the environments)
from donkeysim.core.errors import describe_install
from donkeysim.envs.step import Step
from donkeysim.world.specs import CameraSpec

try:
    import torch
    from torch import nn
except ImportError as error:
    raise SystemExit(f"{error}. This example needs PyTorch; install it {describe_install('rl')}") from None

ENV_ID = "donkeysim/GeneratedTrack-v0"
STEP_SECONDS = 0.1
TOP_SPEED = 2.0
"""Driving faster than this earns nothing more [m/s]."""
HORIZON = 20
"""So many rows at the top of the pictures show the sky and hills only."""


def reward_smooth_driving(step: Step) -> np.ndarray:
    """Return at most half a point for each car, less what jerks and accidents cost: fast accidents cost more."""
    way = np.minimum(step.gain, TOP_SPEED * STEP_SECONDS) / (2.0 * STEP_SECONDS)
    jerk = np.abs(step.steer - step.previous_steer)
    return way - 0.1 * jerk - step.ended * (2.0 + np.maximum(step.forward_speed, 0.0))


TASK: dict[str, Any] = {
    "observe": "grey",
    "stack": 2,
    "camera": CameraSpec(width=80, height=60),
    "frame_skip": 2,
    "throttle_range": (-0.2, 0.3),
    "reward": reward_smooth_driving,
    "time_limit": 40.0,
}
"""Settings of the environment."""


class Eye(nn.Module):
    """A small convolutional network: pictures, shape [n, moments, 60, 80], values 0 to 1, to 64 numbers.

    While it is trained it sees each batch moved by up to 2 pixels, so that it learns to look at the road.
    """

    size = 64

    def __init__(self, moments: int = 2) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(moments, 8, 5, stride=3),
            nn.ReLU(),
            nn.Conv2d(8, 16, 3, stride=2),
            nn.ReLU(),
            nn.Conv2d(16, 16, 3),
            nn.ReLU(),
            nn.Flatten(),
            nn.LazyLinear(self.size),
            nn.LayerNorm(self.size),
            nn.Tanh(),
        )
        with torch.no_grad():
            self(torch.zeros(1, moments, 60, 80))
        for layer in self.layers:
            if isinstance(layer, nn.Conv2d | nn.Linear):
                nn.init.orthogonal_(layer.weight, 2.0**0.5)
                nn.init.zeros_(layer.bias)

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        """Return 64 numbers for each car, -1 to 1."""
        road = pictures[:, :, HORIZON:] - 0.45
        if self.training:
            down, right = np.random.default_rng(int(torch.randint(2**31, ()))).integers(0, 5, 2)
            height, width = road.shape[2:]
            road = nn.functional.pad(road, (2, 2, 2, 2), mode="replicate")
            road = road[:, :, down : down + height, right : right + width]
        return self.layers(road.contiguous(memory_format=torch.channels_last))  # twice as fast on processors


def move_channels(pictures: np.ndarray | torch.Tensor) -> torch.Tensor:
    """Return what networks see of pictures, shape [n, height, width, moments], 0 to 255: channels first, 0 to 1."""
    return torch.as_tensor(pictures).movedim(-1, 1).float() / 255.0


class Exam:
    """Lets the pilot drive without chance every few seconds, prints how far it came, and knows when learning may end.

    Exams take time, which counts as the learner's; at most a third of it.

    Attributes:
        is_passed: Whether all cars have driven all laps.
    """

    cars = 16
    pause = 5.0
    """Between two exams [s]."""
    slowest_lap = 20.0
    """Who takes longer fails, though there are ten more to get going [s]."""

    def __init__(self, pilot: Callable[[np.ndarray], np.ndarray], options: argparse.Namespace) -> None:
        """Open the track.

        Args:
            pilot: Takes observations of all cars and returns their actions.
            options: Those of `make_parser`.
        """
        self.is_passed = False
        self._pilot, self._options = pilot, options
        self._started = psutil.Process().create_time()
        self._due = 0.0
        self._track = gymnasium.make_vec(ENV_ID, num_envs=self.cars, copy=False, **{**TASK, "time_limit": None})
        if options.curve:
            options.curve.write_text("", encoding="utf-8")

    @property
    def seconds(self) -> float:
        """Since the program was started, with all imports and compilation."""
        return time.time() - self._started

    def is_over(self, steps: int) -> bool:
        """Hold an exam if it is time for one; return whether learning may end, as it is passed or time is up.

        Args:
            steps: Of all cars together so far.
        """
        is_late = self.seconds >= 60.0 * self._options.minutes
        if not self.is_passed and (is_late or self.seconds >= self._due):
            begun = self.seconds
            self.hold(steps)
            self._due = self.seconds + max(self.pause, 2.0 * (self.seconds - begun))
        return self.is_passed or is_late

    def hold(self, steps: int = 0) -> bool:
        """Hold an exam now; return whether it is passed.

        Args:
            steps: Of all cars together so far.
        """
        wanted = self._options.laps
        seen, _ = self._track.reset(seed=1_000_000 + steps)
        speed = []
        for _ in range(round((10.0 + wanted * self.slowest_lap) / STEP_SECONDS)):
            seen, _, ended, _, info = self._track.step(self._pilot(seen))
            speed.append(info["speed"].mean())
            if ended.any() or info["progress"].min() >= wanted:
                break
        laps = np.minimum(info["progress"], wanted)
        self.is_passed = not ended.any() and bool(laps.min() >= wanted)
        point = {"seconds": self.seconds, "processor": time.process_time(), "steps": steps}
        point |= {"laps": float(laps.mean()), "speed": float(np.mean(speed))}
        print(
            "{seconds:6.1f} s {steps:>9,} steps: {laps:5.2f} of".format(**point),
            f"{wanted:g} laps at {point['speed']:.2f} m/s, {ended.sum()} of {self.cars} cars failed",
            flush=True,
        )
        if self._options.curve:
            with self._options.curve.open("a", encoding="utf-8") as file:
                file.write(json.dumps(point | {"passed": self.is_passed}) + "\n")
        return self.is_passed


def make_parser(about: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options that all these examples have."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=10.0, help="to learn at most (default 10)")
    parser.add_argument("--laps", type=float, default=10.0, help="of each car in the exam (default 10)")
    parser.add_argument("--threads", type=int, default=1, help="of the network; more wait for each other (default 1)")
    parser.add_argument("--curve", type=Path, metavar="FILE", help="to write each exam to, as JSON lines")
    parser.add_argument("--out", metavar="FILE", help="to keep the pilot in")
    parser.add_argument("--drive", metavar="FILE", help="to examine a kept pilot from, instead of learning")
    return parser


def prepare(options: argparse.Namespace) -> None:
    """Give torch its threads and the seed."""
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
