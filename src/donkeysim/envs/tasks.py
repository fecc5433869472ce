"""What a car shall learn: rewards and ends of episodes, small functions over all cars of a step at once.

Pick them by name or pass your own: a reward takes a `Step` and returns one number for each car, an end returns for each
car whether its episode is over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from donkeysim.core.errors import SpecError, describe_unknown
from donkeysim.core.frames import UNITS_PER_METRE
from donkeysim.core.types import BoolArray, FloatArray
from donkeysim.envs.rules import FALL_REWARD, HIT_REWARD
from donkeysim.envs.step import Step
from donkeysim.world.state import HIT_NONE

Reward = Callable[[Step], FloatArray]
"""Returns the reward of each car, shape [car_count]."""

End = Callable[[Step], BoolArray]
"""Returns which episodes are over, shape [car_count]."""

OFF_ROAD_PATIENCE = 0.25
"""How long a car may be off the road before its episode ends [s]."""
STILL_PATIENCE = 4.0
"""How long it may stand still [s]."""
WRONG_WAY_PATIENCE = 0.5
"""How long it may go against the path [s]."""
LEAST_UPRIGHT = 0.5
"""Cosine of the greatest tilt."""
END_PENALTY = 2.0
"""What "progress" and "centre" take away for an episode that ends by a rule."""


def reward_progress(step: Step) -> FloatArray:
    """Return ten points per metre of new ground, less a penalty for an ended episode."""
    return 10.0 * step.progress - END_PENALTY * step.ended


def reward_centre(step: Step) -> FloatArray:
    """Return ten points per metre of way made, all of it on the path, none a metre beside it; less the penalty."""
    nearness = np.maximum(0.0, 1.0 - np.abs(step.offset))
    return 10.0 * step.gain * nearness - END_PENALTY * step.ended


def make_original_reward(max_cte: float = 8.0) -> Reward:
    """Return the reward of the original's environments, |cte| counted on both sides.

    Args:
        max_cte: Farthest from the path [U].
    """

    def reward_original(step: Step) -> FloatArray:
        distance, speed = np.abs(step.offset) * UNITS_PER_METRE, step.forward_speed
        moving: FloatArray = np.where(speed > 0.0, (1.0 - distance / max_cte) * speed, speed)
        moving = np.where(step.hit != HIT_NONE, HIT_REWARD, moving)
        return np.where(step.ended | (distance > max_cte), FALL_REWARD, moving)

    return reward_original


def end_off_road(step: Step) -> BoolArray:
    """Say who has been off the road for a quarter of a second."""
    return step.off_road_time > OFF_ROAD_PATIENCE


def end_hit(step: Step) -> BoolArray:
    """Say who touched something in this step."""
    return np.asarray(step.hit != HIT_NONE)


def end_wrong_way(step: Step) -> BoolArray:
    """Say who has gone against the path for half a second."""
    return step.wrong_way_time > WRONG_WAY_PATIENCE


def end_standstill(step: Step) -> BoolArray:
    """Say who has stood still for four seconds."""
    return step.still_time > STILL_PATIENCE


def end_tilted(step: Step) -> BoolArray:
    """Say who leans by more than 60 degrees."""
    return step.upright < LEAST_UPRIGHT


def make_original_end(max_cte: float = 8.0) -> End:
    """Return the original's rule: farther from the path than `max_cte` [U], though not beyond twice that, or a hit."""

    def end_original(step: Step) -> BoolArray:
        distance = np.abs(step.offset) * UNITS_PER_METRE
        over: BoolArray = ((max_cte < distance) & (distance <= 2.0 * max_cte)) | (step.hit != HIT_NONE)
        return over

    return end_original


REWARDS: Mapping[str, Reward] = {
    "progress": reward_progress,
    "centre": reward_centre,
    "original": make_original_reward(),
}
"""Rewards by name."""

ENDS: Mapping[str, End] = {
    "off_road": end_off_road,
    "hit": end_hit,
    "wrong_way": end_wrong_way,
    "standstill": end_standstill,
    "tilted": end_tilted,
    "original": make_original_end(),
}
"""Ends by name."""

DEFAULT_ENDS = ("off_road", "hit", "wrong_way", "standstill", "tilted")


@dataclass(frozen=True)
class Task:
    """A reward, the rules that end an episode, and when it is cut off.

    Attributes:
        reward: Of each step.
        ends: An episode is over (terminated) when one of them says so.
        time_limit: An episode is cut off (truncated) after so long [s]; None: never.
        lap_limit: An episode is cut off after so many laps; None: never.
    """

    reward: Reward
    ends: tuple[End, ...]
    time_limit: float | None = None
    lap_limit: int | None = None

    def judge(self, step: Step) -> tuple[FloatArray, BoolArray, BoolArray]:
        """Return reward, terminated and truncated of every car, shape [car_count] each; writes `step.ended`.

        Raises:
            SpecError: A reward of one's own has another shape.
        """
        ended: BoolArray = np.zeros(len(step.along), bool)
        step.ended[:] = False
        for end in self.ends:
            ended |= end(step)
        cut: BoolArray = np.zeros(len(ended), bool)
        if self.time_limit is not None:
            cut |= step.time >= self.time_limit - 1e-9
        if self.lap_limit is not None:
            cut |= step.laps >= self.lap_limit
        step.ended[:] = ended
        reward = np.array(self.reward(step), np.float64)
        if reward.shape != ended.shape:
            raise SpecError(f"the reward has shape {reward.shape}; give one number for each car, shape {ended.shape}.")
        return reward, ended, cut & ~ended


def make_task(
    reward: str | Reward = "progress",
    ends: Sequence[str | End] = DEFAULT_ENDS,
    time_limit: float | None = None,
    lap_limit: int | None = None,
) -> Task:
    """Return a task of rewards and ends given by name or as functions.

    Raises:
        SpecError: There is no reward or end of that name, or a limit is not above 0.
    """
    for name, limit in (("time_limit", time_limit), ("lap_limit", lap_limit)):
        if limit is not None and not limit > 0:
            raise SpecError(f"{name} is {limit}; it takes a number above 0, or None for no limit.")
    chosen = _find("reward", reward, REWARDS)
    rules = tuple(_find("end", end, ENDS) for end in ([ends] if isinstance(ends, str) else ends))
    return Task(chosen, rules, time_limit, lap_limit)


def _find(what: str, wanted: Any, known: Mapping[str, Any]) -> Any:
    if callable(wanted):
        return wanted
    if wanted not in known:
        raise SpecError(describe_unknown(what, str(wanted), known))
    return known[wanted]
