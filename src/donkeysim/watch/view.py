"""Where a watcher's camera stands, and the ground plan: pictures of the running scene for people."""

from __future__ import annotations

import math

import numpy as np

from donkeysim.core import frames
from donkeysim.core.types import FloatArray
from donkeysim.watch.watchable import Outline
from donkeysim.world.scene import Path, Scene
from donkeysim.world.specs import CameraSpec

Pose = tuple[frames.Vector, frames.Vector]
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


def draw_outline(scene: Scene) -> Outline:
    """Return the ground plan of a scene."""
    path = scene.path
    normal = _find_normals(path)
    centre = path.position[:, :2]
    return Outline(
        path=centre.copy(),
        left=centre + normal * path.width_left[:, None],
        right=centre - normal * path.width_right[:, None],
        start_line=scene.start.line.copy(),
        is_closed=path.closed,
    )


def find_node(path: Path, index: int) -> tuple[frames.Vector, frames.Quaternion]:
    """Return a node's position [m] and the rotation (w, x, y, z) that looks from the node before to the one after."""
    last = len(path.position) - 1
    before, after = (index - 1) % (last + 1), (index + 1) % (last + 1)
    if not path.closed:
        before, after = max(index - 1, 0), min(index + 1, last)
    dx, dy, dz = (path.position[after] - path.position[before]).tolist()
    x, y, z = path.position[index].tolist()
    yaw, pitch = math.atan2(dy, dx), -math.atan2(dz, math.hypot(dx, dy))
    cy, sy, cp, sp = math.cos(yaw / 2), math.sin(yaw / 2), math.cos(pitch / 2), math.sin(pitch / 2)
    return (x, y, z), (cy * cp, -sy * sp, cy * sp, sy * cp)


def _find_normals(path: Path) -> FloatArray:
    """Return unit vectors to the left of the path, shape [node_count, 2]."""
    position = path.position[:, :2]
    if path.closed:
        along = np.roll(position, -1, axis=0) - np.roll(position, 1, axis=0)
    else:
        along = np.gradient(position, axis=0)
    normal: FloatArray = np.stack([-along[:, 1], along[:, 0]], axis=1)
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-9)
    return normal
