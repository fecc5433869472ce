"""Everything that changes `State` while time runs: vehicles, contacts, progress. All of it lies on one device."""

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from donkeysim.core.device import Device
from donkeysim.core.errors import ShapeError
from donkeysim.core.types import PHYSICS_STEP, FloatArray, IntArray, LongArray
from donkeysim.physics.contact import make_obstacles, make_prop_table, make_scratch, measure_scratch
from donkeysim.physics.kernels import layout
from donkeysim.physics.kernels.layout import EVENT_RESERVE, EVENT_ROOM, P_TARGET, EventTable, Orders, Terrain
from donkeysim.physics.kernels.ledger import SOURCES, Book, Derived, LedgerRows, PathTables, write_one_row
from donkeysim.physics.kernels.world import place_one_car, step_one_world
from donkeysim.physics.progress import make_course
from donkeysim.physics.vehicle import CarParams, make_orders, make_params, share_params
from donkeysim.world.ledger import Ledger
from donkeysim.world.scene import Ground, Props, Scene
from donkeysim.world.state import HIT_NONE, Control, Layout, State, make_control, make_state

LEAST_WORK = 256
"""Cars times steps that are worth a thread of their own: a quarter of a millisecond."""

CEILING_REACH = 0.4
"""`Terrain.ceiling` holds the greatest height within this distance of a grid corner's cell [m]; a car's half diagonal
and more."""

_TYPES = {"FloatArray": np.float64, "IntArray": np.int32}
"""Of the numbers of columns, by annotation."""


