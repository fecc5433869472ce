"""The simulator: owns `State`, knows the order of a step, and is all that servers, environments and apps need.

A little over 400 lines, as everything that may be asked of it is described here; what it takes to do so is elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from donkeysim.core.errors import CapacityError, SpecError
from donkeysim.core.frames import Quaternion, Vector
from donkeysim.core.types import PHYSICS_RATE, ByteArray, Float32Array, FloatArray, IntArray, LongArray
from donkeysim.core.workers import Workers
from donkeysim.physics.engine import PhysicsEngine
from donkeysim.render.camera import CameraGroup, Renderer
from donkeysim.render.lidar import LidarScanner
from donkeysim.sim.camera_groups import CameraGroups, group_cameras
from donkeysim.sim.compile_crew import CompileCrew, CompileReport, compile_stages, is_compiled
from donkeysim.sim.observe import observe_lidar, observe_telemetry
from donkeysim.sim.places import load_places, make_world_key
from donkeysim.sim.randomizer import make_randomizer
from donkeysim.sim.relocation import give_slot, place_spec, relocate
from donkeysim.sim.snapshot import Snapshot, copy_moment, write_moment
from donkeysim.world.scene import Scene
from donkeysim.world.specs import BodySpec, CameraSpec, LidarSpec, SceneSpec, WorldSpec, load_car
from donkeysim.world.state import HIT_NONE, make_control, make_state
from donkeysim.world.telemetry import LidarPoint, Telemetry

RESET_BRAKE = 10.0
"""Brake request that a reset leaves until the next command, as the original does."""

STEPS_PER_FRAME = PHYSICS_RATE // 20
"""Physics steps between two telemetries at the original's 20 Hz."""

FIRST_STAGES = ("vehicles and contacts", "camera")
"""What the first telemetry needs; the lidar is compiled behind, or when the first one scans."""

_GROUPING_LIMIT = 64
"""How many choices of cars keep their camera groups."""


