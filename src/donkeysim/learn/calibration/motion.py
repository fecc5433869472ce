"""How a car moved, from what its camera saw of the floor: points of it are followed from picture to picture."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from donkeysim.core.extras import import_extra
from donkeysim.core.rotation import make_rotation
from donkeysim.core.types import ByteArray, FloatArray
from donkeysim.learn.calibration.camera import Mount
from donkeysim.render.warp import bend_rays, unbend_rays
from donkeysim.world.lens import LensSpec

FARTHEST = 6.0
"""Floor that is farther away than so many heights of the camera moves too little to be followed."""

MOST_POINTS = 160
FEWEST_POINTS = 12

_WINDOW = (15, 15)
_BACK = 0.4  # Points that come back so far from where they began were lost [pixel]
_SOFT = 0.3  # Points that lie this far off count less [pixel]


@dataclass(frozen=True)
class FloorCamera:
    """What a camera sees of the floor.

    Attributes:
        lens: Of pictures of its `size`.
        mount: Above the floor.
        ahead: How far before the middle between the axles it is [m].
    """

    lens: LensSpec
    mount: Mount
    ahead: float

    def find_floor(self, places: FloatArray) -> FloatArray:
        """Return where on the floor pixels look, ahead and to the left [m], shape [count, 2]; not numbers: nowhere."""
        (cx, cy), (fx, fy) = self.lens.centre, self.lens.focal
        x, y = unbend_rays(self.lens, (places[:, 0] - cx) / fx, (places[:, 1] - cy) / fy)
        axes = self._make_axes()
        rays = axes[:, 0] - x[:, None] * axes[:, 1] - y[:, None] * axes[:, 2]
        fall = np.where(rays[:, 2] < 0.0, -rays[:, 2], np.nan)
        return rays[:, :2] * (self.mount.height / fall)[:, None] + (self.ahead, 0.0)

    def find_places(self, floor: FloatArray) -> FloatArray:
        """Return the pixels that show places on the floor, shape [count, 2]."""
        away = np.column_stack([floor - (self.ahead, 0.0), np.full(len(floor), -self.mount.height)]) @ self._make_axes()
        # What a trial moves behind the camera stays far off to a side.
        along = np.maximum(away[:, 0], 0.01)
        x, y = bend_rays(self.lens, -away[:, 1] / along, -away[:, 2] / along)
        return np.stack(
            [x * self.lens.focal[0] + self.lens.centre[0], y * self.lens.focal[1] + self.lens.centre[1]], -1
        )

    def _make_axes(self) -> FloatArray:
        return make_rotation((self.mount.roll, self.mount.pitch, 0.0)).reshape(3, 3)


def scale_lens(lens: LensSpec, size: tuple[int, int]) -> LensSpec:
    """Return a lens as it is in smaller or larger pictures; of another shape: with the columns they have room for."""
    share = size[1] / lens.size[1]
    centre_x = 0.5 * size[0] + (lens.centre[0] + 0.5 - 0.5 * lens.size[0]) * share - 0.5
    centre_y = (lens.centre[1] + 0.5) * share - 0.5
    return replace(lens, size=size, focal=(lens.focal[0] * share, lens.focal[1] * share), centre=(centre_x, centre_y))


def follow_floor(pictures: Iterable[ByteArray], camera: FloorCamera) -> FloatArray:
    """Return how the car moved from each picture to the next: ahead and to the left [m], to the left [rad].

    Not numbers where too little of the floor could be followed. Shape [picture_count - 1, 3].
    """
    cv2 = import_extra("cv2", "following the floor needs OpenCV")
    mask = _mask_floor(camera)
    moves: list[FloatArray] = []
    last: ByteArray | None = None
    guess = np.zeros(3)
    for picture in pictures:
        grey = np.ascontiguousarray(
            picture[..., 0] if picture.shape[2] == 1 else cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
        )
        if last is not None:
            move = _find_move(cv2, last, grey, mask, camera, guess)
            guess = move if np.isfinite(move).all() else np.zeros(3)
            moves.append(move)
        last = grey
    return np.array(moves).reshape(-1, 3)


def _mask_floor(camera: FloorCamera) -> ByteArray:
    """Return where pictures show the floor near enough, 255 there."""
    width, height = camera.lens.size
    places = np.indices((height, width))[::-1].reshape(2, -1).T.astype(float)
    floor = camera.find_floor(places)
    away = np.hypot(floor[:, 0] - camera.ahead, floor[:, 1])
    near: ByteArray = np.where(away < FARTHEST * camera.mount.height, 255, 0).astype(np.uint8).reshape(height, width)
    near[-2:] = 0
    return near


def _find_move(
    cv2: Any, before: ByteArray, after: ByteArray, mask: ByteArray, camera: FloorCamera, guess: FloatArray
) -> FloatArray:
    """Return ahead, left and turn from one picture to the next; `guess`: what it may be like."""
    lost = np.full(3, np.nan)
    begin = cv2.goodFeaturesToTrack(before, MOST_POINTS, 0.01, 4, mask=mask, blockSize=5)
    if begin is None or len(begin) < FEWEST_POINTS:
        return lost
    floor = camera.find_floor(begin.reshape(-1, 2).astype(float))
    aimed = camera.find_places(_move_floor(floor, guess)).astype(np.float32).reshape(-1, 1, 2)
    how = {"winSize": _WINDOW, "maxLevel": 3, "flags": cv2.OPTFLOW_USE_INITIAL_FLOW}
    end, found, _ = cv2.calcOpticalFlowPyrLK(before, after, begin, aimed.copy(), **how)
    back, returned, _ = cv2.calcOpticalFlowPyrLK(after, before, end, begin.copy(), **how)
    kept = (found.ravel() == 1) & (returned.ravel() == 1)
    kept &= np.linalg.norm((back - begin).reshape(-1, 2), axis=1) < _BACK
    if kept.sum() < FEWEST_POINTS:
        return lost
    floor, goal = floor[kept], end.reshape(-1, 2)[kept].astype(float)
    solved = least_squares(
        lambda move: (camera.find_places(_move_floor(floor, move)) - goal).ravel(),
        guess,
        loss="cauchy",
        f_scale=_SOFT,
        x_scale=(0.05, 0.02, 0.05),
    )
    move: FloatArray = solved.x
    return move


def _move_floor(floor: FloatArray, move: FloatArray) -> FloatArray:
    """Return where places on the floor are, seen from a car that has moved."""
    ahead, left, turn = move
    c, s = np.cos(turn), np.sin(turn)
    x, y = floor[:, 0] - ahead, floor[:, 1] - left
    return np.stack([c * x + s * y, c * y - s * x], axis=-1)
