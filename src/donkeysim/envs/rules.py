"""Reward, end of an episode and `info`, as the original's environment has them, with two of its faults mended.

|cte| counts on both sides of the path, and the velocity is that of this step, not of the one before.
"""

from typing import Any

from donkeysim.envs.sensor_frame import SensorFrame, make_distances
from donkeysim.world.specs import LidarSpec

FALL_REWARD = -1.0
"""Reward of the step that ends an episode."""

HIT_REWARD = -2.0
"""Reward of a step that touches something without ending the episode."""


def find_forward_velocity(moment: SensorFrame) -> float:
    """Return the speed along the car's nose [m/s], negative backwards; without velocities the speed."""
    telemetry = moment.telemetry
    return telemetry.speed if telemetry.vel_z is None else telemetry.vel_z


def is_over(moment: SensorFrame, max_cte: float) -> bool:
    """Return whether the car has left the road or touched something, or a server has disqualified it.

    A distance of more than twice `max_cte` is passed over, as the original does: no car gets there in one step, but its
    first readings after a start may say so.

    Args:
        moment: After the step.
        max_cte: Farthest from the path [U].
    """
    distance = abs(moment.telemetry.cte or 0.0)
    return moment.is_disqualified or max_cte < distance <= 2.0 * max_cte or moment.telemetry.hit != "none"


def compute_reward(moment: SensorFrame, max_cte: float, over: bool) -> float:
    """Return the reward of a step: fast along the middle of the road is best; backwards costs its speed.

    Args:
        moment: After the step.
        max_cte: Farthest from the path [U].
        over: Whether the episode has ended.
    """
    if over:
        return FALL_REWARD
    distance, velocity = abs(moment.telemetry.cte or 0.0), find_forward_velocity(moment)
    if distance > max_cte:
        return FALL_REWARD
    if moment.telemetry.hit != "none":
        return HIT_REWARD
    return (1.0 - distance / max_cte) * velocity if velocity > 0.0 else velocity


def make_info(moment: SensorFrame, lidar: LidarSpec | None) -> dict[str, Any]:
    """Return what the original's `info` holds: metres, m/s, rad/s and degrees on its axes; cte and lidar in U.

    Args:
        moment: After the step.
        lidar: As `EnvConf.lidar`.
    """
    telemetry = moment.telemetry
    info: dict[str, Any] = {
        "pos": (telemetry.pos_x or 0.0, telemetry.pos_y or 0.0, telemetry.pos_z or 0.0),
        "cte": telemetry.cte or 0.0,
        "speed": telemetry.speed,
        "forward_vel": find_forward_velocity(moment),
        "hit": telemetry.hit,
        "gyro": (telemetry.gyro_x, telemetry.gyro_y, telemetry.gyro_z),
        "accel": (telemetry.accel_x, telemetry.accel_y, telemetry.accel_z),
        "vel": (telemetry.vel_x or 0.0, telemetry.vel_y or 0.0, telemetry.vel_z or 0.0),
        "lidar": make_distances(moment.lidar, lidar) if lidar is not None else [],
        "car": (telemetry.roll, telemetry.pitch, telemetry.yaw),
        "last_lap_time": moment.lap_times[-1] if moment.lap_times else 0.0,
        "lap_count": len(moment.lap_times),
    }
    if moment.image_b is not None:
        info["image_b"] = moment.image_b
    if moment.drawn:
        info["randomization"] = dict(moment.drawn)
    return info
