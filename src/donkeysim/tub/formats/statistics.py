"""Least, greatest, mean and spread of many numbers that are never in memory together."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from donkeysim.core.types import FloatArray


class RunningStatistics:
    """Of arrays of one shape; grows by batches (the pairwise update of Chan, Golub and LeVeque, 1979)."""

    def __init__(self) -> None:
        self.count = 0
        self._least: FloatArray = np.array(np.inf)
        self._greatest: FloatArray = np.array(-np.inf)
        self._mean: FloatArray = np.array(0.0)
        self._squares: FloatArray = np.array(0.0)

    def add(self, batch: npt.ArrayLike) -> None:
        """Add arrays, shape [count, ...]."""
        values = np.asarray(batch, np.float64)
        if len(values):
            mean = values.mean(axis=0)
            squares = ((values - mean) ** 2).sum(axis=0)
            self._join(len(values), values.min(axis=0), values.max(axis=0), mean, squares)

    def merge(self, other: RunningStatistics) -> None:
        """Add what another one has seen."""
        if other.count:
            self._join(other.count, other._least, other._greatest, other._mean, other._squares)

    def list_values(self, shape: tuple[int, ...], count: int | None = None) -> dict[str, Any]:
        """Return what was seen as nested lists of a shape; `count` replaces the number of arrays."""
        deviation = np.sqrt(self._squares / max(self.count, 1))
        found = {"min": self._least, "max": self._greatest, "mean": self._mean, "std": deviation}
        lists = {name: np.reshape(value, shape).tolist() for name, value in found.items()}
        return {**lists, "count": [self.count if count is None else count]}

    def _join(self, count: int, least: FloatArray, greatest: FloatArray, mean: FloatArray, squares: FloatArray) -> None:
        total = self.count + count
        difference = mean - self._mean
        self._squares = self._squares + squares + difference**2 * (self.count * count / total)
        self._mean = self._mean + difference * (count / total)
        self._least, self._greatest = np.minimum(self._least, least), np.maximum(self._greatest, greatest)
        self.count = total
