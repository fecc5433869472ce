"""Where a drive came by a place again: submaps that show the same floor, and the poses that follow from them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np

from donkeysim.core.rotation import between, compose, make_matrix, wrap_angles
from donkeysim.core.types import Float32Array, FloatArray
from donkeysim.mapping.odometry import SPAN, Submap, Track
from donkeysim.mapping.pose_graph import Edge, bound, solve, take_root
from donkeysim.mapping.raster import Raster, align, import_cv2
from donkeysim.mapping.turns import Returns

LEAST_WAY = 5
"""Submaps that lie fewer ones apart along the drive are neighbours, not loops."""

LEAST_LIKENESS, LEAST_CORRELATION = 0.5, 0.6
"""Of two submaps that show the same floor: in the search, and when they are laid on each other."""

# A road between two lines looks the same a step farther; its floor does not.
LEAST_MARGIN, AWAY = 0.08, 0.8
"""By how much more than elsewhere they must be alike, and how far off elsewhere begins, in heights of the camera."""

LEAST_SHARED = 0.45
"""Share of the smaller one that two submaps have in common, at least."""

WRONG = 5.0
"""Loops that the others contradict by more standard deviations are dropped."""

_DRIFT = (0.02, 0.015, 0.03)  # Of the odometry, along, across and in turn, as shares of the way [-, -, rad/m]
_TREMBLE = (0.02, 0.02, 0.003)  # And besides, in heights of the camera and [rad]
_LOST = (1.1, 0.6, 0.4)  # Over a submap whose pictures were not recognised, in the same
_ALIKE = (2.0, 1.0, 0.06)  # Where views are alike: 0.4 m along and 0.2 m across in nine of ten, in four of our scenes
_NEAREST = (0.022, 0.022, 0.008)  # No loop is known better than this, in the same


class _Search(NamedTuple):
    """How a round looks for loops.

    Attributes:
        reach: How far off submaps may be, in heights of the camera, for a drive that has just begun.
        growth: By how much that grows with the way between them.
        turn: How far they may be turned [rad].
        steps: How many turns are tried.
        most: How many earlier submaps each one is compared with: the nearest.
        enough: After how many loops found it is left.
    """

    reach: float
    growth: float
    turn: float
    steps: int
    most: int
    enough: int


# One loop says where a submap lies; with that, the next round looks for others less far off, which takes half as long.
_ROUNDS = (_Search(1.7, 0.04, 0.6, 9, 4, 1), _Search(3.3, 0.0, 0.2, 5, 5, 3), _Search(1.4, 0.0, 0.2, 5, 5, 3))
_HINTED = _Search(3.3, 0.0, 0.2, 5, 4, 1)  # The first round where it is about known already
_FARTHEST = 11.0  # However long the way, no search reaches farther, in heights of the camera
_MOST_TURNED = 0.9  # Submaps turned by more show the place from elsewhere [rad]


_Near = tuple[int, FloatArray, float]  # Number of an earlier submap, the motion from it, how far off that may be [m]


@dataclass
class Chart:
    """A finished submap.

    Attributes:
        fine: What it shows, in the frame of its origin.
        coarse: The same in cells twice as large.
    """

    fine: Raster
    coarse: Raster


def close_loops(
    track: Track, height: float, report: Callable[[float], None], returns: Returns | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return the poses of a drive's pictures after its loops are closed, and by how far each of these misses [m].

    Ctrl-C ends the search; the loops until then are closed.

    Args:
        height: Of the camera [m].
        report: Called with the share that is done.
        returns: Where the same was seen above the floor: about where to look for the same floor. None: nobody knows.
    """
    submaps = track.submaps
    origins, charts = np.array([submap.origin for submap in submaps]), [make_chart(submap) for submap in submaps]
    chain = _chain(submaps, height)
    way = np.concatenate([[0.0], np.cumsum([np.linalg.norm(edge.motion[:2]) for edge in chain])])
    hints = [] if returns is None else _list_hints(track, returns, height)
    rounds = _ROUNDS
    if hints:
        chain = [*chain, *hints]
        origins, _ = solve(origins, chain)
        rounds = (_HINTED, *_ROUNDS[1:])
    loops: dict[tuple[int, int], Edge] = {}
    is_hurried = False
    for turn, search in enumerate(rounds):
        try:
            for number in range(len(submaps)):
                near = _list_near(origins, way, number, search, height)
                fresh = [one for one in near if (one[0], number) not in loops]
                for loop in islice(_find_loops(charts, number, fresh, search, height), search.enough):
                    loops[loop.begin, number] = loop
                report((turn + (number + 1) / len(submaps)) / len(rounds))
        except KeyboardInterrupt:
            is_hurried = True
        if not loops:
            break
        _, miss = solve(origins, [*chain, *loops.values()])
        wrong = miss[len(chain) :] > WRONG
        loops = {key: edge for (key, edge), is_wrong in zip(loops.items(), wrong, strict=True) if not is_wrong}
        origins, _ = solve(origins, [*chain, *loops.values()])
        if is_hurried:
            break
    misses = [between(origins[one.begin], origins[one.end]) - one.motion for one in loops.values()]
    return _spread(track, origins), np.hypot(*np.reshape(misses, (-1, 3)).T[:2])


