"""Pictures from `State` and `Scene`: `Renderer` holds the tables, `CameraGroup` the buffers of cameras of one size."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from donkeysim.core.device import Cpu
from donkeysim.core.frames import Vector
from donkeysim.core.index_loops import repeat
from donkeysim.core.rotation import make_rotation
from donkeysim.core.types import ByteArray, Float32Array, FloatArray, IntArray, LongArray
from donkeysim.core.workers import Workers
from donkeysim.render.body import prepare_plate
from donkeysim.render.camera_group import (
    CameraGroup,
    Frame,
    find_kind,
    make_camera_tables,
    mount_cameras,
    require_one_kind,
)
from donkeysim.render.kernels.layout import GREY_PALE, INTEGER, LANES, LENS, SHARP, SIZE_LOG, SMOOTH
from donkeysim.render.kernels.picture import render_cameras
from donkeysim.render.kernels.poses import place_cameras
from donkeysim.render.looks import Looks
from donkeysim.render.moment import Moment
from donkeysim.render.scratch import ScratchRoom, round_up
from donkeysim.render.tables import PictureTables, PoseReader, PoseTables, Scratch
from donkeysim.render.variation import CarVariation, VariedCameras, make_variation, vary_cameras
from donkeysim.render.warp import open_warp
from donkeysim.world.randomization import RandomizationSpec
from donkeysim.world.specs import BodySpec, CameraSpec
from donkeysim.world.state import Layout, State, make_state

FAR = 800.0 / 8.0
"""Far plane of car cameras [m], the original's."""

VIEW_FAR = 4000.0
"""Far plane of free cameras [m], so that a map may be drawn from high above."""

QUALITY_CODES = {"default": 0, "fast": SHARP, "smooth": SMOOTH}
"""What the kernels get, by name, one of `QUALITIES`."""

WORN = ("car_mesh", "car_sphere", "car_paint", "car_shadow")
"""The tables that are written when a car is dressed; in all others only rows are added."""

MOST_PALE = 96 * 72
"""Grey pictures of at most this size are drawn in one channel [pixel]."""

FOG_FREE_HEIGHT = 3.0
"""Free cameras higher than this look through thinner fog, in proportion [m]: a map is not drawn through haze."""


class Capture(NamedTuple):
    """What a group's cameras see at one moment. Nothing in it changes any more; see `Renderer.capture`."""

    group: CameraGroup
    moment: Moment
    variation: CarVariation | None


