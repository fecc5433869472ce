"""The two lines of a lane, found in pictures whose lens is known but not how the camera is mounted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from donkeysim.core.types import BoolArray, ByteArray, FloatArray, LongArray
from donkeysim.render.warp import unbend_rays
from donkeysim.world.lens import LensSpec

# Each twice the one before, so that a marking is at most 1.4 times as wide or as narrow as the nearest one: from 4 to
# 31 pixels of 640. With a field of view of 80° that is a line of 5 cm from 5 m to 60 cm ahead.
WIDTHS = (0.006, 0.012, 0.024, 0.048)
"""Of markings that are looked for, as shares of the picture's width."""

# Above the noise and the blocks of JPEG pictures (a few grey levels), below faded paint on a grey floor.
LEAST_CONTRAST = 16.0
"""Markings differ from the floor on both their sides by so much at least [grey level]."""

# Two lines are wanted; the rest is room for a neighbouring lane's lines and for reflections that stand out more.
PER_ROW = 8
"""How many markings of a row of pixels are kept, the clearest."""

# `_try_pairs` compares every trial with every marking: 600 times 900 numbers are quick and fit into a cache.
MOST_MARKINGS = 900
"""More than this many of a picture are thinned out."""

# With a tenth of the markings on a line, one pair in a hundred is: 600 pairs miss it with a chance of 0.99^600 = 0.2 %.
TRIALS = 600
"""Lines through two markings that are tried for each clear line."""

# The lane's two, its neighbours' two, and one that is no line of the road.
CLEAR_LINES = 5
"""How many lines that are clear by themselves are looked for in a picture."""

# The peak of a marking is found to a pixel; half a pixel more allows for what the lens model leaves.
NEAR = 1.5
"""Markings so near to a line are on it, in a picture of 640 columns [pixel]."""

# Dashes are seen in part of the rows only, so this is far below a whole line's share; a line that has to meet the other
# one on the horizon is hit by chance less often, and needs half.
FEWEST_ROWS = 0.12
"""Share of a picture's rows in which a line that is clear by itself is seen; half as many will do beside one."""

# Beyond the lane's own line there may be a clearer one, such as the solid edge behind a dashed middle. The nearest
# counts unless it is so faint that it is noise.
RIVAL = 0.5
"""On each side the line nearest to the car counts that is seen in so large a share of the rows of the clearest one."""

# The slope of a shorter line is too uncertain to say where it meets the horizon.
LEAST_LENGTH = 0.15
"""Lines reach over such a share of the way from the horizon to the picture's lower edge at least."""

# Less than `NEAR`, else a curve would still count as straight, and curves meet nowhere on the horizon.
MOST_BEND = 1.0
"""Lines that bend more are not straight, in a picture of 640 columns [pixel]."""


class Markings(NamedTuple):
    """What stands out in a picture, an entry each.

    Attributes:
        right: Right of the camera's axis, for a depth of 1.
        down: Below it.
        row: Of the picture.
    """

    right: FloatArray
    down: FloatArray
    row: LongArray

    def only(self, which: BoolArray) -> Markings:
        """Return some of them."""
        return Markings(self.right[which], self.down[which], self.row[which])


class LaneLine(NamedTuple):
    """A straight line as a camera sees it, for a depth of 1: `right = offset + slope * down`.

    Attributes:
        offset: Right of the axis, as high as that.
        slope: To the right while going down.
        top: Where it begins to be seen, below the axis.
        bottom: Where it ends.
    """

    offset: float
    slope: float
    top: float
    bottom: float

    def find_gaps(self, seen: Markings) -> FloatArray:
        """Return how far markings are from it."""
        gaps: FloatArray = np.abs(self.offset + self.slope * seen.down - seen.right) / np.hypot(1.0, self.slope)
        return gaps


HALFWAY = 0.2
"""A line is the middle of a road if the parts beside it differ by so large a share at most."""

CROSSED = 0.15
"""Share of the pictures in which it lies on the left, and on the right, of a car that drives along it."""

Lane: TypeAlias = tuple[LaneLine, LaneLine]
"""The lines left and right of the car."""


class SeenLine(NamedTuple):
    """A straight line beside the car.

    Attributes:
        rows: In how many rows it is seen.
        apart: How far from the middle of the lower edge it meets that, in fans.
    """

    rows: int
    apart: int
    line: LaneLine


class Sides(NamedTuple):
    """What lies beside the car in a picture: the nearest lines on the left and on the right, at most two each."""

    left: list[SeenLine]
    right: list[SeenLine]

    def find_middle(self) -> int:
        """Return on which side (-1: left) a line lies halfway between two others; 0: none does."""
        width = self.left[0].apart + self.right[0].apart
        for side, lines in ((-1, self.left), (1, self.right)):
            if len(lines) > 1 and abs(lines[1].apart - lines[0].apart - width) <= HALFWAY * width:
                return side
        return 0

    def choose(self) -> Lane:
        """Return the nearest line on each side."""
        return self.left[0].line, self.right[0].line

    def choose_borders(self) -> Lane | None:
        """Return the lines beside that which lies halfway between two others; None: none does."""
        middle = self.find_middle()
        return (self.left[middle < 0].line, self.right[middle > 0].line) if middle else None


