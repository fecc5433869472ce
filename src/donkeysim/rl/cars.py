"""The cars that learn: what they see and did last, step by step, with a tally of how it goes; all on their device."""

from typing import Any, NamedTuple

import numpy as np
import torch

from donkeysim.core.types import FloatArray
from donkeysim.envs.track_env import TrackVectorEnv
from donkeysim.rl.ghosts import Ghosts
from donkeysim.rl.setup import FRAME, FRAME_SKIP


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
        device: PyTorch's name of what it runs on.
        seen: The last observations by name; the next step writes over them.
        last: The last actions, shape [car_count, 2]; 0 where an episode has just begun.
        has_begun: Where an episode has just begun, shape [car_count].
        steps: Of all cars together.
        laps: Laps' lengths that all cars together have driven, until `take_figures` was last called.
        ghosts: Keeps what they do for people who watch; None: nobody does.
        is_judged: Whose ends and speed `take_figures` counts, shape [car_count]; at first all.
    """

    def __init__(self, env: TrackVectorEnv, seed: int, device: str = "cpu") -> None:
        """Begin episodes everywhere; all chance follows from the seed. `env` hands out PyTorch's tensors."""
        self.env, self.device, self.steps, self.laps = env, device, 0, 0.0
        self._scene_count = len(env.simulator.spec.scenes)
        self.is_judged = torch.ones(env.num_envs, dtype=torch.bool, device=device)
        self._step = env.lend_step()
        self.ghosts: Ghosts | None = None
        self.begin(seed)

    def begin(self, seed: int) -> None:
        """Begin new episodes and forget the old ones."""
        torch.manual_seed(seed)
        seen, _ = self.env.reset(seed=seed)
        self.seen: dict[str, Any] = dict(seen)
        count = self.env.num_envs
        self.last = torch.zeros(count, 2, device=self.device)
        self._over = torch.zeros(count, dtype=torch.bool, device=self.device)
        self.has_begun = ~self._over
        self._clear()

    def _clear(self) -> None:
        self._tallies: list[torch.Tensor] = []
        self._ends: list[torch.Tensor] = []
        self._positions: list[torch.Tensor] = []

    def step(self, action: torch.Tensor) -> StepResult:
        """Let all cars act, -1 to 1, shape [car_count, 2]."""
        seen, reward, ended, cut, _ = self.env.step(action)
        self.seen = dict(seen)
        begun = self.has_begun = self._over
        self._over = ended | cut
        self.last = torch.where(begun[:, None], 0.0, action)
        self._count(reward, ended)
        if self.ghosts is not None:
            self.ghosts.note(self.env.simulator, FRAME * FRAME_SKIP)
        return StepResult(reward.float(), ended.float(), (self._over | begun).float(), ~begun)

    def _count(self, reward: torch.Tensor, ended: torch.Tensor) -> None:
        """Note figures of a step; nothing here waits for a GPU."""
        step, judged = self._step, self.is_judged
        self.steps += len(reward)
        speed = (step.forward_speed * judged).sum() / judged.sum()
        self._tallies.append(torch.stack((reward.mean(), speed, (step.gain / step.path_length).sum())))
        self._ends.append(ended & judged)
        place: Any = step.position
        self._positions.append(place[:, :2].clone())

    def find_speed(self) -> torch.Tensor:
        """Return how fast each car goes [m/s], shape [car_count]."""
        velocity: Any = self._step.velocity
        return torch.hypot(velocity[:, 0], velocity[:, 1]).float()

    def count_privileged(self) -> int:
        """Return how many numbers of the simulator's own each car observes: the length of "vector"."""
        return int(self.seen["vector"].shape[1])

    def take_figures(self) -> tuple[dict[str, float], FloatArray]:
        """Return the figures since the last call.

        Returns:
            Means of a step's reward and the speed [m/s], and ended episodes per car and minute; where they ended: index
            of the scene, x, y [m], shape [n, 3].
        """
        rounds, judged = len(self._tallies), int(self.is_judged.sum())
        tallies = torch.stack(self._tallies).cpu().numpy()
        moments, cars = np.nonzero(torch.stack(self._ends).cpu().numpy())
        positions = torch.stack(self._positions).cpu().numpy()[moments, cars]
        departures = np.column_stack((cars % self._scene_count, positions))
        self._clear()
        self.laps += float(tallies[:, 2].sum())
        reward, speed = tallies[:, :2].mean(axis=0).tolist()
        ends = len(departures) / (rounds * judged * FRAME * FRAME_SKIP / 60.0)
        return {"reward": reward, "speed": speed, "ends": ends}, departures
