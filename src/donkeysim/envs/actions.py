"""What actions mean: numbers from whoever drives, checked, as steering, throttle and brake."""

import math
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

from donkeysim.core.errors import SpecError, shorten
from donkeysim.core.kernel import get_formula
from donkeysim.core.types import FloatArray
from donkeysim.envs.kernels.episodes import scale_throttle

_scale_throttle = get_formula(scale_throttle)


@dataclass(frozen=True)
class ActionRange:
    """What actions mean: steering (+ = right) and throttle; as they are, a third number is the brake, 0 to 1.

    Attributes:
        steer_limit: Greatest steering, 0 to 1.
        throttle_min: Least throttle, -1 to 1.
        throttle_max: Greatest throttle.
        normalised: Whether both numbers run from -1 to 1, over these ranges; else they are meant as they are.
    """

    steer_limit: float = 1.0
    throttle_min: float = 0.0
    throttle_max: float = 1.0
    normalised: bool = False

    @property
    def limits(self) -> tuple[float, float, float]:
        """Greatest steering, least and greatest throttle."""
        return self.steer_limit, self.throttle_min, self.throttle_max

    def make_space(self) -> "gymnasium.spaces.Box[Any]":  # which Gymnasium 1.0 to 1.2 cannot evaluate
        """Return the space of one car's actions."""
        if self.normalised:
            return gymnasium.spaces.Box(-1.0, 1.0, (2,), np.float32)
        low, high = [-self.steer_limit, self.throttle_min], [self.steer_limit, self.throttle_max]
        return gymnasium.spaces.Box(np.array(low, np.float32), np.array(high, np.float32), dtype=np.float32)

    def decode(self, actions: Any, car_count: int) -> tuple[FloatArray, ...]:
        """Return steer (+ = left) and throttle, -1 to 1, and the brake, 0 to 1, if given, shape [car_count] each.

        Raises:
            SpecError: There are not two finite numbers for each car.
        """
        try:
            table = np.asarray(actions, np.float64)
        except (TypeError, ValueError):
            table = np.full(0, np.nan)
        self.check_table(table.shape, bool(np.isfinite(table).all()), car_count)
        if self.normalised:
            table = np.minimum(np.maximum(table, -1.0), 1.0)  # a third of what `clip` takes for one car
            throttle = _scale_throttle(table[:, 1], self.throttle_min, self.throttle_max)
            return -self.steer_limit * table[:, 0], throttle
        steer, throttle = -np.clip(table[:, 0], -1.0, 1.0), np.clip(table[:, 1], -1.0, 1.0)
        return (steer, throttle, *np.clip(table[:, 2:].T, 0.0, 1.0))

    def check_table(self, shape: tuple[int, ...], is_fine: bool, car_count: int) -> None:
        """Make sure that there are numbers for each car; `is_fine`: whether they are finite, as far as is known.

        Raises:
            SpecError: There are not.
        """
        widths = (2,) if self.normalised else (2, 3)
        if len(shape) != 2 or shape[0] != car_count or shape[1] not in widths or not is_fine:
            raise SpecError(
                f"the actions have shape {shape}, or are not finite; they take steering and throttle for each car, "
                f"shape ({car_count}, 2)."
            )


def read_action(action: Any, takes_brake: bool) -> list[float]:
    """Return one car's steering and throttle, and the brake if it is given and taken.

    Raises:
        SpecError: They are something else, or not finite.
    """
    try:
        numbers = [float(value) for value in action]
    except (TypeError, ValueError):
        numbers = []
    if len(numbers) not in ((2, 3) if takes_brake else (2,)) or not all(map(math.isfinite, numbers)):
        given = shorten(repr(action))
        brake = ", and the brake if you like" if takes_brake else ""
        raise SpecError(f"the action is {given}; it takes two finite numbers, steering and throttle{brake}.")
    return numbers
