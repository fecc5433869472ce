"""Columns of a LeRobot dataset: what policies use under LeRobot's names, and each input of the tub as it was;
and least, greatest, mean and spread of their numbers, which are never in memory together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from donkeysim.core.types import FloatArray
from donkeysim.tub.formats.drive import decode_optional, encode_optional
from donkeysim.tub.formats.survey import InputColumn, Survey, ValueKind

ACTION, STATE, PICTURE = "action", "observation.state", "observation.image"
PREFIX = "tub."
"""Of the tub's own inputs: names that begin with "observation" or "action" would be taken by policies."""

SESSION, INDEX, TIME = f"{PREFIX}_session", f"{PREFIX}_index", f"{PREFIX}_timestamp_ms"

OWN_NAME = "donkeysim.json"
"""File that says which column was which input."""

TASK = "drive along the track"

_FLOAT = ValueKind("float")
_DTYPES = {"float": "float64", "": "float64", "int": "int64", "bool": "bool"}


@dataclass(frozen=True)
class Feature:
    """One column.

    Attributes:
        dtype: Of LeRobot: float32, float64, int64, bool, string, image or video.
        shape: Of a value; (1,) of a single one.
        names: Of its components, if they have some.
        key: The input that it holds; "" where it is none.
        kind: What the input's values are.
    """

    dtype: str
    shape: tuple[int, ...] = (1,)
    names: tuple[str, ...] | None = None
    key: str = ""
    kind: ValueKind = _FLOAT

    @property
    def is_number(self) -> bool:
        """Whether it can have a mean."""
        return self.dtype not in ("string", "image", "video")

    @property
    def is_text_of_json(self) -> bool:
        """Whether its values are written as JSON, missing ones as nothing."""
        return self.dtype == "string" and self.kind.item == "json"

    def describe(self) -> dict[str, Any]:
        """Return it as `info.json` has it."""
        return {"dtype": self.dtype, "shape": list(self.shape), "names": self.names and list(self.names)}

    def describe_input(self) -> dict[str, Any]:
        """Return which input it is."""
        return {"key": self.key, "item": self.kind.item, "depth": self.kind.depth}

    def choose_type(self, arrow: Any) -> Any:
        """Return its type in Arrow."""
        if self.dtype == "image":
            return arrow.struct([("bytes", arrow.binary()), ("path", arrow.string())])
        item = arrow.bool_() if self.dtype == "bool" else getattr(arrow, self.dtype)()
        return item if self.shape == (1,) else arrow.list_(item, self.shape[0])

    def convert(self, value: Any) -> Any:
        """Return an input's value as the column has it."""
        if self.is_text_of_json:
            return encode_optional(value)
        return value[0] if self.kind.depth and self.shape == (1,) else value


def read_value(cell: Any, item: str, depth: int) -> Any:
    """Return an input's value from a cell of its column; None where the record has none."""
    if item == "json":
        return decode_optional(cell)
    return [cell] if depth and not isinstance(cell, list) else cell


def name_features(survey: Survey) -> dict[str, Feature]:
    """Return all columns but pictures, by name."""
    features = {"timestamp": Feature("float32")}
    features |= {name: Feature("int64") for name in ("frame_index", "episode_index", "index", "task_index")}
    if survey.find_action() is not None:
        features |= {name: Feature("float32", (2,), ("angle", "throttle")) for name in (STATE, ACTION)}
    features |= {SESSION: Feature("string"), INDEX: Feature("int64"), TIME: Feature("int64")}
    for column in survey.columns:
        features[_choose_name(PREFIX, column.key, features)] = _make_feature(column)
    return features


def name_pictures(keys: Sequence[str]) -> dict[str, str]:
    """Return the input of each picture by its column; the first one is the main camera's."""
    names: dict[str, str] = {}
    for key in keys:
        names[_choose_name(f"{PICTURE}s.", key, names) if names else PICTURE] = key
    return names


def _choose_name(prefix: str, key: str, taken: dict[str, Any]) -> str:
    """Return a free name; LeRobot allows no slash."""
    name = prefix + key.replace("/", ".")
    while name in taken:
        name += "_"
    return name


def _make_feature(column: InputColumn) -> Feature:
    kind = column.regular_kind
    if kind.item == "str":
        kind = kind if kind.depth == 0 else ValueKind("json")
    elif kind.depth > 1 or kind.shape == (0,):
        kind = ValueKind("json")
    dtype = _DTYPES.get(kind.item, "string")
    return Feature(dtype, kind.shape or (1,), key=column.key, kind=kind)


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

    def merge(self, other: Self) -> None:
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
