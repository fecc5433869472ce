"""What differs from car to car in pictures: light, colours, mounting, lens, and what the camera does to a picture.

`CarRows` holds a row for each car, written by whoever draws the values (`kernels.vary.vary_looks`); `VariedCameras`
turns rows into the tables of one camera group. A renderer without variation knows nothing of all this and pays nothing
for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from donkeysim.core.device import Device
from donkeysim.core.image import decode_jpeg, encode_jpeg
from donkeysim.core.types import ByteArray, Float32Array, IntArray, LongArray, WordArray
from donkeysim.core.workers import Workers
from donkeysim.render.kernels.effects import BLUR_REACH, EFFECT, EFFECT_WIDTH, finish_pictures
from donkeysim.render.kernels.recolour import LOOK_WIDTH
from donkeysim.render.kernels.vary import vary_camera
from donkeysim.render.tables import CameraTables, CarRows, MeantCameras
from donkeysim.render.warp import compute_fisheye, open_warp
from donkeysim.world.randomization import RandomizationSpec, find_column, list_rests
from donkeysim.world.scene import CLASS_CAR
from donkeysim.world.specs import CameraSpec

CLASS_COUNT = CLASS_CAR + 1

SECOND_NUMBER = np.uint32(0x5BD1E995)
"""By which the random numbers of a car's second camera differ from the first one's."""

CAMERA_BLOCK = 16
"""Cameras whose tables a thread writes at once."""


@dataclass
class CarVariation:
    """What differs from car to car, and where.

    Attributes:
        rows: Of all cars.
        number: What a picture's noise begins with, shape [car_count].
        turn: Yaw rate of the car at its picture [rad/s], shape [car_count].
        has_effects: Whether blur, shading, exposure or noise ever differ.
        has_files: Whether pictures go through a JPEG file.
        version: Of all rows; counted up by whoever has some written.
    """

    rows: CarRows
    number: WordArray
    turn: Float32Array
    has_effects: bool
    has_files: bool
    version: int = 0


def make_variation(spec: RandomizationSpec, light: Float32Array) -> CarVariation:
    """Return rows that change nothing yet.

    Args:
        spec: What will differ.
        light: Of each car's place, shape [car_count, LIGHT_WIDTH].
    """
    count = len(light)
    rows = CarRows(
        serial=np.zeros(count, np.int64),
        light=light.copy(),
        look=np.zeros((count, CLASS_COUNT if spec.has_looks else 0, LOOK_WIDTH), np.float32),
        mount=np.zeros((count, 6)),
        lens=np.zeros((count, 2)),
        effect=np.zeros((count, EFFECT.grey), np.float32),
        quality=np.zeros(count, np.int32),
    )
    rows.effect[:, EFFECT.gain] = rows.effect[:, EFFECT.balance : EFFECT.flicker] = 1.0
    rows.effect[:, EFFECT.bands] = list_rests()[find_column("sensor.bands")]
    return CarVariation(
        rows,
        number=np.zeros(count, np.uint32),
        turn=np.zeros(count, np.float32),
        has_effects=spec.has_effects,
        has_files=spec.picture.jpeg_quality is not None,
    )


@dataclass
class VariedCameras:
    """Cameras of one group that differ from car to car.

    Attributes:
        meant: How they are without that.
        size: Width and height of the pictures [pixel], rows that are cut off included.
        top: How many of these are cut off above.
        squeeze: Fisheye of strength 1 in x and y.
        scaled_height: As many rows as the field of view is of [pixel]; see `warp.Warp.scale`.
        version: Of the variation that the group's tables are of; -1: none yet.
    """

    meant: MeantCameras
    size: tuple[int, int]
    top: int
    squeeze: tuple[float, float]
    scaled_height: float
    version: int = -1
    _room: dict[int, tuple[Float32Array, ...]] = field(default_factory=dict)

    @property
    def lens(self) -> tuple[float, float, tuple[float, float]]:
        """What `kernels.vary.vary_camera` has to know of them."""
        return self.scaled_height, float(self.size[1]), self.squeeze

    def aim(self, row: int, position: Sequence[float], rotation: Sequence[float]) -> None:
        """Put one camera elsewhere on its car; see `CameraGroup.aim`."""
        self.meant.pose[row] = (*position, *rotation)
        self.meant.serial[row] = self.version = -1

    def select(self, rows: slice) -> Self:
        """Return some of the cameras; they share the arrays and the working memory."""
        meant = MeantCameras._make(array[rows] for array in self.meant)
        return replace(self, meant=meant)

    def update(self, device: Device, variation: CarVariation, tables: CameraTables) -> None:
        """Write those tables of the group anew whose cars' rows have changed."""
        if self.version == variation.version:
            return
        self.version = variation.version
        if (self.meant.serial != variation.rows.serial[tables.car]).any():
            arguments = (*self.lens, variation.rows, self.meant, tables)
            device.run(vary_camera, len(tables.car), *arguments, block=CAMERA_BLOCK)

    def finish(self, workers: Workers, variation: CarVariation, car: IntArray, picture: ByteArray) -> None:
        """Do to drawn pictures what their cameras do.

        Args:
            car: Whose pictures they are, shape [camera_count].
            picture: Read and written, shape [camera_count, height, width, 3].
        """
        if variation.has_effects:
            number = variation.number[car] ^ self.meant.number
            rows, view = picture.reshape(*picture.shape[:2], -1), (self.top, self.size[1])
            own = self.meant.effect, number, variation.turn[car]

            def expose(worker: int, next_row: LongArray) -> None:
                room = self._find_room(worker)
                finish_pictures(next_row, len(car), view, *own, rows, *room)

            workers.run(expose, len(car))
        if variation.has_files:
            rows_left = iter(range(len(car)))

            def compress(_worker: int, _next_row: LongArray) -> None:
                for row in rows_left:
                    decode_jpeg(encode_jpeg(picture[row], int(variation.rows.quality[car[row]])), picture[row])

            workers.run(compress, len(car))

    def _find_room(self, worker: int) -> tuple[Float32Array, ...]:
        """Return a worker's working memory."""
        if worker not in self._room:
            width, height = self.size
            wide, soft = np.zeros(3 * (width + 2 * BLUR_REACH), np.float32), np.zeros((height, 3 * width), np.float32)
            weight, shade = np.zeros(BLUR_REACH + 1, np.float32), np.zeros((2, 3 * width), np.float32)
            self._room[worker] = wide, soft, weight, shade
        return self._room[worker]


def vary_cameras(cameras: Sequence[CameraSpec], second: Sequence[bool]) -> VariedCameras:
    """Return cameras of one size, ready to differ; `second` as for `Renderer.make_group`."""
    effect = np.zeros((len(cameras), EFFECT_WIDTH), np.float32)
    effect[:, EFFECT.gain] = effect[:, EFFECT.balance : EFFECT.flicker] = 1.0
    effect[:, EFFECT.grey] = [camera.grey for camera in cameras]
    meant = MeantCameras(
        pose=np.array([(*camera.position, *camera.rotation) for camera in cameras], np.float64),
        fov=np.array([camera.fov for camera in cameras], np.float64),
        fisheye=np.array([camera.fisheye for camera in cameras], np.float64),
        number=np.array(second or [False] * len(cameras), np.uint32) * SECOND_NUMBER,
        effect=effect,
        serial=np.full(len(cameras), -1, np.int64),
    )
    size, warp = (cameras[0].width, cameras[0].height), open_warp(cameras[0])
    squeeze = compute_fisheye((1.0, 1.0), *warp.size)
    return VariedCameras(meant, size, cameras[0].crop_top, squeeze, warp.scale * size[1])
