"""The simulator: owns `Place`, `State` and ledger, and is all that servers, environments and apps need.

Commands go in (`apply`), time passes (`step`), the ledger and its events come out; pictures and scans are made when
somebody asks.
"""

import zlib
from array import array
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from donkeysim.core.device import is_here
from donkeysim.core.frames import Vector
from donkeysim.core.types import PHYSICS_RATE, ByteArray, Float32Array, FloatArray
from donkeysim.render.camera_group import CameraGroup
from donkeysim.render.moment import Moment
from donkeysim.sim.cars import Cars
from donkeysim.sim.compile_processes import CompileProcesses, CompileReport, compile_stages, is_compiled
from donkeysim.sim.equipment import CarCapture, LidarCapture
from donkeysim.sim.observe import name_hit, observe_lidar, observe_telemetry
from donkeysim.sim.place import make_world_keys
from donkeysim.sim.snapshot import Snapshot, copy_snapshot, make_snapshot
from donkeysim.world.ledger import Event
from donkeysim.world.scene import Scene
from donkeysim.world.specs import BodySpec, CameraSpec, LidarSpec
from donkeysim.world.state import State, hold_car
from donkeysim.world.telemetry import LidarPoint, Telemetry

STEPS_PER_FRAME = PHYSICS_RATE // 20
"""Physics steps between two telemetries at the original's 20 Hz."""

FIRST_STAGES = ("vehicles and contacts", "camera")
"""What the first telemetry needs; the lidar is compiled behind, or when the first one scans."""


