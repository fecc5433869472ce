"""From drawn values to the renderer's rows: light, and colours of each class of things."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TypeAlias

import numpy as np

from donkeysim.core.types import Float32Array, FloatArray, LongArray
from donkeysim.render.kernels.recolour import LOOK_WIDTH
from donkeysim.world.randomization import CHANNELS, RandomizationSpec
from donkeysim.world.scene import CLASS_CAR, CLASS_GROUND, CLASS_LINE, CLASS_PROP, CLASS_ROAD, CLASS_SKY

Values: TypeAlias = Mapping[str, FloatArray]
"""Drawn values by name, one for each car; what is not drawn is left out."""

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


def make_lights(light: Float32Array, values: Values) -> FloatArray:
    """Return rows of light, see `PictureTables.light`, shape as `light`.

    Args:
        light: Of the scenes, a row for each car.
        values: Drawn ones by name.
    """
    rows: FloatArray = light.astype(np.float64)
    count = len(rows)
    sun_tint, fog_tint = _read_tint(values, "sun", count), _read_tint(values, "fog", count)
    rows[:, 0:3] *= _read(values, "sun.strength", 1.0, count)[:, None] * sun_tint
    rows[:, 3:6] *= _read(values, "sun.ambient", 1.0, count)[:, None] * sun_tint
    rows[:, 6:9] = np.clip(rows[:, 6:9] * fog_tint, 0.0, 255.0)
    if "fog.density" in values:
        rows[:, 9] = values["fog.density"]
    if "sun.azimuth" in values or "sun.height" in values:
        turned = _read(values, "sun.azimuth", 0.0, count).tolist()
        for row, (turn, (x, y, z)) in enumerate(zip(turned, rows[:, 10:13].tolist(), strict=True)):
            azimuth = math.atan2(y, x) + turn
            height = math.asin(min(max(z, -1.0), 1.0))
            if "sun.height" in values:
                height = float(values["sun.height"][row])
            flat = math.cos(height)
            rows[row, 10:13] = (math.cos(azimuth) * flat, math.sin(azimuth) * flat, math.sin(height))
    return rows


def make_looks(scene_light: Float32Array, light: Float32Array, values: Values, pattern: LongArray) -> FloatArray:
    """Return the look of each class for each car, shape [car_count, class_count, LOOK_WIDTH].

    Args:
        scene_light: Of the scenes, rows as `PictureTables.light`.
        light: As the cars see it.
        values: Drawn ones by name.
        pattern: What gives patches their shape, whole numbers below 2^24, shape [car_count].
    """
    count = len(light)
    looks: FloatArray = np.zeros((count, CLASS_CAR + 1, LOOK_WIDTH))
    for table, kind in _TABLES.items():
        matrix, offset = _make_colours(values, table, count)
        if table == "sky":
            # More fog than the scene has hides its sky.
            fog = (light[:, 9] - scene_light[:, 9]).tolist()
            clear = np.array([math.exp(-max(more, 0.0) * SKY_DEPTH) for more in fog])[:, None]
            matrix, offset = matrix * clear[:, :, None], offset * clear + (1.0 - clear) * light[:, 6:9]
        patches = _read(values, f"{table}.patches", 0.0, count)
        is_on = (patches > 0.0) | (matrix != np.eye(3)).any(axis=(1, 2)) | offset.any(axis=1)
        size = _read(values, f"{table}.patch_size", PATCH_SIZE, count)
        shape = (pattern + kind * 7919) % (1 << 24)
        looks[:, kind] = np.column_stack([matrix.reshape(count, 9), offset, is_on, patches, 1.0 / size, shape])
    return looks


def _make_colours(values: Values, table: str, count: int) -> tuple[FloatArray, FloatArray]:
    """Return colour matrices and offsets (of values 0 to 255): hue, then saturation, contrast and tint."""
    matrix: FloatArray = np.tile(np.eye(3), (count, 1, 1))
    if f"{table}.hue" in values:
        matrix = np.array([_turn_hue(hue) if hue != 0.0 else np.eye(3) for hue in values[f"{table}.hue"].tolist()])
    if f"{table}.saturation" in values:
        saturation = values[f"{table}.saturation"][:, None, None]
        paled = (saturation * np.eye(3) + (1.0 - saturation) * LUMA) @ matrix
        matrix = np.where(saturation != 1.0, paled, matrix)
    contrast, tint = _read(values, f"{table}.contrast", 1.0, count), _read_tint(values, table, count)
    offset = np.repeat((1.0 - contrast) * MEDIUM, 3).reshape(count, 3)
    return tint[:, :, None] * contrast[:, None, None] * matrix, tint * offset


def _turn_hue(angle: float) -> FloatArray:
    """Return the matrix that turns colours about the grey axis [rad], and keeps how bright they look."""
    axis = np.full(3, 1.0 / math.sqrt(3.0))
    cross = np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
    turn = math.cos(angle) * np.eye(3) + math.sin(angle) * cross + (1.0 - math.cos(angle)) * np.outer(axis, axis)
    # What the turn has changed in brightness is taken back, equally in all channels.
    kept: FloatArray = turn + np.outer(np.ones(3), LUMA - LUMA @ turn)
    return kept


def _read(values: Values, name: str, default: float, count: int) -> FloatArray:
    return values[name] if name in values else np.full(count, default)


def _read_tint(values: Values, table: str, count: int) -> FloatArray:
    return np.stack([_read(values, f"{table}.tint_{channel}", 1.0, count) for channel in CHANNELS], axis=1)
