"""What happens to a finished picture: fisheye warp and grey.

**Fisheye.** With x, y in [-1, 1] across the picture (y down), a pixel of the result shows what the plain picture has at

    x' = x - 2 (1 - y²) k_y x        k_y = strength_y * 80 / 512
    y' = y - 2 (1 - x²) k_x y        k_x = strength_x * 80 / 512 * width / height

read with bilinear weights and clamped to the picture's edge. Strengths of 0 leave the picture as it is. The middle is
magnified and the edges' middles stay put, which is the barrel look of the original's image effect; it isn't a
projection of its own, so nothing outside the plain camera's field of view comes in.

**Grey.** 0.2126 R + 0.7152 G + 0.0722 B, cut off to a whole number, in all three channels.
"""

from __future__ import annotations

import math

FISHEYE_BASE = 80.0 / 512.0
"""Offset per unit of strength, as a share of the picture."""


def compute_focal(fov: float, height: float) -> float:
    """Return the focal length [pixel] of a pinhole camera with a vertical field of view [rad]."""
    return 0.5 * height / math.tan(0.5 * fov)


def compute_fisheye(strength: tuple[float, float], width: int, height: int) -> tuple[float, float]:
    """Return (k_x, k_y) of the formula above; both 0 when there is no warp."""
    return strength[0] * FISHEYE_BASE * width / height, strength[1] * FISHEYE_BASE