class Simulator(Cars):
    """Cars in worlds, stepped by 1/480 s, with their cameras and lidars; see `Cars` for what it holds."""

    # -- compiling ----------------------------------------------------------------------------------------------------

    @property
    def must_compile(self) -> bool:
        """Whether a kernel that driving with a camera needs is not in the cache yet."""
        return not all(map(is_compiled, FIRST_STAGES))

    def compile(self, report: CompileReport | None = None, processes: CompileProcesses | None = None) -> None:
        """Compile (or load from the cache) every kernel that driving with a camera needs, telling how far it is.

        Args:
            report: Called before each stage and at the end.
            processes: Processes that already compile; None: start them here where something is missing.
        """
        compile_stages([stage for stage in self.list_compile_stages() if stage[0] in FIRST_STAGES], report, processes)

    def list_compile_stages(self) -> list[tuple[str, Callable[[], None]]]:
        """Return all there is to compile: a name and a function that compiles it or loads it from the cache."""
        return [
            *self.physics.list_compile_stages(),
            *self.renderer.list_compile_stages(),
            *self.place.lidar.list_compile_stages(),
        ]

    # -- time ---------------------------------------------------------------------------------------------------------

    def step(self, step_count: int = STEPS_PER_FRAME) -> None:
        """Let a frame pass: `step_count` physics steps of 1/480 s in every world, and the ledger is written."""
        place = self.place
        if place.randomizer is None or not is_here(self.device):
            place.physics.step(self.state, self.control, step_count)
        else:
            place.randomizer.step(self.state, self.control, self.world_key, step_count)
        if self.log is not None:
            self.log.note_step(step_count)

    def list_events(self) -> list[Event]:
        """Return what happened in the last `step`, world by world."""
        return self._keeper.list_events()

    def sum_up(self, unknown: Sequence[str] = ()) -> int:
        """Return a checksum of all bytes of the state, but of these arrays: equal sums, equal runs."""
        counted = (numbers for name, numbers in self.state._asdict().items() if name not in unknown)
        return zlib.crc32(array("I", [zlib.crc32(numbers.data) for numbers in counted]))

    def close(self) -> None:
        """Give the device's threads and memory back, and end the log."""
        self.device.close()
        if self.log is not None:
            self.log.close()

    # -- sensors ------------------------------------------------------------------------------------------------------

    def render(self, cars: Sequence[int] | None = None) -> None:
        """Draw all cameras of these cars (default: all cars)."""
        self._equipment.render(self.renderer, self.render_group, self.list_cars() if cars is None else cars)

    def render_group(self, group: CameraGroup) -> None:
        """Draw cameras of a group of our renderer into its own buffers, varied and late as each car's values say."""
        for part, seen in self._look_through(group):
            self.renderer.render_group(part, seen)

    def _look_through(self, group: CameraGroup) -> Iterable[tuple[CameraGroup, State]]:
        """Return parts of a group and the state that each of them sees."""
        if self.place.randomizer is None:
            return ((group, self.state),)
        return self.place.randomizer.look_through(group, self.state, self.world_key)

    def get_scene(self, car: int) -> Scene:
        """Return the place a car's world is on."""
        return self.place.get_scene(car)

    def get_body(self, car: int) -> BodySpec:
        """Return how a car is dressed."""
        return self._equipment.get_body(car)

    def get_camera(self, car: int, second: bool = False) -> CameraSpec | None:
        """Return a car's camera, None when it is off."""
        return self._equipment.camera.get((car, second))

    def get_lidar(self, car: int) -> LidarSpec | None:
        """Return a car's lidar, None when it is off."""
        return self._equipment.lidar.get(car)

    def list_sensors(self, car: int) -> tuple[CameraSpec | None, CameraSpec | None, LidarSpec | None]:
        """Return a car's first and second camera and its lidar, None for those that are off."""
        camera = self._equipment.camera
        return camera.get((car, False)), camera.get((car, True)), self._equipment.lidar.get(car)

    def capture(self, car: int) -> CarCapture:
        """Keep what a car's cameras and lidar see now, to be worked out later, on any thread, while time moves on.

        One capture of a car must be drawn before the next is made, unless its cameras have been changed.
        """
        groups = self._equipment.find_own_groups(self.renderer, car)
        parts = [
            self.renderer.capture(part, seen) for group in groups.groups for part, seen in self._look_through(group)
        ]
        lidar = self.get_lidar(car)
        scan = None
        if lidar is not None:
            state = State._make(array.copy() for array in self.state)
            scan = LidarCapture(self.place.lidar.share(), state, car, lidar, self._world_key(car))
        return CarCapture(car, self.renderer, groups, parts, scan)

    def get_picture(self, car: int, second: bool = False) -> ByteArray:
        """Return the picture of the last `render`, shape [height, width, 3], valid until the next one."""
        return self._equipment.drawn.get_picture(car, second)

    def get_depth(self, car: int, second: bool = False) -> Float32Array:
        """Return the distances of the last `render`, along the optical axis [m], infinite for the sky.

        Shape [height, width], valid until the next one.

        Raises:
            SpecError: The camera does not measure them.
        """
        return self._equipment.drawn.get_depth(car, second)

    def get_segments(self, car: int, second: bool = False) -> ByteArray:
        """Return the classes of the last `render`, CLASS_* of `world.scene`, shape as `get_depth`.

        Raises:
            SpecError: The camera does not give them.
        """
        return self._equipment.drawn.get_segments(car, second)

    def count_rendered(self) -> tuple[float, float]:
        """Return means per picture of the last `render`: triangles rasterised, pixels coloured from a texture."""
        return self._equipment.drawn.count_rendered(self.renderer, self.state)

    def view(self, world: int, position: Vector, rotation: Vector, camera: CameraSpec, car: int = -1) -> ByteArray:
        """Return what a free camera sees.

        Args:
            position: Of the optical centre [m, world frame].
            rotation: (roll, pitch, yaw) [rad], pitch positive down.
            camera: Size and field of view; its own position and rotation are not used.
            car: Whose view it is: its own name plate is left out; -1: nobody's.
        """
        return self.renderer.render_view(self.state, world, position, rotation, camera, car)

    def keep_moment(self) -> Moment:
        """Keep how everything looks and where it is now, for `Renderer.draw_view` on any thread."""
        return self.renderer.keep(self.state)

    def scan_lidar(self, car: int) -> list[LidarPoint] | None:
        """Return a scan of the car's lidar as the original lists it, None when it is off."""
        lidar = self.get_lidar(car)
        if lidar is None:
            return None
        return observe_lidar(self.scan_distances(car), lidar.sweep_increment, lidar.angle_delta)

    def scan_distances(self, car: int) -> FloatArray:
        """Return a scan of the car's lidar, which must be on: rows of distance [m], ray and level, shape [n, 3]."""
        return self.place.lidar.scan(self.state, car, self._equipment.lidar[car], self._world_key(car))

    def scan_lidars(self, cars: Sequence[int], lidar: LidarSpec) -> FloatArray:
        """Return what these cars would see with a lidar, each as if it were alone.

        Returns:
            Distances [m], infinite where nothing came back, shape [len(cars), level_count, ray_count].
        """
        keys = self.world_key[np.asarray(cars, np.int64) // self.spec.cars_per_world]
        return self.place.lidar.scan_cars(self.state, cars, lidar, keys.tolist(), self.workers)

    def observe_telemetry(self, car: int, frame: int = 0) -> Telemetry:
        """Return the car's readings; `frame`: how many telemetries of it the caller has had before."""
        self._require_car(car)
        place, world = self.place, car // self.ledger.cars_per_world
        return observe_telemetry(
            self.ledger,
            place.scenes[place.world_scene[world]],
            car,
            car_names=self._equipment.name,
            frame=frame,
            imu=place.car.imu,
            key=int(self.world_key[world]),
        )

    def name_hit(self, car: int, code: int) -> str:
        """Return what a hit code of the ledger means for a car, in our own words, "none" for nothing."""
        first = car - car % self.spec.cars_per_world
        return name_hit(code, self.get_scene(car).labels, self._equipment.name, first)

    def find_prop(self, car: int, code: int) -> int | None:
        """Return which of the movable things that a hit code stands for is nearest to a car: what it hits now.

        Returns:
            Its number among them, in the order of the scene; None: what has this name does not move.
        """
        world = car // self.spec.cars_per_world
        alike = world * self.place.props_per_world + np.flatnonzero(self.get_scene(car).props.name == code)
        away = self.state.prop_position[alike, :2] - self.state.position[car, :2]
        return int(np.argmin(np.hypot(*away.T))) if len(alike) else None

    def get_props(self, car: int) -> FloatArray:
        """Return where the movable things of a car's world are, as time moves on, until it changes to another scene.

        Returns:
            Positions [m, world frame], in the order of the scene, read only, shape [prop_count, 3].
        """
        first = car // self.spec.cars_per_world * self.place.props_per_world
        here = self.state.prop_position[first : first + len(self.get_scene(car).props.mass)]
        here.flags.writeable = False
        return here

    # -- moments ------------------------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Return a copy of all that changes: poses, speeds, controls, hits, laps, clocks and random numbers.

        How cars look and what sensors they carry is not in it.
        """
        return copy_snapshot(self._hold_snapshot())

    def make_first_moment(self) -> Snapshot:
        """Return how a simulator made for this place begins: no cars, clocks at 0, all things in their places."""
        spec = self.spec
        moment = make_snapshot(hold_car(spec, self.car_spec), self.place.props_per_world)
        self.place.place_props(moment.state)
        moment.world_key[:] = make_world_keys([spec.seed] * spec.world_count, range(spec.world_count))
        return moment

    def get_randomization(self, car: int) -> dict[str, float]:
        """Return what was drawn for a car at its last reset, by name, see `world.randomization`; empty: nothing."""
        self._require_car(car)
        randomizer = self.place.randomizer
        return {} if randomizer is None else randomizer.describe(car, self.state, self.world_key)

    def _world_key(self, car: int) -> int:
        return int(self.world_key[car // self.spec.cars_per_world])
