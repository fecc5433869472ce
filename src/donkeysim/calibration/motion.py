"""How a car moved, from what its camera saw of the floor: points of it are followed from picture to picture."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from donkeysim.calibration.camera import Mount
from donkeysim.core.errors import import_extra
from donkeysim.core.rotation import make_rotation
from donkeysim.core.types import BoolArray, ByteArray, FloatArray
from donkeysim.render.warp import bend_rays, unbend_rays
from donkeysim.world.lens import LensSpec

# What a point of the floor moves in the picture falls with the square of its distance: to a 36th of what it is at 1.
FARTHEST = 6.0
"""Floor farther away than this, in heights of the camera, moves too little to be followed."""

MOST_POINTS = 160
FEWEST_POINTS = 12

_WINDOW = (15, 15)
_STILL = 1.0  # Pictures that differ by less on average are those of a standing car [grey level]
_FLAT = 2.0  # Slopes that are smaller on average are no edges [grey level/pixel]
# Lines of a lane that a car keeps to stay half as steep in the mean picture, the car's own edges nearly as they are.
_STAYS = 0.8  # Edges of which so large a share is left in the mean of all pictures move with the camera
_LOW = 0.88  # The car's own edges reach so far down, a share of the picture's height
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
        rays = self.find_rays(places)
        fall = np.where(rays[:, 2] < 0.0, -rays[:, 2], np.nan)
        return rays[:, :2] * (self.mount.height / fall)[:, None] + (self.ahead, 0.0)

    def find_rays(self, places: FloatArray) -> FloatArray:
        """Return which way pixels look, ahead, to the left and up, of any length, shape [count, 3]."""
        (cx, cy), (fx, fy) = self.lens.centre, self.lens.focal
        x, y = unbend_rays(self.lens, (places[:, 0] - cx) / fx, (places[:, 1] - cy) / fy)
        axes = self._make_axes()
        rays: FloatArray = axes[:, 0] - x[:, None] * axes[:, 1] - y[:, None] * axes[:, 2]
        return rays

    def find_places(self, floor: FloatArray) -> FloatArray:
        """Return the pixels that show places on the floor, shape [count, 2]."""
        return self.find_pixels(np.column_stack([floor - (self.ahead, 0.0), np.full(len(floor), -self.mount.height)]))

    def find_pixels(self, away: FloatArray) -> FloatArray:
        """Return the pixels that show what lies ahead of the lens, to its left and above it, shape [count, 2].

        Args:
            away: How far, or only the direction, shape [count, 3].
        """
        away = away @ self._make_axes()
        # What a trial moves behind the camera stays far off to a side.
        along = np.maximum(away[:, 0], 0.01)
        x, y = bend_rays(self.lens, -away[:, 1] / along, -away[:, 2] / along)
        return np.stack(
            [x * self.lens.focal[0] + self.lens.centre[0], y * self.lens.focal[1] + self.lens.centre[1]], -1
        )

    def _make_axes(self) -> FloatArray:
        return make_rotation((self.mount.roll, self.mount.pitch, self.mount.yaw)).reshape(3, 3)


def scale_lens(lens: LensSpec, size: tuple[int, int]) -> LensSpec:
    """Return a lens as it is in smaller or larger pictures; of another shape: with the columns they have room for."""
    share = size[1] / lens.size[1]
    centre_x = 0.5 * size[0] + (lens.centre[0] + 0.5 - 0.5 * lens.size[0]) * share - 0.5
    centre_y = (lens.centre[1] + 0.5) * share - 0.5
    return replace(lens, size=size, focal=(lens.focal[0] * share, lens.focal[1] * share), centre=(centre_x, centre_y))


def find_own_body(pictures: Iterable[ByteArray]) -> BoolArray:
    """Return where pictures show the car itself: edges low in them that stay while it drives, and what lies below.

    It would be followed, and it says that the car stands. Shape [height, width].
    """
    cv2 = import_extra("cv2", "following the floor needs OpenCV")
    last: FloatArray | None = None
    mean, size, count = np.zeros((2, 1, 1)), np.zeros((1, 1)), 0
    for picture in pictures:
        grey = cv2.GaussianBlur(make_grey(cv2, picture), (0, 0), 1.0).astype(np.float64)
        if last is not None and np.abs(grey - last).mean() < _STILL:
            continue  # or all that is seen by a standing car would be its body
        slope = np.stack(np.gradient(grey))
        mean, size, count = mean + slope, size + np.linalg.norm(slope, axis=0), count + 1
        last = grey
    stays = np.linalg.norm(mean, axis=0) > np.maximum(_STAYS * size, count * _FLAT)
    _, part, places, _ = cv2.connectedComponentsWithStats(stays.astype(np.uint8), connectivity=8)
    low = places[:, cv2.CC_STAT_TOP] + places[:, cv2.CC_STAT_HEIGHT] > _LOW * len(stays)
    low[0] = False  # what does not stay
    body = np.maximum.accumulate(low[part], axis=0)  # what lies below is the car too
    wide: BoolArray = cv2.dilate(body.astype(np.uint8), np.ones(_WINDOW, np.uint8)).astype(bool)
    return wide


def follow_floor(
    pictures: Iterable[ByteArray], camera: FloorCamera, own: BoolArray | None = None, gaps: list[float] | None = None
) -> FloatArray:
    """Return how the car moved from each picture to the next: ahead and to the left [m], to the left [rad].

    Not numbers where too little of the floor could be followed. Shape [picture_count - 1, 3].

    Args:
        camera: That took them.
        own: Where they show the car itself, see `find_own_body`; None: nowhere.
        gaps: Gets, for each move, how far points of the floor went from where it takes them, in the median [pixel].
    """
    cv2 = import_extra("cv2", "following the floor needs OpenCV")
    follower = _Follower(cv2, camera, own)
    moves: list[FloatArray] = []
    last: ByteArray | None = None
    guess = np.zeros(3)
    for picture in pictures:
        grey = make_grey(cv2, picture)
        if last is not None:
            move = follower.find_move(last, grey, guess)
            moves.append(move)
            if np.isfinite(move).all():  # else the last motion is still the best guess
                guess = move
                if gaps is not None:
                    gaps.append(follower.gap)
        last = grey
    return np.array(moves).reshape(-1, 3)


def find_rates(moves: FloatArray, step: FloatArray) -> FloatArray:
    """Return how fast a car drove ahead and to the left [m/s] and turned [rad/s] that moved so.

    A move ends at the end of a chord, which is shorter than the bend that was driven, and leads aside.

    Args:
        moves: From one picture to the next, as `follow_floor` gives them, shape [count, 3].
        step: Time that each took [s], shape [count].
    """
    ahead, left, turn = moves.T
    half = 0.5 * turn
    shorter = np.where(np.abs(half) < 1e-6, 1.0, half / np.tan(np.where(np.abs(half) < 1e-6, 1.0, half)))
    way = np.column_stack([shorter * ahead + half * left, shorter * left - half * ahead, turn])
    rates: FloatArray = way / step[:, None]
    return rates


def make_grey(cv2: Any, picture: ByteArray) -> ByteArray:
    """Return a picture's grey levels, shape [height, width]."""
    grey = picture[..., 0] if picture.shape[2] == 1 else cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
    return np.ascontiguousarray(grey)