class Renderer:
    """Renders the cameras of all cars of all worlds, and free cameras.

    Attributes:
        variation: What differs from car to car; None: nothing.

    Raises:
        ShapeError: A scene's meshes, materials or textures do not belong together.
    """

    def __init__(self, layout: Layout, workers: Workers) -> None:
        *_, self.world_count, self.cars_per_world, self.props_per_world = layout
        self._looks = Looks(layout)
        self._workers, self._device = workers, Cpu(workers)
        self.variation: CarVariation | None = None
        self._room = ScratchRoom()
        self._render_cameras, self._place_cameras = repeat(render_cameras), repeat(place_cameras)
        self._poses = PoseReader()

    @property
    def tables(self) -> PictureTables:
        """How everything looks now; another value once a name plate has been added."""
        return self._looks.tables

    def open_variation(self, spec: RandomizationSpec) -> CarVariation:
        """Let pictures differ from car to car and return the rows that say how; call it before any group is made."""
        world, tables = np.arange(self.world_count * self.cars_per_world) // self.cars_per_world, self._looks.tables
        self.variation = make_variation(spec, tables.light[tables.world_scene[world]])
        return self.variation

    @property
    def scene_lights(self) -> tuple[IntArray, Float32Array]:
        """Scene of each world, and the light of each scene; see `PictureTables`."""
        return self._looks.tables.world_scene, self._looks.tables.light

    def vary_group(self, group: CameraGroup) -> None:
        """Make a group's cameras as their cars' values say; drawing them does so too."""
        if group.varied is not None and self.variation is not None:
            group.varied.update(self._device, self.variation, group.cameras)

    def set_body(self, car: int, body: BodySpec) -> None:
        """Dress a car: style, paint and name plate."""
        self.set_bodies((car,), body)

    def set_bodies(self, cars: Sequence[int], body: BodySpec) -> None:
        """Dress cars alike; takes a fraction of a millisecond where their name plate is prepared.

        Raises:
            ShapeError: A scene of theirs has no such body.
        """
        self._looks.set_bodies(cars, body)

    def prepare_body(self, body: BodySpec) -> None:
        """Draw a body's name plate, which takes milliseconds, for a later `set_body`; may be called on any thread."""
        if body.name:
            prepare_plate(body.name, body.font_size)
            self._looks.reserve()

    def make_group(
        self, cars: Sequence[int], cameras: Sequence[CameraSpec], second: Sequence[bool] = (), one_channel: bool = False
    ) -> CameraGroup:
        """Return a group of one camera per entry of `cars`.

        Args:
            cameras: One per car, all of one kind (`find_kind`).
            second: Which of them are second cameras of their cars, whose noise is their own; none given: none.
            one_channel: Their pictures shall have one channel, as all are grey; small ones are drawn in one, too. Not
                where pictures differ from car to car: they have three.

        Raises:
            ShapeError: The cameras differ in kind, or there is not one per car.
        """
        require_one_kind(cars, cameras)
        owners = np.array(cars, np.int32)
        mount = mount_cameras(cameras)
        varied = None if self.variation is None else vary_cameras(cameras, second)
        is_single = one_channel and varied is None
        return self._allocate_group(owners, owners // self.cars_per_world, mount, cameras, FAR, varied, is_single)

    def render_group(self, group: CameraGroup, state: State) -> Frame:
        """Render the group's cameras; the pictures stay valid until the group is rendered again."""
        self._place(group, state)
        self._render(group, state)
        return group.frame

    def capture(self, group: CameraGroup, state: State) -> Capture:
        """Keep what the group's cameras see now; until that is drawn the group must not be rendered or captured."""
        self._place(group, state)
        varied = self.variation
        if varied is not None:
            rows = varied.rows._replace(quality=varied.rows.quality.copy())
            varied = replace(varied, rows=rows, number=varied.number.copy(), turn=varied.turn.copy())
        return Capture(group, self.keep(state), varied)

    def keep(self, state: State) -> Moment:
        """Keep how everything looks and where it is now."""
        tables = self._looks.tables
        worn = {name: getattr(tables, name).copy() for name in WORN}
        return Moment(tables._replace(**worn), PoseTables._make(array.copy() for array in self._poses.read(state)))

    def draw(self, capture: Capture, room: ScratchRoom) -> Frame:
        """Draw what was captured, on any thread; each has a room of its own."""
        group, variation = capture.group, capture.variation
        self._draw_moment(group, capture.moment, room)
        if group.varied is not None and variation is not None:
            group.varied.finish(Workers(1), variation, group.frame.car, group.frame.colour)
        return group.frame

    def list_arguments(self, group: CameraGroup, moment: Moment, room: ScratchRoom, worker: int = 0) -> tuple[Any, ...]:
        """Return what `render_cameras` takes behind its rows, to draw a group's cameras at a moment."""
        scratch = self._find_scratch(room, worker, group)
        return (*moment, group.cameras, scratch, group.sizes, group.options, *group.pictures)

    def _draw_moment(self, group: CameraGroup, moment: Moment, room: ScratchRoom) -> ByteArray:
        render_cameras(np.zeros(1, np.int64), len(group.cameras.car), *self.list_arguments(group, moment, room))
        first: ByteArray = group.frame.colour[0]
        return first

    def render_view(
        self,
        state: State,
        world: int,
        position: Sequence[float],
        rotation: Sequence[float],
        camera: CameraSpec,
        car: int = -1,
    ) -> ByteArray:
        """Return the picture of a free camera, shape [row_count, width, 3].

        Args:
            position: Of the optical centre, world frame [m].
            rotation: Roll, pitch (+ = down), yaw in the world frame [rad].
            camera: Size, rows, field of view, fisheye, grey, quality and supersampling; its own pose is not used.
            car: Whose view it is: its own name plate is left out; -1: nobody's.
        """
        group = self._aim_view(world, position, rotation, camera, car)
        self._render(group, state)
        picture: ByteArray = group.frame.colour[0]
        return picture

    def draw_view(
        self,
        moment: Moment,
        world: int,
        view: tuple[Vector, Vector],
        camera: CameraSpec,
        room: ScratchRoom,
        car: int = -1,
    ) -> ByteArray:
        """Return what `render_view` does, of what was kept, on any thread; `view`: its position and rotation."""
        return self._draw_moment(self._aim_view(world, *view, camera, car), moment, room)

    def measure_view(
        self, moment: Moment, world: int, view: tuple[Vector, Vector], camera: CameraSpec, room: ScratchRoom
    ) -> Float32Array:
        """Return how far what `draw_view` shows is along the optical axis [m], infinite for the sky; with `depth`."""
        group = self._aim_view(world, *view, camera)
        self._draw_moment(group, moment, room)
        assert group.frame.depth is not None, "the camera measures it"
        distance: Float32Array = group.frame.depth[0]
        return distance

    def draw_seat(self, moment: Moment, car: int, camera: CameraSpec, room: ScratchRoom) -> ByteArray:
        """Return what a camera on a car would have seen at a moment that was kept, on any thread; as `draw_view`."""
        group, poses = self.make_group([car], [camera]), moment.poses
        rows = group.cameras
        place_cameras(0, 1, poses.position, poses.orientation, rows.car, rows.mount, rows.eye, rows.axes)
        return self._draw_moment(group, moment, room)

    def _aim_view(
        self, world: int, position: Sequence[float], rotation: Sequence[float], camera: CameraSpec, car: int = -1
    ) -> CameraGroup:
        """Return a group of one free camera, a car's (see `render_view`) or nobody's."""
        matrix = make_rotation(rotation).reshape(3, 3)
        mount = np.append(np.asarray(position, float), matrix)[None]
        group = self._allocate_group(np.array([car], np.int32), np.array([world], np.int32), mount, [camera], VIEW_FAR)
        group.cameras.eye[0] = position
        group.cameras.axes[0] = np.concatenate([-matrix[:, 1], -matrix[:, 2], matrix[:, 0]])
        group.cameras.lens[0, LENS.fog] = FOG_FREE_HEIGHT / max(float(position[2]), FOG_FREE_HEIGHT)
        return group

    def count_rendered(self, group: CameraGroup, state: State) -> tuple[float, float]:
        """Render a group camera by camera and return means per picture: triangles rasterised, pixels textured."""
        triangles, textured = 0, 0
        looks, width = self._looks.tables, group.size[0]
        first, end = (group.factor * row for row in group.band)
        for row in range(len(group.frame.car)):
            self.render_group(group.select(row), state)
            scratch = self._find_scratch(self._room, 0, group)
            stride = round_up(width * group.factor) + LANES
            seen = scratch.ident[stride * first : stride * end].reshape(-1, stride)[:, : width * group.factor]
            texture = looks.material_texture[looks.triangle_material[scratch.record_int[seen, INTEGER.triangle]]]
            triangles += int(scratch.drawn[0])
            textured += int((looks.size_log[texture, SIZE_LOG.last] > 0).sum()) // group.factor**2
        return triangles / len(group.frame.car), textured / len(group.frame.car)

    def list_compile_stages(self) -> list[tuple[str, Callable[[], None]]]:
        """Return what a first picture compiles, as (what, how)."""
        return [("camera", self._compile_camera)]

    def _compile_camera(self) -> None:
        state = make_state(self.world_count, self.cars_per_world, self.props_per_world)
        self.render_group(self.make_group([0], [CameraSpec(width=16, height=16)]), state)

    def _place(self, group: CameraGroup, state: State) -> None:
        """Put the group's cameras where their cars are."""
        cameras = group.cameras
        self.vary_group(group)
        rows = (cameras.car, cameras.mount, cameras.eye, cameras.axes)
        self._place_cameras((state,), 0, len(cameras.car), state.position, state.orientation, *rows)

    def _render(self, group: CameraGroup, state: State) -> None:
        tables, frame = self._looks.tables, group.frame
        poses = self._poses.read(state)

        def task(worker: int, next_row: LongArray) -> None:
            arguments = self.list_arguments(group, Moment(tables, poses), self._room, worker)
            self._render_cameras((state, tables), next_row, len(frame.car), *arguments)

        self._workers.run(task, len(group.cameras.car))
        if group.varied is not None and self.variation is not None:
            group.varied.finish(self._workers, self.variation, frame.car, frame.colour)

    def _find_scratch(self, room: ScratchRoom, worker: int, group: CameraGroup) -> Scratch:
        return room.find(worker, group.shape, self._looks.record_limit, self._looks.draw_limit)

    def _allocate_group(
        self,
        owners: IntArray,
        worlds: IntArray,
        mount: FloatArray,
        cameras: Sequence[CameraSpec],
        far: float,
        varied: VariedCameras | None = None,
        is_single: bool = False,
    ) -> CameraGroup:
        count, first = len(owners), cameras[0]
        shape, band = (count, first.row_count, first.width), (first.crop_top, first.crop_top + first.row_count)
        light = self._looks.tables.light[self._looks.tables.world_scene[worlds]]
        class_count = 0 if varied is None or self.variation is None else self.variation.rows.look.shape[1]
        rows = make_camera_tables(owners, worlds, (mount, far), cameras, light, class_count)
        if is_single and first.width * first.height <= MOST_PALE and find_kind(first)[4:6] == ("default", 1):
            rows.lens[:, LENS.grey] = GREY_PALE
            self._looks.make_quads()
        frame = Frame(
            car=owners,
            # Not cleared: with a large one that takes longer than a beat may.
            colour=np.empty((*shape, 1 if is_single else 3), np.uint8),
            depth=np.zeros(shape, np.float32) if first.depth else None,
            segment=np.zeros(shape, np.uint8) if first.segment else None,
        )
        size, factor, is_varied = (first.width, first.height), first.supersample, bool(rows.look.shape[1])
        warp = open_warp(first)
        stride = round_up(warp.size[0] * factor) + LANES
        sizes = (*size, *band, factor, stride, self.cars_per_world, self.props_per_world, *warp.size, *warp.band)
        options = (QUALITY_CODES[first.quality], first.depth, first.segment, True, is_varied)
        shape = (warp.size[0] * factor, warp.size[1] * factor, is_varied)
        return CameraGroup(frame, rows, warp.size, warp.band, factor, shape, sizes, options, varied)
