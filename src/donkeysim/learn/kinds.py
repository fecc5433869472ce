"""The kinds of pilots as data: what each sees and says, how it is taught, how its outputs become angle and throttle.

Nothing here needs a learning library: a base install decodes the outputs of an `.onnx` pilot with it.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np

from donkeysim.car.keys import USED_BY
from donkeysim.core.config import read_toml
from donkeysim.core.errors import SpecError, describe_unknown
from donkeysim.core.types import Float32Array, FloatArray, LongArray

ANGLE_BINS = 15
THROTTLE_BINS = 20

LOCATION_KEY = "localizer/location"


@dataclass(frozen=True)
class PilotSpec:
    """The sizes of one pilot, as the configuration of a car gives them or as a file shows them."""

    image_shape: tuple[int, int, int] = (120, 160, 3)
    """Height, width and channels of the picture."""
    sequence_length: int = 3
    """Pictures that rnn and 3d look at; earlier commands that memory remembers."""
    memory_depth: int = 0
    """Further layers of a memory pilot over its earlier commands."""
    behavior_count: int = 2
    location_count: int = 10
    throttle_range: float = 0.8
    """Throttle of the last bin but one step, of categorical and behavior."""


def name_users(kind: str) -> tuple[str, ...]:
    """Return who of `car.keys.USED_BY` pilots of a kind are."""
    return tuple(user for user in set(USED_BY.values()) if user.endswith("pilots") and kind in re.findall(r"\w+", user))


def read_spec(config: object) -> PilotSpec:
    """Return the sizes that a car's configuration asks for; keys that it lacks take the original's defaults.

    Those with a value that they do not take, too: what needs one has said so (`Config.require`, `name_users`).

    Raises:
        SpecError: A size is not a positive number.
    """

    def read(name: str, default: Any) -> Any:
        try:
            return getattr(config, name, default)
        except SpecError:
            return default

    given = PilotSpec(
        image_shape=(
            int(getattr(config, "IMAGE_H", 120)),
            int(getattr(config, "IMAGE_W", 160)),
            int(getattr(config, "IMAGE_DEPTH", 3)),
        ),
        sequence_length=int(read("SEQUENCE_LENGTH", 3)),
        memory_depth=int(read("MEM_DEPTH", 0)),
        behavior_count=len(read("BEHAVIOR_LIST", ("", ""))),
        location_count=int(read("NUM_LOCATIONS", 10)),
        throttle_range=float(read("MODEL_CATEGORICAL_MAX_THROTTLE_RANGE", 0.8)),
    )
    _check_spec(given)
    return given


def _check_spec(spec: PilotSpec) -> None:
    height, width, depth = spec.image_shape
    if depth not in (1, 3) or height < 1 or width < 1:
        raise SpecError(
            f"pictures of IMAGE_W={width}, IMAGE_H={height}, IMAGE_DEPTH={depth} are not valid; "
            "width and height must be positive and the depth 1 (grey) or 3 (colour)."
        )
    sizes = {
        "SEQUENCE_LENGTH": spec.sequence_length,
        "the length of BEHAVIOR_LIST": spec.behavior_count,
        "NUM_LOCATIONS": spec.location_count,
        "MODEL_CATEGORICAL_MAX_THROTTLE_RANGE": spec.throttle_range,
    }
    for name, value in sizes.items():
        if not value > 0:
            raise SpecError(f"{name} is {value}, but must be more than 0.")
    if spec.memory_depth < 0:
        raise SpecError(f"MEM_DEPTH is {spec.memory_depth}, but must be 0 or more.")


Outputs = Sequence[Float32Array]
"""What a network said about one picture: a flat array per output, in the order of `PilotKind.output_names`."""

Targets = dict[str, Float32Array]
"""What a network should say, per output name; one row per record."""


@dataclass(frozen=True)
class PilotKind:
    """One kind of pilot, as the original names it."""

    name: str
    model_name: str
    """Name of the network in its file, as the original's."""
    class_name: str
    """The original's class, which its lists of pilots show."""
    output_names: tuple[str, ...]
    form: Literal["numbers", "angle", "bins", "place"] = "numbers"
    """What the outputs are: angle and throttle in one output or two; the angle alone; a probability per bin of
    angle and of throttle (or one throttle); angle, throttle and a probability per location."""
    channels: tuple[str, ...] = ()
    """Channels of the car, and keys of a record, that the pilot reads beside the picture, in order."""
    history: Literal["none", "pictures", "commands"] = "none"
    """What it remembers between two pictures: the last pictures, or its own last commands."""
    loss: Literal["mse", "categorical_crossentropy"] = "mse"
    loss_weight: float = 1.0
    """Of every output."""
    optimizer: Literal["adam", "rmsprop"] = "adam"

    def count_records(self, spec: PilotSpec) -> int:
        """Return how many records in a row make one example."""
        return {"none": 1, "pictures": spec.sequence_length, "commands": spec.sequence_length + 1}[self.history]


