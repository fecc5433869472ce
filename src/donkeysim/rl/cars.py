"""The cars that learn: what they see and did last, step by step, with a tally of how it goes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch

from donkeysim.core.types import BoolArray, FloatArray
from donkeysim.envs.track_env import TrackVectorEnv
from donkeysim.rl.observation import FRAME_SKIP
from donkeysim.rl.setup import FRAME


class StepResult(NamedTuple):
    """What a step brought each car, shape [car_count]."""

    reward: torch.Tensor
    ended: torch.Tensor
    """1 where the task's rules ended the episode."""
    over: torch.Tensor
    """1 where it ended or was cut off, and where a new one began."""
    is_live: torch.Tensor
    """False where a new episode began instead of the step."""


class TrainingCars:
    """A batch of environments whose episodes begin anew in the step after their end.

    Attributes:
        env: The batch.
        seen: The last observations by name.
        last: The last actions, shape [car_count, 2]; 0 where an episode has just begun.
        has_begun: Where an episode has just begun, shape [car_count].
        steps: Of all cars together.
        laps: Laps' lengths that all cars together have driven.
        is_judged: Whose ends and speed `take_figures` counts, shape [car_count]; at first all.
    """

    def __init__(self, env: TrackVectorEnv, seed: int) -> None:
        """Begin episodes everywhere; all chance from now on follows from the seed."""
        self.env, self.steps, self.laps = env, 0, 0.0
        self._scene_count = len(env.fleet.simulator.spec.scenes)
        self.is_judged: BoolArray = np.ones(env.num_envs, bool)
        self.begin(seed)

    def begin(self, seed: int) -> None:
        """Begin new episodes and forget the old ones."""
        torch.manual_seed(seed)
        seen, _ = self.env.reset(seed=seed)
        self.seen: dict[str, Any] = dict(seen)
        self.last = torch.zeros(self.env.num_envs, 2)
        self._over = np.zeros(self.env.num_envs, bool)
        self.has_begun = np.ones(self.env.num_envs, bool)
        self._clear()

    def _clear(self) -> None:
        self._departures: FloatArray = np.zeros((0, 3))
        self._reward = self._speed = 0.0
        self._rounds = 0

    def step(self, action: torch.Tensor) -> StepResult:
        """Let all cars act, -1 to 1, shape [car_count, 2]."""
        seen, reward, ended, cut, _ = self.env.step(action.numpy())
        self.seen = dict(seen)
        begun = self.has_begun = self._over
        self._over = ended | cut
        self.last = torch.where(torch.from_numpy(begun)[:, None], 0.0, action)
        self._count(reward, ended)
        return StepResult(
            torch.from_numpy(reward).float(),
            torch.from_numpy(ended).float(),
            torch.from_numpy(self._over | begun).float(),
            torch.from_numpy(~begun),
        )

    def _count(self, reward: FloatArray, ended: BoolArray) -> None:
        step, where = self.env.fleet.step, np.flatnonzero(ended & self.is_judged)
        assert step is not None
        self.steps += len(reward)
        self.laps += float((step.gain / step.path_length).sum())
        self._rounds += 1
        self._reward += float(reward.mean())
        self._speed += float(step.forward_speed[self.is_judged].mean())
        places = np.column_stack((where % self._scene_count, step.position[where, :2]))
        self._departures = np.concatenate([self._departures, places])

    def find_speed(self) -> torch.Tensor:
        """Return how fast each car goes [m/s], shape [car_count]."""
        velocity = self.env.fleet.simulator.ledger.velocity
        return torch.from_numpy(np.hypot(velocity[:, 0], velocity[:, 1])).float()

    def count_privileged(self) -> int:
        """Return how many numbers of the simulator's own each car observes: the length of "vector"."""
        return int(self.seen["vector"].shape[1])

    def take_figures(self) -> tuple[dict[str, float], FloatArray]:
        """Return the figures since the last call.

        Returns:
            Means of a step's reward and the speed [m/s], and ended episodes per car and minute; where they ended: index
            of the scene, x, y [m], shape [n, 3].
        """
        minutes = self._rounds * int(self.is_judged.sum()) * FRAME * FRAME_SKIP / 60.0
        figures = {
            "reward": self._reward / self._rounds,
            "speed": self._speed / self._rounds,
            "ends": len(self._departures) / minutes,
        }
        departures = self._departures
        self._clear()
        return figures, departures
