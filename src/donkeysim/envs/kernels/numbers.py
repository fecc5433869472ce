"""The observation "vector", and stacks of observations."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from donkeysim.core.kernel import index_kernel, inner_kernel, kernel
from donkeysim.core.types import BoolArray, Float32Array, FloatArray, IntArray, LongArray
from donkeysim.physics.kernels.ledger import LedgerRows
from donkeysim.world.state import HIT_NONE

LIMIT = 5.0
"""Numbers are cut to within ± this."""

FORWARD_SCALE, LEFT_SCALE, YAW_SCALE = 3.0, 1.0, 5.0
"""Speed ahead [m/s], to the left [m/s] and yaw rate [rad/s] that are told as 1."""

PLAIN_COUNT = 10
"""Numbers before the points of the path ahead."""


class Columns(NamedTuple):
    """What the numbers are made of; see `world.ledger.Ledger`."""

    forward_speed: FloatArray
    left_speed: FloatArray
    yaw_rate: FloatArray
    heading_error: FloatArray
    offset: FloatArray
    width_left: FloatArray
    width_right: FloatArray
    steer: FloatArray
    throttle: FloatArray
    ahead: FloatArray


class Told(NamedTuple):
    """What `info` tells of every car, shape [car_count, ...]; docs/envs/track_env.md says what it means."""

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
    """Return a number that is told."""
    return np.float32(max(min(number, LIMIT), -LIMIT))


@inner_kernel
def write_numbers(columns, car, reach, out):
    """Write a car's numbers; `reach`: what distances ahead are told in [m]."""
    turn, offset = columns.heading_error[car], columns.offset[car]
    out[0] = limit(columns.forward_speed[car] / FORWARD_SCALE)
    out[1] = limit(columns.left_speed[car] / LEFT_SCALE)
    out[2] = limit(columns.yaw_rate[car] / YAW_SCALE)
    out[3], out[4] = limit(math.sin(turn)), limit(math.cos(turn))
    out[5] = limit(offset)
    out[6], out[7] = limit(columns.width_left[car] - offset), limit(columns.width_right[car] + offset)
    out[8], out[9] = limit(columns.steer[car]), limit(columns.throttle[car])
    for point in range(columns.ahead.shape[1]):
        out[PLAIN_COUNT + 2 * point] = limit(columns.ahead[car, point, 0] / reach)
        out[PLAIN_COUNT + 2 * point + 1] = limit(columns.ahead[car, point, 1] / reach)


@kernel
def write_cars(cars: LongArray, columns: Columns, reach: float, out: Float32Array) -> None:
    """Write the numbers of these cars.

    Args:
        cars: Rows.
        columns: Of all cars.
        reach: What distances ahead are told in [m].
        out: Written, these rows only, shape [car_count, PLAIN_COUNT + 2 * point_count].
    """
    for place in range(len(cars)):
        write_numbers(columns, cars[place], reach, out[cars[place]])


@index_kernel
def write_car(car: int, ledger: LedgerRows, reach: float, out: Float32Array) -> None:
    """Write one car's numbers."""
    write_numbers(ledger, car, reach, out[car])


@index_kernel
def push_row(
    row: int,
    fresh: NDArray[Any],
    stacked: NDArray[Any],
    rows_per_car: int,
    begins: BoolArray,
    pushes: bool,
) -> None:
    """Let a row of a stack (a pixel, or all numbers of a car) forget its oldest moment and take a new one.

    Args:
        row: Which.
        fresh: The new moment, shape [row_count, width].
        stacked: Written, shape [row_count, stack * width].
        rows_per_car: How many rows belong to a car.
        begins: Whose episodes have just begun: their stacks hold the new moment only.
        pushes: Whether others take the new moment too; else they stay as they are.
    """
    width, total = fresh.shape[1], stacked.shape[1]
    begun = begins[row // rows_per_car]
    if not (begun or pushes):
        return
    for column in range(total):
        if begun or column >= total - width:
            stacked[row, column] = fresh[row, column % width]
        else:
            stacked[row, column] = stacked[row, column + width]


@index_kernel
def limit_depth(row: int, depth: Float32Array, far: float, out: Float32Array) -> None:
    """Cut the distances of a row of pixels."""
    for column in range(depth.shape[1]):
        out[row, column] = min(depth[row, column], far)


@index_kernel
def copy_row(row: int, source: NDArray[Any], target: NDArray[Any]) -> None:
    """Copy a row of numbers."""
    for column in range(source.shape[1]):
        target[row, column] = source[row, column]


@index_kernel
def tell_car(car: int, ledger: LedgerRows, told: Told) -> None:
    """Write what `info` tells of a car."""
    for axis in range(3):
        told.position[car, axis] = ledger.position[car, axis]
    told.offset[car], told.heading_error[car] = ledger.offset[car], ledger.heading_error[car]
    told.along[car], told.speed[car] = ledger.along[car], math.hypot(ledger.forward_speed[car], ledger.left_speed[car])
    told.on_road[car], told.hit[car] = ledger.on_road[car] != 0, ledger.hit[car] != HIT_NONE
    told.driven[car], told.progress[car] = ledger.driven[car], ledger.furthest[car] / ledger.path_length[car]
    told.laps[car], told.lap_time[car] = ledger.laps[car], ledger.lap_time[car]
