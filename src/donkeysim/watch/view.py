"""The ground plan of the running scene, its nodes, and what a watcher sees of a car."""

from __future__ import annotations

from donkeysim.core.frames import Quaternion, Vector
from donkeysim.core.rotation import look_to_quaternion
from donkeysim.core.types import ByteArray
from donkeysim.sim import viewpoint
from donkeysim.sim.simulator import Simulator
from donkeysim.watch.watchable import Outline, View
from donkeysim.world.path_frame import find_normals
from donkeysim.world.scene import Path, Scene


def draw_outline(scene: Scene) -> Outline:
    """Return the ground plan of a scene."""
    path = scene.path
    normal = find_normals(path.position, path.closed)
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
    x, y, z, yaw = viewpoint.find_pose(simulator.ledger, row)
    pose = viewpoint.place_chase_camera(x, y, z, yaw) if kind == "chase" else viewpoint.place_top_camera(x, y, z)
    world = row // simulator.spec.cars_per_world
    return simulator.view(world, *pose, viewpoint.make_view_camera(width, height))


def find_node(path: Path, index: int) -> tuple[Vector, Quaternion]:
    """Return a node's position [m] and the rotation (w, x, y, z) that looks from the node before to the one after."""
    x, y, z = path.position[index].tolist()
    yaw, slope = path.frame.look(index)
    return (x, y, z), look_to_quaternion(yaw, -slope)
