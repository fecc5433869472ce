"""Pictures of a rebuilt place from where the drive took them, beside the real ones."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from donkeysim.calibration.motion import FloorCamera
from donkeysim.core.types import BoolArray, ByteArray, Float32Array, FloatArray
from donkeysim.mapping.floor import PaintedFloor
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import CameraSpec, SceneSpec, WorldSpec

FARTHEST = 6.0
"""Floor so far away, in heights of the camera, is compared; beyond, lens and haze blur it."""


class Redrawn(NamedTuple):
    """A picture of the drive and the same from the place.

    Attributes:
        number: Of the picture.
        real: Shape [height, width, 1 or 3].
        drawn: In the light of that picture, shape [height, width, 3].
        floor: Which pixels show floor that was seen near by, shape [height, width].
        psnr: Of those pixels [dB].
    """

    number: int
    real: ByteArray
    drawn: ByteArray
    floor: BoolArray
    psnr: float


def redraw(
    track: Path,
    camera: FloorCamera,
    own: BoolArray,
    pictures: Sequence[ByteArray],
    poses: FloatArray,
    floor: PaintedFloor,
    numbers: Sequence[int],
    gains: Float32Array,
) -> list[Redrawn]:
    """Return pictures beside the same from the place.

    Args:
        track: The place's file.
        camera: Of the pictures.
        own: Where they show the car.
        pictures: All of the drive.
        poses: Of all, shape [picture_count, 3].
        floor: Tells the lens's vignette.
        numbers: Which are drawn.
        gains: How bright each of these is, shape [number_count, 3].
    """
    lens, mount = camera.lens, camera.mount
    eye = CameraSpec(width=lens.size[0], height=lens.size[1], fov=lens.fov, lens=lens, quality="smooth")
    simulator = Simulator(WorldSpec(SceneSpec(str(track))))
    shown = _find_floor(camera) & ~own
    drawn = []
    for number, gain in zip(numbers, gains, strict=True):
        x, y, yaw = poses[number]
        c, s = np.cos(yaw), np.sin(yaw)
        position = (float(x + c * camera.ahead), float(y + s * camera.ahead), mount.height)
        view = simulator.view(0, position, (mount.roll, mount.pitch, float(yaw) + mount.yaw), eye).astype(float)
        view = np.clip(view * floor.vignette[..., None] * gain + 0.5, 0, 255).astype(np.uint8)
        real = pictures[number]
        off = (view.astype(float) - real)[shown]
        psnr = 10.0 * np.log10(255.0**2 / max(1e-9, float((off**2).mean())))
        drawn.append(Redrawn(number, real, view, shown, psnr))
    simulator.close()
    return drawn


def _find_floor(camera: FloorCamera) -> BoolArray:
    width, height = camera.lens.size
    places = np.indices((height, width))[::-1].reshape(2, -1).T.astype(float)
    floor = camera.find_floor(places) - (camera.ahead, 0.0)
    with np.errstate(invalid="ignore"):
        near = np.hypot(*floor.T) < FARTHEST * camera.mount.height
    return np.asarray(near.reshape(height, width))
