"""Paths by arc length: where a place along a path is, and what place along it is nearest to a point.

World frame: metres, radians, z up; lengths are measured on the ground plane.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from donkeysim.core.types import FloatArray, LongArray

if TYPE_CHECKING:  # the compiler comes with them; building and describing places needs none
    from donkeysim.world.kernels.paths import PathRows

SEARCH_SIZE = 50_000
"""Pairs of a point and a segment that a search looks at together: few enough for a processor's cache."""


class Located(NamedTuple):
    """Where points lie on a path, shape [...] each."""

    node: LongArray
    """The node behind the nearest point: where its segment begins."""
    along: FloatArray
    """Length of the path from node 0 to the nearest point [m], 0 to the path's length."""
    offset: FloatArray
    """Distance from the path, + = left of it [m]; before and behind an open path, from its ends continued straight."""


@dataclass(frozen=True)
class PathFrame:
    """A path as straight segments from node to node, measured once.

    Attributes:
        position: Nodes [m], shape [node_count, 3].
        closed: Whether the last node is followed by node 0.
        node_length: Length of the path from node 0 to each node [m], shape [node_count].
        length: Of the whole path: once around, or from end to end [m].
        step: From each node to the next [m], shape [segment_count, 3]; as many segments as nodes if closed, else one
            less.
        span: Length of each segment [m], shape [segment_count].
        direction: Of each segment [rad], shape [segment_count].
        left: Unit vector to the left of each segment, shape [segment_count, 2].
        bank: How much the ground rises to the left of each segment [m/m], shape [segment_count].
    """

    position: FloatArray
    closed: bool
    node_length: FloatArray
    length: float
    step: FloatArray
    span: FloatArray
    direction: FloatArray
    left: FloatArray
    bank: FloatArray

    @classmethod
    def measure(cls, position: FloatArray, closed: bool, bank: FloatArray | None = None) -> PathFrame:
        """Return the frame of a path.

        Args:
            position: Nodes [m], at least 2, none on the one before, shape [node_count, 3].
            closed: Whether the last node is followed by node 0.
            bank: How much the ground rises to the left of each node [m/m], shape [node_count]; None: not at all.
        """
        node = close_line(position, closed)
        banks = close_line(np.zeros(len(position)) if bank is None else bank, closed)
        reach, step = measure_length(node), np.diff(node, axis=0)
        direction = [math.atan2(dy, dx) for dx, dy in step[:, :2].tolist()]
        left = [(-math.sin(angle), math.cos(angle)) for angle in direction]
        return cls(
            position=position,
            closed=closed,
            node_length=reach[: len(position)],
            length=float(reach[-1]),
            step=step,
            span=np.diff(reach),
            direction=np.array(direction),
            left=np.array(left).reshape(-1, 2),
            bank=0.5 * (banks[1:] + banks[:-1]),
        )

    @functools.cached_property
    def rows(self) -> PathRows:
        """The same for kernels."""
        from donkeysim.world.kernels.paths import PathRows

        segment = np.zeros((len(self.position), 11))
        columns = (self.step, self.span, self.direction, self.left, self.bank, self._find_leans())
        segment[: len(self.span)] = np.column_stack(columns)
        node = np.column_stack([self.node_length, self.position])
        return PathRows(np.array([[0, len(node), self.closed]], np.int64), np.array([self.length]), node, segment)

    def _find_leans(self) -> FloatArray:
        """Return the rotations that lay what stands upright on the ground of each segment, (w, x, y); z is 0."""
        ahead = np.column_stack((self.left[:, 1], -self.left[:, 0]))
        slope = (self.step[:, 2] / self.span)[:, None] * ahead + self.bank[:, None] * self.left
        up = 1.0 / np.sqrt(1.0 + np.einsum("ij,ij->i", slope, slope))
        lean = np.column_stack((1.0 + up, up * slope[:, 1], -up * slope[:, 0]))
        return np.asarray(lean / np.sqrt(np.einsum("ij,ij->i", lean, lean))[:, None])

    def at(self, along: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return points of the path [m], shape [..., 3], and its directions there [rad], shape [...].

        Args:
            along: Length from node 0 [m], shape [...]: modulo the length of a closed path, else cut to its ends.
        """
        segment, rest = self._find_rest(along)
        share = rest / self.span[segment]
        return np.asarray(self.position[segment] + share[..., None] * self.step[segment]), self.direction[segment]

    def place(
        self, along: npt.ArrayLike, offset: npt.ArrayLike = 0.0, yaw: npt.ArrayLike = 0.0
    ) -> tuple[FloatArray, FloatArray]:
        """Return poses on and beside the path: positions [m], shape [..., 3], and rotations (w, x, y, z), [..., 4].

        Args:
            along: Length from node 0 [m], as for `at`.
            offset: From the path, + = left of it [m].
            yaw: Against the direction of the path, + = left [rad]; the three take each other's shapes.
        """
        from donkeysim.world.kernels.paths import find_poses

        places = _broadcast(along, offset, yaw)
        shape = places[0].shape
        position, orientation = np.empty((*shape, 3)), np.empty((*shape, 4))
        place, aside, turn = (np.array(numbers).reshape(-1) for numbers in places)
        find_poses(self.rows, 0, place, aside, turn, position.reshape(-1, 3), orientation.reshape(-1, 4))
        return position, orientation

    def locate(self, x: npt.ArrayLike, y: npt.ArrayLike) -> Located:
        """Return where points [m] lie on the path: a search of the whole path, x and y of shape [...] each."""
        px, py = _broadcast(x, y)
        segment, share = self._find_segments(px, py)
        step, node = self.step[segment], self.position[segment]
        away_x, away_y = px - node[..., 0], py - node[..., 1]
        distance = np.hypot(away_x - share * step[..., 0], away_y - share * step[..., 1])
        side = step[..., 0] * away_y - step[..., 1] * away_x
        along = self.node_length[segment] + np.clip(share, 0.0, 1.0) * self.span[segment]
        return Located(segment, np.asarray(along), np.where(side < 0.0, -distance, distance))

    def look(self, node: int) -> tuple[float, float]:
        """Return yaw and slope [rad, + = uphill] of the way from the node before to the node after one."""
        way = take_next(self.position, self.closed)[node] - take_previous(self.position, self.closed)[node]
        dx, dy, dz = way.tolist()
        return math.atan2(dy, dx), math.atan2(dz, math.hypot(dx, dy))

    def _find_rest(self, along: npt.ArrayLike) -> tuple[LongArray, FloatArray]:
        """Return the segments of lengths from node 0, and the rest from their nodes [m], shape [...] each."""
        place = np.asarray(along, np.float64)
        place = np.mod(place, self.length) if self.closed else np.clip(place, 0.0, self.length)
        after = np.searchsorted(self.node_length, place, side="right")
        segment = np.asarray(np.minimum(after - 1, len(self.span) - 1), np.int64)
        return segment, np.asarray(place - self.node_length[segment])

    def _find_segments(self, x: FloatArray, y: FloatArray) -> tuple[LongArray, FloatArray]:
        """Return the segments nearest to points, and where on them, in shares of the segment, shape [...] each.

        Shares are 0 to 1, but below and above at the first and the last segment of an open path.
        """
        dx, dy = self.step[:, 0], self.step[:, 1]
        low, high = np.zeros(len(dx)), np.ones(len(dx))
        if not self.closed:
            low[0], high[-1] = -np.inf, np.inf
        square = np.maximum(dx**2 + dy**2, 1e-18)
        node = self.position[: len(dx)]
        segment, share = np.empty(x.size, np.int64), np.empty(x.size)
        size = max(1, SEARCH_SIZE // len(dx))
        for rows in (slice(begin, begin + size) for begin in range(0, x.size, size)):
            away_x, away_y = x.ravel()[rows, None] - node[:, 0], y.ravel()[rows, None] - node[:, 1]
            shares = np.clip((away_x * dx + away_y * dy) / square, low, high)
            nearest = np.argmin((away_x - shares * dx) ** 2 + (away_y - shares * dy) ** 2, axis=1)
            segment[rows], share[rows] = nearest, shares[np.arange(len(nearest)), nearest]
        return segment.reshape(x.shape), share.reshape(x.shape)


def join_rows(frames: Sequence[PathFrame]) -> PathRows:
    """Return the rows of many paths, one after another."""
    parts = [frame.rows for frame in frames]
    entry = np.concatenate([part.entry for part in parts])
    entry[:, 0] = np.cumsum(entry[:, 1]) - entry[:, 1]
    return type(parts[0])(entry, *(np.concatenate([part[column] for part in parts]) for column in range(1, 4)))


def _broadcast(*values: npt.ArrayLike) -> tuple[FloatArray, ...]:
    return np.broadcast_arrays(*(np.asarray(value, np.float64) for value in values))


def close_line(point: FloatArray, closed: bool) -> FloatArray:
    """Return points and, of a closed line, the first of them again."""
    return np.concatenate([point, point[:1]]) if closed else point


def measure_length(point: FloatArray) -> FloatArray:
    """Return the length of a line from its first point to each [m], shape [point_count].

    Args:
        point: [m], at least one, shape [point_count, 2 or more]; heights do not count.
    """
    step = np.diff(point[:, :2], axis=0)
    return np.concatenate([[0.0], np.cumsum(np.hypot(step[:, 0], step[:, 1]))])


def take_next(value: FloatArray, closed: bool) -> FloatArray:
    """Return for each point of a line what belongs to the next one; at an open end its own."""
    return np.roll(value, -1, axis=0) if closed else np.concatenate([value[1:], value[-1:]])


def take_previous(value: FloatArray, closed: bool) -> FloatArray:
    """Return for each point of a line what belongs to the one before; at an open beginning its own."""
    return np.roll(value, 1, axis=0) if closed else np.concatenate([value[:1], value[:-1]])


def find_normals(point: FloatArray, closed: bool) -> FloatArray:
    """Return unit vectors to the left of a line at each of its points [m], shape [point_count, 2]."""
    ahead = take_next(point[:, :2], closed) - take_previous(point[:, :2], closed)
    return np.asarray(np.column_stack([-ahead[:, 1], ahead[:, 0]]) / np.hypot(ahead[:, 0], ahead[:, 1])[:, None])
