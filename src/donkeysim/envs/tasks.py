"""What a car shall learn: rewards and ends of episodes, small functions over all cars of a step at once.

Pick them by name or pass your own: a reward takes a `Step` and returns one number for each car, an end returns for each
car whether its episode is over.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from donkeysim.core.errors import SpecError, describe_unknown
from donkeysim.core.kernel import get_formula
from donkeysim.core.types import BoolArray, FloatArray
from donkeysim.envs.kernels import tasks as kernels
from donkeysim.envs.step import Step

Reward = Callable[[Step], Any]
"""Returns the reward of each car, shape [car_count]."""

End = Callable[[Step], Any]
"""Returns which episodes are over, shape [car_count]."""

_reward_progress: Any = get_formula(kernels.reward_progress)
_reward_centre: Any = get_formula(kernels.reward_centre)
_reward_original: Any = get_formula(kernels.reward_original)
_is_off_road: Any = get_formula(kernels.is_off_road)
_has_hit: Any = get_formula(kernels.has_hit)
_goes_wrong_way: Any = get_formula(kernels.goes_wrong_way)
_stands_still: Any = get_formula(kernels.stands_still)
_is_tilted: Any = get_formula(kernels.is_tilted)
_ends_as_original: Any = get_formula(kernels.ends_as_original)
_is_late: Any = get_formula(kernels.is_late)


def reward_progress(step: Step) -> Any:
    """Return ten points per metre of new ground, less a penalty for an ended episode."""
    return _reward_progress(step.progress, step.ended)


def reward_centre(step: Step) -> Any:
    """Return ten points per metre of way made, all of it on the path, none a metre beside it; less the penalty."""
    return _reward_centre(step.gain, step.offset, step.ended)


def make_original_reward(max_cte: float = kernels.MAX_CTE) -> Reward:
    """Return the reward of the original's environments, |cte| counted on both sides.

    Args:
        max_cte: Farthest from the path [U].
    """

    def reward_original(step: Step) -> Any:
        return _reward_original(step.active_offset, step.forward_speed, step.hit, step.ended, max_cte)

    return reward_original


def make_original_end(max_cte: float = kernels.MAX_CTE) -> End:
    """Return the original's rule: farther from the path than `max_cte` [U], though not beyond twice that, or a hit."""

    def end_original(step: Step) -> Any:
        return _ends_as_original(step.active_offset, step.hit, max_cte)

    return end_original


REWARDS: Mapping[str, Reward] = {
    "progress": reward_progress,
    "centre": reward_centre,
    "original": make_original_reward(),
}
"""Rewards by name."""

ENDS: Mapping[str, End] = {
    "off_road": lambda step: _is_off_road(step.off_road_time),  # for a quarter of a second
    "hit": lambda step: _has_hit(step.hit),  # something was touched in this step
    "wrong_way": lambda step: _goes_wrong_way(step.wrong_way_time),  # against the path for half a second
    "standstill": lambda step: _stands_still(step.still_time),  # for four seconds
    "tilted": lambda step: _is_tilted(step.upright),  # by more than 60 degrees
    "original": make_original_end(),
}
"""Ends by name."""

NO_LIMIT = 1 << 31
"""More laps than anybody drives."""

DEFAULT_ENDS = ("off_road", "hit", "wrong_way", "standstill", "tilted")


@dataclass(frozen=True)
class Task:
    """A reward, the rules that end an episode, and when it is cut off.

    Attributes:
        reward: Of each step.
        ends: An episode is over (terminated) when one of them says so.
        time_limit: An episode is cut off (truncated) after so long [s]; None: never.
        lap_limit: Laps after which an episode is truncated; None: never.
    """

    reward: Reward
    ends: tuple[End, ...]
    time_limit: float | None = None
    lap_limit: int | None = None

    @property
    def rules(self) -> kernels.Rules | None:
        """The same as numbers for `kernels.judge_car`; None where a reward or an end is a function of one's own."""
        reward, ends = _find_name(self.reward, REWARDS), [_find_name(end, ENDS) for end in self.ends]
        if reward is None or None in ends:
            return None
        return kernels.Rules(
            reward=kernels.REWARD_NAMES.index(reward),
            ends=sum(1 << kernels.END_NAMES.index(str(end)) for end in set(ends)),
            time_limit=math.inf if self.time_limit is None else float(self.time_limit),
            lap_limit=NO_LIMIT if self.lap_limit is None else math.ceil(self.lap_limit),
        )

    def judge(self, step: Step) -> tuple[FloatArray, BoolArray, BoolArray]:
        """Return reward, terminated and truncated of every car, shape [car_count] each; writes `step.ended`.

        The step's arrays may be those of another library that has NumPy's operators, PyTorch for example.

        Raises:
            SpecError: A reward of one's own has another shape.
        """
        ended: Any = False
        cut: Any = False
        step.ended[:] = False
        for end in self.ends:
            ended = ended | end(step)
        if self.time_limit is not None:
            cut = cut | _is_late(step.time, self.time_limit)
        if self.lap_limit is not None:
            cut = cut | (step.laps >= self.lap_limit)
        step.ended[:] = ended
        reward: Any = self.reward(step)
        if isinstance(step.ended, np.ndarray):
            reward = np.array(reward, np.float64)
        shape = tuple(step.ended.shape)
        if tuple(reward.shape) != shape:
            raise SpecError(f"the reward has shape {tuple(reward.shape)}; give one number for each car, shape {shape}.")
        return reward, step.ended | False, cut & ~step.ended


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


def _find_name(function: Any, known: Mapping[str, Any]) -> str | None:
    """Return the name of a reward or an end, None for one of somebody's own."""
    return next((name for name, other in known.items() if other is function), None)


def _find(what: str, wanted: Any, known: Mapping[str, Any]) -> Any:
    if callable(wanted):
        return wanted
    if wanted not in known:
        raise SpecError(describe_unknown(what, str(wanted), known))
    return known[wanted]
