"""What several tables check."""

from __future__ import annotations

import math

Colour = tuple[int, int, int]


def check_friction(friction: float) -> None:
    """Raise ValueError when a coefficient of friction is not 0 to 4."""
    if not (0.0 <= friction <= 4.0 and math.isfinite(friction)):
        raise ValueError(f"friction is {friction:g}; it takes 0 to 4.")


def check_colour(colour: Colour) -> None:
    """Raise ValueError when a part of an sRGB colour is not 0 to 255."""
    if not all(0 <= part <= 255 for part in colour):
        raise ValueError(f"a colour is {list(colour)}; its three parts take 0 to 255.")
