"""The cars of a simulator: everything that changes about them, and the door through which it is changed."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from donkeysim.core.device import Cpu, Device, is_here
from donkeysim.core.errors import CapacityError, SpecError
from donkeysim.core.rotation import find_yaws
from donkeysim.core.types import IntArray, LongArray
from donkeysim.core.workers import Workers
from donkeysim.physics.engine import PhysicsEngine
from donkeysim.render.camera import Renderer
from donkeysim.sim import commands
from donkeysim.sim.equipment import Equipment, group_alike
from donkeysim.sim.ledger import LedgerKeeper
from donkeysim.sim.place import Place, make_place, make_world_keys, move_spec
from donkeysim.sim.shorthands import CommandShorthands
from donkeysim.sim.snapshot import Snapshot, write_snapshot
from donkeysim.world.scene import Scene
from donkeysim.world.specs import CarSpec, SceneSpec, WorldSpec
from donkeysim.world.state import HIT_NONE, NODE_UNKNOWN, make_control

RESET_BRAKE = 10.0
"""Brake request that a reset leaves until the next command, as the original does."""


class Cars(CommandShorthands):
    """Cars in worlds; `Simulator` lets time pass for them and looks through their sensors.

    Attributes:
        device: Where all of this is.
        state: All that changes; private to `sim`, `physics` and `render`. Read the ledger, make commands.
        control: What the cars are asked to do; private likewise, see `commands.Drive`.
        ledger: A row for each car, read only.
        rows: The same in the form that kernels take.
        world_key: Of each world's random numbers, see `core.rng`, shape [world_count]; `commands.Seed` sets it.
        car_count: Slots for cars, `world_count * cars_per_world`.
        log: Hears of all that is done; None: nobody does.
    """

    def __init__(
        self,
        spec: WorldSpec,
        *,
        worker_count: int = 1,
        scene: Scene | None = None,
        look_ahead: Sequence[float] = (),
        device: Device | None = None,
    ) -> None:
        """Build the place, quickly; nothing is compiled.

        Args:
            scene: The only scene, if it is built already.
            look_ahead: Distances for `Ledger.ahead`, rising, 0 or more [m].
            device: Where the cars are; None: threads of this machine. On a GPU there are no single cars to
                command: see `sim.batch`.

        Raises:
            SceneError: There is no such scene.
            SpecError: There is no such car.
        """
        self.device: Device = device or Cpu(Workers(worker_count))
        self.workers = self.device.workers
        self.place = make_place(spec, self.device, self.workers, scene)
        self.car_count = spec.world_count * spec.cars_per_world
        state, keys = self.place.make_state(), make_world_keys([spec.seed] * spec.world_count, range(spec.world_count))
        self.place.place_props(state)
        self.state, self.control = self.device.upload((state, make_control(self.car_count)))
        self.world_key: LongArray = self.device.upload(keys)
        self._equipment = Equipment()
        self._held: Snapshot | None = None
        self._keeper = LedgerKeeper(self.place, self.state, self.control, look_ahead)
        self.ledger, self.rows = self._keeper.ledger, self._keeper.rows
        self.log: commands.CommandLog | None = None

    # -- the place ----------------------------------------------------------------------------------------------------

    @property
    def spec(self) -> WorldSpec:
        """What is simulated."""
        return self.place.spec

    @property
    def scenes(self) -> tuple[Scene, ...]:
        """The scenes of `spec.scenes`."""
        return self.place.scenes

    @property
    def scene(self) -> Scene:
        """The first of them, where all worlds are when there is one."""
        return self.place.scenes[0]

    @property
    def world_scene(self) -> IntArray:
        """Index into `scenes` of each world, shape [world_count]."""
        return self.place.world_scene

    @property
    def car_spec(self) -> CarSpec:
        """The cars' physics."""
        return self.place.car

    @property
    def physics(self) -> PhysicsEngine:
        """What steps the cars."""
        return self.place.physics

    @property
    def renderer(self) -> Renderer:
        """What draws."""
        return self.place.renderer

    def prepare_scene(self, scene: SceneSpec) -> Place:
        """Return another place for `change_scene`: takes a second, and may be called on another thread."""
        return make_place(move_spec(self.spec, scene), self.device, self.workers)

    def change_scene(self, scene: SceneSpec, prepared: Place | None = None, keeps_cars: bool = False) -> None:
        """Continue in another place, or on another road: all cars on its grid as after a reset; the clock runs on.

        They keep looks and sensors. Places set by `set_spawn` are forgotten; snapshots are of the old place.

        Args:
            prepared: What `prepare_scene` made of it; None: it is made now.
            keeps_cars: Whether cars stay where they are, with their speeds and laps.

        Raises:
            SceneError: There is no such scene, or its road is not a generated one.
            SpecError: Our worlds are on several places, or cars shall stay on a path that is no more.
            CapacityError: Its grid is too small.
        """
        self._move_to(prepared or self.prepare_scene(scene), keeps_cars)
        self.note(commands.ChangeScene(scene, keeps_cars))

    # -- commands -----------------------------------------------------------------------------------------------------

    def listen(self, log: commands.CommandLog) -> None:
        """Tell a log of all commands and steps from now on, and of the end."""
        self.log = log

    def apply(self, command: commands.Command) -> Any:
        """Carry out a command; what it changes shows in the ledger at once.

        Returns:
            The rows of the cars that a `Join` added; None for all others.

        Raises:
            SpecError: There is no such car, or what the command says is not possible.
            CapacityError: There is no place for a car.
            ShapeError: A snapshot is of another simulator.
        """
        if not is_here(self.device):
            raise SpecError(f"the cars are on {self.device.name!r}, which takes commands to all cars: see `sim.batch`.")
        result = _ACTIONS[type(command)](self, command)
        self.note(command)
        return result

    def note(self, command: commands.Command) -> None:
        """Tell the log, if there is one, of a command that has been carried out."""
        if self.log is not None:
            self.log.note(command)

    def _drive(self, command: commands.Drive) -> None:
        rows: Any = slice(None)
        if command.rows is not None and len(command.rows) == 1:  # NumPy takes five times as long for a list of one
            rows = int(command.rows[0])
            self._require_car(rows)
        elif command.rows is not None:
            rows = self._require(command.rows)
        for array, asked in zip(self.control, (command.steer, command.throttle, command.brake), strict=True):
            if asked is not None:
                array[rows] = asked[0] if isinstance(rows, int) else asked

    def _join(self, command: commands.Join) -> list[int]:
        """Seat the cars one after the other; where one finds no place none stays."""
        state, count = self.state, self.spec.cars_per_world
        rows: list[int] = []
        spawns = (state.spawn_position.copy(), state.spawn_orientation.copy())
        try:
            for world in self._require_worlds(command.worlds):
                first = world * count
                free = np.flatnonzero(state.present[first : first + count] == 0)
                if not len(free):
                    raise CapacityError(
                        f"all {count} places for cars are taken; wait until a car leaves or allow more cars."
                    )
                row = first + int(free[0])
                others = first + np.flatnonzero(state.present[first : first + count])
                self.place.choose_slot(state, row, others.tolist())
                state.present[row] = 1
                rows.append(row)
        except CapacityError:  # whoever replays the log never sees this command: not a byte may stay
            state.present[rows] = 0
            state.spawn_position[:], state.spawn_orientation[:] = spawns
            raise
        state.reset_count[rows] = 0
        self._equipment.remove(rows)  # of who retired there, or had not joined yet at a moment that was restored
        self._equipment.set_camera(rows, self.car_spec.camera)
        bodies = command.bodies or [None]
        for body, alike in group_alike(rows, [bodies[index % len(bodies)] for index in range(len(rows))]).items():
            self._dress(commands.Dress(alike, body))
        self._put_at_spawn(np.array(rows, np.int64), NODE_UNKNOWN)
        self.control.brake[rows] = 0.0
        return rows

    def _leave(self, command: commands.Leave) -> None:
        self.state.present[self._require(command.rows)] = 0
        self._equipment.remove(command.rows)

    def _recall(self, command: commands.Recall) -> None:
        self._equipment.require_retired(command.rows, self.state.present)
        self.state.present[np.array(command.rows, np.int64)] = 1

    def _dress(self, command: commands.Dress) -> None:
        self._require(command.rows)
        self._equipment.dress(command.rows, command.body, self.spec.cars_per_world)
        self.renderer.set_bodies(command.rows, command.body)

    def _set_camera(self, command: commands.SetCamera) -> None:
        self._require(command.rows)
        self._equipment.set_camera(command.rows, command.camera, command.second)

    def _set_lidar(self, command: commands.SetLidar) -> None:
        self._require(command.rows)
        self._equipment.set_lidar(command.rows, command.lidar)

    def _reset(self, command: commands.Reset, node: int = 0) -> None:
        rows = self._require(command.rows)
        self._put_at_spawn(rows, node)
        self.state.reset_count[rows] += 1

    def _move(self, command: commands.Move) -> None:
        turns = [(1.0, 0.0, 0.0, 0.0)] if command.orientation is None else command.orientation
        self._put(self._require(command.rows), command.position, turns, at_rest=False)

    def _pose(self, command: commands.Pose) -> None:
        self._put(self._require(command.rows), command.position, command.orientation, at_rest=True)

    def _put_on_path(self, command: commands.PutOnPath) -> None:
        rows = self._require(command.rows)
        position, orientation = self.place.find_poses(rows, command.along, command.offset, command.yaw)
        self.control.brake[rows] = 0.0
        self._put(rows, position, orientation, at_rest=True)
        if command.speed is not None:
            speed, yaws = np.array(command.speed, np.float64), find_yaws(orientation)
            self.state.velocity[rows, :2] = (speed * np.array([np.cos(yaws), np.sin(yaws)])).T
            self.state.wheel_speed[rows] = speed[:, None] / self.car_spec.wheel_radius
            self._keeper.renew(rows)

    def _set_spawn(self, command: commands.SetSpawn) -> None:
        rows = self._require(command.rows)
        self.state.spawn_position[rows], self.state.spawn_orientation[rows] = command.position, command.orientation

    def _seed(self, command: commands.Seed) -> None:
        keys = make_world_keys(command.seeds, [0] * len(command.seeds))
        self.world_key[self._require_worlds(command.worlds)] = keys

    def _clear_hits(self, command: commands.ClearHits) -> None:
        rows: Any = slice(None) if command.rows is None else self._require(command.rows)
        self.state.hit[rows] = HIT_NONE

    def _restore(self, command: commands.Restore) -> None:
        worlds = None if command.worlds is None else self._require_worlds(command.worlds)
        write_snapshot(command.snapshot, self._hold_snapshot(), worlds)
        count = self.spec.cars_per_world
        rows = None if worlds is None else (np.array(worlds, np.int64)[:, None] * count + np.arange(count)).ravel()
        self._keeper.renew(rows)
        for car in self.list_cars() if rows is None else rows[self.state.present[rows] != 0].tolist():
            if car not in self._equipment.body:  # it has left since, or never joined here
                self._dress(commands.Dress([car], self._equipment.take_left(car, self.car_spec.camera)))

    def _set_params(self, command: commands.SetParams) -> None:
        packed = self.physics.car_params.packed
        given = np.frombuffer(command.packed, packed.dtype).reshape(len(packed), -1)  # of an old log: fewer columns
        packed[:, : given.shape[1]] = given

    # -- what commands do ---------------------------------------------------------------------------------------------

    def _require(self, rows: Sequence[int]) -> LongArray:
        """Return rows of cars as an array; a SpecError names the first that holds no car."""
        chosen = np.array(rows, np.int64)
        known = chosen[(chosen >= 0) & (chosen < self.car_count)]
        if len(known) < len(chosen) or not self.state.present[known].all():
            for car in chosen.tolist():
                self._require_car(car)
        return chosen

    def _require_car(self, car: int) -> None:
        if not 0 <= car < self.car_count or not self.state.present[car]:
            raise SpecError(f"there is no car {car}; cars now: {self.list_cars()}.")

    def _require_worlds(self, worlds: Sequence[int]) -> Sequence[int]:
        """Return worlds; a SpecError names the first that there is not."""
        count = self.spec.world_count
        for world in worlds:
            if not 0 <= world < count:
                raise SpecError(f"there is no world {world}; this simulator has the worlds 0 to {count - 1}.")
        return worlds

    def _put(self, rows: LongArray, position: Any, orientation: Any, at_rest: bool, node: int = NODE_UNKNOWN) -> None:
        """Put cars somewhere; what is counted from where they were put begins anew with those at rest, at `node`."""
        positions, turns = np.array(position, np.float64), np.array(orientation, np.float64)
        if at_rest:
            self._keeper.forget_way(rows)
            self.state.active_node[rows] = node
        self.physics.place_cars(self.state, rows, positions, turns, at_rest)
        if self.place.randomizer is not None:
            self.place.randomizer.forget(rows, self.state, self.control)

    def _put_at_spawn(self, rows: LongArray, node: int) -> None:
        state, control = self.state, self.control
        control.steer[rows] = control.throttle[rows] = 0.0
        control.brake[rows] = RESET_BRAKE
        for counted in (state.lap, state.lap_time, state.lap_nodes, state.checkpoint, state.lines_passed):
            counted[rows] = 0
        state.lap_begun[rows] = -1.0
        self._put(rows, state.spawn_position[rows], state.spawn_orientation[rows], at_rest=True, node=node)
        state.hit[rows] = HIT_NONE

    def _move_to(self, place: Place, keeps_cars: bool) -> None:
        """Swap the place; cars go onto its grid, unless they are kept where they are. What may fail comes first."""
        if keeps_cars and not np.array_equal(place.scenes[0].path.position, self.scene.path.position):
            raise SpecError("cars can stay where they are only on the same path; change the scene without keeps_cars.")
        cars = self.list_cars()
        place.require_room(cars)
        for body, rows in self._equipment.group_bodies().items():
            place.renderer.set_bodies(rows, body)
        if not keeps_cars:
            place.choose_slots(self.state, cars)
        if not self.has_randomized_params():  # else they are drawn anew there
            place.physics.car_params.packed[:] = self.physics.car_params.packed
        self.state.touching[:] = HIT_NONE  # codes of the old place
        self.place, self._held, self.state = place, None, place.make_room(self.state)
        self._keeper.move(place, self.state)
        self._equipment.forget_groups()
        self.place.place_props(self.state)
        if keeps_cars:
            self.state.hit[:] = HIT_NONE
            if place.randomizer is not None:
                place.randomizer.forget(np.array(cars, np.int64), self.state, self.control)
            self._keeper.renew()
        else:
            self._reset(commands.Reset(cars), NODE_UNKNOWN)

    # -- cars ---------------------------------------------------------------------------------------------------------

    def list_cars(self) -> list[int]:
        """Return the rows that hold a car."""
        rows: list[int] = np.flatnonzero(self.state.present).tolist()
        return rows

    def has_randomized_params(self) -> bool:
        """Return whether all parameters of the cars are those that were drawn, and nobody else's."""
        return self.place.randomizer is not None and self.place.randomizer.has_own_params()

    def _hold_snapshot(self) -> Snapshot:
        """Return our own arrays as a snapshot, the same one as long as we are here."""
        if self._held is None:
            under_way = {} if self.place.randomizer is None else self.place.randomizer.list_arrays()
            self._held = Snapshot(self.state, self.control, self.world_key, under_way, self.spec.scenes)
        return self._held


_ACTIONS: dict[type, Callable[[Cars, Any], Any]] = {
    commands.Drive: Cars._drive,
    commands.Join: Cars._join,
    commands.Leave: Cars._leave,
    commands.Retire: lambda cars, command: cars.state.present.put(cars._require(command.rows), 0),
    commands.Recall: Cars._recall,
    commands.Dress: Cars._dress,
    commands.SetCamera: Cars._set_camera,
    commands.SetLidar: Cars._set_lidar,
    commands.Reset: Cars._reset,
    commands.Move: Cars._move,
    commands.Pose: Cars._pose,
    commands.PutOnPath: Cars._put_on_path,
    commands.SetSpawn: Cars._set_spawn,
    commands.ClearHits: Cars._clear_hits,
    commands.Seed: Cars._seed,
    commands.Restore: Cars._restore,
    commands.SetParams: Cars._set_params,
    commands.ChangeScene: lambda cars, command: cars._move_to(cars.prepare_scene(command.scene), command.keeps_cars),
}
"""What each command does."""