class PhysicsEngine:
    """Steps worlds of cars and props, and puts cars and props where they shall be.

    Each world is stepped from start to end by one thread, in a fixed order, so the bytes do not depend on how many
    worlds or threads there are. All arrays are the device's; nothing is copied from or to it in a step.

    Attributes:
        device: Where all of it lies.
        step_length: Of one step [s].
        world_scene: Index of each world's scene, shape [world_count].
        tables: Terrain, course, obstacles and props of all scenes.
        car_params: Car parameters, one row per car; may be changed between steps. `packed` is an array of the device.
        scratches: Working memory.
        events: What happened in the last `step`, and what found no room since the start.
        book: Where rows of the ledger are written; may be another one from the next call on.
        no_orders: Rings without commands, for steps that are given none.
    """

    def __init__(self, layout: Layout, device: Device, step_length: float = PHYSICS_STEP) -> None:
        """Build the tables.

        Args:
            device: What runs them.
            step_length: Of one step [s].

        Raises:
            ShapeError: `world_scene` has another length, or a scene has more props than there are slots.
            SpecError: The car's numbers make no car.
        """
        scenes, world_scene, car, world_count, cars_per_world, props_per_world = layout
        if len(world_scene) != world_count:
            raise ShapeError(f"world_scene has {len(world_scene)} rows for {world_count} worlds; give one per world.")
        most = max(len(scene.props.mass) for scene in scenes)
        if most > props_per_world:
            raise ShapeError(f"a scene has {most} props but a world holds {props_per_world}; give it more slots.")
        self.device, self.layout, self.step_length = device, layout, step_length
        packed = make_params(car, layout.car_count).packed
        tables = (make_terrain(scenes), make_course(scenes), make_obstacles(scenes), make_prop_table(scenes))
        scene_of_world: IntArray = np.asarray(world_scene, np.int32)
        self.car_params: CarParams = share_params(device.upload(packed))
        self.world_scene, self.tables = device.upload(scene_of_world), device.upload(tables)
        self.scratches = make_scratch(cars_per_world, props_per_world, device, world_count)
        self.events = device.upload(make_events(world_count, cars_per_world))
        self.book = device.upload(make_book(scenes, make_derived(layout.car_count)))
        self.no_orders = device.upload(make_orders(layout.car_count, 1))

    def step(self, state: State, control: Control, step_count: int, orders: Orders | None = None) -> None:
        """Advance every world.

        Args:
            state: Read and written.
            control: Read; requests beyond their limits are clamped, ones that are not numbers count as 0.
            step_count: 0 or more.
            orders: Further commands, each from a step of its own on; they are written into `control` then.
        """
        if step_count < 1:
            self.events.noted.fill(0)
        else:
            self._step(self.layout.world_count, state, control, step_count, orders)

    def place_cars(
        self, state: State, rows: LongArray, position: FloatArray, orientation: FloatArray, at_rest: bool
    ) -> None:
        """Put cars somewhere; their path nodes, cte, surface and progress follow.

        On this machine only. Laps and the last hit stay; crossing lines by being placed does not count.

        Args:
            state: Written, these rows.
            rows: Of the cars, shape [n].
            position: Of the body's origins [m, world frame], shape [n, 3].
            orientation: (w, x, y, z), of any length above 0, shape [n, 4].
            at_rest: Also stop the bodies and their wheels; otherwise all velocities stay.
        """
        state.position[rows] = position
        w, x, y, z = orientation.T
        # Product by product, so that any processor, and a batch on a device, gives the same bits.
        state.orientation[rows] = orientation / np.sqrt(w * w + x * x + y * y + z * z)[:, None]
        state.rotation_step[rows] = (1.0, 0.0, 0.0, 0.0)
        state.acceleration_body[rows] = 0.0
        state.wheel_grip[rows] = 0.0
        if at_rest:
            for array in (state.velocity, state.angular_velocity, state.wheel_speed, state.wheel_load):
                array[rows] = 0.0
            state.steer_angle[rows] = 0.0
            state.powertrain[rows] = 0.0
            state.touching[rows] = HIT_NONE
            state.wheel_extension[rows] = self.car_params.packed[rows, P_TARGET : P_TARGET + 1]
        self._settle(state, rows)

    def _settle(self, state: State, rows: Any) -> None:
        """Let path nodes, cte, surface and progress follow of cars that have been put somewhere."""
        slots = self.layout.cars_per_world
        where = (rows, state, self.world_scene, slots)
        self.device.run(place_one_car, len(rows), *where, self.tables, self.events, self.book, block=LEAST_WORK)

    def write_rows(self, state: State, rows: Any) -> None:
        """Write rows of the ledger, of cars about whom something has changed while no time passed."""
        where = (rows, state, self.world_scene, self.layout.cars_per_world)
        self.device.run(write_one_row, len(rows), *where, self.events, self.book, block=LEAST_WORK)

    def place_props(self, state: State, world: int) -> None:
        """Put all props of a world where its scene has them, at rest; slots beyond the scene's props sleep at 0."""
        props, room = self.layout.scenes[int(self.layout.world_scene[world])].props, self.layout.props_per_world
        place_props(state, world * room, room, props)

    def list_compile_stages(self) -> list[tuple[str, Callable[[], None]]]:
        """Return what there is to compile: a name and a function that compiles it (or loads it from the cache)."""
        return [("vehicles and contacts", self._compile)]

    def _compile(self) -> None:
        _, _, car, world_count, cars_per_world, props_per_world = self.layout
        state = make_state(world_count, cars_per_world, props_per_world, car.has_actuators)
        state, control = self.device.upload((state, make_control(self.layout.car_count)))
        self._step(0, state, control, 1)
        nobody = self.device.zeros((0,), np.int64)
        self._settle(state, nobody)
        self.write_rows(state, nobody)

    def list_arguments(
        self, state: State, control: Control, step_count: int, orders: Orders | None = None
    ) -> tuple[Any, ...]:
        """Return what `step_one_world` takes behind a world and its room."""
        return (
            step_count,
            self.step_length,
            self.world_scene,
            self.layout.cars_per_world,
            self.layout.props_per_world,
            state,
            control,
            self.car_params.packed,
            orders or self.no_orders,
            self.tables,
            self.scratches,
            self.events,
            self.book,
        )

    def _step(self, end: int, state: State, control: Control, step_count: int, orders: Orders | None = None) -> None:
        arguments = self.list_arguments(state, control, step_count, orders)
        block = 1 + LEAST_WORK // (self.layout.cars_per_world * step_count)
        self.device.run(step_one_world, end, *arguments, block=block)


def make_events(world_count: int, cars_per_world: int) -> EventTable:
    """Return a table without events."""
    room = EVENT_RESERVE + EVENT_ROOM * cars_per_world
    return EventTable(
        noted=np.zeros(world_count, np.int64),
        missed=np.zeros(world_count, np.int64),
        row=np.zeros((world_count, room, 4)),
        hit_before=np.zeros(world_count * cars_per_world, np.int32),
    )


def measure_world(layout: Layout) -> int:
    """Return how many bytes a world takes of a GPU's memory: state, ledger, events, parameters, working memory."""
    _, _, car, _, cars, props = layout
    tables = (
        make_state(1, cars, props, car.has_actuators),
        make_control(cars),
        make_events(1, cars),
        make_derived(cars),
        (make_params(car, cars).packed, np.zeros(1, np.int32)),
    )
    return measure_scratch(cars, props) + sum(array.nbytes for table in tables for array in table)


