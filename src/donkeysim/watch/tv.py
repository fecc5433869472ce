"""Cameras beside a track, as television has them: where they stand, how well each sees the path, where they look.

They stand outside the curves, a little above the ground and beside the road, near what they show. What hides the road
from them is found by looking: each place that comes into question measures how far what it sees is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from donkeysim.core.rotation import make_rotation
from donkeysim.core.types import BoolArray, FloatArray, LongArray
from donkeysim.render.moment import Moment
from donkeysim.render.scratch import ScratchRoom
from donkeysim.sim.viewpoint import View
from donkeysim.world.scene import COLLIDER_BOX, Scene
from donkeysim.world.specs import CameraSpec
from donkeysim.world.tracks.terrain.ground import sample_height

if TYPE_CHECKING:
    from donkeysim.render.camera import Renderer

# Less than a car is long, so nothing that hides a whole car is missed.
CELL = 0.25
"""The path is judged at places so far apart [m]."""

# At 2 m/s a camera stays for two to three seconds: shorter shots make viewers lose track, longer ones lose the car.
STRETCH, LEAST_CAMERAS, MOST_CAMERAS = 5.0, 4, 24
"""One camera for so much of the path [m]."""

# At the scale of 1/8 masts and roofs of 5.6 to 15 m, as beside real circuits: lower, cars hide each other; higher, a
# view becomes a map.
ASIDE, HEIGHTS = (0.35, 0.8, 1.4), (0.7, 1.0, 1.4, 1.9)
"""Places that come into question: beside the road's edge and above the ground [m]."""

# The lowest fits under the roof of a tunnel, the highest sees over walls.
OVERHEAD = (0.55, 2.2, 3.0)
"""Above the road [m], where no place beside it shows it: under the roof of a tunnel, or between walls."""

# A camera nearer than that would fill its picture with a wall, or with a car that passes beneath it.
CLEARANCE, ELBOW_ROOM = 0.12, 0.3
"""From the edges of other parts of the road, and from what stands there [m]."""

# At 2.2 m a picture is 1.37 m high (`HEIGHT`), a fifth of which is a car; at 12 m it is 2.35 m high, of which a car is
# an eighth.
BEST_DISTANCE, FARTHEST = 2.2, 12.0
"""A car is shown best from so near, and from farther not at all [m]."""

# 30°: from there on these flat cars show more roof than side.
STEEP = 0.5
"""Sine of the angle down to a car from which on a view begins to be a map."""

# 0.75 m: fewer are behind a post, and a car of 0.28 m is out of sight for a moment only.
HIDDEN_CELLS = 3
"""How many cars together are worth another camera."""

# Sill and roof on both edges and the middle of the road: a car is shown when none of them is hidden.
CAR_HEIGHTS, LANES = (-0.02, 0.1), (-0.6, 0.0, 0.6)
"""A car is seen when these heights above the path are [m]; in the middle of the road, and so far to its sides."""

PROBE = CameraSpec(width=144, height=144, fov=math.radians(100.0), depth=True)
# Two pictures of 100° turned by 45° to each side overlap by 10° and see all of the half plane that holds the road.
PROBE_PITCH, PROBE_YAW = math.radians(30.0), math.radians(45.0)
"""What a place sees is measured by two pictures, down and to both sides of where its part of the path is."""

# Four car lengths, so that the road it comes to is in the picture; the rest, as far away a car should look far away.
HEIGHT, HEIGHT_PER_METRE = 1.15, 0.1
"""A picture shows so much at the car's distance from top to bottom, and so much more for each metre of it [m]."""

# A car that near may attack within a second or two.
COMPANY = 2.0
"""Cars that are nearer to the one that is followed are shown with it [m]."""

# Longer lenses would turn too fast after a car that passes, wider ones bend what stands at the picture's sides.
FIELDS = math.radians(6.0), math.radians(62.0)
"""Least and greatest field of view, vertical."""


class TrackCameras(NamedTuple):
    """The cameras of a scene.

    Attributes:
        eye: Where they are [m], shape [camera_count, 3].
        worth: How well each shows a car at each place of the path, 0: not at all; shape [camera_count, cell_count].
        length: Of the path [m].
    """

    eye: FloatArray
    worth: FloatArray
    length: float

    def find_cells(self, along: FloatArray) -> LongArray:
        """Return the cells of places of the path [m], shape as `along`."""
        count = self.worth.shape[1]
        return np.asarray(np.clip((along / self.length * count).astype(np.int64), 0, count - 1))

    def aim(self, camera: int, target: FloatArray, others: FloatArray) -> tuple[View, float]:
        """Return where a camera is and looks that follows a car, and its field of view [rad].

        Cars that are near draw the picture towards them and widen it, the more the nearer they are.

        Args:
            target: Place of the car [m], shape [3].
            others: Of the others [m], shape [n, 3].
        """
        eye, away = self.eye[camera], others - target
        apart = np.linalg.norm(away, axis=1)
        pull = np.maximum(1.0 - apart / COMPANY, 0.0)
        x, y, z = (target + pull @ away / (1.0 + pull.sum()) - eye).tolist()
        flat = max(math.hypot(x, y), 1e-6)
        distance = math.hypot(flat, z)
        height = HEIGHT + HEIGHT_PER_METRE * distance + 0.6 * float((pull * apart).max(initial=0.0))
        field = 2.0 * math.atan(0.5 * height / distance)
        position = (float(eye[0]), float(eye[1]), float(eye[2]))
        return (position, (0.0, math.atan2(-z, flat), math.atan2(y, x))), min(max(field, FIELDS[0]), FIELDS[1])


