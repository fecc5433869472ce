"""Lines on the ground cut into few straight pieces, and cross sections swept along them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from donkeysim.core.types import FloatArray
from donkeysim.world.path_frame import measure_length
from donkeysim.world.scene import Mesh
from donkeysim.world.tracks.mesh import make_mesh
from donkeysim.world.tracks.structures.structure import Footprint

# Beyond 140° of turn a mitre would stick out by three times the strip's half width.
SHARPEST = 0.35
"""Least cosine of half the turn at a corner that a mitre is still drawn out for."""

SHADOW_OVERLAP = 0.1
"""How far the shadows of neighbouring pieces reach into each other, so that no gap shows [m]."""


Profile: TypeAlias = Sequence[tuple[float, float, float]]
"""Corners of a cross section: lateral and height above the ground [m], v in the texture."""


@dataclass(frozen=True)
class Strip:
    """A line on the ground in straight pieces; piece i leads from point i to point i + 1.

    Attributes:
        point: x, y of the corners [m], shape [n, 2]; a closed one ends where it begins.
        foot: Height of the ground there [m], shape [n].
        along: Distance from the first point along the line [m], shape [n].
        closed: Whether the last point is the first.
    """

    point: FloatArray
    foot: FloatArray
    along: FloatArray
    closed: bool

    @property
    def heading(self) -> FloatArray:
        """Unit vector of each piece, shape [n - 1, 2]."""
        step = np.diff(self.point, axis=0)
        return np.asarray(step / np.hypot(step[:, 0], step[:, 1])[:, None])

    @property
    def mitre(self) -> FloatArray:
        """What to add to each point for every metre to the left of the line, shape [n, 2]."""
        heading = self.heading
        before = np.vstack((heading[-1:] if self.closed else heading[:1], heading))
        after = np.vstack((heading, heading[:1] if self.closed else heading[-1:]))
        middle = before + after
        middle /= np.maximum(np.hypot(middle[:, 0], middle[:, 1])[:, None], 1e-9)
        cosine = np.maximum(np.einsum("ij,ij->i", middle, after), SHARPEST)
        return np.asarray(np.stack((-middle[:, 1], middle[:, 0]), axis=1) / cosine[:, None])


@dataclass(frozen=True)
class Piece:
    """One straight piece of a strip.

    Attributes:
        middle: x, y [m].
        foot: Lowest ground under its ends [m].
        rise: From its lower to its higher end [m].
        length: [m]
        yaw: [rad]
        bends: Turn at its beginning and at its end, 0 where the strip ends [rad].
        joined: Whether another piece follows at its beginning and at its end.
    """

    middle: tuple[float, float]
    foot: float
    rise: float
    length: float
    yaw: float
    bends: tuple[float, float]
    joined: tuple[bool, bool]


def cut_strip(point: FloatArray, foot: FloatArray, closed: bool, tolerance: float, longest: float) -> Strip:
    """Return a line with as few corners as a tolerance allows.

    Args:
        point: x, y of samples [m], shape [n, 2]; of a closed line the last is the first.
        foot: Height of the ground there [m], shape [n].
        closed: Whether it is closed.
        tolerance: How far a piece may leave the samples, sideways and up or down [m].
        longest: Of a piece [m].
    """
    place = np.column_stack((point, foot))
    kept = [0]
    while kept[-1] < len(place) - 1:
        first, reach = kept[-1], 1
        while first + 2 * reach < len(place) and _is_straight(place[first : first + 2 * reach + 1], tolerance, longest):
            reach *= 2
        low, high = first + reach, min(first + 2 * reach, len(place) - 1)
        while low < high:
            middle = (low + high + 1) // 2
            straight = _is_straight(place[first : middle + 1], tolerance, longest)
            low, high = (middle, high) if straight else (low, middle - 1)
        kept.append(low)
    corner = point[kept]
    return Strip(corner, foot[kept], measure_length(corner), closed)


def _is_straight(place: FloatArray, tolerance: float, longest: float) -> bool:
    chord = place[-1] - place[0]
    length = float(np.hypot(chord[0], chord[1]))
    if length > longest or length < 1e-9:
        return len(place) <= 2
    ahead = chord[:2] / length
    inner = place - place[0]
    along = inner[:, :2] @ ahead
    aside = np.abs(inner[:, 0] * ahead[1] - inner[:, 1] * ahead[0])
    above = np.abs(inner[:, 2] - along / length * chord[2])
    return bool(max(aside.max(), above.max()) <= tolerance)


def iterate_pieces(strip: Strip) -> Iterator[Piece]:
    """Give the pieces of a strip in order."""
    heading = strip.heading
    yaw = np.arctan2(heading[:, 1], heading[:, 0])
    turn = np.angle(np.exp(1j * np.diff(yaw, prepend=yaw[-1:], append=yaw[:1])))
    count = len(yaw)
    for n in range(count):
        joined = (strip.closed or n > 0, strip.closed or n < count - 1)
        ends = strip.foot[n : n + 2]
        yield Piece(
            middle=(float(strip.point[n : n + 2, 0].mean()), float(strip.point[n : n + 2, 1].mean())),
            foot=float(ends.min()),
            rise=float(np.ptp(ends)),
            length=float(strip.along[n + 1] - strip.along[n]),
            yaw=float(yaw[n]),
            bends=(float(turn[n]) if joined[0] else 0.0, float(turn[n + 1]) if joined[1] else 0.0),
            joined=joined,
        )


def sweep_profile(strip: Strip, profile: Profile, material: int, tile: float, *, front: float = 1.0) -> Mesh:
    """Return a surface with a given cross section all along a strip.

    Args:
        profile: Going up, the surface looks to the positive lateral side; going down, to the negative one.
        tile: Length of the texture along the line [m].
        front: 1: positive laterals are left of the line, -1: right.
    """
    lateral, height, v = np.array(profile, float).T
    shape = (len(strip.point), len(profile))
    return skin_strip(strip, front, np.broadcast_to(lateral, shape), np.broadcast_to(height, shape), v, tile, material)


def skin_strip(
    strip: Strip, front: float, aside: FloatArray, above: FloatArray, down: FloatArray, tile: float, material: int
) -> Mesh:
    """Return a skin over cross sections that differ from place to place along a strip.

    Args:
        front: 1: positive laterals are left of the line, -1: right.
        aside: Of each section's points from the line, + = its front [m], shape [place_count, point_count].
        above: Of the same over the foot [m].
        down: Their v, shape [point_count].
        tile: Length of the picture along the strip [m].
    """
    count, points = aside.shape
    if front < 0.0:
        aside, above, down = aside[:, ::-1], above[:, ::-1], down[::-1]
    flat = strip.point[:, None] + front * aside[..., None] * strip.mitre[:, None]
    vertex = np.concatenate((flat, (strip.foot[:, None] + above)[..., None]), axis=-1)
    along = np.broadcast_to(strip.along[:, None] / tile, above.shape)
    uv = np.stack((along, np.broadcast_to(down, above.shape)), axis=-1)
    base = (np.arange(count - 1)[:, None] * points + np.arange(points - 1)).ravel()
    ahead = base + points
    triangle = np.concatenate((np.stack((ahead, base, base + 1), 1), np.stack((ahead, base + 1, ahead + 1), 1)))
    return make_mesh(vertex.reshape(-1, 3), uv.reshape(-1, 2), triangle, material)


def cap_profile(strip: Strip, profile: Profile, material: int, *, front: float = 1.0) -> list[Mesh]:
    """Return the two ends of a swept convex profile; none on a closed strip."""
    if strip.closed:
        return []
    corner = np.array(profile if front > 0.0 else profile[::-1], float)
    fan = np.stack((np.zeros(len(corner) - 2, int), np.arange(1, len(corner) - 1), np.arange(2, len(corner))), axis=1)
    caps = []
    for end, order in ((0, fan[:, ::-1]), (-1, fan)):
        flat = strip.point[end] + (corner[:, 0] * front)[:, None] * strip.mitre[end]
        vertex = np.column_stack((flat, strip.foot[end] + corner[:, 1]))
        uv = np.column_stack((corner[:, 0], corner[:, 2]))
        caps.append(make_mesh(vertex, uv, order, material))
    return caps


def outline_piece(piece: Piece, thickness: float, height: float, darkness: float) -> Footprint:
    """Return the shadow of a piece; those of neighbours overlap a little."""
    cosine, sine = np.cos(piece.yaw), np.sin(piece.yaw)
    begin = -0.5 * piece.length - SHADOW_OVERLAP * piece.joined[0]
    end = 0.5 * piece.length + SHADOW_OVERLAP * piece.joined[1]
    half = 0.5 * thickness
    corners = tuple(
        (float(piece.middle[0] + cosine * x - sine * y), float(piece.middle[1] + sine * x + cosine * y))
        for x, y in ((begin, -half), (end, -half), (end, half), (begin, half))
    )
    return Footprint(corners, height, darkness)