def place_props(state: State, first: int, room: int, props: Props) -> None:
    """Put all props of a world where its scene has them, at rest; slots beyond the scene's props sleep at 0.

    Args:
        state: Written, the rows `first` to `first + room` of props.
        first: Row of the world's first prop.
        room: Slots for props in a world.
    """
    rows = slice(first, first + room)
    state.prop_position[rows] = 0.0
    state.prop_orientation[rows] = (1.0, 0.0, 0.0, 0.0)
    state.prop_velocity[rows] = 0.0
    state.prop_angular_velocity[rows] = 0.0
    state.prop_asleep[rows] = 1
    state.prop_still[rows] = 0
    used = slice(first, first + len(props.mass))
    state.prop_position[used] = props.position
    state.prop_orientation[used, 0] = np.cos(0.5 * props.yaw)
    state.prop_orientation[used, 3] = np.sin(0.5 * props.yaw)


def make_terrain(scenes: Sequence[Scene]) -> Terrain:
    """Return the grounds of these scenes, one after another."""
    number = np.zeros((len(scenes), layout.TERRAIN_NUMBERS))
    entry = np.zeros((len(scenes), layout.TERRAIN_INDICES), np.int64)
    height_count = surface_count = kind_count = 0
    for row, scene in enumerate(scenes):
        ground = scene.ground
        level = ground.height.size == 1 or bool((ground.height == ground.height.flat[0]).all())
        uniform = bool((ground.friction == ground.friction[0]).all())
        number[row] = (
            *ground.height_origin,
            ground.height_cell,
            *ground.surface_origin,
            ground.surface_cell,
            ground.height.flat[0],
            ground.friction[0],
        )
        entry[row] = (
            height_count,
            *ground.height.shape,
            surface_count,
            *ground.surface.shape,
            kind_count,
            level,
            uniform,
        )
        height_count += ground.height.size
        surface_count += ground.surface.size
        kind_count += ground.friction.size
    grounds = [scene.ground for scene in scenes]
    return Terrain(
        number=number,
        entry=entry,
        height=np.concatenate([ground.height.ravel() for ground in grounds]).astype(np.float64),
        ceiling=np.concatenate([_raise_ceiling(ground).ravel() for ground in grounds]),
        surface=np.concatenate([ground.surface.ravel() for ground in grounds]).astype(np.uint8),
        friction=np.concatenate([ground.friction for ground in grounds]).astype(np.float64),
        drivable=np.concatenate([ground.drivable for ground in grounds]).astype(np.uint8),
    )


def _raise_ceiling(ground: Ground) -> FloatArray:
    reach = 1 + int(np.ceil(CEILING_REACH / ground.height_cell))
    ceiling: FloatArray = ground.height.astype(np.float64)
    for axis in (0, 1):
        padded = np.pad(ceiling, [(reach, reach) if axis == side else (0, 0) for side in (0, 1)], mode="edge")
        windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1, axis=axis)
        ceiling = np.ascontiguousarray(windows.max(axis=-1))
    return ceiling


def make_derived(car_count: int, point_count: int = 0) -> Derived:
    """Return rows of zeros, for `point_count` points of the path ahead."""
    columns = [column for column in fields(Ledger) if column.name in Derived._fields]
    shapes = {"ahead": (car_count, point_count, 2)}
    return Derived(*(np.zeros(shapes.get(column.name, car_count), _TYPES[str(column.type)]) for column in columns))


def share_rows(state: State, control: Control, derived: Derived) -> LedgerRows:
    """Return all columns of the ledger, each the array that holds its numbers."""
    known = state._asdict() | control._asdict() | derived._asdict()
    return LedgerRows(*(known[SOURCES[name]] for name in LedgerRows._fields))


def make_book(scenes: Sequence[Scene], derived: Derived, look_ahead: Sequence[float] = ()) -> Book:
    """Return the paths of these scenes, one after another, with the rows.

    Args:
        derived: To be written.
        look_ahead: Distances for `Derived.ahead`, rising, 0 or more [m].
    """
    entry = np.zeros((len(scenes), 3), np.int64)
    nodes, widths, first = [], [], 0
    for row, path in enumerate(scene.path for scene in scenes):
        entry[row] = (first, len(path.position), path.closed)
        point = path.position[[*range(len(path.position)), 0 if path.closed else -1], :2]
        nodes.append(np.column_stack([point, np.append(path.frame.node_length, path.frame.length)]))
        widths.append(np.column_stack([path.width_left, path.width_right])[[*range(len(path.position)), -1]])
        first += len(path.position) + 1
    distances: FloatArray = np.array(look_ahead, np.float64)
    return Book(PathTables(entry, np.concatenate(nodes), np.concatenate(widths), distances), derived)