def make_chart(submap: Submap) -> Chart:
    """Return what a submap shows, cut to what it knows."""
    cv2 = import_cv2()
    value, known = submap.canvas.find_mean()
    rows, columns = np.flatnonzero(known.any(axis=1)), np.flatnonzero(known.any(axis=0))
    top, left = (int(rows[0]), int(columns[0])) if len(rows) else (0, 0)
    bottom, right = (int(rows[-1]) + 1, int(columns[-1]) + 1) if len(rows) else (2, 2)
    part = slice(top, bottom), slice(left, right)
    axes = submap.canvas.axes.copy()
    axes[:, 2] = submap.canvas.axes @ (left, top, 1.0)
    fine = Raster(np.ascontiguousarray(value[part]), np.ascontiguousarray(known[part]), axes)
    size = (-(-(right - left) // 2), -(-(bottom - top) // 2))
    wide = cv2.copyMakeBorder(fine.value, 0, 2 * size[1] - bottom + top, 0, 2 * size[0] - right + left, 0)
    shown = cv2.copyMakeBorder(
        fine.known.astype(np.uint8), 0, wide.shape[0] - bottom + top, 0, wide.shape[1] - right + left, 0
    )
    half = axes.copy()
    half[:2, :2] *= 2.0
    half[:, 2] = axes @ (0.5, 0.5, 1.0)
    coarse = cv2.resize(wide, size, interpolation=cv2.INTER_AREA)
    known_half = cv2.resize(shown, size, interpolation=cv2.INTER_NEAREST) > 0
    return Chart(fine, Raster(coarse * known_half, known_half, half))


def _chain(submaps: Sequence[Submap], height: float) -> list[Edge]:
    """Return the motions from each submap's origin to the next one's."""
    edges = []
    scale = np.array([height, height, 1.0])
    for number in range(len(submaps) - 1):
        motion = between(submaps[number].origin, submaps[number + 1].origin)
        spread = _TREMBLE * scale + np.array(_DRIFT) * np.linalg.norm(motion[:2])
        if submaps[number].lost_count >= 3:
            spread = _LOST * scale
        edges.append(Edge(number, number + 1, motion, np.diag(1.0 / spread), is_loop=False))
    return edges


def _list_hints(track: Track, returns: Returns, height: float) -> list[Edge]:
    """Return what views that return say of where submaps are: one edge for each two of them, of the middle view."""
    owner = np.full(len(track.poses), -1)
    for number, submap in enumerate(track.submaps):
        owner[submap.pictures] = number
    kept = returns.end < len(owner)
    begin, end = returns.begin[kept], returns.end[kept]
    pairs: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for pair in zip(begin.tolist(), end.tolist(), strict=True):
        first, last = owner[list(pair)].tolist()
        if min(first, last) >= 0 and last - first >= LEAST_WAY:
            pairs.setdefault((first, last), []).append(pair)
    root = np.diag(1.0 / (np.array(_ALIKE) * (height, height, 1.0)))
    hints = []
    for (first, last), seen in pairs.items():
        before, after = seen[len(seen) // 2]
        there = between(track.submaps[first].origin, track.poses[before])
        back = between(track.poses[after], track.submaps[last].origin)
        hints.append(Edge(first, last, compose(there, back), root, is_loop=True))
    return hints


def _list_near(origins: FloatArray, way: FloatArray, number: int, search: _Search, height: float) -> Iterator[_Near]:
    """Give earlier submaps that may show the same floor, the nearest first: the motion from each, and how far off."""
    near = []
    for before in range(number):
        apart = way[number] - way[before]
        if apart < LEAST_WAY * SPAN * height:
            continue
        motion = between(origins[before], origins[number])
        reach = min(_FARTHEST, search.reach + search.growth * apart / height) * height
        distance = float(np.linalg.norm(motion[:2]))
        if distance < reach + 0.25 * SPAN * height and abs(motion[2]) < _MOST_TURNED:
            near.append((distance, before, motion, reach))
    for _, before, motion, reach in sorted(near, key=lambda one: one[0])[: search.most]:
        yield before, motion, reach


def _find_loops(
    charts: Sequence[Chart], number: int, near: Sequence[_Near], search: _Search, height: float
) -> Iterator[Edge]:
    """Give the loops to a submap from those near by that show the same floor; each is compared when it is asked for."""
    for before, guess, reach in near:
        loop = _compare(charts[before], charts[number], guess, reach, search, height)
        if loop is not None:
            yield Edge(before, number, *loop, is_loop=True)


def _compare(
    before: Chart, chart: Chart, guess: FloatArray, reach: float, search: _Search, height: float
) -> tuple[FloatArray, FloatArray] | None:
    """Return the motion from an earlier submap to a later one, and the root of its information; None: no loop."""
    likeness, margin, near = _look_around(before.coarse, chart.coarse, guess, reach, search, height)
    if likeness < LEAST_LIKENESS or margin < LEAST_MARGIN:
        return None
    found = align(chart.fine, before.fine, near)
    if found is None or found.correlation < LEAST_CORRELATION:
        return None
    if np.abs(found.motion - near)[:2].max() > 0.8 * height:
        return None
    return found.motion, take_root(bound(found.information, _NEAREST * np.array([height, height, 1.0])))


def _look_around(
    before: Raster, later: Raster, guess: FloatArray, reach: float, search: _Search, height: float
) -> tuple[float, float, FloatArray]:
    """Return how much two rasters are alike at best, how much more than elsewhere, and where.

    The likeness is the normalised cross-correlation of what both know.
    """
    cell = abs(float(before.axes[0, 1]))
    room = int(np.ceil(reach / cell))
    known = before.known.astype(np.float32)
    inverse = np.linalg.inv(before.axes)
    turns, maps = np.linspace(-search.turn, search.turn, search.steps), []
    for turn in turns:
        pose = guess + np.array([0.0, 0.0, turn])
        piece, mask, (top, left) = _turn_into(later, inverse @ make_matrix(pose) @ later.axes)
        box = (top - room, left - room, piece.shape[0] + 2 * room, piece.shape[1] + 2 * room)
        maps.append(_correlate(_cut(before.value, box), _cut(known, box), piece, mask))
    best = int(np.argmax([likeness.max() for likeness in maps]))
    row, column = np.unravel_index(int(maps[best].argmax()), maps[best].shape)
    where = guess + np.array([-(row - room) * cell, -(column - room) * cell, turns[best]])
    rows, columns = np.indices(maps[best].shape)
    far = np.hypot(rows - row, columns - column) > AWAY * height / cell
    second = max((float(likeness[far].max()) for likeness in maps), default=-1.0) if far.any() else -1.0
    return float(maps[best].max()), float(maps[best].max()) - second, where


def _turn_into(raster: Raster, matrix: FloatArray) -> tuple[Float32Array, Float32Array, tuple[int, int]]:
    """Return a raster in another one's grid, where it is known there, and the row and column where it begins."""
    cv2 = import_cv2()
    rows, columns = raster.value.shape
    corner = matrix[:2] @ np.array([[0, 0, columns, columns], [0, rows, 0, rows], [1, 1, 1, 1]])
    low, high = np.floor(corner.min(axis=1)).astype(int), np.ceil(corner.max(axis=1)).astype(int)
    moved = matrix[:2].copy()
    moved[:, 2] -= low
    size = tuple((high - low).tolist())
    known = cv2.warpAffine(raster.known.astype(np.float32), moved, size, flags=cv2.INTER_NEAREST)
    return cv2.warpAffine(raster.value, moved, size) * known, known, (int(low[1]), int(low[0]))


def _cut(part: Float32Array, box: tuple[int, int, int, int]) -> Float32Array:
    """Return what lies in a box (top, left, rows, columns) of an array; 0 outside."""
    top, left, rows, columns = box
    piece = np.zeros((rows, columns), np.float32)
    first, last = max(0, top), min(part.shape[0], top + rows)
    begin, end = max(0, left), min(part.shape[1], left + columns)
    if last > first and end > begin:
        piece[first - top : last - top, begin - left : end - left] = part[first:last, begin:end]
    return piece


def _correlate(value: Float32Array, known: Float32Array, piece: Float32Array, mask: Float32Array) -> Float32Array:
    """Return the normalised cross-correlation of what is known of both, at each place; -1 where too little is."""
    cv2 = import_cv2()
    both = cv2.matchTemplate(value, piece, cv2.TM_CCORR)
    upper = cv2.matchTemplate(known, piece * piece, cv2.TM_CCORR)
    lower = cv2.matchTemplate(value * value, mask, cv2.TM_CCORR)
    shared = cv2.matchTemplate(known, mask, cv2.TM_CCORR)
    likeness = both / np.sqrt(np.maximum(upper * lower, 1.0))
    return np.asarray(np.where(shared > LEAST_SHARED * mask.sum(), likeness, -1.0), np.float32)


def _spread(track: Track, origins: FloatArray) -> FloatArray:
    """Return the poses of all pictures for new origins of the submaps, blended from each one to the next."""
    poses = track.poses.copy()
    for number, submap in enumerate(track.submaps):
        if not submap.pictures:
            continue
        own = track.poses[submap.pictures]
        first = compose(origins[number], between(submap.origin, own))
        if number + 1 < len(track.submaps):
            then = compose(origins[number + 1], between(track.submaps[number + 1].origin, own))
            share = ((np.arange(len(own)) + 0.5) / len(own))[:, None]
            change = then - first
            change[:, 2] = wrap_angles(change[:, 2])
            first = first + share * change
        poses[submap.pictures] = first
    return poses