KINDS: Mapping[str, PilotKind] = {
    name: msgspec.convert({"name": name, **table}, PilotKind)
    for name, table in read_toml(Path(__file__).with_name("kinds.toml")).items()
}
"""Every kind by its name, in the order that lists show; the table is `kinds.toml`."""


def decode_outputs(kind: PilotKind, outputs: Outputs, spec: PilotSpec) -> tuple[float, ...]:
    """Return angle [-1, 1, + = right], throttle [-1, 1] and, for localizer, the location that a network means.

    Numbers come as the network gives them, without a bound; the car clips them.
    """
    if kind.form == "bins":
        angle = int(outputs[0].argmax()) * 2.0 / (outputs[0].size - 1) - 1.0
        if outputs[1].size == 1:  # donkeycar 2
            return angle, float(outputs[1].ravel()[0])
        return angle, int(outputs[1].argmax()) * spec.throttle_range / outputs[1].size
    numbers = np.concatenate([output.ravel() for output in outputs[:2]])
    if kind.form == "angle":
        return float(numbers[0]), infer_throttle(float(numbers[0]))
    command = (float(numbers[0]), float(numbers[1]))
    return (*command, int(outputs[2].argmax())) if kind.form == "place" else command


def infer_throttle(angle: float) -> float:
    """Return the throttle that the kind inferred gives with an angle: 1.0 at full left, about 0.56 at full right."""
    magnitude = (min(max(angle, -1.0), 1.0) + 1.0) / 2.0
    return math.exp(-0.5 * magnitude) - 0.05 * magnitude


def encode_targets(
    kind: PilotKind, spec: PilotSpec, angle: FloatArray, throttle: FloatArray, location: LongArray | None = None
) -> Targets:
    """Return what a network should say about n records, float32, a row per record.

    Args:
        angle: Shape [n], [-1, 1].
        throttle: Shape [n], [-1, 1].
        location: Shape [n], for localizer.

    Raises:
        SpecError: Locations are missing, or more than the configuration allows.
    """
    numbers = np.stack([angle, throttle], axis=1).astype(np.float32)
    rows: Sequence[Float32Array]
    if kind.form == "bins":
        angle_bin = np.rint((np.asarray(angle) + 1.0) / (2.0 / (ANGLE_BINS - 1)))
        throttle_bin = np.rint(np.asarray(throttle) / (spec.throttle_range / THROTTLE_BINS))
        rows = [_one_hot(angle_bin, ANGLE_BINS), _one_hot(throttle_bin, THROTTLE_BINS)]
    elif kind.form == "place":
        rows = [numbers[:, :1], numbers[:, 1:], _one_hot(_check_location(location, spec), spec.location_count)]
    elif len(kind.output_names) == 1:
        rows = [numbers[:, :1] if kind.form == "angle" else numbers]
    else:
        rows = [numbers[:, :1], numbers[:, 1:]]
    return dict(zip(kind.output_names, rows, strict=True))


def _check_location(location: LongArray | None, spec: PilotSpec) -> LongArray:
    if location is None:
        raise SpecError(f"a localizer pilot learns from records with the key {LOCATION_KEY!r}; these have none.")
    if location.size and (location.min() < 0 or location.max() >= spec.location_count):
        raise SpecError(
            f"the records name the locations {int(location.min())} to {int(location.max())}, "
            f"but NUM_LOCATIONS = {spec.location_count} allows 0 to {spec.location_count - 1}."
        )
    return location


def _one_hot(bins: FloatArray | LongArray, count: int) -> Float32Array:
    """Rows of zeros with a one, shape [n, count]; bins beyond the ends count as the last."""
    index = np.clip(bins, 0, count - 1).astype(np.int64)
    return np.eye(count, dtype=np.float32)[index]


def get_kind(name: str) -> PilotKind:
    """Return a kind by its name; the original's prefixes, which say what runs a pilot, are dropped.

    Raises:
        SpecError: There is no such kind.
    """
    bare = re.sub("^(coral_tflite|fastai|tensorrt|tflite)_", "", name)
    if bare not in KINDS:
        raise SpecError(describe_unknown("type of pilot", name, KINDS))
    return KINDS[bare]
