"""What is seen of a car from outside."""

from __future__ import annotations

import math
from dataclasses import replace

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
        kind: "chase": from behind and above; "top": from straight above, the world's x axis up in the picture; "seat":
            from its camera's place with its angle of view, in colours.
        width: Columns [pixel]; "seat": the most, as it keeps its camera's shape.
        height: Rows [pixel]; as `width`.
    """
    if kind == "seat":
        return _draw_from_seat(simulator, row, width, height)
    x, y, z, yaw = find_pose(simulator.ledger, row)
    if kind == "chase":
        position = (x - CHASE_DISTANCE * math.cos(yaw), y - CHASE_DISTANCE * math.sin(yaw), z + CHASE_HEIGHT)
        rotation = (0.0, math.radians(16.0), yaw)
    else:
        position, rotation = (x, y, z + TOP_HEIGHT), (0.0, math.radians(90.0), 0.0)
    camera = CameraSpec(width=width, height=height, fov=math.radians(60.0))
    return simulator.view(row // simulator.spec.cars_per_world, position, rotation, camera).copy()


def _draw_from_seat(simulator: Simulator, row: int, width: int, height: int) -> ByteArray:
    own = simulator.get_camera(row) or CameraSpec()
    scale = min(width / own.width, height / own.height)
    columns, rows = max(1, round(scale * own.width)), max(1, round(scale * own.height))
    larger = replace(own, width=columns, height=rows, grey=False, supersample=1, depth=False, segment=False)
    group = simulator.renderer.make_group([row], [larger])
    simulator.render_group(group)
    picture: ByteArray = group.frame.colour[0].copy()
    return picture
