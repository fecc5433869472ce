"""The observation "vector", and stacks of observations."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from donkeysim.core.kernel import index_kernel, inner_kernel
from donkeysim.core.types import BoolArray, Float32Array, FloatArray, IntArray
from donkeysim.physics.kernels.ledger import LedgerRows
from donkeysim.world.state import HIT_NONE

LIMIT = 5.0
"""Numbers are cut to within ± this."""

FORWARD_SCALE, LEFT_SCALE, YAW_SCALE = 3.0, 1.0, 5.0
"""Speed ahead [m/s], to the left [m/s] and yaw rate [rad/s] that are observed as 1."""

PLAIN_COUNT = 10
"""Numbers before the points of the path ahead."""


class CarInfo(NamedTuple):
    """What `info` has of every car, shape [car_count, ...]; docs/envs/track_env.md says what it means."""

    position: FloatArray
    offset: FloatArray
    heading_error: FloatArray
    along: FloatArray
    speed: FloatArray
    on_road: BoolArray
    hit: BoolArray
    driven: FloatArray
    progress: FloatArray
    laps: IntArray
    lap_time: FloatArray


@inner_kernel
def limit(number):
    """Return a number that is info."""
    return np.float32(max(min(number, LIMIT), -LIMIT))


@index_kernel
def write_numbers(car: int, ledger: LedgerRows, reach: float, table: Float32Array) -> None:
    """Write the numbers of a car.

    Args:
        car: Row of the ledger and of the table.
        ledger: Of all cars.
        reach: What distances ahead are given in [m].
        table: Written, shape [car_count, PLAIN_COUNT + 2 * point_count].
    """
    turn, offset, out = ledger.heading_error[car], ledger.offset[car], table[car]
    out[0] = limit(ledger.forward_speed[car] / FORWARD_SCALE)
    out[1] = limit(ledger.left_speed[car] / LEFT_SCALE)
    out[2] = limit(ledger.yaw_rate[car] / YAW_SCALE)
    out[3], out[4] = limit(math.sin(turn)), limit(math.cos(turn))
    out[5] = limit(offset)
    out[6], out[7] = limit(ledger.width_left[car] - offset), limit(ledger.width_right[car] + offset)
    out[8], out[9] = limit(ledger.steer[car]), limit(ledger.throttle[car])
    for point in range(ledger.ahead.shape[1]):
        out[PLAIN_COUNT + 2 * point] = limit(ledger.ahead[car, point, 0] / reach)
        out[PLAIN_COUNT + 2 * point + 1] = limit(ledger.ahead[car, point, 1] / reach)


@index_kernel
def push_row(
    row: int,
    fresh: NDArray[Any],
    before: NDArray[Any],
    stacked: NDArray[Any],
    rows_per_world: int,
    begins: BoolArray,
    pushes: bool,
) -> None:
    """Let a row of a stack (a pixel, or all of a car) forget its oldest moment and take a new one.

    Args:
        row: Which.
        fresh: The new moment, shape [row_count, width].
        before: The stack so far, shape [row_count, stack * width].
        stacked: Written, likewise; may be the same array.
        rows_per_world: How many rows belong to a world.
        begins: In which worlds episodes have just begun: their stacks hold the new moment only.
        pushes: Whether others take the new moment too; else they stay as they are.
    """
    width, total = fresh.shape[1], stacked.shape[1]
    kept = total - width
    if begins[row // rows_per_world]:
        for column in range(total):
            stacked[row, column] = fresh[row, column % width]
    elif pushes:
        # Moment by moment, so that what is read and written never overlaps, and by slices: a tenth of the time.
        for first in range(0, kept, width):
            source, target = before[row, first + width : first + 2 * width], stacked[row, first : first + width]
            for column in range(width):
                target[column] = source[column]
        source, target = fresh[row], stacked[row, kept:]
        for column in range(width):
            target[column] = source[column]


@index_kernel
def limit_depth(row: int, depth: Float32Array, far: float, out: Float32Array) -> None:
    """Cut the distances of a row of pixels."""
    for column in range(depth.shape[1]):
        out[row, column] = min(depth[row, column], far)


@index_kernel
def copy_row(row: int, source: NDArray[Any], rows_per_world: int, chosen: BoolArray, target: NDArray[Any]) -> None:
    """Copy a row of numbers that belongs to one of the chosen worlds."""
    if chosen[row // rows_per_world]:
        for column in range(source.shape[1]):
            target[row, column] = source[row, column]


@index_kernel
def write_info(car: int, ledger: LedgerRows, info: CarInfo) -> None:
    """Write what `info` has of a car."""
    for axis in range(3):
        info.position[car, axis] = ledger.position[car, axis]
    info.offset[car], info.heading_error[car] = ledger.offset[car], ledger.heading_error[car]
    info.along[car], info.speed[car] = ledger.along[car], math.hypot(ledger.forward_speed[car], ledger.left_speed[car])
    info.on_road[car], info.hit[car] = ledger.on_road[car] != 0, ledger.hit[car] != HIT_NONE
    info.driven[car], info.progress[car] = ledger.driven[car], ledger.furthest[car] / ledger.path_length[car]
    info.laps[car], info.lap_time[car] = ledger.laps[car], ledger.lap_time[car]