class Simulator:
    """Cars in worlds, stepped by 1/480 s, with their cameras and lidars.

    Attributes:
        spec: What was asked for.
        scenes: The places of `spec.scenes`.
        scene: The first of them, where all worlds are when there is one.
        world_scene: Index into `scenes` of each world, shape [world_count].
        world_key: Of each world's random numbers, see `core.rng`, shape [world_count]; `seed_world` sets it.
        car_spec: The cars' physics.
        state: All that changes; read it, change it through the methods.
        control: What the cars are asked to do; write rows of it.
        car_count: Slots for cars, `world_count * cars_per_world`.
    """

    def __init__(self, spec: WorldSpec, *, worker_count: int = 1, scene: Scene | None = None) -> None:
        self.spec = spec
        self.scenes = load_places(spec) if scene is None else (scene,)
        self.scene = self.scenes[0]
        self.world_scene: IntArray = (np.arange(spec.world_count) % len(self.scenes)).astype(np.int32)
        self.world_key: LongArray = np.array([make_world_key(spec.seed, world) for world in range(spec.world_count)])
        self.car_spec = load_car(spec.car)
        self.car_count = spec.world_count * spec.cars_per_world
        props_per_world = max(len(place.props.mass) for place in self.scenes)
        self.state = make_state(spec.world_count, spec.cars_per_world, props_per_world)
        self.control = make_control(self.car_count)
        self.workers = Workers(worker_count)
        layout = (self.scenes, self.world_scene, self.car_spec, spec.world_count, spec.cars_per_world, props_per_world)
        self.physics = PhysicsEngine(*layout, self.workers)
        self.renderer = Renderer(*layout, self.workers)
        self._lidar = LidarScanner(*layout)
        self._lidar_spec: dict[int, LidarSpec] = {}
        self._camera_spec: dict[tuple[int, bool], CameraSpec] = {}
        self._cameras: dict[tuple[int, ...], CameraGroups] = {}
        self._drawn = CameraGroups()
        self._body: dict[int, BodySpec] = {}
        self._names: dict[int, str] = {}
        self._frame_count: LongArray = np.zeros(self.car_count, np.int64)
        self._randomizer = make_randomizer(spec.randomization, self.physics, self.renderer, props_per_world)
        for world in range(spec.world_count):
            self.physics.place_props(self.state, world)

    @property
    def must_compile(self) -> bool:
        """Whether a kernel that driving with a camera needs is not in the cache yet."""
        return not all(map(is_compiled, FIRST_STAGES))

    def compile(self, report: CompileReport | None = None, crew: CompileCrew | None = None) -> None:
        """Compile (or load from the cache) every kernel that driving with a camera needs, telling how far it is.

        Args:
            report: Told before each stage and at the end.
            crew: Processes that already compile; None: start them here where something is missing.
        """
        compile_stages([stage for stage in self.list_compile_stages() if stage[0] in FIRST_STAGES], report, crew)

    def list_compile_stages(self) -> list[tuple[str, Callable[[], None]]]:
        """Return all there is to compile: a name and a function that compiles it or loads it from the cache."""
        return [
            *self.physics.list_compile_stages(),
            *self.renderer.list_compile_stages(),
            *self._lidar.list_compile_stages(),
        ]

    # -- cars ---------------------------------------------------------------------------------------------------------

    def add_car(self, world: int = 0, body: BodySpec | None = None) -> int:
        """Put a car on the first free place of the start grid and return its row.

        Raises:
            CapacityError: Every slot of the world is taken, or the grid has no free place.
        """
        first = world * self.spec.cars_per_world
        rows = range(first, first + self.spec.cars_per_world)
        free = next((row for row in rows if not self.state.present[row]), None)
        if free is None:
            raise CapacityError(
                f"all {self.spec.cars_per_world} places for cars are taken; wait until a car leaves or allow more cars."
            )
        give_slot(self.state, free, self.get_scene(free), [row for row in rows if self.state.present[row]])
        self.state.present[free] = 1
        self.state.reset_count[free] = 0
        self._frame_count[free] = 0
        self._camera_spec[free, False] = self.car_spec.camera
        self.configure_car(free, body or BodySpec())
        self._put_at_spawn(free)
        self.control.brake[free] = 0.0
        self._cameras.clear()
        return free

    def remove_car(self, car: int) -> None:
        """Take a car out of its world and free its slot."""
        self.state.present[car] = 0
        for second in (False, True):
            self._camera_spec.pop((car, second), None)
        self._cameras.clear()
        self._lidar_spec.pop(car, None)
        self._body.pop(car, None)
        self._names.pop(car, None)

    def list_cars(self) -> list[int]:
        """Return the rows that hold a car."""
        rows: list[int] = np.flatnonzero(self.state.present).tolist()
        return rows

    def configure_car(self, car: int, body: BodySpec) -> None:
        """Dress a car."""
        self._require_car(car)
        self._body[car] = body
        self._names[car] = body.name or f"car{car % self.spec.cars_per_world}"
        self.renderer.set_body(car, body)

    def get_scene(self, car: int) -> Scene:
        """Return the place a car's world is on."""
        scene: Scene = self.scenes[self.world_scene[car // self.spec.cars_per_world]]
        return scene

    def get_body(self, car: int) -> BodySpec:
        """Return how a car is dressed."""
        return self._body[car]

    def configure_camera(self, car: int, camera: CameraSpec | None, second: bool = False) -> None:
        """Set a car's camera, or its second one; None switches it off."""
        self._require_car(car)
        if camera is None:
            self._camera_spec.pop((car, second), None)
        else:
            self._camera_spec[car, second] = camera
        self._cameras.clear()

    def get_camera(self, car: int, second: bool = False) -> CameraSpec | None:
        """Return a car's camera, None when it is off."""
        return self._camera_spec.get((car, second))

    def configure_lidar(self, car: int, lidar: LidarSpec | None) -> None:
        """Set a car's lidar; None switches it off."""
        self._require_car(car)
        if lidar is None:
            self._lidar_spec.pop(car, None)
        else:
            self._lidar_spec[car] = lidar

    def get_lidar(self, car: int) -> LidarSpec | None:
        """Return a car's lidar, None when it is off."""
        return self._lidar_spec.get(car)

    def reset_car(self, car: int) -> None:
        """Put a car back at its spawn pose, at rest, wheels straight, brake held until the next command."""
        self._require_car(car)
        self._put_at_spawn(car)
        self.state.reset_count[car] += 1

    def move_car(self, car: int, position: Vector, orientation: Quaternion | None = None) -> None:
        """Put a car somewhere else [m, world frame]; it keeps its velocity. No orientation: facing along +x."""
        self._require_car(car)
        self._put(car, position, orientation or (1.0, 0.0, 0.0, 0.0), at_rest=False)

    def place_car(self, car: int, position: Vector, orientation: Quaternion) -> None:
        """Put a car somewhere [m, world frame], at rest, wheels straight; laps and hits stay."""
        self._require_car(car)
        self._put(car, position, orientation, at_rest=True)

    def set_spawn(self, car: int, position: Vector, orientation: Quaternion) -> None:
        """Say where a reset puts a car [m, world frame] and how it turns it."""
        self._require_car(car)
        self.state.spawn_position[car] = position
        self.state.spawn_orientation[car] = orientation

    def retire_car(self, car: int) -> None:
        """Take a car off the road, out of sight; it keeps its looks and sensors, and a restore brings it back."""
        self._require_car(car)
        self.state.present[car] = 0

    # -- the place ----------------------------------------------------------------------------------------------------

    def prepare_scene(self, scene: SceneSpec) -> Simulator:
        """Return a simulator without cars for `change_scene`: takes a second, and may be called on another thread."""
        return Simulator(place_spec(self.spec, scene), worker_count=self.workers.worker_count)

    def change_scene(self, scene: SceneSpec, prepared: Simulator | None = None) -> None:
        """Go on in another place, or on another road: all cars on its grid as after a reset; the clock runs on.

        They keep looks and sensors. Places set by `set_spawn` are forgotten; snapshots are of the old place.

        Args:
            scene: Which place.
            prepared: What `prepare_scene` made of it; None: it is made now.

        Raises:
            SceneError: There is no such scene, or its road is not a generated one.
            SpecError: Our worlds are on several places.
            CapacityError: Its grid is too small.
        """
        relocate(self, prepared or self.prepare_scene(scene))
        self._cameras.clear()

    # -- time ---------------------------------------------------------------------------------------------------------

    def step(self, step_count: int = STEPS_PER_FRAME) -> None:
        """Advance every world by `step_count` physics steps of 1/480 s."""
        if self._randomizer is None:
            self.physics.step(self.state, self.control, step_count)
        else:
            self._randomizer.step(self.state, self.control, self.world_key, step_count)

    def clear_hits(self, cars: Sequence[int] | None = None) -> None:
        """Forget what these cars (default: all cars) touched; call it after their telemetry was made."""
        self.state.hit[slice(None) if cars is None else list(cars)] = HIT_NONE

    # -- sensors ------------------------------------------------------------------------------------------------------

    def render(self, cars: Sequence[int] | None = None) -> None:
        """Draw all cameras of these cars (default: all cars)."""
        key = tuple(self.list_cars() if cars is None else cars)
        drawn = self._cameras.get(key)
        if drawn is None:
            if len(self._cameras) >= _GROUPING_LIMIT:
                self._cameras.clear()
            drawn = self._cameras[key] = group_cameras(self.renderer, key, self._camera_spec)
        for group in drawn.groups:
            self.render_group(group)
        self._drawn = drawn

    def render_group(self, group: CameraGroup) -> None:
        """Draw cameras of a group of our renderer into its own buffers, varied and late as each car's values say."""
        if self._randomizer is None:
            self.renderer.render_group(group, self.state)
        else:
            self._randomizer.render_group(group, self.state, self.world_key)

    def get_picture(self, car: int, second: bool = False) -> ByteArray:
        """Return the picture of the last `render`, shape [height, width, 3], valid until the next one."""
        return self._drawn.get_picture(car, second)

    def get_depth(self, car: int, second: bool = False) -> Float32Array:
        """Return the distances of the last `render`, along the optical axis [m], infinite for the sky.

        Shape [height, width], valid until the next one.

        Raises:
            SpecError: The camera does not measure them.
        """
        return self._drawn.get_depth(car, second)

    def get_segments(self, car: int, second: bool = False) -> ByteArray:
        """Return the classes of the last `render`, CLASS_* of `world.scene`, shape as `get_depth`.

        Raises:
            SpecError: The camera does not tell them.
        """
        return self._drawn.get_segments(car, second)

    def count_drawn(self) -> tuple[float, float]:
        """Return means per picture of the last `render`: triangles rasterised, pixels coloured from a texture."""
        return self._drawn.count_drawn(self.renderer, self.state)

    def view(self, world: int, position: Vector, rotation: Vector, camera: CameraSpec) -> ByteArray:
        """Return what a free camera sees.

        Args:
            world: Which world.
            position: Of the optical centre [m, world frame].
            rotation: (roll, pitch, yaw) [rad], pitch positive down.
            camera: Size and field of view; its own position and rotation are not used.
        """
        return self.renderer.render_view(self.state, world, position, rotation, camera)

    def scan_lidar(self, car: int) -> list[LidarPoint] | None:
        """Return a scan of the car's lidar as the original lists it, None when it is off."""
        lidar = self._lidar_spec.get(car)
        if lidar is None:
            return None
        return observe_lidar(self.scan_distances(car), lidar.sweep_increment, lidar.angle_delta)

    def scan_distances(self, car: int) -> FloatArray:
        """Return a scan of the car's lidar, which must be on: rows of distance [m], ray and level, shape [n, 3]."""
        return self._lidar.scan(self.state, car, self._lidar_spec[car], self._world_key(car))

    def observe_telemetry(self, car: int) -> Telemetry:
        """Return the car's readings; each call counts as one frame of that car."""
        self._require_car(car)
        frame = int(self._frame_count[car])
        self._frame_count[car] = frame + 1
        return observe_telemetry(
            self.state,
            self.control,
            self.get_scene(car),
            car,
            car_names=self._names,
            cars_per_world=self.spec.cars_per_world,
            frame=frame,
            imu=self.car_spec.imu,
            key=self._world_key(car),
        )

    # -- moments ------------------------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Return a copy of all that changes: poses, speeds, controls, hits, laps, clocks and random numbers.

        How cars look and what sensors they carry is not in it.
        """
        return copy_moment(self._hold_moment())

    def restore(self, snapshot: Snapshot, worlds: Sequence[int] | None = None) -> None:
        """Go back to a snapshot of this simulator, or of one with the same `WorldSpec`.

        Args:
            snapshot: Where to.
            worlds: Only these; the others go on as they are.

        Raises:
            ShapeError: The snapshot is of a simulator with other numbers of worlds, cars or props.
            SpecError: It was taken in another place, or on another road.
        """
        write_moment(snapshot, self._hold_moment(), worlds)

    def seed_world(self, world: int, seed: int) -> None:
        """Draw a world's random numbers from a seed of its own, whichever row of the batch it is."""
        self.world_key[world] = make_world_key(seed, 0)

    def close(self) -> None:
        """Stop the worker threads."""
        self.workers.close()

    def get_drawn(self, car: int) -> dict[str, float]:
        """Return what was drawn for a car at its last reset, by name, see `world.randomization`; empty: nothing."""
        self._require_car(car)
        return {} if self._randomizer is None else self._randomizer.describe(car, self.state, self.world_key)

    def list_drawn(self) -> dict[str, FloatArray]:
        """Return what `get_drawn` does of all cars, arrays of shape [car_count]."""
        return {} if self._randomizer is None else self._randomizer.describe_all(self.state, self.world_key)

    def has_drawn_params(self) -> bool:
        """Return whether all parameters of the cars are those that were drawn, and nobody else's."""
        return self._randomizer is not None and self._randomizer.has_own_params()

    # -- inside -------------------------------------------------------------------------------------------------------

    def _require_car(self, car: int) -> None:
        if not 0 <= car < self.car_count or not self.state.present[car]:
            raise SpecError(f"there is no car {car}; cars now: {self.list_cars()}.")

    def _put(self, car: int, position: Vector, orientation: Quaternion, at_rest: bool) -> None:
        self.physics.place_car(self.state, car, position, orientation, at_rest)
        if self._randomizer is not None:
            self._randomizer.forget(car, self.state, self.control)

    def _put_at_spawn(self, car: int) -> None:
        state = self.state
        position, orientation = state.spawn_position[car], state.spawn_orientation[car]
        self.control.steer[car] = self.control.throttle[car] = 0.0
        self.control.brake[car] = RESET_BRAKE
        self._put(car, tuple(position.tolist()), tuple(orientation.tolist()), at_rest=True)
        state.hit[car] = HIT_NONE
        state.lap[car] = 0
        state.crossing_step[car] = -1
        state.crossing_nodes[car] = 0

    def _hold_moment(self) -> Snapshot:
        """Return our own arrays as a snapshot."""
        under_way = {} if self._randomizer is None else self._randomizer.list_arrays()
        return Snapshot(self.state, self.control, self.world_key, self._frame_count, under_way, self.spec.scenes)

    def _world_key(self, car: int) -> int:
        return int(self.world_key[car // self.spec.cars_per_world])
