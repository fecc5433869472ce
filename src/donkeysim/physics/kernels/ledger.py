"""Writes the rows of the ledger: how cars stand on their paths, what they did in a frame, when they left the road."""

from __future__ import annotations

import math
from collections import namedtuple
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from donkeysim.core.kernel import index_kernel, inner_kernel
from donkeysim.core.types import PHYSICS_RATE, FloatArray, IntArray, LongArray
from donkeysim.physics.kernels.laps import note_event
from donkeysim.physics.kernels.layout import EventTable
from donkeysim.world.ledger import COLUMNS, EVENT_BACK_ON_ROAD, EVENT_LEFT_ROAD
from donkeysim.world.state import Control, State

# Springs and tyres of a car that is left alone come to rest far below, and no driver means to creep at 5 cm/s.
STILL_SPEED = 0.05
"""Below it a car counts as standing [m/s]."""

# A place on the path moves faster than a car on the inside of a bend, by the ratio of the radii: where a path of 0.7 m
# radius is passed 0.5 m further in, 3.5 times as fast.
LEAP_ROOM = 0.25
"""How much farther than its wheels carry it a car's place on the path may move in a twentieth of a second [m], as in a
tight curve."""

# See `LEAP_ROOM`; whoever is put elsewhere leaps by metres.
LEAP_FACTOR = 4.0
"""How much faster than the car, likewise."""

LEAP_RATE = 20.0
"""Twentieths of a second in a second."""


SOURCES = dict(zip(COLUMNS, COLUMNS, strict=True)) | {"offset": "cte", "sector": "checkpoint"}
"""What each column of the ledger is called in `State`, `Control` or `Derived`, where its numbers are."""

if TYPE_CHECKING:  # fields that are worked out are none for a checker of types
    LedgerRows: TypeAlias = Any
    Derived: TypeAlias = Any
else:
    LedgerRows = namedtuple("LedgerRows", COLUMNS)
    """All columns in a form that kernels take, arrays of the device that the cars are on."""
    Derived = namedtuple("Derived", [name for name in COLUMNS if SOURCES[name] not in State._fields + Control._fields])
    """The columns that follow from `State`: those that neither it nor `Control` has."""


class PathTables(NamedTuple):
    """Paths of all scenes; each has a row more than nodes."""

    entry: LongArray
    """First row, nodes, closed, shape [scene_count, 3]."""
    node: FloatArray
    """x, y and length of the path up to the node [m]; the row after a scene's last has the whole length."""
    width: FloatArray
    """To the left and right edge of the road at each node [m]."""
    distances: FloatArray
    """How far ahead the path is observed, rising [m]."""


class Book(NamedTuple):
    """What rows are written from and into."""

    paths: PathTables
    derived: Derived


@inner_kernel
def find_direction(node, entry, scene, row):
    """Return the direction of the path at a node [rad], the mean of the segments that meet there."""
    begin, count, closed = entry[scene, 0], entry[scene, 1], entry[scene, 2]
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
def locate(node, entry, scene, row, x, y):
    """Return the share of the segment after a node where the nearest point to (x, y) lies, 0 to 1."""
    begin, count = entry[scene, 0], entry[scene, 1]
    following = row + 1 if row + 1 < count else 0
    dx = node[begin + following, 0] - node[begin + row, 0]
    dy = node[begin + following, 1] - node[begin + row, 1]
    share = ((x - node[begin + row, 0]) * dx + (y - node[begin + row, 1]) * dy) / max(dx * dx + dy * dy, 1e-18)
    return min(max(share, 0.0), 1.0)


@inner_kernel
def write_ahead(node, entry, scene, row, along, distances, x, y, cos_yaw, sin_yaw, ahead):
    """Write where the path is at these distances ahead, in the car's level frame [m], shape [point_count, 2]."""
    begin, count, closed = entry[scene, 0], entry[scene, 1], entry[scene, 2]
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


@inner_kernel
def measure_gain(moved, length, fastest, duration):
    """Return how far a car's place on the path has moved [m], the short way round; nothing where it leapt."""
    gain = moved - length * math.floor(moved / length + 0.5)
    if abs(gain) > (LEAP_FACTOR * fastest / LEAP_RATE + LEAP_ROOM) * (duration * LEAP_RATE):
        return 0.0
    return gain


