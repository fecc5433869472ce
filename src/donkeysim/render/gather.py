"""Pictures of a batch on a device: `GatherRenderer` holds the tables, `GatherGroup` cameras of one size.

The stages are functions of one index under `kernels/gather`; here is their order, and how much working memory they
need. They draw what `camera.Renderer` draws, by the same formulas; only mip levels are chosen pixel by pixel.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from donkeysim.core.device import Device
from donkeysim.core.errors import SpecError
from donkeysim.render.camera import FAR
from donkeysim.render.camera_group import make_camera_tables, mount_cameras, require_one_kind
from donkeysim.render.kernels.gather import bins, colour, finish, listing, see, set_up, shadows
from donkeysim.render.kernels.gather.layout import (
    BLOCK_TILES,
    CAST_WIDTH,
    EDGE_WIDTH,
    MOST_RECORDS,
    PLANE_OF_WIDTH,
    QUAD,
    QUADS,
    TALLY_WIDTH,
    TILE_HEIGHT,
    TILE_ROOM,
    TILE_WIDTH,
    WHOLE_WIDTH,
    GatherScratch,
    GatherSizes,
)
from donkeysim.render.kernels.layout import BASIS_WIDTH, CAR_MESH, LIGHT_WIDTH, POSE_WIDTH, SHARP, VIEW_WIDTH
from donkeysim.render.looks import PARTS_PER_CAR
from donkeysim.render.tables import CameraTables, PictureTables, PoseReader, PoseTables
from donkeysim.render.warp import open_warp
from donkeysim.world.specs import CameraSpec
from donkeysim.world.state import State

QUALITIES = {"default": 0, "fast": SHARP}
"""What the stages get, by name."""

CPU_CAMERAS = 8
"""Cameras that are drawn at once on this machine."""

CAR_RECORDS = 100
"""Triangles of each further car of a world that a picture has room for."""

MOST_WIDTH = 4096
"""No row is longer [pixel]: an index takes whole rows."""


class GatherCounts(NamedTuple):
    """How a batch is laid out."""

    cars_per_world: int
    props_per_world: int


@dataclass(frozen=True)
class GatherGroup:
    """Cameras of one size on a device, and their pictures. Made by `GatherRenderer.make_group`.

    Attributes:
        colour: sRGB or grey, uint8, shape [camera_count, row_count, width, channels].
        depth: Distance along the optical axis [m], infinite for the sky, shape [camera_count, row_count, width]; None
            unless the cameras have `depth`.
        segment: CLASS_* of what is seen, same shape; None unless the cameras have `segment`.
        rows: The cameras. Whoever varies them writes `mount`, `lens`, `light` and `look`; `eye` and `axes` follow.
        missed: Triangles that each camera should have drawn and had no room for, shape [camera_count]; int32.
        sizes: As the stages take them.
        scratch: Working memory of as many cameras as are drawn at once.
        flat: `colour` with a row for each camera.
    """

    colour: Any
    depth: Any
    segment: Any
    rows: CameraTables
    missed: Any
    sizes: GatherSizes
    scratch: GatherScratch
    flat: Any


class GatherRenderer:
    """Renders cameras of a batch on a device; nothing travels to the host meanwhile.

    Args:
        tables: Meshes, materials, textures; see `looks.Looks`.
        counts: Cars and props of each world.
        at_once: Cameras that are drawn together; working memory is made for that many. None: a few on this machine,
            whose caches then hold it, all on a GPU.
        record_limit: Triangles that a picture shows at most; None: see `count_records`.
    """

    def __init__(
        self,
        tables: PictureTables,
        device: Device,
        counts: tuple[int, int],
        at_once: int | None = None,
        record_limit: int | None = None,
    ) -> None:
        self._device, self._counts = device, GatherCounts(*counts)
        self._at_once, self._record_limit = at_once, record_limit
        self._poses, self._all = PoseReader(), device.zeros((0,), np.bool_)
        self._host, self._tables = tables, device.upload(tables)

    def make_group(
        self, cars: Sequence[int], cameras: Sequence[CameraSpec], channels: int = 3, class_count: int = 0
    ) -> GatherGroup:
        """Return a group of one camera per entry of `cars`.

        Args:
            cameras: One per car, all of one kind (`find_kind`).
            channels: Of their pictures: 3, or 1 for grey ones.
            class_count: Rows of `CameraTables.look` per camera, where colours are to differ; see `variation`.

        Raises:
            ShapeError: The cameras differ in kind, or there is not one per car.
            SpecError: Their quality or number of samples is not drawn in batches.
        """
        require_one_kind(cars, cameras)
        check_camera(cameras[0])
        first, device = cameras[0], self._device
        owners = np.array(cars, np.int32)
        worlds = owners // self._counts.cars_per_world
        place = mount_cameras(cameras), FAR
        light = self._host.light[self._host.world_scene[worlds]]
        rows = make_camera_tables(owners, worlds, place, cameras, light, class_count)
        shape = (len(cars), first.row_count, first.width)
        flat = device.empty((len(cars), channels * shape[1] * shape[2]), np.uint8)
        is_cpu = device.name == "cpu"
        sizes = make_sizes(first, channels, self._counts, MOST_WIDTH if is_cpu else QUAD)
        at_once = min(len(cars), self._at_once or (CPU_CAMERAS if is_cpu else len(cars)))
        return GatherGroup(
            colour=flat.reshape((*shape, channels)),
            depth=device.empty(shape, np.float32) if first.depth else None,
            segment=device.empty(shape, np.uint8) if first.segment else None,
            rows=device.upload(rows),
            missed=device.zeros((len(cars),), np.int32),
            sizes=sizes,
            scratch=self._make_scratch(at_once, sizes),
            flat=flat,
        )

    def render(self, group: GatherGroup, state: State, begins: Any = None) -> None:
        """Draw the group's cameras into its pictures, which stay valid until it is rendered again.

        Args:
            state: Of the device; the same arrays each time.
            begins: Whether a world's cameras are drawn, booleans of shape [world_count]; None: all are.
        """
        chosen = self._all if begins is None else begins
        poses, count, room = self._poses.read(state), len(group.missed), len(group.scratch.tally)
        for first in range(0, count, room):
            self._render_some(group, poses, first, min(room, count - first), chosen)

    def _render_some(self, group: GatherGroup, poses: PoseTables, first: int, cameras: int, begins: Any) -> None:
        tables, rows, scratch, sizes = self._tables, group.rows, group.scratch, group.sizes
        tiles, blocks = sizes.tile_columns * sizes.tile_rows, sizes.block_columns * sizes.block_rows
        records, clusters = scratch.whole.shape[1] // WHOLE_WIDTH, scratch.cluster.shape[1]
        runs = -(-sizes.stride // sizes.run)
        drawn, leaving = runs * sizes.height, -(-sizes.columns // sizes.run) * (sizes.bottom - sizes.top)
        is_fast = sizes.quality == SHARP
        stages: list[tuple[Any, int, tuple[Any, ...]]] = [
            (listing.list_clusters, 1, (first, sizes, tables, poses, rows, begins, scratch)),
            (listing.cull_cluster, clusters, (tables, scratch)),
            (listing.number_records, 1, (first, scratch, group.missed)),
            (set_up.set_up_triangle, records, (sizes, tables, scratch)),
            (bins.bin_block, blocks, (sizes, scratch)),
            (bins.bin_tile, tiles, (sizes, scratch)),
            (see.see_quad, tiles * QUADS, (sizes, tables, scratch)),
            (colour.shade_pixels_fast if is_fast else colour.shade_pixels, drawn, (sizes, tables, scratch)),
        ]
        if rows.look.shape[1]:
            stages.append((finish.recolour_pixels, drawn, (first, sizes, tables, rows, scratch)))
        stages.append((shadows.list_shadows, 1, (first, sizes, tables, poses, rows, scratch)))
        stages.append((shadows.darken_pixels, drawn, (sizes, scratch)))
        if not is_fast:
            stages.append((finish.soften_pixels, drawn, (sizes, scratch)))
        source = scratch.colour if is_fast else scratch.soft
        stages.append((finish.finish_bytes, leaving, (first, sizes, rows, scratch, source, group.flat)))
        if group.depth is not None:
            stages.append((finish.write_distances, leaving, (first, sizes, rows, scratch, group.depth)))
        if group.segment is not None:
            stages.append((finish.write_classes, leaving, (first, sizes, tables, rows, scratch, group.segment)))
        for stage, each, arguments in stages:
            # A thread of this machine takes all that a stage does for a camera: its memory is then in its cache.
            self._device.run(stage, cameras * each, *arguments, block=each)

    def measure_memory(self, camera: CameraSpec) -> int:
        """Return how much working memory each camera that is drawn at once takes [byte], its pictures not counted."""
        sizes = make_sizes(camera, 3, self._counts, QUAD)
        shapes = list_shapes(sizes, *self._find_limits(sizes))
        return sum(math.prod(shape) * np.dtype(dtype).itemsize for shape, dtype in shapes)

    def _make_scratch(self, at_once: int, sizes: GatherSizes) -> GatherScratch:
        shapes = list_shapes(sizes, *self._find_limits(sizes))
        return GatherScratch._make(self._device.zeros((at_once, *shape), dtype) for shape, dtype in shapes)

    def _find_limits(self, sizes: GatherSizes) -> tuple[int, int, int]:
        """Return how many meshes, clusters and triangles a picture may show."""
        draws = 2 + PARTS_PER_CAR * self._counts.cars_per_world + self._counts.props_per_world
        records = self._record_limit or count_records(sizes.width, sizes.height, sizes.cars_per_world)
        return draws, self._count_clusters(), records

    def _count_clusters(self) -> int:
        """Return how many clusters a camera may see at most."""
        tables, (cars_per_world, props_per_world) = self._host, self._counts
        clusters = np.diff(tables.mesh_range, axis=1)[:, 0]
        place = clusters[tables.scene_mesh].sum(axis=1).max()
        props = np.where(tables.prop_mesh >= 0, clusters[tables.prop_mesh], 0).reshape(-1, max(props_per_world, 1))
        car = clusters[tables.car_mesh[:, : CAR_MESH.plate]] @ (1, 4) + 1
        return int(place + props.sum(axis=1).max(initial=0) + cars_per_world * car.max(initial=0))


def check_camera(camera: CameraSpec) -> None:
    """Raise SpecError for a camera that is not drawn in batches."""
    if camera.quality not in QUALITIES:
        raise SpecError(
            f"a camera of a batch has the quality {camera.quality!r}; on a device it takes {' or '.join(QUALITIES)}."
        )
    if camera.supersample != 1:
        raise SpecError(
            f"a camera of a batch takes {camera.supersample} samples per pixel and axis; on a device it takes 1, "
            "and edges are softened instead."
        )


def make_sizes(camera: CameraSpec, channels: int, counts: GatherCounts, run: int) -> GatherSizes:
    """Return what the stages get of pictures of one size; `run`: pixels of a row that an index colours."""
    warp = open_warp(camera)
    width, height = warp.size
    tile_columns, tile_rows = -(-width // TILE_WIDTH), -(-height // TILE_HEIGHT)
    return GatherSizes(
        width=width,
        height=height,
        stride=-(-width // QUAD) * QUAD,
        top=camera.crop_top,
        bottom=camera.crop_top + camera.row_count,
        columns=camera.width,
        source_top=warp.band[0],
        source_bottom=warp.band[1],
        tile_columns=tile_columns,
        tile_rows=tile_rows,
        block_columns=-(-tile_columns // BLOCK_TILES),
        block_rows=-(-tile_rows // BLOCK_TILES),
        run=run,
        cars_per_world=counts.cars_per_world,
        props_per_world=counts.props_per_world,
        quality=QUALITIES[camera.quality],
        channels=channels,
    )


def count_records(width: int, height: int, cars_per_world: int) -> int:
    """Return how many triangles a picture may show where nothing else is said.

    More than eleven scenes showed at three sizes from 64 places along the lap: tests/soak/test_gather_pictures.py.
    """
    return min(480 + round(5.8 * math.sqrt(width * height)) + CAR_RECORDS * (cars_per_world - 1), MOST_RECORDS)


def list_shapes(
    sizes: GatherSizes, draw_limit: int, cluster_limit: int, record_limit: int
) -> list[tuple[tuple[int, ...], Any]]:
    """Return shape and type of each table of `GatherScratch`, for one camera."""
    tiles, blocks = sizes.tile_columns * sizes.tile_rows, sizes.block_columns * sizes.block_rows
    pixels, real, whole, word = sizes.height * sizes.stride, np.float32, np.int32, np.uint32
    tables: dict[str, tuple[tuple[int, ...], Any]] = {
        "camera_view": ((VIEW_WIDTH,), real),
        "light": ((LIGHT_WIDTH,), real),
        "pose": ((2, POSE_WIDTH), real),
        "draw_mesh": ((draw_limit,), whole),
        "basis": ((draw_limit, BASIS_WIDTH), real),
        "tally": ((TALLY_WIDTH,), whole),
        "cluster": ((cluster_limit,), whole),
        "cluster_draw": ((cluster_limit,), np.int16),
        "cluster_kept": ((cluster_limit,), np.int64),
        "edge": (((record_limit + 1) * EDGE_WIDTH,), real),
        "plane": (((record_limit + 1) * PLANE_OF_WIDTH,), real),
        "whole": (((record_limit + 1) * WHOLE_WIDTH,), whole),
        "box": ((2 * record_limit,), word),
        "block_list": ((blocks, record_limit), np.uint16),
        "block_size": ((blocks,), whole),
        "tile_list": ((tiles, TILE_ROOM), np.uint16),
        "tile_size": ((tiles,), whole),
        "ident": ((pixels,), np.uint16),
        "colour": ((pixels,), word),
        "soft": ((pixels if sizes.quality != SHARP else 1,), word),
        "shadow": ((max(sizes.cars_per_world + sizes.props_per_world, 1), CAST_WIDTH), real),
    }
    return [tables[name] for name in GatherScratch._fields]
