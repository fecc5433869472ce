"""Worlds back to how they began, cars put on their paths, with parameters as drawn, and what they are asked for."""

import math
from typing import NamedTuple

from donkeysim.core.kernel import index_kernel, inner_kernel
from donkeysim.core.types import BoolArray, ByteArray, FloatArray, IntArray, LongArray
from donkeysim.physics.kernels import layout
from donkeysim.physics.kernels.layout import EventTable, Obstacles, ScenePaths, SceneProps, Terrain
from donkeysim.physics.kernels.ledger import Book, write_row
from donkeysim.physics.kernels.progress import follow_active, observe_progress
from donkeysim.physics.kernels.world import locate_node
from donkeysim.world.kernels.draw import Drawn
from donkeysim.world.kernels.paths import PathRows, find_pose
from donkeysim.world.randomization import find_column
from donkeysim.world.state import HIT_NONE, NODE_UNKNOWN, Control, State

MASS, FRICTION, MOTOR = find_column("car.mass"), find_column("car.friction"), find_column("car.motor")
STEER_TRIM, CHARGE = find_column("car.steer_trim"), find_column("battery.charge")
"""Columns of drawn values."""


class StateRows(NamedTuple):
    """The arrays of a `State` and a `Control`, each of shape [row_count, width], by what their rows are and hold."""

    car_numbers: tuple[FloatArray, ...]
    car_counts: tuple[IntArray, ...]
    car_flags: tuple[ByteArray, ...]
    prop_numbers: tuple[FloatArray, ...]
    prop_counts: tuple[IntArray, ...]
    prop_flags: tuple[ByteArray, ...]
    clocks: tuple[LongArray, ...]


@inner_kernel
def copy_rows(source, target, source_first, target_first, row_count):
    """Copy rows of all arrays of one kind."""
    for part in range(len(source)):
        old, new = source[part], target[part]
        for row in range(row_count):
            for column in range(old.shape[1]):
                new[target_first + row, column] = old[source_first + row, column]


@inner_kernel
def put_car(state, car, pose):
    """Put a car at rest somewhere on the ground, at x, y, z [m], turned by a rotation w, x, y, z of any length."""
    x, y, z, w, qx, qy, qz = pose
    state.position[car, 0], state.position[car, 1], state.position[car, 2] = x, y, z
    size = math.sqrt(w * w + qx * qx + qy * qy + qz * qz)
    state.orientation[car, 0], state.orientation[car, 1] = w / size, qx / size
    state.orientation[car, 2], state.orientation[car, 3] = qy / size, qz / size


@index_kernel
def reset_world(
    world: int,
    begins: BoolArray,
    start: FloatArray,
    beginning: StateRows,
    rows: StateRows,
    state: State,
    control: Control,
    world_scene: IntArray,
    slots: int,
    prop_slots: int,
    paths: PathRows,
    tables: tuple[Terrain, ScenePaths, Obstacles, SceneProps],
    events: EventTable,
    book: Book,
) -> None:
    """Put a world back to how worlds of its scene begin, and its cars where they are to begin.

    Args:
        begins: Which worlds are put back; others are left as they are.
        start: Of each car: along the path [m], left of it [m], against it [rad]; not a number: where worlds begin.
        beginning: Rows of one world of each scene.
        rows: Rows of all worlds.
        state, control: Some of the same arrays.
        slots: Cars per world.
        prop_slots: Props per world.
        paths: See `world.kernels.paths`.
        events: Not written.
        book: Written.
    """
    if not begins[world]:
        return
    scene, first = int(world_scene[world]), world * slots
    copy_rows(beginning.car_numbers, rows.car_numbers, scene * slots, first, slots)
    copy_rows(beginning.car_counts, rows.car_counts, scene * slots, first, slots)
    copy_rows(beginning.car_flags, rows.car_flags, scene * slots, first, slots)
    copy_rows(beginning.prop_numbers, rows.prop_numbers, scene * prop_slots, world * prop_slots, prop_slots)
    copy_rows(beginning.prop_counts, rows.prop_counts, scene * prop_slots, world * prop_slots, prop_slots)
    copy_rows(beginning.prop_flags, rows.prop_flags, scene * prop_slots, world * prop_slots, prop_slots)
    copy_rows(beginning.clocks, rows.clocks, scene, world, 1)
    for slot in range(slots):
        car = first + slot
        if start[car, 0] == start[car, 0]:
            pose = find_pose(paths, scene, start[car, 0], start[car, 1], start[car, 2])
            put_car(state, car, pose)
            control.brake[car] = 0.0
            state.node_index[car] = locate_node(tables[1], scene, pose[0], pose[1])
            observe_progress(state, car, tables[1], tables[0], scene)
            state.active_node[car] = NODE_UNKNOWN
            follow_active(state, car, tables[1], scene, 0, 0)
        write_row(state, car, world, scene, 0, events, book)


@index_kernel
def drive_car(
    car: int,
    steer: FloatArray,
    throttle: FloatArray,
    brake: FloatArray,
    previous: FloatArray,
    control: Control,
    hit: IntArray,
) -> None:
    """Ask a car for something, note what it was asked for before, and forget what it has touched."""
    previous[0, car], previous[1, car] = control.steer[car], control.throttle[car]
    control.steer[car], control.throttle[car], control.brake[car] = steer[car], throttle[car], brake[car]
    hit[car] = HIT_NONE


@index_kernel
def vary_params(car: int, base: FloatArray, drawn: Drawn, param: FloatArray) -> None:
    """Write the parameters of a car whose values have just been drawn.

    The mass takes the inertia and the springs' load with it, so a heavier car stands at the same height.

    Args:
        base: What it was made with, columns of `layout`, shape [PARAM_WIDTH].
        param: The car's row is written, shape [car_count, PARAM_WIDTH].
    """
    if drawn.fresh[car] == 0:
        return
    value = drawn.value[car]
    mass, friction = value[MASS], value[FRICTION]
    for column in range(layout.PARAM_WIDTH):
        param[car, column] = base[column]
    param[car, layout.P_MASS] *= mass
    for axis in range(3):
        param[car, layout.P_INERTIA + axis] *= mass
    for wheel in range(4):
        param[car, layout.P_STATIC_LOAD + wheel] *= mass
    param[car, layout.P_GRIP_MASS] *= mass / friction
    for curve in (layout.P_FORWARD, layout.P_SIDEWAYS, layout.P_SIDEWAYS_REAR):
        param[car, curve + 1] *= friction
        param[car, curve + 3] *= friction
    param[car, layout.P_TORQUE_MAX] *= value[MOTOR]
    param[car, layout.P_STEER_TRIM] = value[STEER_TRIM]
    param[car, layout.P_CHARGE_MISSING] = (1.0 - value[CHARGE]) * param[car, layout.P_CAPACITY]