class _Path(NamedTuple):
    """The path's cells: places [m], directions [rad], turning [rad/m], distances to the road's edges [m]."""

    point: FloatArray
    direction: FloatArray
    bend: FloatArray
    left: FloatArray
    right: FloatArray
    is_closed: bool
    length: float

    def list_near(self, cell: int, reach: float) -> LongArray:
        """Return the cells up to a distance along the path."""
        count = len(self.point)
        far = max(1, round(reach * count / self.length))
        cells = np.arange(cell - far, cell + far + 1)
        return np.unique(cells % count) if self.is_closed else np.unique(np.clip(cells, 0, count - 1))


def place_cameras(scene: Scene, renderer: Renderer, moment: Moment, world: int = 0) -> TrackCameras:
    """Return cameras for a scene.

    Args:
        moment: Any moment of it; cars are not looked at.
    """
    path = _measure_path(scene)
    empty = moment._replace(poses=moment.poses._replace(present=np.zeros_like(moment.poses.present)))
    surveyor = _Surveyor(scene, path, renderer, empty, world)
    count = min(max(round(path.length / STRETCH), LEAST_CAMERAS), MOST_CAMERAS)
    reach = path.length / count
    chosen = [surveyor.find_best(cell, 0.7 * reach) for cell in _choose_middles(path, count)]
    for _ in range(count):
        hidden = np.flatnonzero(np.max([worth for _, worth in chosen], axis=0) == 0.0)
        if len(hidden) < HIDDEN_CELLS:
            break
        chosen.append(surveyor.find_best(int(hidden[len(hidden) // 2]), 0.5 * reach, hidden))
    return TrackCameras(np.array([eye for eye, _ in chosen]), np.array([worth for _, worth in chosen]), path.length)


class _Surveyor:
    """Judges places for cameras."""

    def __init__(self, scene: Scene, path: _Path, renderer: Renderer, moment: Moment, world: int) -> None:
        self._scene, self._path, self._renderer = scene, path, renderer
        self._moment, self._world, self._room = moment, world, ScratchRoom()
        left = np.stack([-np.sin(path.direction), np.cos(path.direction), np.zeros(len(path.direction))], 1)
        width = [np.where(lane > 0.0, path.left, path.right) for lane in LANES]
        self._lanes = np.array(
            [path.point + lane * (far[:, None] * left) for lane, far in zip(LANES, width, strict=True)]
        )

    def find_best(self, cell: int, reach: float, hidden: LongArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Return where a camera shows the path around a cell best, and what it is worth there and elsewhere.

        Args:
            reach: How far along the path to both sides counts [m].
            hidden: Cells that no other camera sees, of which alone those near count; None: all count.
        """
        stretch, best = self._path.list_near(cell, reach), None
        stretch = stretch if hidden is None else np.intersect1d(stretch, hidden)
        places = [*self._list_places(cell)]
        if hidden is not None or not places:
            places += [(self._path.point[cell] + np.array([0.0, 0.0, height]), 1.0) for height in OVERHEAD]
        for eye, favour in places:
            worth = self._judge(eye, cell)
            total = favour * float(worth[stretch].sum())
            if best is None or total > best[0]:
                best = total, eye, worth
        assert best is not None, "above the road there is always a place"
        return best[1:]

    def _list_places(self, cell: int) -> Iterator[tuple[FloatArray, float]]:
        """Yield places beside the road, and how much they are favoured: outside a curve, rather far from the road."""
        path = self._path
        point, direction = path.point[cell], path.direction[cell]
        left = np.array([-math.sin(direction), math.cos(direction)])
        for side, width in ((1.0, path.left[cell]), (-1.0, path.right[cell])):
            is_outside = side * path.bend[cell] < 0.0
            for aside in ASIDE:
                place = point[:2] + side * (width + aside) * left
                away = np.hypot(*(path.point[:, :2] - place).T)
                if (away <= np.maximum(path.left, path.right) + CLEARANCE).any():  # it is on the road elsewhere
                    continue
                ground = max(float(sample_height(self._scene.ground, place[None])[0]), float(point[2]) - 0.3)
                for height in HEIGHTS:
                    eye = np.array([*place, ground + height])
                    if not self._is_inside_something(eye):
                        # Seen from outside a curve cars come towards the camera for longer; enough to break near ties.
                        yield eye, 1.12 if is_outside else 1.0

    def _is_inside_something(self, eye: FloatArray) -> bool:
        solid = self._scene.colliders
        if not len(solid.kind):
            return False
        away, size = eye - solid.centre, solid.half_size + ELBOW_ROOM
        cosine, sine = np.cos(solid.yaw), np.sin(solid.yaw)
        ahead, aside = cosine * away[:, 0] + sine * away[:, 1], cosine * away[:, 1] - sine * away[:, 0]
        in_box = (np.abs(ahead) < size[:, 0]) & (np.abs(aside) < size[:, 1])
        in_round = np.hypot(away[:, 0], away[:, 1]) < size[:, 0]
        within = np.where(solid.kind == COLLIDER_BOX, in_box, in_round)
        return bool((within & (np.abs(away[:, 2]) < size[:, 2])).any())

    def _judge(self, eye: FloatArray, cell: int) -> FloatArray:
        """Return what a place is worth for each cell: seen, neither near nor far nor steep, cars coming towards it."""
        path = self._path
        ahead = path.point[path.list_near(cell, 1.0)].mean(axis=0) - eye
        yaw, seen = math.atan2(ahead[1], ahead[0]), np.zeros((len(LANES), len(path.point)), bool)
        for turn in (-PROBE_YAW, PROBE_YAW):
            seen |= self._look(eye, yaw + turn)
        away = eye - path.point
        distance = np.linalg.norm(away, axis=1)
        coming = (np.cos(path.direction) * away[:, 0] + np.sin(path.direction) * away[:, 1]) / distance
        # By the logarithm, as twice as far is as bad as twice as near; half the worth at 2.5 times the best distance
        # (e^0.9).
        near = 1.0 / (1.0 + (np.log(distance / BEST_DISTANCE) / 0.9) ** 2)
        # Straight down is worth 1 - 0.7 * 0.5 = 0.65: better than no picture, worse than most others.
        flat = 1.0 - 0.7 * np.maximum(away[:, 2] / distance - STEEP, 0.0)
        share = _smooth(np.where(distance < FARTHEST, seen.mean(axis=0), 0.0), path.is_closed)
        # Fronts of cars are nicer than backs, but never worth being hidden for.
        return np.asarray(share * near * flat * (1.0 + 0.2 * coming))

    def _look(self, eye: FloatArray, yaw: float) -> BoolArray:
        """Return which cells are seen in one picture, shape [lane_count, cell_count]."""
        view = (tuple(eye.tolist()), (0.0, PROBE_PITCH, yaw))
        distance = self._renderer.measure_view(self._moment, self._world, view, PROBE, self._room)
        rotation, focal = make_rotation(view[1]).reshape(3, 3), 0.5 * PROBE.height / math.tan(0.5 * PROBE.fov)
        seen = np.ones((len(LANES), len(self._path.point)), bool)
        for height in CAR_HEIGHTS:
            forward, left, up = np.moveaxis((self._lanes + np.array([0.0, 0.0, height]) - eye) @ rotation, -1, 0)
            depth = np.maximum(forward, 0.05)
            column = np.floor(0.5 * PROBE.width - focal * left / depth).astype(int)
            row = np.floor(0.5 * PROBE.height - focal * up / depth).astype(int)
            is_within = (forward > 0.05) & (column >= 0) & (column < PROBE.width) & (row >= 0) & (row < PROBE.height)
            met = distance[np.clip(row, 0, PROBE.height - 1), np.clip(column, 0, PROBE.width - 1)]
            seen &= is_within & (met > 0.97 * forward - 0.1)
        return seen


def _measure_path(scene: Scene) -> _Path:
    frame, path = scene.path.frame, scene.path
    count = max(8, round(frame.length / CELL))
    along = (np.arange(count) + 0.5) * frame.length / count
    point, direction = frame.at(along)
    ahead, behind = frame.at(along + 1.0)[1], frame.at(along - 1.0)[1]
    bend = 0.5 * (np.mod(ahead - behind + math.pi, 2.0 * math.pi) - math.pi)
    left, right = (
        np.interp(along, frame.node_length, width, period=frame.length if path.closed else None)
        for width in (path.width_left, path.width_right)
    )
    return _Path(point, direction, bend, left, right, path.closed, frame.length)


def _choose_middles(path: _Path, count: int) -> list[int]:
    """Return cells at even distances, each moved to the sharpest bend near it."""
    total, cells = len(path.point), []
    for index in range(count):
        near = path.list_near(round((index + 0.5) * total / count) % total, 0.3 * path.length / count)
        cells.append(int(near[np.argmax(np.abs(path.bend[near]))]))
    return cells


def _smooth(share: FloatArray, is_closed: bool) -> FloatArray:
    """Return what share is seen around each cell, 0 below two thirds: a post hides none."""
    rim = np.pad(share, 1, mode="wrap" if is_closed else "edge")
    around = (rim[:-2] + rim[1:-1] + rim[2:]) / 3.0
    return np.where(around > 0.6, around, 0.0)
