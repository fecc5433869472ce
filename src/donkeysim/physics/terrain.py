"""Grounds of all scenes as flat tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from donkeysim.core.types import FloatArray
from donkeysim.physics.kernels import layout
from donkeysim.physics.kernels.layout import Terrain
from donkeysim.world.scene import Ground, Scene

CEILING_REACH = 0.4
"""`Terrain.ceiling` holds the greatest height within this distance of a grid corner's cell [m]; a car's half diagonal
and more."""


def make_terrain(scenes: Sequence[Scene]) -> Terrain:
    """Return the grounds of these scenes, one after another."""
    number = np.zeros((len(scenes), layout.TERRAIN_NUMBERS))
    entry = np.zeros((len(scenes), layout.TERRAIN_INDICES), np.int64)
    height_count = surface_count = kind_count = 0
    for row, scene in enumerate(scenes):
        ground = scene.ground
        level = ground.height.size == 1 or bool((ground.height == ground.height.flat[0]).all())
        uniform = bool((ground.friction == ground.friction[0]).all())
        number[row] = (
            *ground.height_origin,
            ground.height_cell,
            *ground.surface_origin,
            ground.surface_cell,
            ground.height.flat[0],
            ground.friction[0],
        )
        entry[row] = (
            height_count,
            *ground.height.shape,
            surface_count,
            *ground.surface.shape,
            kind_count,
            level,
            uniform,
        )
        height_count += ground.height.size
        surface_count += ground.surface.size
        kind_count += ground.friction.size
    grounds = [scene.ground for scene in scenes]
    return Terrain(
        number=number,
        entry=entry,
        height=np.concatenate([ground.height.ravel() for ground in grounds]).astype(np.float64),
        ceiling=np.concatenate([_raise_ceiling(ground).ravel() for ground in grounds]),
        surface=np.concatenate([ground.surface.ravel() for ground in grounds]).astype(np.uint8),
        friction=np.concatenate([ground.friction for ground in grounds]).astype(np.float64),
        drivable=np.concatenate([ground.drivable for ground in grounds]).astype(np.uint8),
    )


def _raise_ceiling(ground: Ground) -> FloatArray:
    reach = 1 + int(np.ceil(CEILING_REACH / ground.height_cell))
    ceiling: FloatArray = ground.height.astype(np.float64)
    for axis in (0, 1):
        padded = np.pad(ceiling, [(reach, reach) if axis == side else (0, 0) for side in (0, 1)], mode="edge")
        windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1, axis=axis)
        ceiling = np.ascontiguousarray(windows.max(axis=-1))
    return ceiling
