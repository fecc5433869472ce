"""What cameras do to finished pictures on a device: `PictureEffects` comes behind the last stage of their renderer."""

from typing import Any

import numpy as np

from donkeysim.core.device import Device
from donkeysim.render.kernels.effects import BLUR_REACH
from donkeysim.render.kernels.pixel_effects import blur_pixel, expose_pixel, number_camera, weigh_camera
from donkeysim.render.tables import MeantCameras
from donkeysim.world.randomization import RandomizationSpec

SOFT_BYTES = 1 << 28
"""Working memory of a blur at most, which limits how many pictures are blurred at once."""

PIXEL_BLOCK = 4096
"""Pixels that a thread of this machine takes at once."""


class PictureEffects:
    """Effects of one group of cameras."""

    def __init__(
        self, device: Device, spec: RandomizationSpec, shape: tuple[int, int, int, int], view: tuple[int, int]
    ) -> None:
        """Take working memory.

        Args:
            shape: Of the pictures: cameras, rows, columns, channels.
            view: Rows cut off above, and rows that a picture would have if none were cut off.
        """
        count, *sizes = shape
        self._device, self._count, self._sizes = device, count, tuple(sizes)
        self._view, blurs = view, bool(spec.picture.blur or spec.sensor.shutter)
        self._weight = device.zeros((count, 2, BLUR_REACH + 1), np.float32)
        self._taps = device.zeros((count, 2), np.int64)
        self._number = device.zeros((count,), np.uint32)
        values = int(np.prod(sizes))
        self._chunk = max(1, min(count, SOFT_BYTES // (4 * values))) if blurs else count
        self._soft = device.empty((self._chunk, values), np.float32) if blurs else None

    def apply(self, meant: MeantCameras, car: Any, moment: tuple[Any, Any], picture: Any, target: Any) -> None:
        """Write pictures as their cameras make them.

        Args:
            meant: The cameras, their rows `effect` written (`kernels.vary.vary_camera`).
            car: Of each camera, shape [camera_count].
            moment: Number and yaw rate of each car, see `kernels.vary.note_picture`, shape [car_count].
            picture: Bytes, shape [camera_count, rows * columns * channels], channels last.
            target: Written, of the same shape, and another array.
        """
        run, (rows, columns, _), (number, turn) = self._device.run, self._sizes, moment
        run(number_camera, self._count, car, number, meant.number, self._number, block=PIXEL_BLOCK)
        if self._soft is not None:
            run(weigh_camera, self._count, car, turn, meant.effect, self._weight, self._taps, block=PIXEL_BLOCK)
        blur = self._weight, self._taps
        for first in range(0, self._count, self._chunk):
            pixels = min(self._chunk, self._count - first) * rows * columns
            base, source = 0, picture
            if self._soft is not None:
                base, source = first, self._soft
                run(blur_pixel, pixels, first, self._sizes, *blur, picture, self._soft, block=PIXEL_BLOCK)
            cameras = base, first, self._sizes, self._view, meant.effect, self._number
            run(expose_pixel, pixels, *cameras, *blur, source, target, block=PIXEL_BLOCK)
