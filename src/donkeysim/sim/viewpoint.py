"""What is seen of a car from outside."""

from __future__ import annotations

import math

from donkeysim.core.types import ByteArray
from donkeysim.sim.simulator import Simulator
from donkeysim.world.ledger import Ledger
from donkeysim.world.specs import CameraSpec

CHASE_DISTANCE = 0.62
"""Of the chase camera behind the car [m]."""

CHASE_HEIGHT = 0.32
"""Of the chase camera above the car [m]."""

TOP_HEIGHT = 3.5
"""Of the camera looking down [m above the car]."""


def find_pose(ledger: Ledger, row: int) -> tuple[float, float, float, float]:
    """Return a car's position [m] and yaw [rad], world frame."""
    x, y, z = ledger.position[row].tolist()
    return x, y, z, float(ledger.yaw[row])


def draw_car(simulator: Simulator, row: int, kind: str = "chase", width: int = 640, height: int = 360) -> ByteArray:
    """Return a view of a car, shape [height, width, 3].

    Args:
        simulator: Where it drives.
        row: The car's.
        kind: "chase": from behind and above; "top": from straight above, the world's x axis up in the picture.
        width: Columns [pixel].
        height: Rows [pixel].
    """
    x, y, z, yaw = find_pose(simulator.ledger, row)
    if kind == "chase":
        position = (x - CHASE_DISTANCE * math.cos(yaw), y - CHASE_DISTANCE * math.sin(yaw), z + CHASE_HEIGHT)
        rotation = (0.0, math.radians(16.0), yaw)
    else:
        position, rotation = (x, y, z + TOP_HEIGHT), (0.0, math.radians(90.0), 0.0)
    camera = CameraSpec(width=width, height=height, fov=math.radians(60.0), quality="smooth")
    return simulator.view(row // simulator.spec.cars_per_world, position, rotation, camera).copy()
