"""Moments of a whole race in little memory: cars in single precision, props when they move, looks when they change."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from donkeysim.core.types import Float32Array, FloatArray
from donkeysim.render.camera import WORN
from donkeysim.render.tables import PictureTables, PoseTables

CAR_FIELDS = (
    ("present", 1),
    ("position", 3),
    ("orientation", 4),
    ("steer_angle", 1),
    ("wheel_angle", 4),
    ("wheel_extension", 4),
)
"""Columns of a packed car, the first fields of `PoseTables`; the position is kept to within some micrometres."""


class PropTracks:
    """Where props have been: of each the moments after which it had moved."""

    def __init__(self, poses: PoseTables) -> None:
        """Begin with a moment."""
        self._last = self._first = _join_props(poses)
        self._moved: dict[int, tuple[list[int], list[Float32Array]]] = {}

    def append(self, number: int, poses: PoseTables) -> None:
        """Note where they are at a moment; numbers rise."""
        now = _join_props(poses)
        for prop in np.flatnonzero((now != self._last).any(axis=1)).tolist():
            numbers, places = self._moved.setdefault(prop, ([], []))
            numbers.append(number)
            places.append(now[prop].copy())
        self._last = now

    def find(self, number: int) -> FloatArray:
        """Return position and orientation of all at a moment, shape [prop_count, 7]."""
        found = self._first.astype(np.float64)
        for prop, (numbers, places) in self._moved.items():
            index = bisect_right(numbers, number) - 1
            if index >= 0:
                found[prop] = places[index]
        return found


def share_tables(before: PictureTables, now: PictureTables) -> PictureTables:
    """Return the earlier tables where both say the same, else the later ones."""
    is_same = all(
        getattr(before, name) is getattr(now, name)
        or (name in WORN and np.array_equal(getattr(before, name), getattr(now, name)))
        for name in now._fields
    )
    return before if is_same else now


def pack_cars(poses: PoseTables) -> Float32Array:
    """Return all cars of a moment, shape [car_count, columns of `CAR_FIELDS`]."""
    parts = [getattr(poses, name).reshape(len(poses.present), -1) for name, _ in CAR_FIELDS]
    return np.concatenate(parts, axis=1, dtype=np.float32, casting="unsafe")


def unpack_poses(cars: Float32Array, props: FloatArray) -> PoseTables:
    """Return a moment's poses from what `pack_cars` and `PropTracks.find` gave."""
    fields, begin = [], 0
    for name, width in CAR_FIELDS:
        column = cars[:, begin] if width == 1 else cars[:, begin : begin + width]
        fields.append(np.ascontiguousarray(column, np.uint8 if name == "present" else np.float64))
        begin += width
    return PoseTables._make([*fields, np.ascontiguousarray(props[:, :3]), np.ascontiguousarray(props[:, 3:])])


def _join_props(poses: PoseTables) -> Float32Array:
    return np.concatenate([poses.prop_position, poses.prop_orientation], axis=1, dtype=np.float32)
