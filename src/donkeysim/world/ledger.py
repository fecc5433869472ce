"""What may be read of the cars: a row for each, written once a frame, and what happened to them in it.

Telemetry, environments, standings, evaluations, drivers, pages and recordings read these rows; reading changes nothing.
A frame is one call of `Simulator.step`; what commands change (a reset, a car put somewhere) shows at once.

`Ledger` is the one list of columns. A new one is a field there, and a line in `physics.kernels.ledger` that writes it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from donkeysim.core.types import BoolArray, ByteArray, FloatArray, IntArray


@dataclass(frozen=True)
class Ledger:
    """Rows of all cars, read only; world frame z up, + = left, shape [car_count] unless said."""

    cars_per_world: int
    """Row = world * cars_per_world + slot."""
    present: ByteArray
    """1 where the slot holds a car."""
    time: FloatArray
    """On the world's clock: since its scene was loaded [s]."""

    position: FloatArray
    """Of the body's origin [m, world frame], shape [car_count, 3]."""
    orientation: FloatArray
    """Body to world, unit quaternion (w, x, y, z), shape [car_count, 4]."""
    yaw: FloatArray
    """[rad], counter-clockwise from +x."""
    upright: FloatArray
    """Cosine of the tilt: 1 = level, below 0 = on its roof."""
    velocity: FloatArray
    """Of the centre of mass [m/s, world frame], shape [car_count, 3]."""
    angular_velocity: FloatArray
    """[rad/s, world frame], shape [car_count, 3]."""
    forward_speed: FloatArray
    """Along the nose, negative backwards [m/s]."""
    left_speed: FloatArray
    """Sideways [m/s]."""
    yaw_rate: FloatArray
    """+ = turning left [rad/s]."""
    acceleration_body: FloatArray
    """Of the last physics step, body frame [m/s²], shape [car_count, 3]."""
    rotation_step: FloatArray
    """Rotation of the last physics step (w, x, y, z), shape [car_count, 4]."""
    wheel_speed: FloatArray
    """Spin about the axle [rad/s], shape [car_count, 4]: front-left, front-right, rear-left, rear-right."""
    wheel_load: FloatArray
    """Normal force on the ground [N], shape [car_count, 4]."""
    steer_angle: FloatArray
    """Of the steered wheels [rad]."""
    steer: FloatArray
    """Asked for now, -1 to 1."""
    throttle: FloatArray
    """Asked for now, -1 to 1."""
    brake: FloatArray
    """Asked for now, 0 to 1; more after a reset."""

    node_index: IntArray
    """Path node behind the car."""
    offset: FloatArray
    """From the path [m]."""
    active_node: IntArray
    """As the original counts it, `State.active_node`."""
    active_offset: FloatArray
    """The original's cte, `State.active_offset` [m]."""
    heading_error: FloatArray
    """Yaw less the direction of the path, + = pointing left of it, -π to π [rad]."""
    along: FloatArray
    """Length of the path from its node 0 to the nearest point, below `path_length` [m]."""
    path_length: FloatArray
    """Once around, or from end to end [m]."""
    width_left: FloatArray
    """From the path to the road's left edge [m]."""
    width_right: FloatArray
    """From the path to the road's right edge [m]."""
    ahead: FloatArray
    """Points of the path ahead in the car's level frame, x forward, y left [m], shape [car_count, point_count, 2]."""
    shortest_along: FloatArray
    """Along the shortest line inside the road since the start line [m]."""

    gain: FloatArray
    """Way made along the path in this frame, negative backwards [m]; a leap to another part of it counts nothing."""
    driven: FloatArray
    """Sum of `gain` since the car was put somewhere [m]."""
    furthest: FloatArray
    """Greatest `driven` so far [m]."""
    progress: FloatArray
    """By how much this frame moved `furthest` [m]; ground driven again counts nothing."""
    on_road: BoolArray
    """Whether the body's origin is above the drivable surface."""
    off_road_time: FloatArray
    """For how long the car has been off the road [s]."""
    still_time: FloatArray
    """For how long it has stood (nearly) still [s]."""
    wrong_way_time: FloatArray
    """For how long it has gone against the path [s]."""

    lap: IntArray
    """Which lap the car is in since its last reset, by the rule of `physics.kernels.laps`; 0 before the first."""
    laps: IntArray
    """Finished ones."""
    lap_begun: FloatArray
    """When the lap began, on the world's clock, -1 before the first [s]."""
    lap_time: FloatArray
    """Of the last finished lap, 0 before [s]."""
    sector: IntArray
    """The checkpoint that is to be passed next, as many as there are when all have been."""
    hit: IntArray
    """What was last newly touched since the hits were cleared, as `State.hit`."""
    touching: IntArray
    """Codes (as `hit`) of what the car touched in the last physics step, shape [car_count, TOUCH_COUNT]."""
    fault: IntArray
    """Bits FAULT_*."""
    spawn_position: FloatArray
    """Where a reset puts the body's origin [m], shape [car_count, 3]."""
    spawn_orientation: FloatArray
    """How a reset turns it (w, x, y, z), shape [car_count, 4]."""
    reset_count: IntArray
    """Resets since the car joined."""


COLUMNS = tuple(column.name for column in fields(Ledger) if column.name != "cars_per_world")
"""By name, in order."""

EVENT_CROSSING, EVENT_LAP, EVENT_CHECKPOINT, EVENT_MISSED_CHECKPOINT = range(4)
"""A start line was crossed (value: its index), a lap finished (its time [s]), a checkpoint passed (its index), line 0
was crossed but the lap continues because a checkpoint was missed (its index)."""

EVENT_HIT, EVENT_LEFT_ROAD, EVENT_BACK_ON_ROAD, EVENT_RESCUED = range(4, 8)
"""Something was newly touched (value: its code, as `State.hit`), the car left the road (how far left of the path it is
[m]), is back on it (how long it was away [s]), was put back to its spawn pose as it had left the world."""


class Event(NamedTuple):
    """Something that happened to a car."""

    time: float
    """On the world's clock [s]; crossings to within a physics step."""
    car: int
    """Row."""
    kind: int
    """EVENT_*."""
    value: float
    """See the kinds."""

    @property
    def step(self) -> int:
        """The physics step that it happened in, counted by the world's clock."""
        return int(np.ceil(self.time * 480.0 - 1e-9))
