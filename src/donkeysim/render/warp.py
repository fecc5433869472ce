"""Where the pixels of a picture through a real lens come from: a larger picture of a pinhole camera, and a table.

The pinhole camera looks along the same axis with the lens's focal length, so that the middle keeps its size; it is as
wide as the lens's corners ask for, up to `MOST_ANGLE` from the axis and `MOST_SIDE` pixels. What lies beyond is black.

The original's fisheye is another thing, an image effect. With x, y in [-1, 1] across the picture (y down), a pixel of
the result shows what the plain picture has at

    x' = x - 2 (1 - y²) k_y x        k_y = strength_y * 80 / 512
    y' = y - 2 (1 - x²) k_x y        k_x = strength_x * 80 / 512 * width / height

read with bilinear weights and clamped to the picture's edge. Strengths of 0 leave the picture as it is. The middle is
magnified and the edges' middles stay put; it isn't a projection of its own, so nothing outside the plain camera's field
of view comes in.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from donkeysim.core.types import Float32Array, FloatArray
from donkeysim.world.lens import MOST_ANGLE, LensSpec
from donkeysim.world.specs import CameraSpec

FISHEYE_BASE = 80.0 / 512.0
"""Offset per unit of strength, as a share of the picture."""

MOST_SIDE = 4096
"""Sides of the pinhole camera's picture at most [pixel]."""

UNSEEN = -1.0
"""Column and row of what no ray reaches."""

_NEWTON_STEPS = 8

_SMALL = 1e-6

_EXACT = 1e-6


def compute_focal(fov: float, height: float) -> float:
    """Return the focal length [pixel] of a pinhole camera with a vertical field of view [rad]."""
    return 0.5 * height / math.tan(0.5 * fov)


def compute_fisheye(strength: tuple[float, float], width: int, height: int) -> tuple[float, float]:
    """Return (k_x, k_y) of these formulas; both 0 when there is no warp."""
    return strength[0] * FISHEYE_BASE * width / height, strength[1] * FISHEYE_BASE


class Warp(NamedTuple):
    """What is drawn for a picture, and where its pixels come from."""

    size: tuple[int, int]
    """Width and height of what is drawn [pixel]."""
    band: tuple[int, int]
    """First row and end of those that the picture's rows come from."""
    scale: float
    """Its focal length over that of a picture with the camera's height and field of view."""
    source: Float32Array
    """Column and row that each pixel of the whole picture comes from, shape [height, width, 2], `UNSEEN`: nowhere; of
    shape [0, 0, 2] where there is no lens, and every pixel comes from its own place."""


