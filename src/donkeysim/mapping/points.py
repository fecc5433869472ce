"""Points of what stands above the floor: corners are followed from picture to picture, and lie where their rays meet.

Reference:
    Hartley, Sturm, Triangulation, Computer Vision and Image Understanding 68 (1997).
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from donkeysim.calibration.motion import FloorCamera, make_grey
from donkeysim.core.types import BoolArray, ByteArray, FloatArray, LongArray
from donkeysim.mapping.raster import import_cv2

MOST_CORNERS = 150
"""How many are followed at a time."""

FEWEST_VIEWS = 6
"""Pictures that must show a point."""

APART = 5
"""Least distance of two corners [pixel]."""

MOST_OFF = 0.009
"""How far the rays of a point may pass it, root mean square [rad]: a pixel of a picture 160 wide by a lens of 77°."""

SURE = 0.4
"""Rays that pass a point by a larger share of the angle between them do not show how far away it is."""

LOWEST = 0.3
"""What lies lower may be the floor, in heights of the camera."""

ROOM = 0.5
"""What is so near to a point, in heights of the camera, is there."""

BEYOND = 0.8
"""What is seen through a point is so much farther away that the point's distance is at most this share of its own."""

_AT_A_TIME = 500  # Points that are compared with all at once
_WINDOW = (11, 11)
_BACK = 0.4  # Corners that come back so far from where they began were lost [pixel]
_MARGIN = 2.0  # At the picture's rim corners leave it [pixel]


def find_points(
    pictures: Sequence[ByteArray],
    poses: FloatArray,
    camera: FloorCamera,
    own: BoolArray,
    report: Callable[[float], None],
) -> FloatArray:
    """Return where what stands above the floor was seen: x, y, z [m], shape [count, 3].

    Args:
        pictures: Of the drive, shape [height, width, 1 or 3] each.
        poses: Where they were taken, shape [picture_count, 3].
        camera: That took them.
        own: Where they show the car.
        report: Called with the share that is done.
    """
    track, number, place = _follow_corners(pictures[: len(poses)], own, report)
    eye, ray = _find_sight(poses, number, camera, place)
    known = np.isfinite(ray).all(axis=1)
    points, eyes = _intersect(track[known], eye[known], ray[known], LOWEST * camera.mount.height)
    return points[~find_seen_through(points, eyes, ROOM * camera.mount.height)]


def find_seen_through(points: FloatArray, eyes: FloatArray, room: float) -> BoolArray:
    """Return which points more others are seen through than stand there: they are mistaken, shape [count].

    Args:
        points: x, y, z [m], shape [count, 3].
        eyes: From where each was seen, same shape.
        room: How near to a point others stand there, and what passes goes through it [m].
    """
    way = points[:, :2] - eyes[:, :2]
    length = np.hypot(*way.T)
    through = np.zeros(len(points), bool)
    for begin in range(0, len(points), _AT_A_TIME):
        part = points[begin : begin + _AT_A_TIME]
        x, y = (part[:, None, :2] - eyes[:, :2]).transpose(2, 0, 1)
        share = (x * way[:, 0] + y * way[:, 1]) / length**2
        beside = np.abs(x * way[:, 1] - y * way[:, 0]) / length
        below = eyes[:, 2] + share * (points[:, 2] - eyes[:, 2]) < part[:, 2:]
        passing = (share > 0.0) & (share < BEYOND) & (beside < room) & below
        there = np.hypot(part[:, :1] - points[:, 0], part[:, 1:2] - points[:, 1]) < room
        through[begin : begin + _AT_A_TIME] = passing.sum(axis=1) > there.sum(axis=1)
    return through


