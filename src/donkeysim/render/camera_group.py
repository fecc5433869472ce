"""Cameras that are drawn together, and the buffers of their pictures."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from donkeysim.core.errors import ShapeError
from donkeysim.core.rotation import make_rotation
from donkeysim.core.types import ByteArray, Float32Array, FloatArray, IntArray, WordArray
from donkeysim.render.kernels.layout import AXES_WIDTH, GREY_LUMA, LENS_WIDTH
from donkeysim.render.kernels.recolour import LOOK_WIDTH
from donkeysim.render.scratch import Shape
from donkeysim.render.tables import CameraTables
from donkeysim.render.variation import VariedCameras
from donkeysim.render.warp import compute_fisheye, compute_focal, open_warp
from donkeysim.world.specs import CameraSpec

_NO_DEPTH, _NO_SEGMENT = np.zeros((1, 1, 1), np.float32), np.zeros((1, 1, 1), np.uint8)


@dataclass(frozen=True)
class Frame:
    """Pictures of one camera group; the group's own buffers, valid until its next render.

    Attributes:
        car: Whose they are, shape [camera_count].
        colour: sRGB, shape [camera_count, row_count, width, 3]; or grey, 1 instead of 3, see `Renderer.make_group`.
        depth: Distance along the optical axis [m], infinite for the sky, shape [camera_count, row_count, width]; at a
            pixel's middle, with 2x2 samples at the upper left one. None unless the cameras have `depth`.
        segment: CLASS_* of what is seen there, same shape; None unless the cameras have `segment`.
    """

    car: IntArray
    colour: ByteArray
    depth: Float32Array | None
    segment: ByteArray | None


@dataclass(frozen=True)
class CameraGroup:
    """Cameras of equal size and quality, and their buffers. Made by `Renderer.make_group`.

    Attributes:
        frame: Where the pictures go.
        cameras: The kernels' rows.
        size: Width and height of what is drawn of the whole picture, more than its own where there is a lens [pixel].
        band: First row and end of those that pictures come from [pixel].
        factor: Samples per pixel along each axis.
        shape: Of the working memory that its pictures need.
        sizes, options: As `render_cameras` takes them.
        varied: How the cameras are meant to be, where cars' pictures differ; else None.
        pictures: What `render_cameras` writes: the frame's arrays, colours also as words.
    """

    frame: Frame
    cameras: CameraTables
    size: tuple[int, int]
    band: tuple[int, int]
    factor: int
    shape: Shape
    sizes: tuple[int, ...]
    options: tuple[int, bool, bool, bool, bool]
    varied: VariedCameras | None = None
    pictures: tuple[WordArray, ByteArray, Float32Array, ByteArray] = field(init=False)

    def __post_init__(self) -> None:
        frame = self.frame
        depth = _NO_DEPTH if frame.depth is None else frame.depth
        segment = _NO_SEGMENT if frame.segment is None else frame.segment
        object.__setattr__(self, "pictures", (view_words(frame.colour), frame.colour, depth, segment))

    def aim(self, row: int, position: Sequence[float], rotation: Sequence[float]) -> None:
        """Put one camera elsewhere on its car.

        Args:
            position: Body frame [m].
            rotation: (roll, pitch, yaw) [rad], as `CameraSpec.rotation`.
        """
        self.cameras.mount[row] = np.append(position, make_rotation(rotation))
        if self.varied is not None:
            self.varied.aim(row, position, rotation)

    def add_pictures(self) -> Self:
        """Return the same cameras with further buffers of their own; moving one of them moves the other's."""
        kept = self.frame
        frame = Frame(
            kept.car,
            np.zeros_like(kept.colour),
            None if kept.depth is None else np.zeros_like(kept.depth),
            None if kept.segment is None else np.zeros_like(kept.segment),
        )
        return replace(self, frame=frame)

    def select(self, row: int) -> Self:
        """Return one camera of the group, which draws into the group's own buffers."""
        rows = slice(row, row + 1)
        frame = Frame(
            self.frame.car[rows],
            self.frame.colour[rows],
            None if self.frame.depth is None else self.frame.depth[rows],
            None if self.frame.segment is None else self.frame.segment[rows],
        )
        cameras = CameraTables._make((*(array[rows] for array in self.cameras[:-1]), self.cameras.source))
        varied = None if self.varied is None else self.varied.select(rows)
        return replace(self, frame=frame, cameras=cameras, varied=varied)


def find_kind(camera: CameraSpec) -> tuple[object, ...]:
    """Return what cameras that are drawn together have in common."""
    size = camera.width, camera.height, camera.crop_top, camera.crop_bottom
    lens = None if camera.lens is None else (camera.lens, camera.fov)
    return *size, camera.quality, camera.supersample, camera.depth, camera.segment, lens


def require_one_kind(cars: Sequence[int], cameras: Sequence[CameraSpec]) -> None:
    """Check that cameras are of one kind, and one for each of the cars.

    Raises:
        ShapeError: They are not.
    """
    kinds = {find_kind(camera) for camera in cameras}
    if len(cars) != len(cameras) or len(kinds) != 1:
        raise ShapeError(
            f"a camera group got {len(cars)} cars and {len(cameras)} cameras of {len(kinds)} kinds; it takes one "
            "camera per car, all with the same width, height, crops, quality, supersample, depth and segment."
        )


def view_words(picture: ByteArray) -> WordArray:
    """Return pictures as 32-bit words, shape [camera_count, word_count]; a row of nothing when bytes are left over."""
    count, rows, width, channels = picture.shape
    if width % 4:
        return np.zeros((count, 1), np.uint32)
    return picture.reshape(count, rows * width * channels).view(np.uint32)


def mount_cameras(cameras: Sequence[CameraSpec]) -> FloatArray:
    """Return where cameras are on their cars, columns POSE, shape [camera_count, POSE_WIDTH]."""
    return np.stack([np.append(camera.position, make_rotation(camera.rotation)) for camera in cameras])


def make_camera_tables(
    owners: IntArray,
    worlds: IntArray,
    place: tuple[FloatArray, float],
    cameras: Sequence[CameraSpec],
    light: Float32Array,
    class_count: int,
) -> CameraTables:
    """Return the kernels' rows of cameras.

    Args:
        owners: Their cars, -1: nobody's.
        place: As `mount_cameras` returns it, and their far plane [m].
        cameras: One for each, all of one kind.
        light: Of each, columns LIGHT.
        class_count: How many classes' colours may differ; 0: none do.
    """
    count, (mount, far), warp = len(owners), place, open_warp(cameras[0])
    lens = np.zeros((count, LENS_WIDTH), np.float32)
    for row, camera in enumerate(cameras):
        fisheye = compute_fisheye(camera.fisheye, *warp.size)
        lens[row] = (compute_focal(camera.fov, warp.scale * camera.height), *fisheye, camera.grey * GREY_LUMA, far, 1.0)
    return CameraTables(
        owners,
        worlds.astype(np.int32),
        mount,
        np.zeros((count, 3), np.float32),
        np.zeros((count, AXES_WIDTH), np.float32),
        lens,
        light,
        np.zeros((count, class_count, LOOK_WIDTH), np.float32),
        warp.source,
    )
