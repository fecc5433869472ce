"""Cones without a body: who drives through one is told, once for each time."""

from __future__ import annotations

import numpy as np

from donkeysim.core.types import FloatArray
from donkeysim.world.ledger import Ledger
from donkeysim.world.scene import Scene
from donkeysim.world.specs import CarSpec

CONE_RADIUS = 0.052
"""Of a cone's foot [m]."""


class GhostWatch:
    """Knows which car is in which ghost cone of a scene."""

    def __init__(self, scene: Scene, car: CarSpec) -> None:
        """Begin with nobody in any cone."""
        self._ghosts: FloatArray = scene.ghosts
        self._half = np.array(car.chassis_size[:2]) / 2.0
        self._centre = np.array(car.chassis_centre[:2])
        self._inside: dict[int, frozenset[int]] = {}

    def find_entered(self, ledger: Ledger, car: int) -> list[int]:
        """Return the cones that a car has driven into since the last call for it."""
        if not len(self._ghosts):
            return []
        yaw = float(ledger.yaw[car])
        away = self._ghosts - ledger.position[car, :2]
        turn = np.array(((np.cos(yaw), -np.sin(yaw)), (np.sin(yaw), np.cos(yaw))))
        beyond = np.maximum(np.abs(away @ turn - self._centre) - self._half, 0.0)
        inside = frozenset(np.flatnonzero(np.hypot(*beyond.T) < CONE_RADIUS).tolist())
        before, self._inside[car] = self._inside.get(car, frozenset()), inside
        return sorted(inside - before)
