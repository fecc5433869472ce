"""Where a camera stands that looks at a car from outside."""

from __future__ import annotations

import math

from donkeysim.core.frames import Vector
from donkeysim.world.ledger import Ledger
from donkeysim.world.specs import CameraSpec

Pose = tuple[Vector, Vector]
"""Position [m, world frame] and (roll, pitch, yaw) [rad]."""

CHASE_DISTANCE = 0.62
"""Of the chase camera behind the car [m]."""

CHASE_HEIGHT = 0.32
"""Of the chase camera above the car [m]."""

TOP_HEIGHT = 3.5
"""Of the camera looking down [m above the car]."""


def place_chase_camera(x: float, y: float, z: float, yaw: float) -> Pose:
    """Return the pose of a camera behind and above a car."""
    position = (x - CHASE_DISTANCE * math.cos(yaw), y - CHASE_DISTANCE * math.sin(yaw), z + CHASE_HEIGHT)
    return position, (0.0, math.radians(16.0), yaw)


def place_top_camera(x: float, y: float, z: float) -> Pose:
    """Return the pose of a camera straight above a car, the world's x axis up in the picture."""
    return (x, y, z + TOP_HEIGHT), (0.0, math.radians(90.0), 0.0)


def make_view_camera(width: int, height: int) -> CameraSpec:
    """Return the camera of a watcher's picture."""
    return CameraSpec(width=width, height=height, fov=math.radians(60.0))


def find_pose(ledger: Ledger, row: int) -> tuple[float, float, float, float]:
    """Return a car's position [m] and yaw [rad], world frame."""
    x, y, z = ledger.position[row].tolist()
    return x, y, z, float(ledger.yaw[row])
