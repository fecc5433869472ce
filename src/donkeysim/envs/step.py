"""What happened to every car in one step of a batch: the arrays that rewards and ends judge."""

from __future__ import annotations

from typing import NamedTuple

from donkeysim.core.types import BoolArray, FloatArray, IntArray
from donkeysim.world.scene import Path
from donkeysim.world.state import State


class Step(NamedTuple):
    """One step of all cars; world frame z up, + = left, shape [car_count] unless said. Valid until the next step."""

    forward_speed: FloatArray
    """Along the nose, negative backwards [m/s]."""
    left_speed: FloatArray
    """Sideways, + = to the left [m/s]."""
    yaw_rate: FloatArray
    """+ = turning left [rad/s]."""
    offset: FloatArray
    """From the path, + = left of it [m]."""
    heading_error: FloatArray
    """Yaw less the direction of the path, -π to π [rad]."""
    along: FloatArray
    """Length of the path from its node 0 to the nearest point [m]."""
    path_length: FloatArray
    """Once around, or from end to end [m]."""
    width_left: FloatArray
    """From the path to the road's left edge [m]."""
    width_right: FloatArray
    """From the path to the road's right edge [m]."""
    upright: FloatArray
    """Cosine of the tilt: 1 = level, below 0 = on its roof."""
    ahead: FloatArray
    """Points of the path ahead in the car's level frame [m], shape [car_count, point_count, 2]."""
    on_road: BoolArray
    """Whether the body's origin is above the drivable surface."""
    hit: IntArray
    """What was touched in this step, as `State.hit`."""
    gain: FloatArray
    """Way made along the path in this step, negative backwards [m]; a leap to another part of it counts nothing."""
    driven: FloatArray
    """Sum of `gain` since the episode began [m]."""
    furthest: FloatArray
    """Greatest `driven` so far [m]: checkpoints lie along the way and are passed in their order or not at all."""
    progress: FloatArray
    """By how much this step moved `furthest` [m]; ground driven again counts nothing."""
    laps: IntArray
    """Whole lengths of the path in `furthest`."""
    lap_time: FloatArray
    """Of the last finished lap, 0 before [s]; the first one begins with the episode."""
    time: FloatArray
    """Since the episode began [s]."""
    off_road_time: FloatArray
    """For how long the car has been off the road [s]."""
    still_time: FloatArray
    """For how long it has stood (nearly) still [s]."""
    wrong_way_time: FloatArray
    """For how long it has gone against the path [s]."""
    steer: FloatArray
    """Asked for in this step, -1 to 1, + = left."""
    throttle: FloatArray
    """Asked for in this step, -1 to 1."""
    previous_steer: FloatArray
    """Asked for in the step before."""
    previous_throttle: FloatArray
    """Asked for in the step before."""
    ended: BoolArray
    """Which episodes this step ends by one of the task's rules; all False while the rules are asked."""
    state: State
    """Everything else of the simulator: poses, wheels, props. Read only."""
    paths: tuple[Path, ...]
    """The path that each car is measured against."""
