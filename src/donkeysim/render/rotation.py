"""Rotations of cameras as matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from donkeysim.core.types import FloatArray


def make_rotation(rotation: Sequence[float]) -> FloatArray:
    """Return the matrix (9, row by row) of a rotation by roll about x, then pitch about y, then yaw about z [rad]."""
    roll, pitch, yaw = rotation
    cr, sr = math.cos(roll), math.sin(roll)
    cp, sp = math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    return np.array(
        [
            cy * cp,
            cy * sp * sr - sy * cr,
            cy * sp * cr + sy * sr,
            sy * cp,
            sy * sp * sr + cy * cr,
            sy * sp * cr - cy * sr,
            -sp,
            cp * sr,
            cp * cr,
        ]
    )
