"""The ground plan of a scene."""

from __future__ import annotations

from donkeysim.watch.watchable import Outline
from donkeysim.world.path_frame import find_normals
from donkeysim.world.scene import Scene


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