@inner_kernel
def derive_row(state, car, scene, paths, derived):
    """Write what follows from a car's state, and return where it is along its path [m]."""
    entry, node = paths.entry, paths.node
    row = int(state.node_index[car])
    x, y = state.position[car, 0], state.position[car, 1]
    qw, qx = state.orientation[car, 0], state.orientation[car, 1]
    qy, qz = state.orientation[car, 2], state.orientation[car, 3]
    first, count = entry[scene, 0], entry[scene, 1]
    following = row + 1 if row + 1 < count else 0
    share = locate(node, entry, scene, row, x, y)
    heading = find_direction(node, entry, scene, row)
    turn = wrap_angle(find_direction(node, entry, scene, following) - heading)
    forward_x, forward_y = 1.0 - 2.0 * (qy * qy + qz * qz), 2.0 * (qx * qy + qw * qz)
    forward_z = 2.0 * (qx * qz - qw * qy)
    left_x, left_y, left_z = 2.0 * (qx * qy - qw * qz), 1.0 - 2.0 * (qx * qx + qz * qz), 2.0 * (qy * qz + qw * qx)
    vx, vy, vz = state.velocity[car, 0], state.velocity[car, 1], state.velocity[car, 2]
    yaw = math.atan2(forward_y, forward_x)
    along = node[first + row, 2] + share * (node[first + row + 1, 2] - node[first + row, 2])
    derived.yaw[car] = yaw
    derived.upright[car] = 1.0 - 2.0 * (qx * qx + qy * qy)
    derived.forward_speed[car] = forward_x * vx + forward_y * vy + forward_z * vz
    derived.left_speed[car] = left_x * vx + left_y * vy + left_z * vz
    derived.yaw_rate[car] = state.angular_velocity[car, 2]
    derived.heading_error[car] = wrap_angle(yaw - heading - share * turn)
    derived.path_length[car] = node[first + count, 2]
    left, right = paths.width[first + row, 0], paths.width[first + row, 1]
    derived.width_left[car] = left + share * (paths.width[first + following, 0] - left)
    derived.width_right[car] = right + share * (paths.width[first + following, 1] - right)
    derived.laps[car] = max(state.lap[car] - 1, 0)
    distances, cosine, sine = paths.distances, math.cos(yaw), math.sin(yaw)
    write_ahead(node, entry, scene, row, along, distances, x, y, cosine, sine, derived.ahead[car])
    return along


@inner_kernel
def count_frame(state, car, world, along, duration, derived, events):
    """Add what a car did in a frame of `duration` [s] to what it has done."""
    forward, left = derived.forward_speed[car], derived.left_speed[car]
    speed, time = abs(forward), derived.time[car]
    fastest = max(speed, state.speed[car]) + abs(left)
    gain = measure_gain(along - state.along[car], derived.path_length[car], fastest, duration)
    driven = state.driven[car] + gain
    furthest = max(state.furthest[car], driven)
    state.progress[car] = furthest - state.furthest[car]
    state.gain[car], state.driven[car], state.furthest[car], state.speed[car] = gain, driven, furthest, speed
    turn = derived.heading_error[car]
    against = forward * math.cos(turn) - left * math.sin(turn) < -STILL_SPEED
    state.still_time[car] = state.still_time[car] + duration if speed < STILL_SPEED else 0.0
    state.wrong_way_time[car] = state.wrong_way_time[car] + duration if against else 0.0
    away = state.off_road_time[car]
    if state.on_road[car] == 0:
        state.off_road_time[car] = away + duration
        if away == 0.0:
            note_event(events, world, car, time, EVENT_LEFT_ROAD, state.cte[car])
    elif away > 0.0:
        state.off_road_time[car] = 0.0
        note_event(events, world, car, time, EVENT_BACK_ON_ROAD, away)


@inner_kernel
def write_row(state, car, world, scene, step_count, events, book):
    """Write a car's row of the ledger.

    Args:
        state: Read; written is what is counted frame by frame.
        car: Row.
        world: The car's.
        scene: The world's.
        step_count: Physics steps of the frame that has just ended; 0: none has, the car was put somewhere.
        events: Written.
        book: Written.
    """
    book.derived.time[car] = state.step_index[world] / PHYSICS_RATE
    along = derive_row(state, car, scene, book.paths, book.derived)
    if step_count > 0:
        count_frame(state, car, world, along, step_count / PHYSICS_RATE, book.derived, events)
    state.along[car] = along


@index_kernel
def write_one_row(
    index: int, rows: LongArray, state: State, world_scene: IntArray, slots: int, events: EventTable, book: Book
) -> None:
    """Write the row of a car about which something has changed while no time passed.

    Args:
        index: Place in `rows`.
        rows: Of cars.
        state: Read.
        slots: Cars per world.
        events: Not written.
        book: Written, row of this car only.
    """
    car = rows[index]
    write_row(state, car, car // slots, int(world_scene[car // slots]), 0, events, book)
