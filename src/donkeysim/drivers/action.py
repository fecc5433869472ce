"""What a driver asks its car for."""

from __future__ import annotations

from typing import NamedTuple


class Action(NamedTuple):
    """Holds until the next."""

    steer: float
    """-1 to 1, + = left."""
    throttle: float
    """-1 to 1."""
    brake: float
    """0 to 1."""