def bend_rays(lens: LensSpec, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return x', y' of rays x, y; see `LensSpec`."""
    square = x * x + y * y
    if lens.model == "equidistant":
        angle, distance = np.arctan(np.sqrt(square)), np.sqrt(square)
        share = np.where(distance > 0.0, _scale_angle(lens, angle) / np.maximum(distance, 1e-12), 1.0)
        return x * share, y * share
    *_, p1, p2, _ = lens.coefficients
    share = _scale_radius(lens, square)
    return (
        x * share + 2.0 * p1 * x * y + p2 * (square + 2.0 * x * x),
        y * share + p1 * (square + 2.0 * y * y) + 2.0 * p2 * x * y,
    )


def unbend_rays(lens: LensSpec, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the rays that end at x', y'; not numbers where none within `MOST_ANGLE` does."""
    angle = np.linspace(0.0, MOST_ANGLE, 4001)
    radius = np.tan(angle)
    bent = _scale_angle(lens, angle) if lens.model == "equidistant" else radius * _scale_radius(lens, radius**2)
    # Polynomials turn back somewhere; what lies behind is no picture of anything.
    falls = np.flatnonzero(np.diff(bent) <= 0.0)
    count = int(falls[0]) + 1 if len(falls) else len(bent)
    away = np.hypot(x, y)
    found = np.interp(away, bent[:count], radius[:count], right=np.nan)
    share = np.where(away > 0.0, found / np.maximum(away, 1e-12), 1.0)
    ray_x, ray_y = x * share, y * share
    for _ in range(_NEWTON_STEPS if lens.model == "plumb_bob" else 2):
        ray_x, ray_y = _step_to(lens, (ray_x, ray_y), (x, y))
    # Where a polynomial is about to turn back, steps go astray.
    at_x, at_y = bend_rays(lens, ray_x, ray_y)
    astray = ~(np.hypot(at_x - x, at_y - y) < _EXACT) | ~(np.hypot(ray_x, ray_y) <= radius[count - 1])
    return np.where(astray, np.nan, ray_x), np.where(astray, np.nan, ray_y)


@lru_cache(maxsize=16)
def open_warp(camera: CameraSpec) -> Warp:
    """Return how a camera's picture comes about."""
    size, band = (camera.width, camera.height), (camera.crop_top, camera.crop_top + camera.row_count)
    if camera.lens is None:
        return Warp(size, band, 1.0, np.zeros((0, 0, 2), np.float32))
    ray_x, ray_y = list_rays(camera)
    focal = compute_focal(camera.fov, camera.height)
    reach = [max(float(np.nanmax(np.abs(ray), initial=0.0)), 1e-3) for ray in (ray_x, ray_y)]
    drawn = min(focal, (MOST_SIDE / 2 - 2) / max(reach))
    width, height = (max(side, 2 * math.ceil(drawn * far + 1.0)) for side, far in zip(size, reach, strict=True))
    place = np.stack([0.5 * width - 0.5 + drawn * ray_x, 0.5 * height - 0.5 + drawn * ray_y], axis=-1)
    rows = place[band[0] : band[1], :, 1]
    seen = np.isfinite(rows)
    low, high = (float(rows[seen].min()), float(rows[seen].max())) if seen.any() else (0.0, 0.0)
    source = np.where(np.isfinite(place), place, UNSEEN).astype(np.float32)
    # Rows are blended with the next one; one more for what rounding may differ by.
    return Warp((width, height), (max(int(low) - 1, 0), min(int(high) + 3, height)), drawn / focal, source)


def list_rays(camera: CameraSpec) -> tuple[FloatArray, FloatArray]:
    """Return the rays x, y of all pixels of a camera with a lens, shape [height, width] each; see `unbend_rays`."""
    assert camera.lens is not None, "only lenses bend rays"
    (focal_x, focal_y), (centre_x, centre_y) = _fit_lens(camera.lens, camera)
    column, row = np.meshgrid(np.arange(float(camera.width)), np.arange(float(camera.height)))
    return unbend_rays(camera.lens, (column - centre_x) / focal_x, (row - centre_y) / focal_y)


def find_pixels(camera: CameraSpec, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the column and row in which a camera with a lens shows rays x, y; middles of pixels are whole numbers."""
    assert camera.lens is not None, "only lenses bend rays"
    (focal_x, focal_y), (centre_x, centre_y) = _fit_lens(camera.lens, camera)
    bent_x, bent_y = bend_rays(camera.lens, x, y)
    return bent_x * focal_x + centre_x, bent_y * focal_y + centre_y


def _fit_lens(lens: LensSpec, camera: CameraSpec) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return a lens's focal lengths and centre in a camera's picture [pixel].

    One of another shape than the calibrated one has its rows, and the columns that its width has room for.
    """
    share, focal = camera.height / lens.size[1], compute_focal(camera.fov, camera.height)
    centre_x = 0.5 * camera.width + (lens.centre[0] + 0.5 - 0.5 * lens.size[0]) * share - 0.5
    return (focal * lens.focal[0] / lens.focal[1], focal), (centre_x, (lens.centre[1] + 0.5) * share - 0.5)


def _scale_radius(lens: LensSpec, square: FloatArray) -> FloatArray:
    k1, k2, *_, k3 = lens.coefficients
    return 1.0 + square * (k1 + square * (k2 + square * k3))


def _scale_angle(lens: LensSpec, angle: FloatArray) -> FloatArray:
    k1, k2, k3, k4 = lens.coefficients
    square = angle * angle
    return angle * (1.0 + square * (k1 + square * (k2 + square * (k3 + square * k4))))


def _step_to(
    lens: LensSpec, ray: tuple[FloatArray, FloatArray], goal: tuple[FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Return rays that end nearer to their goals: a step by the slopes where they are."""
    (x, y), (at_x, at_y) = ray, bend_rays(lens, *ray)
    right_x, right_y = bend_rays(lens, x + _SMALL, y)
    down_x, down_y = bend_rays(lens, x, y + _SMALL)
    a, b, c, d = ((there - here) / _SMALL for there, here in (
        (right_x, at_x), (down_x, at_x), (right_y, at_y), (down_y, at_y)
    ))  # fmt: skip
    off_x, off_y, area = goal[0] - at_x, goal[1] - at_y, a * d - b * c
    return x + (d * off_x - b * off_y) / area, y + (a * off_y - c * off_x) / area
