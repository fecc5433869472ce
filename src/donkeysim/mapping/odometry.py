"""Where a car was when it took each picture, by the floor that it saw shortly before.

Each picture, seen from above, is laid on a submap: what the pictures of the last metre showed. Against a single
picture the fixed pattern of lens, sensor and JPEG blocks would pull every motion towards none; in a submap it is
averaged out. Where the floor shows nothing along the way, such as between two solid lines, the last motion continues.

Reference:
    Hess, Kohler, Rapp, Andor, Real-time loop closure in 2D LIDAR SLAM, ICRA (2016), for submaps.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from donkeysim.calibration.motion import FloorCamera, make_grey
from donkeysim.core.rotation import between, compose
from donkeysim.core.types import BoolArray, ByteArray, Float32Array, FloatArray
from donkeysim.mapping.raster import BirdsEye, Canvas, Raster, Reach, align, import_cv2

CELLS_PER_HEIGHT = 15
"""Cells of the floor in a height of the camera: 1.2 cm of one 18 cm above it."""

# With a lens of 90° 18 cm above the floor, a pixel 1 m away covers 7 cm along the view, and 1 cm across it.
REACH = Reach(far=6.0, wide=4.2, coarsest=0.375, sharp=0.06)
"""Of pictures that are laid on submaps."""

# A submap saw the floor ahead from farther away, less sharply than the picture does that is laid on it, and the picture
# would lie best a little farther back, where it is as blurred: the ways of drives came out 1.5 to 2.1 % too short.
BLUR = 1.0
"""Standard deviation of the filter of a picture that is laid on a submap [pixel]; it is painted as it is."""

SPAN = 6.0
"""Way after which a submap ends and another one begins, in heights of the camera."""

LEAST_CORRELATION = 0.3
"""Pictures that are less like the submap were not recognised."""

MOST_AHEAD, MOST_TURN = 0.8, 0.4
"""From what is expected to what is found, in heights of the camera and [rad]; more is a mistake."""

MOST_LOST = 3
"""After how many pictures that were not recognised a new submap begins."""

# A car at 1.2 m/s and 20 pictures a second, with a camera 18 cm above the floor, changes its speed by 5 mm a picture
# when it pulls hard; its yaw rate by 0.02 rad when it throws the wheel over.
STEADY = (0.028, 0.017, 0.02)
"""By how much a motion differs from the last one: standard deviations, in heights of the camera and [rad]."""

# Lines along the road look the same wherever the car is; the grain of the floor must be heard beside them.
SOFT = 1.5
"""Contrast that is halved, in medians of all contrast; stronger ones come out as not much more."""

FIRST_WAYS = (0.0, 0.2, 0.4, 0.6, 0.8)
"""Ways to the second picture that are tried, in heights of the camera: a drive may begin at any speed."""

_BROAD = 12.0  # What changes over more cells than this is light, not floor


@dataclass
class Submap:
    """What the pictures of a part of the drive showed of the floor.

    Attributes:
        origin: Pose of the first picture, in which frame the canvas lies.
        canvas: What was seen.
        pictures: Numbers of those that belong to it; it is painted by those of the next one too.
        lost_count: How many of them were not recognised.
    """

    origin: FloatArray
    canvas: Canvas
    pictures: list[int] = field(default_factory=list)
    lost_count: int = 0


@dataclass
class Track:
    """A drive as the floor shows it.

    Attributes:
        poses: Of the middle between the axles, in the frame of the first picture, shape [picture_count, 3].
        submaps: In driving order.
        correlation: How much each picture was like the submap, 0: not recognised, shape [picture_count].
    """

    poses: FloatArray
    submaps: list[Submap]
    correlation: FloatArray


class Turning(NamedTuple):
    """What is known of the motion from each picture to the next besides the floor, of a car that does not slip aside.

    Attributes:
        turns: To the left [rad], shape [picture_count - 1].
        spread: By how much a motion differs from that and from the last one's way: standard deviations, in heights of
            the camera and [rad].
    """

    turns: FloatArray
    spread: tuple[float, float, float]


class FloorPictures:
    """Pictures of a drive as seen from above, without what is lens, light and car."""

    def __init__(self, pictures: Sequence[ByteArray], camera: FloorCamera, own: BoolArray) -> None:
        """Take the fixed pattern of all pictures; `own`: where they show the car."""
        self._cv2 = import_cv2()
        self._pictures = pictures
        self.view = BirdsEye(camera, own, camera.mount.height / CELLS_PER_HEIGHT, REACH)
        some = np.stack([self._make_grey(picture) for picture in pictures[:: max(1, len(pictures) // 200)]])
        pattern = np.median(some, axis=0).astype(np.float32)
        self._pattern = self.view.take(self._cv2.GaussianBlur(pattern, (0, 0), 1.0))
        self._soft = np.inf
        self._share = np.maximum(self._cv2.GaussianBlur(self.view.seen.astype(np.float32), (0, 0), _BROAD), 1e-3)
        chosen = range(0, len(pictures), max(1, len(pictures) // 50))
        self._soft = SOFT * float(np.median([np.abs(self.take(number)[self.view.seen]) for number in chosen])) + 1e-6

    def __len__(self) -> int:
        return len(self._pictures)

    def take(self, number: int, blur: float = 0.0) -> Float32Array:
        """Return a picture as seen from above: grey, of mean 0 all over, in soft contrast, shape [*view.shape].

        Args:
            blur: Standard deviation of a filter before [pixel].
        """
        cv2, seen, grey = self._cv2, self.view.seen, self._make_grey(self._pictures[number])
        floor = (self.view.take(cv2.GaussianBlur(grey, (0, 0), blur) if blur else grey) - self._pattern) * seen
        grain = (floor - cv2.GaussianBlur(floor, (0, 0), _BROAD) / self._share) * seen
        return np.asarray(grain / (1.0 + np.abs(grain) / self._soft), np.float32)

    def _make_grey(self, picture: ByteArray) -> Float32Array:
        return make_grey(self._cv2, picture).astype(np.float32)


def follow(pictures: FloorPictures, report: Callable[[int], None], turning: Turning | None = None) -> Track:
    """Return where each picture was taken; on Ctrl-C those until then.

    Args:
        pictures: In driving order.
        report: Called with how many are placed.
        turning: What else is known of the motion; None: nothing, it continues as it was.
    """
    count = len(pictures)
    poses, correlation = np.zeros((count, 3)), np.ones(count)
    follower = _Follower(pictures, turning)
    number = 1
    try:
        for number in range(1, count):
            poses[number], correlation[number] = follower.place(number)
            report(number + 1)
    except KeyboardInterrupt:
        poses, correlation = poses[:number], correlation[:number]
        for submap in follower.submaps:
            submap.pictures = [one for one in submap.pictures if one < number]
    return Track(poses, follower.submaps, correlation)


class _Follower:
    """Lays one picture after the other on the submaps."""

    def __init__(self, pictures: FloorPictures, turning: Turning | None) -> None:
        self._pictures, self._view, self._turning = pictures, pictures.view, turning
        self._height = pictures.view.camera.mount.height
        scale = np.array([self._height, self._height, 1.0])
        self._steady = np.diag(1.0 / np.square((turning.spread if turning else STEADY) * scale))
        self._pose, self._motion, self._lost = np.zeros(3), np.zeros(3), 0
        self._last = pictures.take(0)
        self.submaps: list[Submap] = []
        self._is_fresh = True
        self._begin(0)

    def place(self, number: int) -> tuple[FloatArray, float]:
        """Return the pose of the next picture, and how much it is like what was seen before."""
        seen = self._pictures.take(number, BLUR)
        if self._lost >= MOST_LOST:
            self._begin(number - 1)
            self._is_fresh, self._lost = True, 0
        if self._turning is not None:
            self._motion = np.array([self._motion[0], 0.0, self._turning.turns[number - 1]])
        base = self.submaps[-1] if self._is_fresh or len(self.submaps) < 2 else self.submaps[-2]
        pose, correlation = self._recognise(base, compose(self._pose, self._motion), seen)
        if self._is_fresh and len(base.pictures) < 3:  # nobody knows yet how fast it drives
            for way in FIRST_WAYS:
                start = compose(self._pose, np.array([way * self._height, 0.0, 0.0]))
                other = self._recognise(base, start, seen)
                pose, correlation = other if other[1] > correlation else (pose, correlation)
        self._motion, self._pose, self._last = between(self._pose, pose), pose, self._pictures.take(number)
        self._lost = 0 if correlation else self._lost + 1
        for submap in self.submaps[-2:]:
            submap.canvas.paint(self._view, between(submap.origin, pose), self._last, self._view.weight)
        self.submaps[-1].pictures.append(number)
        self.submaps[-1].lost_count += not correlation
        if np.linalg.norm(pose[:2] - self.submaps[-1].origin[:2]) > SPAN * self._height:
            self._begin(number + 1)
            self._is_fresh = False
        return pose, correlation

    def _begin(self, number: int) -> None:
        """Begin a submap where the last picture was taken; the first picture that belongs to it has a number."""
        reach = (SPAN + REACH.far + 4.0) * self._height
        canvas = Canvas(self._view.cell, np.full(2, -reach), np.full(2, reach))
        canvas.paint(self._view, np.zeros(3), self._last, self._view.weight)
        self.submaps.append(Submap(self._pose.copy(), canvas, [0] if number == 0 else []))

    def _recognise(self, base: Submap, expected: FloatArray, seen: Float32Array) -> tuple[FloatArray, float]:
        """Return the pose that was expected, corrected by what is seen, and the correlation; 0: not recognised."""
        value, known = base.canvas.look(self._view, between(base.origin, expected))
        axes = self._view.axes
        found = align(Raster(seen, self._view.seen, axes), Raster(value, known, axes), np.zeros(3))
        if (
            found is None
            or found.correlation < LEAST_CORRELATION
            or np.abs(found.motion[:2]).max() > MOST_AHEAD * self._height
            or abs(found.motion[2]) > MOST_TURN
        ):
            return expected, 0.0
        tempered = np.linalg.solve(found.information + self._steady, found.information @ found.motion)
        return compose(expected, np.asarray(tempered, float)), found.correlation
