"""How a camera is mounted, from what it saw of a straight lane of known width; no board on the floor is needed.

Lines that are parallel on the floor meet on the horizon: that gives the pitch. How fast they come apart towards the
camera gives its height. That the car is farther left in one picture and farther right in another gives the roll.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import least_squares

from donkeysim.calibration.camera import Mount
from donkeysim.calibration.lane_lines import Lane
from donkeysim.core.errors import DonkeySimError
from donkeysim.core.rotation import make_rotation
from donkeysim.core.types import FloatArray, IntArray

FEWEST_LANES = 10
"""Pictures of a straight lane that it takes."""

ROLL = math.radians(1.0)
"""Roll that cameras have, about: a car that keeps its place in the lane shows little of it [rad]."""

ROLL_HELD = 0.01 * ROLL
"""At first they are taken to be level: else lanes of two widths would be those of a rolled camera [rad]."""

SOFT = 1.0
"""Lines that are farther off count less, in a picture of 640 columns [pixel]."""

PLACINGS = 4
"""Times that the place of a camera on the lane is solved for; each is nearer."""

LARGEST_SINE = 0.95
"""Of the angle between camera and lane."""

STANDS_OUT = 4.0
"""A lane with a line this many times as far off is another lane."""


@dataclass(frozen=True)
class LaneFit:
    """What follows from pictures of a lane.

    Attributes:
        mount: How the camera looks at the floor.
        numbers: Of the pictures that it follows from.
        side: In each of those, how far right of the camera the lane's left line is [m].
        heading: In each, how far to the left of the lane the camera looks [rad].
        error: Root of the mean square distance of their lines from where the mount shows them [pixel].
    """

    mount: Mount
    numbers: IntArray
    side: FloatArray
    heading: FloatArray
    error: float


def solve_lane(lanes: Sequence[Lane | None], width: float, focal: float, pixels: int) -> LaneFit:
    """Return how a camera is mounted that saw a lane so.

    Args:
        lanes: Of each picture; None: not seen.
        width: From one line's middle to the other's [m].
        focal: Of the camera [pixel].
        pixels: Width of its pictures [pixel].

    Raises:
        DonkeySimError: A straight lane was seen too seldom.
    """
    numbers = np.array([number for number, lane in enumerate(lanes) if lane is not None], int)
    _refuse_few(len(numbers), len(lanes))
    lines = np.array([lane for lane in lanes if lane is not None])
    soft = SOFT * pixels / 640.0 / focal
    held = True
    while True:
        mount, places = _fit(lines, width, soft, ROLL_HELD if held else ROLL)
        # Of another lane, or of what is none, is left out; then what is left says it once more.
        good = np.abs(places.gaps).max(axis=(1, 2)) < STANDS_OUT * soft
        if good.all() and not held:
            error = float(np.sqrt((places.gaps**2).mean())) * focal
            return LaneFit(mount, numbers, places.side, places.heading, error)
        _refuse_few(int(good.sum()), len(lanes))
        held, numbers, lines = False, numbers[good], lines[good]


def _refuse_few(count: int, pictures: int) -> None:
    if count < FEWEST_LANES:
        raise DonkeySimError(
            f"a straight lane was seen in {count} of {pictures} pictures; it takes {FEWEST_LANES}: "
            "drive along straight stretches between two clear lines, and give the lens that took the pictures: "
            "with another one straight lines bend."
        )


def _fit(lines: FloatArray, width: float, soft: float, most: float) -> tuple[Mount, _Places]:
    """Return how a camera is mounted that saw lines so, rolled by about `most`, and its places on the lane.

    Only the mounting is searched for: for each that is tried, the places follow.

    Raises:
        DonkeySimError: No camera sees a lane so.
    """

    def miss(values: FloatArray) -> FloatArray:
        gaps = _place(Mount(values[2], values[0], values[1]), lines, width).gaps.ravel() / soft
        return np.append(gaps, values[1] / most)

    start = _guess(lines, width)
    if not np.isfinite(start).all() or not np.isfinite(miss(np.array(start))).all():
        raise DonkeySimError(
            "the lines that were found do not come apart towards the camera, as those of a lane do; "
            "take a drive along a lane, and the lens that took it."
        )
    found = least_squares(miss, start, loss=_soften, x_scale=(0.02, 0.02, 0.05))
    pitch, roll, height = found.x.tolist()
    mount = Mount(height, pitch, roll)
    return mount, _place(mount, lines, width)


def _soften(squares: FloatArray) -> FloatArray:
    """Return Cauchy's loss, which wrong lanes raise little, and its derivatives; the last, of the roll, stays as is."""
    above = 1.0 + squares
    loss: FloatArray = np.stack([np.log(above), 1.0 / above, -1.0 / above**2])
    loss[:, -1] = squares[-1], 1.0, 0.0
    return loss