def _map_floor(camera: FloorCamera) -> tuple[FloatArray, ByteArray]:
    """Return the floor under each pixel, row by row, and where it is near enough, 255 there."""
    width, height = camera.lens.size
    places = np.indices((height, width))[::-1].reshape(2, -1).T.astype(float)
    floor = camera.find_floor(places)
    away = np.hypot(floor[:, 0] - camera.ahead, floor[:, 1])
    near: ByteArray = np.where(away < FARTHEST * camera.mount.height, 255, 0).astype(np.uint8).reshape(height, width)
    near[-2:] = 0
    return floor, near


class _Follower:
    """Finds how a car moved between two pictures of its camera.

    The later picture is drawn as the earlier one would look if a guess were right, and only what is left is followed:
    else near floor, which moves more, would pull at what lies behind it.
    """

    def __init__(self, cv2: Any, camera: FloorCamera, own: BoolArray | None) -> None:
        """Note where the floor is; `own`: where the car itself is seen instead, None: nowhere."""
        self._cv2, self._camera = cv2, camera
        self._floor, self._near = _map_floor(camera)
        self._own = np.zeros(self._near.shape, bool) if own is None else own
        self._near[self._own] = 0
        self.gap = 0.0
        """How far points went from where the last move takes them, in the median [pixel]."""

    def find_move(self, before: ByteArray, after: ByteArray, guess: FloatArray) -> FloatArray:
        """Return ahead, left and turn; not numbers where too little of the floor could be followed."""
        begin = self._cv2.goodFeaturesToTrack(before, MOST_POINTS, 0.01, 4, mask=self._near, blockSize=5)
        # At a constant speed the last motion is as good as a first pass.
        for _ in range(1 if guess.any() else 2):
            if begin is None or len(begin) < FEWEST_POINTS or not np.isfinite(guess).all():
                return np.full(3, np.nan)
            start, goal = self._follow(before, self._align(after, guess), begin)
            guess = self._solve(*self._undo(start, goal, guess), guess)
        return guess

    def _align(self, after: ByteArray, guess: FloatArray) -> ByteArray:
        """Return the later picture as it would look from where the earlier one was taken, if the guess were right."""
        places = self._camera.find_places(_move_floor(np.nan_to_num(self._floor, nan=1e3), guess)).astype(np.float32)
        places = places.reshape(*after.shape, 2)
        cv2 = self._cv2
        aligned: ByteArray = cv2.remap(after, places, None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        return aligned

    def _follow(self, before: ByteArray, aligned: ByteArray, begin: Any) -> tuple[FloatArray, FloatArray]:
        """Return points of the earlier picture and where the aligned one shows them, as far as they come back."""
        how = {"winSize": _WINDOW, "maxLevel": 3}
        end, found, _ = self._cv2.calcOpticalFlowPyrLK(before, aligned, begin, None, **how)
        back, returned, _ = self._cv2.calcOpticalFlowPyrLK(aligned, before, end, None, **how)
        start, goal = begin.reshape(-1, 2).astype(float), end.reshape(-1, 2).astype(float)
        kept = (found.ravel() == 1) & (returned.ravel() == 1)
        kept &= np.linalg.norm(back.reshape(-1, 2) - start, axis=1) < _BACK
        return start[kept], goal[kept]

    def _undo(self, start: FloatArray, goal: FloatArray, guess: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return points of the earlier picture and where the later one itself shows them, if that is floor."""
        reached = self._camera.find_floor(goal)
        seen = np.isfinite(reached).all(axis=1)
        start, places = start[seen], self._camera.find_places(_move_floor(reached[seen], guess))
        inside = np.logical_and.reduce((places > 0.0) & (places < np.array(self._camera.lens.size) - 1.0), axis=1)
        column, row = np.where(inside[:, None], places, 0.0).astype(int).T
        kept = inside & ~self._own[row, column]
        return start[kept], places[kept]

    def _solve(self, start: FloatArray, goal: FloatArray, guess: FloatArray) -> FloatArray:
        """Return the motion that moves points of the floor from pixels of one picture to those of the next."""
        if len(start) < FEWEST_POINTS:
            return np.full(3, np.nan)
        points, camera = self._camera.find_floor(start), self._camera
        solved = least_squares(
            lambda move: (camera.find_places(_move_floor(points, move)) - goal).ravel(),
            guess,
            loss="cauchy",
            f_scale=_SOFT,
            x_scale=(0.05, 0.02, 0.05),
        )
        move: FloatArray = solved.x
        self.gap = float(np.median(np.linalg.norm(solved.fun.reshape(-1, 2), axis=1)))
        return move


def _move_floor(floor: FloatArray, move: FloatArray) -> FloatArray:
    """Return where places on the floor are, seen from a car that has moved."""
    ahead, left, turn = move
    c, s = np.cos(turn), np.sin(turn)
    x, y = floor[:, 0] - ahead, floor[:, 1] - left
    return np.stack([c * x + s * y, c * y - s * x], axis=-1)