class LaneFinder:
    """Finds the lines beside the car in a camera's pictures."""

    def __init__(self, lens: LensSpec) -> None:
        """Note where pixels look; `lens`: of pictures of its `size`."""
        width, height = lens.size
        row, column = np.indices((height, width)).astype(float)
        (cx, cy), (fx, fy) = lens.centre, lens.focal
        right, down = unbend_rays(lens, (column.ravel() - cx) / fx, (row.ravel() - cy) / fy)
        self._right, self._down = right.reshape(height, width), down.reshape(height, width)
        self._is_seen = np.isfinite(self._right) & np.isfinite(self._down)
        self._near, self._fewest = NEAR * width / 640.0 / fx, FEWEST_ROWS * height
        self._bend = MOST_BEND / NEAR * self._near
        self._low = float(np.nanmax(self._down[:, width // 2]))
        self._random = np.random.default_rng(0)

    def find_lanes(self, pictures: Sequence[ByteArray]) -> list[Lane | None]:
        """Return the lane of each picture, of shape [height, width, 1 or 3]; None: none that is straight."""
        seen = [self._mark(picture) for picture in pictures]
        clear = [self._find_clear(markings) for markings in seen]
        level = find_level(clear, self._near)
        sides = [self._find_sides(*each, level) for each in zip(seen, clear, strict=True)]
        # Whoever keeps to a lane has the middle of the road on one side, and along the middle now left, now right.
        middles = [each.find_middle() for each in sides if each]
        changes = min(middles.count(-1), middles.count(1)) > CROSSED * len(middles)
        choose = Sides.choose_borders if changes else Sides.choose
        return [choose(each) if each else None for each in sides]

    def _mark(self, picture: ByteArray) -> Markings:
        row, column = pick_markings(np.where(self._is_seen, find_contrast(picture), 0.0))
        if len(row) > MOST_MARKINGS:
            some = np.sort(self._random.permutation(len(row))[:MOST_MARKINGS])
            row, column = row[some], column[some]
        return Markings(self._right[row, column], self._down[row, column], row)

    def _find_clear(self, seen: Markings) -> list[LaneLine]:
        """Return the lines that are clear by themselves, the clearest first; no marking is on two of them."""
        found: list[tuple[int, LaneLine]] = []
        for _ in range(CLEAR_LINES):
            mine = self._try_pairs(seen)
            if mine is None:
                break
            line = fit_line(seen.only(mine))
            rows = len(np.unique(seen.row[mine]))
            if rows >= self._fewest:
                found.append((rows, line))
            seen = seen.only(~mine & (line.find_gaps(seen) > 3.0 * self._near))
        return [line for _, line in sorted(found, reverse=True)]

    def _try_pairs(self, seen: Markings) -> BoolArray | None:
        """Return which markings are on the straight line on which most are."""
        if len(seen.row) < self._fewest:
            return None
        first, second = self._random.choice(len(seen.row), (2, TRIALS))
        apart = seen.down[second] - seen.down[first]
        far = np.abs(apart) > 10.0 * self._near
        if not far.any():
            return None
        slope = (seen.right[second] - seen.right[first])[far] / apart[far]
        offset = seen.right[first][far] - slope * seen.down[first][far]
        gap = np.abs(offset[:, None] + slope[:, None] * seen.down - seen.right)
        is_on = gap < self._near * np.hypot(1.0, slope)[:, None]
        best: BoolArray = is_on[is_on.sum(axis=1).argmax()]
        return best

    def _find_sides(self, seen: Markings, clear: list[LaneLine], level: float) -> Sides | None:
        """Return the lines left and right of the car that meet on a horizon which is `level` below the axis.

        Where on it, one of the clear lines says: that which leaves the clearest lane.
        """
        seen = seen.only(seen.down - level > 0.1 * (self._low - level))
        best, found = 0, None
        for line in clear[:3]:
            meet = line.offset + line.slope * level
            sides = Sides(*(self._find_beside(seen, meet, level, side) for side in (-1.0, 1.0)))
            if sides.left and sides.right and (rows := sides.left[0].rows + sides.right[0].rows) > best:
                best, found = rows, sides
        return found

    def _find_beside(self, seen: Markings, meet: float, level: float, side: float) -> list[SeenLine]:
        """Return the nearest clear line on a side (-1: left) of the car, and the next one, if there are."""
        depth = self._low - level
        apart = side * ((seen.right - meet) / (seen.down - level) + meet / depth)
        # In fans of lines through the place on the horizon, each as wide as a marking may lie aside halfway down.
        # At 0.4 of the depth, as most markings are found in the far half. No lane is a thousand such fans wide: beyond
        # them lies what is nearly level with the horizon.
        fan = np.floor(apart / (2.0 * self._near / (0.4 * depth))).astype(int)
        fan[(fan < 0) | (fan > 1000)] = -1
        rows = np.bincount(np.unique(np.stack([fan, seen.row]), axis=1)[0] + 1, minlength=3)[1:]
        rows = rows + np.append(rows[1:], 0)
        least = max(RIVAL * rows.max(), 0.5 * self._fewest)
        lines: list[SeenLine] = []
        start = 0
        while len(lines) < 2 and (rows[start:] >= least).any():
            nearest = start + int(np.argmax(rows[start:] >= least))
            while nearest + 1 < len(rows) and rows[nearest + 1] > rows[nearest]:
                nearest += 1
            found = self._refine(seen, (fan == nearest) | (fan == nearest + 1))
            if found is None and not lines:
                break
            lines += [SeenLine(found[0], nearest, found[1])] if found else []
            start, least = nearest + 3, 0.5 * self._fewest  # beyond the nearest, lines are seen in fewer rows
        return lines

    def _refine(self, seen: Markings, mine: BoolArray) -> tuple[int, LaneLine] | None:
        """Return in how many rows a line is on which some markings are about, and where; None: it is not straight."""
        for _ in range(4):
            if mine.sum() < max(8, 0.3 * self._fewest):
                return None
            line = fit_line(seen.only(mine))
            mine = line.find_gaps(seen) < self._near
        own = seen.only(mine)
        if len(own.row) < 8 or line.bottom - line.top < LEAST_LENGTH * (self._low - line.top):
            return None
        half = 0.5 * (line.bottom - line.top)
        bend = np.polyfit(own.down, own.right, 2)[0] * half**2 / np.hypot(1.0, line.slope)
        return None if abs(bend) > self._bend else (len(np.unique(own.row)), line)


def find_level(clear: Sequence[Sequence[LaneLine]], near: float) -> float:
    """Return how far below the axis lines that lean to each other meet in most pictures, for a depth of 1."""
    meets = []
    for lines in clear:
        for number, one in enumerate(lines):
            for other in lines[number + 1 :]:
                if one.slope * other.slope < 0.0 and abs(one.slope - other.slope) > 0.5:
                    meet = (one.offset - other.offset) / (other.slope - one.slope)
                    if meet < min(one.bottom, other.bottom):
                        meets.append(meet)
    if not meets:
        return 0.0
    places = np.array(meets)
    crowd = np.exp(-0.5 * ((places[:, None] - places) / (3.0 * near)) ** 2).sum(axis=1)
    return float(places[crowd.argmax()])


def fit_line(seen: Markings) -> LaneLine:
    """Return the line nearest to markings."""
    slope, offset = np.polyfit(seen.down, seen.right, 1)
    top, bottom = np.quantile(seen.down, (0.02, 0.98))
    return LaneLine(float(offset), float(slope), float(top), float(bottom))


def find_contrast(picture: ByteArray) -> FloatArray:
    """Return by how much pixels differ from both what is left and what is right of them, in the same sense.

    Args:
        picture: Shape [height, width, 1 or 3].

    Returns:
        Of the widths that are looked for and of the colours the greatest [grey level], shape [height, width].
    """
    height, width, channels = picture.shape
    best = np.zeros((height, width))
    total = np.zeros((height, width + 1, channels))
    np.cumsum(picture, axis=1, dtype=float, out=total[:, 1:])
    for share in WIDTHS:
        wide = max(2, round(share * width))
        half, at = wide // 2, np.arange(wide // 2 + wide, width - wide // 2 - wide)
        middle = (total[:, at + half + 1] - total[:, at - half]) / (2 * half + 1)
        left = middle - (total[:, at - half] - total[:, at - half - wide]) / wide
        right = middle - (total[:, at + half + 1 + wide] - total[:, at + half + 1]) / wide
        both = np.where(left * right > 0.0, np.minimum(np.abs(left), np.abs(right)), 0.0).max(axis=2)
        best[:, at] = np.maximum(best[:, at], both)
    return best


def pick_markings(contrast: FloatArray) -> tuple[LongArray, LongArray]:
    """Return rows and columns where pixels stand out more than those beside them, the clearest of each row."""
    inner = contrast[:, 1:-1]
    is_peak = np.zeros(contrast.shape, bool)
    is_peak[:, 1:-1] = (inner > LEAST_CONTRAST) & (inner >= contrast[:, :-2]) & (inner > contrast[:, 2:])
    height = np.where(is_peak, contrast, 0.0)
    row, column = np.nonzero(is_peak & (height >= np.sort(height, axis=1)[:, -min(PER_ROW, height.shape[1]), None]))
    return row, column
