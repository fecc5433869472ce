"""Everything that changes `State` while time runs: vehicles, contacts, progress."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from donkeysim.core.device import Cpu
from donkeysim.core.types import PHYSICS_STEP, FloatArray, LongArray
from donkeysim.core.workers import Workers
from donkeysim.physics.kernels import layout
from donkeysim.physics.kernels.layout import EventTable, Orders
from donkeysim.physics.kernels.ledger import Book
from donkeysim.physics.props import place_props
from donkeysim.physics.vehicle import CarParams, share_params
from donkeysim.physics.world_stepper import WorldStepper
from donkeysim.world.layout import Layout
from donkeysim.world.state import HIT_NONE, Control, State, make_control, make_state


class PhysicsEngine:
    """Steps worlds of cars and props on threads of this machine, and puts cars and props where they shall be.

    Attributes:
        car_params: One row per car; may be changed between steps.
        step_length: Of one step [s].
        events: What happened in the last `step`.
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
        self._stepper = WorldStepper(layout, Cpu(workers), step_length)
        self.car_params: CarParams = share_params(self._stepper.param)
        self.step_length = step_length
        self.events: EventTable = self._stepper.events
        self._layout = layout

    @property
    def book(self) -> Book:
        """Where rows of the ledger are written; may be another one from the next call on."""
        return self._stepper.book

    @book.setter
    def book(self, book: Book) -> None:
        self._stepper.book = book

    def step(self, state: State, control: Control, step_count: int, orders: Orders | None = None) -> None:
        """Advance every world by `step_count` steps.

        Args:
            state: Read and written.
            control: Read; requests beyond their limits are clamped, ones that are not numbers count as 0.
            step_count: 0 or more.
            orders: Further commands, each from a step of its own on; they are written into `control` then.
        """
        if step_count < 1:
            self.events.noted.fill(0)
        else:
            self._stepper.step(state, control, step_count, orders)

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
            state.powertrain[rows] = 0.0
            state.touching[rows] = HIT_NONE
            state.wheel_extension[rows] = self.car_params.packed[rows, layout.P_TARGET : layout.P_TARGET + 1]
        self._stepper.place_cars(state, rows)

    def write_rows(self, state: State, rows: LongArray) -> None:
        """Write rows of the ledger, of cars about whom something has changed while no time passed."""
        self._stepper.write_rows(state, rows)

    def place_props(self, state: State, world: int) -> None:
        """Put all props of a world where its scene has them, at rest; slots beyond the scene's props sleep at 0."""
        props, room = self._layout.scenes[int(self._layout.world_scene[world])].props, self._layout.props_per_world
        place_props(state, world * room, room, props)

    def list_compile_stages(self) -> list[tuple[str, Callable[[], None]]]:
        """Return what there is to compile: a name and a function that compiles it (or loads it from the cache)."""
        return [("vehicles and contacts", self._compile)]

    def _compile(self) -> None:
        _, _, car, world_count, cars_per_world, props_per_world = self._layout
        state = make_state(world_count, cars_per_world, props_per_world, car.has_actuators)
        self._stepper.compile(state, make_control(world_count * cars_per_world))
