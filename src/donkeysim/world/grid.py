"""Places of a start grid."""

from __future__ import annotations

import numpy as np

from donkeysim.core.errors import CapacityError
from donkeysim.core.types import FloatArray
from donkeysim.world.scene import Scene

GRID_ROOM = 0.125
"""A place of the grid is taken when a car's is this near [m]."""


def choose_place(scene: Scene, taken: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return position [m] and orientation (w, x, y, z) of the first place of a scene's grid that nobody has.

    Args:
        scene: Whose grid.
        taken: Places that others have [m], shape [n, 3].

    Raises:
        CapacityError: They have all places.
    """
    start = scene.start
    apart = np.linalg.norm(start.position[:, None] - taken, axis=2)
    free = np.flatnonzero((apart > GRID_ROOM).all(axis=1))
    if not len(free):
        raise CapacityError(
            f"the start grid of {scene.name} has {len(start.position)} places and all are taken; "
            "wait until a car leaves."
        )
    yaw = start.yaw[free[0]]
    return start.position[free[0]], np.array([np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)])