def _guess(lines: FloatArray, width: float) -> tuple[float, float, float]:
    """Return pitch, roll and height as they would be if the camera were not rolled."""
    (left_offset, left_slope), (right_offset, right_slope) = lines[:, 0, :2].T, lines[:, 1, :2].T
    apart = right_slope - left_slope
    with np.errstate(divide="ignore", invalid="ignore"):
        pitch = -math.atan(float(np.median((left_offset - right_offset) / apart)))
        return pitch, 0.0, float(width * math.cos(pitch) / np.median(apart))


class _Places(NamedTuple):
    """Where a camera was on the lane in each picture.

    Attributes:
        heading: How far to the left of the lane it looked [rad].
        side: How far right of it the left line was [m].
        gaps: How far the ends of the lines are from where it would show them, for a depth of 1, shape [count, 2, 2].
    """

    heading: FloatArray
    side: FloatArray
    gaps: FloatArray


def _place(mount: Mount, lines: FloatArray, width: float) -> _Places:
    """Return the places from which a camera sees lines most nearly as they were seen.

    A ray that meets a line on the floor lies in the plane through it and the camera. With the heading's sine and cosine
    s and c that says: `-(s * ray[0] + c * ray[1]) * height + side * ray[2] = 0` with the line's side, for a ray that
    points away from what is seen; both unknowns, s and the side of the left line, are linear in it but for c.
    """
    down = lines[:, :, 2:]
    right = lines[:, :, :1] + lines[:, :, 1:2] * down
    ahead, left, up = make_rotation((mount.roll, mount.pitch, 0.0)).reshape(3, 3).T
    ray = right[..., None] * left + down[..., None] * up - ahead
    beside = np.array([0.0, width])[:, None]
    steep = np.hypot(1.0, lines[:, :, 1:2])
    s, side = np.zeros(len(lines)), np.zeros(len(lines))
    for turn in range(PLACINGS):
        c = np.sqrt(1.0 - np.clip(s, -LARGEST_SINE, LARGEST_SINE) ** 2)[:, None, None]
        across = -(s[:, None, None] * left[0] + c * left[1]) * mount.height
        # What is missing to 0, in pixels across the line instead of metres; the first time all lines lie below.
        weight = 1.0 / ((across + (side[:, None, None] + beside) * left[2] if turn else -mount.height) * steep)
        a, b = -mount.height * ray[..., 0] * weight, ray[..., 2] * weight
        rest = (beside * ray[..., 2] - c * mount.height * ray[..., 1]) * weight
        s, side = _solve_pairs(a, b, rest)
    heading = np.arcsin(np.clip(s, -LARGEST_SINE, LARGEST_SINE))
    shown = show_lanes(mount, heading, side, width, down)
    return _Places(heading, side, (shown - right) / steep)


def _solve_pairs(a: FloatArray, b: FloatArray, rest: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return x and y for which the squares of `a x + b y + rest` are least, all axes but the first summed."""
    aa, ab, bb, ar, br = (
        (one * other).sum(axis=(1, 2)) for one, other in ((a, a), (a, b), (b, b), (a, rest), (b, rest))
    )
    scale = aa * bb - ab**2
    return (ab * br - bb * ar) / scale, (ab * ar - aa * br) / scale


def show_lanes(mount: Mount, heading: FloatArray, side: FloatArray, width: float, down: FloatArray) -> FloatArray:
    """Return where a camera sees lanes, right of its axis for a depth of 1.

    Args:
        mount: Of the camera; not its yaw.
        heading: How far to the left of each lane it looks [rad], shape [count].
        side: How far right of it each lane's left line is [m], shape [count].
        width: From line to line [m].
        down: How far below the axis, shape [count, 2, end_count].

    Returns:
        Shape as `down`.
    """
    ahead, left, up = make_rotation((mount.roll, mount.pitch, 0.0)).reshape(3, 3).T
    c, s = np.cos(heading)[:, None, None], np.sin(heading)[:, None, None]
    lines = np.stack([side, side + width], axis=-1)[:, :, None]

    def weigh(axis: FloatArray) -> FloatArray:
        """What an axis adds to (to the right of the lane) x height - side x (downwards), which is 0 on a line."""
        across: FloatArray = -(s * axis[0] + c * axis[1])
        above: FloatArray = across * mount.height + lines * axis[2]
        return above

    shown: FloatArray = (weigh(ahead) - down * weigh(up)) / weigh(left)
    return shown
