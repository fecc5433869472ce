"""The ground plan of the running scene, its nodes, and what a watcher sees of a car."""

from __future__ import annotations

import math

import numpy as np

from donkeysim.core import frames
from donkeysim.core.types import ByteArray, FloatArray
from donkeysim.sim import viewpoint
from donkeysim.sim.simulator import Simulator
from donkeysim.watch.watchable import Outline, View
from donkeysim.world.scene import Path, Scene


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
        road=scene.road,
        checkpoint=scene.start.checkpoint.copy(),
    )


def draw_car(simulator: Simulator, row: int, kind: View, width: int, height: int) -> ByteArray:
    """Return a view of a car from behind or from above, shape [height, width, 3]."""
    x, y, z, yaw = viewpoint.find_pose(simulator.state, row)
    pose = viewpoint.place_chase_camera(x, y, z, yaw) if kind == "chase" else viewpoint.place_top_camera(x, y, z)
    world = row // simulator.spec.cars_per_world
    return simulator.view(world, *pose, viewpoint.make_view_camera(width, height))


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
