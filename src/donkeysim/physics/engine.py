"""Everything that changes `State` while time runs: vehicles, contacts, progress."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from donkeysim.core.errors import ShapeError
from donkeysim.core.kernel import RepeatedCall
from donkeysim.core.types import PHYSICS_STEP, FloatArray, IntArray, LongArray
from donkeysim.core.workers import Workers
from donkeysim.physics.contact import make_obstacles, make_prop_table, make_scratch
from donkeysim.physics.kernels import layout
from donkeysim.physics.kernels.layout import EVENT_RESERVE, EVENT_ROOM, EventTable, Orders
from donkeysim.physics.kernels.ledger import write_rows
from donkeysim.physics.kernels.world import place_cars, step_worlds
from donkeysim.physics.ledger import make_book, make_derived
from donkeysim.physics.progress import make_course
from donkeysim.physics.props import place_props
from donkeysim.physics.terrain import make_terrain
from donkeysim.physics.vehicle import make_orders, make_params
from donkeysim.world.layout import Layout
from donkeysim.world.state import HIT_NONE, Control, State, make_control, make_state

LEAST_WORK = 256
"""Cars times steps that are worth a thread of their own: a quarter of a millisecond."""


class PhysicsEngine:
    """Steps worlds of cars and props.

    Each world is stepped by one worker from start to end, in a fixed order, so the bytes do not depend on how many
    worlds or threads there are.

    Attributes:
        car_params: One row per car; may be changed between steps.
        step_length: Of one step [s].
        events: What happened in the last `step`.
        book: Where rows of the ledger are written; may be another one from the next call on.
    """

    def __init__(self, layout: Layout, workers: Workers, step_length: float = PHYSICS_STEP) -> None:
        """Build the tables.

        Args:
            layout: Of the worlds.
            workers: Threads to run on.
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
        self.car_params = make_params(car, layout.car_count)
        self.step_length = step_length
        self._scenes = tuple(scenes)
        self._world_scene: IntArray = np.asarray(world_scene, np.int32)
        self._world_count = world_count
        self._cars_per_world = cars_per_world
        self._props_per_world = props_per_world
        self._workers = workers
        self._tables = (make_terrain(scenes), make_course(scenes), make_obstacles(scenes), make_prop_table(scenes))
        self.events = make_events(world_count, cars_per_world)
        self.book = make_book(scenes, make_derived(world_count * cars_per_world))
        self._step_worlds, self._place_cars = RepeatedCall(step_worlds), RepeatedCall(place_cars)
        self._write_rows = RepeatedCall(write_rows)
        self._idle = make_control(world_count * cars_per_world)
        self._no_orders = make_orders(world_count * cars_per_world, 1)
        self._scratch = [make_scratch(cars_per_world, props_per_world) for _ in range(workers.worker_count)]

    def step(self, state: State, control: Control, step_count: int, orders: Orders | None = None) -> None:
        """Advance every world by `step_count` steps.

        Args:
            state: Read and written.
            control: Read; requests beyond their limits are clamped, ones that are not numbers count as 0.
            step_count: 0 or more.
            orders: Further commands, each from a step of its own on; they are written into `control` then.
        """

        def run(worker: int, next_row: LongArray) -> None:
            self._run_worlds(worker, next_row, self._world_count, state, control, step_count, orders)

        if step_count < 1:
            self.events.count.fill(0)
        elif self._world_count == 1:
            run(0, np.zeros(1, np.int64))
        else:
            self._workers.run(run, self._world_count, smallest=1 + LEAST_WORK // (self._cars_per_world * step_count))

    def place_cars(
        self, state: State, rows: LongArray, position: FloatArray, orientation: FloatArray, at_rest: bool
    ) -> None:
        """Put cars somewhere; their path nodes, cte, surface and progress follow.

        Laps and the last hit stay; crossing lines by being placed does not count.

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
            state.touching[rows] = HIT_NONE
            state.wheel_extension[rows] = self.car_params.packed[rows, layout.P_TARGET : layout.P_TARGET + 1]
        layout_of_cars = (state, self._world_scene, self._cars_per_world)
        owned = (state, self.book)
        self._place_cars(owned, 0, len(rows), rows, *layout_of_cars, self._tables, self.events, self.book)

    def write_rows(self, state: State, rows: LongArray) -> None:
        """Write rows of the ledger, of cars about whom something has changed while no time passed."""
        layout_of_cars = (state, self._world_scene, self._cars_per_world)
        self._write_rows((state, self.book), 0, len(rows), rows, *layout_of_cars, self.events, self.book)

    def place_props(self, state: State, world: int) -> None:
        """Put all props of a world where its scene has them, at rest; slots beyond the scene's props sleep at 0."""
        props = self._scenes[int(self._world_scene[world])].props
        place_props(state, world * self._props_per_world, self._props_per_world, props)

    def list_compile_stages(self) -> list[tuple[str, Callable[[], None]]]:
        """Return what there is to compile: a name and a function that compiles it (or loads it from the cache)."""
        return [("vehicles and contacts", self._compile)]

    def _compile(self) -> None:
        state = make_state(self._world_count, self._cars_per_world, self._props_per_world)
        self._run_worlds(0, np.zeros(1, np.int64), 0, state, self._idle, 0)
        nobody: LongArray = np.zeros(0, np.int64)
        self.place_cars(state, nobody, np.zeros((0, 3)), np.zeros((0, 4)), at_rest=False)
        self.write_rows(state, nobody)

    def _run_worlds(
        self,
        worker: int,
        next_row: LongArray,
        end: int,
        state: State,
        control: Control,
        step_count: int,
        orders: Orders | None = None,
    ) -> None:
        self._step_worlds(
            (state, control, self.book, self.car_params.packed),
            next_row,
            end,
            step_count,
            self.step_length,
            self._world_scene,
            self._cars_per_world,
            self._props_per_world,
            state,
            control,
            self.car_params.packed,
            orders or self._no_orders,
            self._tables,
            self._scratch[worker],
            self.events,
            self.book,
        )


def make_events(world_count: int, cars_per_world: int) -> EventTable:
    """Return a table without events."""
    room = EVENT_RESERVE + EVENT_ROOM * cars_per_world
    return EventTable(
        count=np.zeros(world_count, np.int64),
        row=np.zeros((world_count, room, 4)),
        hit_before=np.zeros(world_count * cars_per_world, np.int32),
    )
