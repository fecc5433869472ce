"""What there is to say about cars on their paths, for all cars at once."""

from __future__ import annotations

import math

from donkeysim.core.kernel import inner_kernel, kernel
from donkeysim.core.types import FloatArray, IntArray, LongArray
from donkeysim.world.state import State

R_FORWARD_SPEED, R_LEFT_SPEED, R_YAW_RATE, R_OFFSET, R_HEADING_ERROR = range(5)
R_ALONG, R_LENGTH, R_WIDTH_LEFT, R_WIDTH_RIGHT, R_UPRIGHT = range(5, 10)
READING_COUNT = 10
"""Columns of the table that `read_cars` writes; `sim.readings.Readings` tells what they mean."""


@inner_kernel
def find_direction(node, index, scene, row):
    """Return the direction of the path at a node [rad], the mean of the segments that meet there."""
    begin, count, closed = index[scene, 0], index[scene, 1], index[scene, 2]
    before = row - 1 if row > 0 else (count - 1 if closed != 0 else 0)
    after = row + 1 if row + 1 < count else (0 if closed != 0 else row)
    dx = node[begin + after, 0] - node[begin + before, 0]
    dy = node[begin + after, 1] - node[begin + before, 1]
    return math.atan2(dy, dx)


@inner_kernel
def wrap_angle(angle):
    """Return an angle [rad] in [-π, π]."""
    return math.atan2(math.sin(angle), math.cos(angle))


@inner_kernel
def locate(node, index, scene, row, x, y):
    """Return the share of the segment after a node where the nearest point to (x, y) lies, 0 to 1."""
    begin, count = index[scene, 0], index[scene, 1]
    following = row + 1 if row + 1 < count else 0
    dx = node[begin + following, 0] - node[begin + row, 0]
    dy = node[begin + following, 1] - node[begin + row, 1]
    share = ((x - node[begin + row, 0]) * dx + (y - node[begin + row, 1]) * dy) / max(dx * dx + dy * dy, 1e-18)
    return min(max(share, 0.0), 1.0)


@inner_kernel
def write_ahead(node, index, scene, row, along, distances, x, y, cos_yaw, sin_yaw, ahead):
    """Write where the path is at these distances ahead, in the car's level frame [m], shape [point_count, 2]."""
    begin, count, closed = index[scene, 0], index[scene, 1], index[scene, 2]
    length = node[begin + count, 2]
    lap = 0.0
    for point in range(len(distances)):
        target = along + distances[point]
        while True:
            end = node[begin + row + 1, 2] + lap
            if end >= target:
                break
            if row + 1 < count:
                row += 1
            elif closed != 0:
                row, lap = 0, lap + length
            else:
                target = end
        following = row + 1 if row + 1 < count else 0
        if closed == 0 and row + 1 >= count:
            following = row
        start = node[begin + row, 2] + lap
        share = (target - start) / max(end - start, 1e-12)
        px = node[begin + row, 0] + share * (node[begin + following, 0] - node[begin + row, 0]) - x
        py = node[begin + row, 1] + share * (node[begin + following, 1] - node[begin + row, 1]) - y
        ahead[point, 0] = cos_yaw * px + sin_yaw * py
        ahead[point, 1] = cos_yaw * py - sin_yaw * px


@kernel
def read_cars(
    begin: int,
    end: int,
    state: State,
    world_scene: IntArray,
    cars_per_world: int,
    index: LongArray,
    node: FloatArray,
    width: FloatArray,
    distances: FloatArray,
    table: FloatArray,
    ahead: FloatArray,
) -> None:
    """Write the readings of cars [begin, end).

    Args:
        begin: First row.
        end: Row after the last.
        state: Read.
        world_scene: Scene of each world.
        cars_per_world: To find a car's world.
        index: First row in `node`, nodes, closed; one row per scene. Each scene has one row more than nodes.
        node: x, y, length of the path up to the node [m]; the row after a scene's last has the whole length.
        width: To the left and right edge of the road at each node [m].
        distances: How far ahead the path is told, rising [m].
        table: Written, shape [car_count, READING_COUNT].
        ahead: Written, shape [car_count, len(distances), 2].
    """
    for car in range(begin, end):
        scene = int(world_scene[car // cars_per_world])
        row = int(state.node_index[car])
        x, y = state.position[car, 0], state.position[car, 1]
        qw, qx = state.orientation[car, 0], state.orientation[car, 1]
        qy, qz = state.orientation[car, 2], state.orientation[car, 3]
        first, count = index[scene, 0], index[scene, 1]
        following = row + 1 if row + 1 < count else 0
        share = locate(node, index, scene, row, x, y)
        heading = find_direction(node, index, scene, row)
        turn = wrap_angle(find_direction(node, index, scene, following) - heading)
        forward_x, forward_y = 1.0 - 2.0 * (qy * qy + qz * qz), 2.0 * (qx * qy + qw * qz)
        forward_z = 2.0 * (qx * qz - qw * qy)
        left_x, left_y, left_z = 2.0 * (qx * qy - qw * qz), 1.0 - 2.0 * (qx * qx + qz * qz), 2.0 * (qy * qz + qw * qx)
        vx, vy, vz = state.velocity[car, 0], state.velocity[car, 1], state.velocity[car, 2]
        yaw = math.atan2(forward_y, forward_x)
        along = node[first + row, 2] + share * (node[first + row + 1, 2] - node[first + row, 2])
        table[car, R_FORWARD_SPEED] = forward_x * vx + forward_y * vy + forward_z * vz
        table[car, R_LEFT_SPEED] = left_x * vx + left_y * vy + left_z * vz
        table[car, R_YAW_RATE] = state.angular_velocity[car, 2]
        table[car, R_OFFSET] = state.cte[car]
        table[car, R_HEADING_ERROR] = wrap_angle(yaw - heading - share * turn)
        table[car, R_ALONG] = along
        table[car, R_LENGTH] = node[first + count, 2]
        for side in range(2):
            table[car, R_WIDTH_LEFT + side] = width[first + row, side] + share * (
                width[first + following, side] - width[first + row, side]
            )
        table[car, R_UPRIGHT] = 1.0 - 2.0 * (qx * qx + qy * qy)
        write_ahead(node, index, scene, row, along, distances, x, y, math.cos(yaw), math.sin(yaw), ahead[car])
