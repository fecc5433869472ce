"""What several tables check."""

import math
from pathlib import Path

Colour = tuple[int, int, int]


def check_friction(friction: float) -> None:
    """Raise ValueError when a coefficient of friction is not 0 to 4."""
    if not (0.0 <= friction <= 4.0 and math.isfinite(friction)):
        raise ValueError(f"friction is {friction:g}; it takes 0 to 4.")


def check_colours(*colours: Colour | None) -> None:
    """Raise ValueError when a part of an sRGB colour is not 0 to 255."""
    for colour in colours:
        if colour is not None and not all(0 <= part <= 255 for part in colour):
            raise ValueError(f"a colour is {list(colour)}; its three parts take 0 to 255.")


def to_tint(colour: Colour | None) -> tuple[float, float, float]:
    """Return a colour as what a picture is multiplied by, 0 to 1; of none 1, which leaves it as it is."""
    red, green, blue = (255, 255, 255) if colour is None else colour
    return (red / 255.0, green / 255.0, blue / 255.0)


PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")
"""Files of pictures that a track file may name."""


def is_picture_file(name: str) -> bool:
    """Return whether a track file means a file beside it, not a picture of the package."""
    return Path(name).suffix.lower() in PICTURE_SUFFIXES
