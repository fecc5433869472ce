"""What differs from car to car in pictures: light, colours, mounting, lens, and what the camera does to a picture.

`CarVariation` holds a row for each car, written by whoever draws the values; `VariedCameras` turns rows into the tables
of one camera group. A renderer without variation knows nothing of all this and pays nothing for it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from donkeysim.core.image import decode_jpeg, encode_jpeg
from donkeysim.core.rotation import make_rotation
from donkeysim.core.types import ByteArray, Float32Array, FloatArray, IntArray, LongArray, WordArray
from donkeysim.core.workers import Workers
from donkeysim.render.kernels.effects import BLUR_REACH, EFFECT, EFFECT_WIDTH, finish_pictures
from donkeysim.render.kernels.layout import LENS, POSE
from donkeysim.render.kernels.recolour import LOOK_WIDTH
from donkeysim.render.lens import compute_fisheye, compute_focal
from donkeysim.render.tables import CameraTables
from donkeysim.world.scene import CLASS_CAR
from donkeysim.world.specs import CameraSpec

CLASS_COUNT = CLASS_CAR + 1

FOV_LIMITS = math.radians(10.0), math.radians(170.0)
"""Least and greatest field of view of a varied camera [rad]."""

SECOND_NUMBER = np.uint32(0x5BD1E995)
"""By which the random numbers of a car's second camera differ from the first one's."""


@dataclass
class CarVariation:
    """One row per car; `version` is counted up by whoever writes them.

    Attributes:
        light: As `PictureTables.light`, shape [car_count, LIGHT_WIDTH].
        look: Of each class, see `kernels.recolour`, shape [car_count, CLASS_COUNT, LOOK_WIDTH]; of no class where
            colours never differ.
        mount: Added to position [m] and rotation [rad] of cameras, shape [car_count, 6].
        lens: Added to the field of view [rad] and to both fisheye strengths, shape [car_count, 2].
        effect: Columns EFFECT but the last, shape [car_count, EFFECT.grey].
        quality: Of the JPEG file that a picture goes through, shape [car_count].
        number: What a picture's noise begins with, shape [car_count]; may change without a new version.
        has_effects: Whether blur, exposure or noise ever differ.
        has_files: Whether pictures go through a JPEG file.
        version: Of all rows.
    """

    light: Float32Array
    look: Float32Array
    mount: FloatArray
    lens: FloatArray
    effect: Float32Array
    quality: IntArray
    number: WordArray
    has_effects: bool = False
    has_files: bool = False
    version: int = 0


def make_variation(light: Float32Array, with_looks: bool) -> CarVariation:
    """Return rows that change nothing.

    Args:
        light: Of each car's place, shape [car_count, LIGHT_WIDTH].
        with_looks: Whether colours will differ.
    """
    count = len(light)
    effect = np.zeros((count, EFFECT.grey), np.float32)
    effect[:, EFFECT.gain] = 1.0
    return CarVariation(
        light=light.copy(),
        look=np.zeros((count, CLASS_COUNT if with_looks else 0, LOOK_WIDTH), np.float32),
        mount=np.zeros((count, 6)),
        lens=np.zeros((count, 2)),
        effect=effect,
        quality=np.zeros(count, np.int32),
        number=np.zeros(count, np.uint32),
    )


@dataclass
class VariedCameras:
    """Cameras of one group as they are meant to be, before what differs from car to car is added.

    Attributes:
        pose: Position in the body frame [m], then roll, pitch, yaw [rad], shape [camera_count, 6].
        fov: Vertical field of view [rad], shape [camera_count].
        fisheye: Strengths in x and y, shape [camera_count, 2].
        number: By which the noise of a second camera differs from the first one's, shape [camera_count].
        effect: Columns EFFECT, shape [camera_count, EFFECT_WIDTH].
        size: Width and height of the pictures [pixel].
        version: Of the variation that the group's tables are of; -1: none yet.
    """

    pose: FloatArray
    fov: FloatArray
    fisheye: FloatArray
    number: WordArray
    effect: Float32Array
    size: tuple[int, int]
    version: int = -1
    _room: dict[int, tuple[Float32Array, Float32Array, Float32Array]] = field(default_factory=dict)

    def aim(self, row: int, position: Sequence[float], rotation: Sequence[float]) -> None:
        """Put one camera elsewhere on its car; see `CameraGroup.aim`."""
        self.pose[row] = (*position, *rotation)
        self.version = -1

    def select(self, rows: slice) -> VariedCameras:
        """Return some of the cameras; they share the arrays and the working memory."""
        return VariedCameras(
            self.pose[rows],
            self.fov[rows],
            self.fisheye[rows],
            self.number[rows],
            self.effect[rows],
            self.size,
            _room=self._room,
        )

    def update(self, variation: CarVariation, tables: CameraTables) -> None:
        """Write the tables of the group anew if the variation has changed."""
        if self.version == variation.version:
            return
        self.version = variation.version
        car, (width, height) = tables.car, self.size
        pose = self.pose + variation.mount[car]
        position, angles = np.hsplit(pose, 2)
        tables.mount[:, : POSE.rotation] = position
        tables.mount[:, POSE.rotation :] = [make_rotation(rotation) for rotation in angles.tolist()]
        fov = np.clip(self.fov + variation.lens[car, 0], *FOV_LIMITS)
        tables.lens[:, LENS.focal] = [compute_focal(angle, height) for angle in fov.tolist()]
        fisheye = self.fisheye + variation.lens[car, 1:]
        tables.lens[:, LENS.fisheye : LENS.grey] = fisheye * compute_fisheye((1.0, 1.0), width, height)
        tables.light[:] = variation.light[car]
        tables.look[:] = variation.look[car]
        self.effect[:, : EFFECT.grey] = variation.effect[car]

    def finish(self, workers: Workers, variation: CarVariation, car: IntArray, picture: ByteArray) -> None:
        """Do to drawn pictures what their cameras do.

        Args:
            workers: To run on.
            variation: Of all cars.
            car: Whose pictures they are, shape [camera_count].
            picture: Read and written, shape [camera_count, height, width, 3].
        """
        if variation.has_effects:
            number = variation.number[car] ^ self.number
            rows = picture.reshape(*picture.shape[:2], -1)

            def expose(worker: int, next_row: LongArray) -> None:
                room = self._find_room(worker)
                finish_pictures(next_row, len(car), self.effect, number, rows, *room)

            workers.run(expose, len(car))
        if variation.has_files:
            rows_left = iter(range(len(car)))

            def compress(_worker: int, _next_row: LongArray) -> None:
                for row in rows_left:
                    decode_jpeg(encode_jpeg(picture[row], int(variation.quality[car[row]])), picture[row])

            workers.run(compress, len(car))

    def _find_room(self, worker: int) -> tuple[Float32Array, Float32Array, Float32Array]:
        """Return a worker's working memory."""
        if worker not in self._room:
            width, height = self.size
            wide, soft = np.zeros(3 * (width + 2 * BLUR_REACH), np.float32), np.zeros((height, 3 * width), np.float32)
            self._room[worker] = wide, soft, np.zeros(BLUR_REACH + 1, np.float32)
        return self._room[worker]


def vary_cameras(cameras: Sequence[CameraSpec], second: Sequence[bool]) -> VariedCameras:
    """Return cameras of one size, ready to differ; `second` as for `Renderer.make_group`."""
    effect = np.zeros((len(cameras), EFFECT_WIDTH), np.float32)
    effect[:, EFFECT.gain], effect[:, EFFECT.grey] = 1.0, [camera.grey for camera in cameras]
    return VariedCameras(
        pose=np.array([(*camera.position, *camera.rotation) for camera in cameras]),
        fov=np.array([camera.fov for camera in cameras]),
        fisheye=np.array([camera.fisheye for camera in cameras]),
        number=np.array(second or [False] * len(cameras), np.uint32) * SECOND_NUMBER,
        effect=effect,
        size=(cameras[0].width, cameras[0].height),
    )