def _find_sight(
    poses: FloatArray, number: LongArray, camera: FloorCamera, place: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return from where, and in which direction of length 1, pixels of pictures look, shape [count, 3] each.

    Args:
        poses: Where all were taken, shape [picture_count, 3].
        number: Of the picture, shape [count].
        camera: That took them.
        place: The pixel, shape [count, 2].
    """
    ray = camera.find_rays(place)
    c, s = np.cos(poses[number, 2]), np.sin(poses[number, 2])
    ray = np.column_stack([c * ray[:, 0] - s * ray[:, 1], s * ray[:, 0] + c * ray[:, 1], ray[:, 2]])
    eye = poses[number, :2] + camera.ahead * np.column_stack([c, s])
    return np.column_stack([eye, np.full(len(eye), camera.mount.height)]), ray / np.linalg.norm(ray, axis=1)[:, None]


def _follow_corners(
    pictures: Sequence[ByteArray], own: BoolArray, report: Callable[[float], None]
) -> tuple[LongArray, LongArray, FloatArray]:
    """Return the track, the picture and the pixel of each view of a corner, shape [count], [count] and [count, 2]."""
    cv2 = import_cv2()
    corners: FloatArray = np.zeros((0, 2))
    track, count = np.zeros(0, int), 0
    seen: list[tuple[LongArray, int, FloatArray]] = []
    before: ByteArray | None = None
    for number, picture in enumerate(pictures):
        grey = make_grey(cv2, picture)
        if before is not None and len(corners):
            corners, kept = _follow(cv2, before, grey, corners)
            track = track[kept]
        if len(corners) < MOST_CORNERS and not number % 2:
            new = _find_corners(cv2, grey, own, corners)
            corners, track = np.vstack([corners, new]), np.concatenate([track, count + np.arange(len(new))])
            count += len(new)
        seen.append((track, number, corners))
        before = grey
        report((number + 1) / len(pictures))
    numbers = np.repeat([number for _, number, _ in seen], [len(part) for part, *_ in seen])
    return np.concatenate([part for part, *_ in seen]), numbers, np.concatenate([places for *_, places in seen])


def _find_corners(cv2: Any, grey: ByteArray, own: BoolArray, corners: FloatArray) -> FloatArray:
    """Return corners apart from those that are followed already."""
    free = np.where(own, 0, 255).astype(np.uint8)
    for place in corners:
        cv2.circle(free, np.rint(place).astype(int).tolist(), APART, 0, -1)
    found = cv2.goodFeaturesToTrack(grey, MOST_CORNERS - len(corners), 0.01, APART, mask=free)
    return np.zeros((0, 2)) if found is None else np.asarray(found.reshape(-1, 2), float)


def _follow(cv2: Any, before: ByteArray, grey: ByteArray, corners: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Return where corners are in the next picture, those that are found and come back, and which of them are."""
    how = {"winSize": _WINDOW, "maxLevel": 2}
    begin = corners.astype(np.float32).reshape(-1, 1, 2)
    end, found, _ = cv2.calcOpticalFlowPyrLK(before, grey, begin, None, **how)
    back, returned, _ = cv2.calcOpticalFlowPyrLK(grey, before, end, None, **how)
    kept = (found.ravel() == 1) & (returned.ravel() == 1) & (np.abs(back - begin).max(axis=(1, 2)) < _BACK)
    end = end.reshape(-1, 2).astype(float)
    inside = (end > _MARGIN) & (end < np.array(grey.shape[::-1]) - 1.0 - _MARGIN)
    kept &= inside.all(axis=1)
    return end[kept], kept


def _intersect(track: LongArray, eye: FloatArray, ray: FloatArray, lowest: float) -> tuple[FloatArray, FloatArray]:
    """Return where the rays of each track meet, in the least squares of their distances, and where the first began.

    Tracks of which that is not sure are left out.
    """
    _, first, track, count = np.unique(track, return_index=True, return_inverse=True, return_counts=True)
    across = np.eye(3) - ray[:, :, None] * ray[:, None, :]
    matrix, right = np.zeros((len(count), 3, 3)), np.zeros((len(count), 3))
    np.add.at(matrix, track, across)
    np.add.at(right, track, np.einsum("nij,nj->ni", across, eye))
    spread = np.sqrt(np.maximum(np.linalg.eigvalsh(matrix)[:, 0], 0.0) / count)  # of the rays' directions [rad]
    point = np.linalg.solve(matrix + 1e-9 * np.eye(3), right[..., None])[..., 0]
    away = point[track] - eye
    straight = np.einsum("ni,ni->n", away, ray) / np.linalg.norm(away, axis=1)
    off = np.sqrt(np.bincount(track, np.arccos(np.clip(straight, -1.0, 1.0)) ** 2) / count)
    sure = (count >= FEWEST_VIEWS) & (off < np.minimum(MOST_OFF, SURE * spread)) & (point[:, 2] > lowest)
    return point[sure], eye[first[sure]]
