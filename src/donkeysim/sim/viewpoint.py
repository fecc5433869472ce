"""What is seen of a car from outside, and of a place where there is none."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from donkeysim.core.frames import Vector
from donkeysim.core.types import ByteArray
from donkeysim.world.ledger import Ledger
from donkeysim.world.scene import Scene
from donkeysim.world.specs import CameraSpec

if TYPE_CHECKING:
    from donkeysim.sim.simulator import Simulator

CHASE_DISTANCE = 0.62
"""Of the chase camera behind the car [m]."""

CHASE_HEIGHT = 0.32
"""Of the chase camera above the car [m]."""

TOP_HEIGHT = 3.5
"""Of the camera looking down [m above the car]."""

# At 1/8 a helicopter at 5.6 m with 17 km/h.
FLIGHT_SPEED, FLIGHT_HEIGHT = 0.6, 0.7
"""Of the camera that shows a place: along the road [m/s], above it [m]."""

FLIGHT_AHEAD = 2.5
"""It looks at the road so far ahead [m]."""

View = tuple[Vector, Vector]
"""Where a free camera is, world frame [m], and its roll, pitch and yaw [rad]."""


def find_pose(ledger: Ledger, row: int) -> tuple[float, float, float, float]:
    """Return a car's position [m] and yaw [rad], world frame."""
    x, y, z = ledger.position[row].tolist()
    return x, y, z, float(ledger.yaw[row])


def find_view(kind: str, x: float, y: float, z: float, yaw: float) -> View:
    """Return where a camera is that shows a car; "chase" or "top", see `draw_car`, then the car's pose [m, rad].

    "tv" is "chase": cameras beside the track are known where moments are kept, see `watch.tv`.
    """
    if kind in ("chase", "tv"):
        position = (x - CHASE_DISTANCE * math.cos(yaw), y - CHASE_DISTANCE * math.sin(yaw), z + CHASE_HEIGHT)
        return position, (0.0, math.radians(16.0), yaw)
    return (x, y, z + TOP_HEIGHT), (0.0, math.radians(90.0), 0.0)


def find_flight(scene: Scene, seconds: float) -> View:
    """Return where a camera is that flies along the road for ever and has done so for some seconds."""
    frame = scene.path.frame
    along = seconds * FLIGHT_SPEED % frame.length
    (eye, ahead), _ = frame.at(np.array([along, along + FLIGHT_AHEAD]))
    x, y, z = (ahead - eye).tolist()
    if math.hypot(x, y) < 1e-6:  # where an open road ends
        x, y = math.cos(frame.direction[-1]), math.sin(frame.direction[-1])
    pitch = math.atan2(FLIGHT_HEIGHT - z, math.hypot(x, y))
    return (float(eye[0]), float(eye[1]), float(eye[2]) + FLIGHT_HEIGHT), (0.0, pitch, math.atan2(y, x))


def make_view_camera(width: int, height: int) -> CameraSpec:
    """Return the camera for such views, `width` columns by `height` rows [pixel]."""
    return CameraSpec(width=width, height=height, fov=math.radians(60.0), quality="smooth")


def draw_car(simulator: Simulator, row: int, kind: str = "chase", width: int = 640, height: int = 360) -> ByteArray:
    """Return a view of a car without its own name plate, shape [height, width, 3].

    Args:
        kind: "chase": from behind and above; "top": from straight above, the world's x axis up in the picture; "seat":
            from its camera's place with its angle of view, in colours.
        width: Columns [pixel]; "seat": see `make_seat_camera`.
        height: Rows [pixel]; as `width`.
    """
    if kind == "seat":
        group = simulator.renderer.make_group([row], [make_seat_camera(simulator.get_camera(row), width, height)])
        simulator.render_group(group)
        picture: ByteArray = group.frame.colour[0].copy()
        return picture
    view = find_view(kind, *find_pose(simulator.ledger, row))
    return simulator.view(row // simulator.spec.cars_per_world, *view, make_view_camera(width, height), row).copy()


def make_seat_camera(own: CameraSpec | None, width: int, height: int) -> CameraSpec:
    """Return the camera for a view from a car's seat: its own one, drawn as large as fits into columns and rows.

    Where more columns fit, one that bends nothing sees more on both sides and fills them.
    """
    own = own or CameraSpec()
    scale = min(width / own.width, height / own.row_count)
    columns, rows = max(1, round(scale * own.width)), max(1, round(scale * own.row_count))
    if own.lens is None and own.fisheye == (0.0, 0.0):
        columns = max(columns, width)
    top, bottom = round(scale * own.crop_top), round(scale * own.crop_bottom)
    size = replace(own, width=columns, height=top + rows + bottom, crop_top=top, crop_bottom=bottom)
    return replace(size, grey=False, supersample=1, depth=False, segment=False, quality="smooth")


def draw_place(simulator: Simulator, seconds: float, width: int, height: int) -> ByteArray:
    """Return what `find_flight` shows, shape [height, width, 3]."""
    return simulator.view(0, *find_flight(simulator.scene, seconds), make_view_camera(width, height)).copy()
