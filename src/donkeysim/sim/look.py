"""From drawn values to the renderer's rows: light, and colours of each class of things."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from donkeysim.core.types import Float32Array, FloatArray
from donkeysim.render.kernels.recolour import LOOK_WIDTH
from donkeysim.world.randomization import CHANNELS, RandomizationSpec
from donkeysim.world.scene import CLASS_CAR, CLASS_GROUND, CLASS_LINE, CLASS_PROP, CLASS_ROAD, CLASS_SKY

LUMA = np.array([0.2126, 0.7152, 0.0722])
"""Share of each channel in how bright a colour looks; it stays while hue and saturation change."""

MEDIUM = 127.5
"""Grey that contrast leaves as it is."""

PATCH_SIZE = 0.3
"""Of patches when none is drawn [m]."""

SKY_DEPTH = 30.0
"""How far one looks through fog that the scene does not have before one sees its sky [m]."""

_TABLES = {"ground": CLASS_GROUND, "road": CLASS_ROAD, "lines": CLASS_LINE, "props": CLASS_PROP, "sky": CLASS_SKY}


def has_looks(spec: RandomizationSpec) -> bool:
    """Return whether colours of any class may change; fog changes the sky's."""
    tables = (getattr(spec, name) for name in _TABLES)
    return spec.fog.density is not None or any(table != type(table)() for table in tables)


def make_light(light: Float32Array, values: Mapping[str, float]) -> FloatArray:
    """Return a row of light, see `PictureTables.light`.

    Args:
        light: Of the scene.
        values: Drawn ones by name.
    """
    row: FloatArray = light.astype(np.float64)
    sun_tint, fog_tint = _read_tint(values, "sun"), _read_tint(values, "fog")
    row[0:3] *= values.get("sun.strength", 1.0) * sun_tint
    row[3:6] *= values.get("sun.ambient", 1.0) * sun_tint
    row[6:9] = np.clip(row[6:9] * fog_tint, 0.0, 255.0)
    row[9] = values.get("fog.density", row[9])
    if "sun.azimuth" in values or "sun.height" in values:
        azimuth = math.atan2(row[11], row[10]) + values.get("sun.azimuth", 0.0)
        height = values.get("sun.height", math.asin(min(max(row[12], -1.0), 1.0)))
        row[10:13] = (
            math.cos(azimuth) * math.cos(height),
            math.sin(azimuth) * math.cos(height),
            math.sin(height),
        )
    return row


def make_looks(scene_light: Float32Array, light: Float32Array, values: Mapping[str, float], pattern: int) -> FloatArray:
    """Return the look of each class, shape [class_count, LOOK_WIDTH].

    Args:
        scene_light: Of the scene, as `PictureTables.light`.
        light: As the car sees it.
        values: Drawn ones by name.
        pattern: What gives patches their shape, a whole number below 2^24.
    """
    looks: FloatArray = np.zeros((CLASS_CAR + 1, LOOK_WIDTH))
    for table, kind in _TABLES.items():
        matrix, offset = _make_colours(values, table)
        if table == "sky":
            # More fog than the scene has hides its sky.
            clear = math.exp(-max(float(light[9] - scene_light[9]), 0.0) * SKY_DEPTH)
            matrix, offset = matrix * clear, offset * clear + (1.0 - clear) * light[6:9]
        patches = values.get(f"{table}.patches", 0.0)
        is_on = patches > 0.0 or not (np.array_equal(matrix, np.eye(3)) and not offset.any())
        size = values.get(f"{table}.patch_size", PATCH_SIZE)
        looks[kind] = (*matrix.ravel(), *offset, is_on, patches, 1.0 / size, (pattern + kind * 7919) % (1 << 24))
    return looks


def _make_colours(values: Mapping[str, float], table: str) -> tuple[FloatArray, FloatArray]:
    """Return colour matrix and offset (of values 0 to 255): hue, then saturation, contrast and tint."""
    matrix: FloatArray = np.eye(3)
    hue, saturation = values.get(f"{table}.hue", 0.0), values.get(f"{table}.saturation", 1.0)
    if hue != 0.0:
        matrix = _turn_hue(hue) @ matrix
    if saturation != 1.0:
        matrix = (saturation * np.eye(3) + (1.0 - saturation) * LUMA) @ matrix
    contrast, tint = values.get(f"{table}.contrast", 1.0), _read_tint(values, table)
    offset = np.full(3, (1.0 - contrast) * MEDIUM)
    return tint[:, None] * contrast * matrix, tint * offset


def _turn_hue(angle: float) -> FloatArray:
    """Return the matrix that turns colours about the grey axis [rad], and keeps how bright they look."""
    axis = np.full(3, 1.0 / math.sqrt(3.0))
    cross = np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
    turn = math.cos(angle) * np.eye(3) + math.sin(angle) * cross + (1.0 - math.cos(angle)) * np.outer(axis, axis)
    # What the turn has changed in brightness is taken back, equally in all channels.
    kept: FloatArray = turn + np.outer(np.ones(3), LUMA - LUMA @ turn)
    return kept


def _read_tint(values: Mapping[str, float], table: str) -> FloatArray:
    return np.array([values.get(f"{table}.tint_{channel}", 1.0) for channel in CHANNELS])
