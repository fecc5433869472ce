"""How worlds begin, and what puts them back there on a device."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from donkeysim.core.device import Device
from donkeysim.gpu.kernels.reset import StateRows, reset_world
from donkeysim.physics.kernels.layout import P_TARGET
from donkeysim.physics.props import place_props
from donkeysim.physics.vehicle import pack_car
from donkeysim.physics.world_stepper import WorldStepper
from donkeysim.world.grid import choose_place
from donkeysim.world.layout import Layout
from donkeysim.world.path_frame import join_rows
from donkeysim.world.state import Control, State, make_state

_KINDS = (
    ("car", np.float64),
    ("car", np.int32),
    ("car", np.uint8),
    ("prop", np.float64),
    ("prop", np.int32),
    ("prop", np.uint8),
    ("world", np.int64),
)
"""Of the fields of `StateRows`: what their rows are, and their type."""


class Resetter:
    """Puts worlds of a state back to how worlds of their scenes begin."""

    def __init__(self, layout: Layout, device: Device, stepper: WorldStepper, state: State, control: Control) -> None:
        """Work out how worlds begin.

        Args:
            layout: Of the worlds.
            device: Where everything lies.
            stepper: Of these worlds.
            state: Written by `reset`.
            control: Likewise.
        """
        self._layout, self._device, self._stepper = layout, device, stepper
        self._state, self._control = state, control
        self.beginning = device.upload(group_rows(make_beginning(layout)))
        self._rows = group_rows(state)
        self.paths = device.upload(join_rows([scene.path.frame for scene in layout.scenes]))

    def reset(self, begins: Any, start: Any) -> None:
        """Put worlds back; how often and which is nobody's business on the host.

        Args:
            begins: Whether a world is put back, shape [world_count].
            start: Of each car: along the path [m], left of it [m], against it [rad]; not a number: on the grid. Shape
                [car_count, 3].
        """
        stepper, layout = self._stepper, self._layout
        self._device.run(
            reset_world,
            layout.world_count,
            begins,
            start,
            self.beginning,
            self._rows,
            self._state,
            self._control,
            stepper.world_scene,
            layout.cars_per_world,
            layout.props_per_world,
            self.paths,
            stepper.tables,
            stepper.events,
            stepper.book,
            block=16,
        )


def make_beginning(layout: Layout) -> State:
    """Return one world of each scene as worlds begin: cars at rest on the grid, props in their places.

    Raises:
        CapacityError: A grid is too small.
    """
    slots, room = layout.cars_per_world, layout.props_per_world
    state = make_state(len(layout.scenes), slots, room, layout.car.has_actuators)
    for row, scene in enumerate(layout.scenes):
        place_props(state, row * room, room, scene.props)
        for car in range(row * slots, (row + 1) * slots):
            position, orientation = choose_place(scene, state.spawn_position[row * slots : car])
            state.spawn_position[car], state.spawn_orientation[car] = position, orientation
            w, x, y, z = orientation
            state.position[car], state.orientation[car] = position, orientation / np.sqrt(w * w + x * x + y * y + z * z)
    state.present[:] = 1
    state.wheel_extension[:] = pack_car(layout.car)[P_TARGET]
    return state


def group_rows(state: State) -> StateRows:
    """Return all arrays of a state by what their rows are and what they hold, each of shape [row_count, width]."""
    groups: dict[tuple[str, Any], list[Any]] = {kind: [] for kind in _KINDS}
    for name, array in state._asdict().items():
        rows = "prop" if name.startswith("prop_") else "world" if name == "step_index" else "car"
        width = math.prod(array.shape[1:])
        groups[rows, np.dtype(array.dtype).type].append(array.reshape(array.shape[0], width))
    return StateRows(*(tuple(group) for group in groups.values()))
