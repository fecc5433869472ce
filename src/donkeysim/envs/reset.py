"""What `reset` may be given: seeds, which episodes, and where they begin."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from donkeysim.core.errors import SpecError, describe_unknown, shorten
from donkeysim.core.types import BoolArray


@dataclass(frozen=True)
class Start:
    """Where an episode begins, on the path.

    Attributes:
        along: Length of the path from its node 0 [m]; taken modulo the length of a closed path.
        offset: From the path, + = left of it [m].
        yaw: Against the direction of the path, + = left [rad].
    """

    along: float
    offset: float = 0.0
    yaw: float = 0.0


def read_start(options: Mapping[str, Any] | None) -> Start | None:
    """Return the start that `reset(options=...)` asks for; None when it asks for none.

    Args:
        options: `s` [m], `offset` [m] and `yaw` [rad], each a number; those left out are 0.

    Raises:
        SpecError: Another option, or one that is no finite number.
    """
    if not options:
        return None
    for name, value in options.items():
        if name not in ("s", "offset", "yaw"):
            raise SpecError(describe_unknown("option of reset", str(name), ("s", "offset", "yaw")))
        try:
            fine = math.isfinite(value)
        except TypeError:
            fine = False
        if not fine:
            raise SpecError(f"the option {name} of reset is {value!r}; it takes a finite number.")
    return Start(float(options.get("s", 0.0)), float(options.get("offset", 0.0)), float(options.get("yaw", 0.0)))


def read_seed(seed: Any) -> int | None:
    """Return the seed that `reset` is given.

    Raises:
        SpecError: It is no whole number, or below 0.
    """
    if seed is None:
        return None
    if not isinstance(seed, (int, np.integer)) or seed < 0:
        raise SpecError(f"the seed is {shorten(repr(seed))}; it takes a whole number, 0 or more, or None.")
    return int(seed)


def spread_seeds(seed: int | Sequence[int | None] | None, count: int) -> list[int | None]:
    """Return a seed for each environment: the first one's is given and the next ones take the next numbers, or all are.

    Raises:
        SpecError: There is not one for each, or one is no whole number.
    """
    if isinstance(seed, str) or not isinstance(seed, Iterable):
        first = read_seed(seed)
        return [None if first is None else first + world for world in range(count)]
    seeds = list(map(read_seed, seed))
    if len(seeds) != count:
        raise SpecError(f"{len(seeds)} seeds were given for {count} environments; give one for each.")
    return seeds


def read_mask(mask: Any, count: int) -> BoolArray:
    """Return which environments a `reset_mask` means; None: all.

    Raises:
        SpecError: It is not a truth value for each, or none is true.
    """
    flags = np.ones(count, bool) if mask is None else np.asarray(mask)
    if flags.shape != (count,) or flags.dtype != np.bool_ or not flags.any():
        raise SpecError(
            f"reset_mask has shape {flags.shape} and type {flags.dtype}; it takes {count} truth values, "
            "at least one of them true."
        )
    return flags
