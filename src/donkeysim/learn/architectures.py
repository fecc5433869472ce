"""The networks of the nine kinds of pilots, layer for layer and name for name as the original builds them.

Layers that the original leaves unnamed carry the names that a fresh session of it would give them.
"""

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

from donkeysim.core.errors import SpecError
from donkeysim.learn.backend import import_keras
from donkeysim.learn.kinds import ANGLE_BINS, THROTTLE_BINS, PilotSpec, get_kind, read_spec

Tensor = Any
"""A symbolic tensor of Keras, batch first, channels last."""

Net = Callable[[Tensor], Tensor]


def build_model(kind: str, config: object) -> Any:
    """Return an untrained `keras.Model` of a kind.

    Inputs are pictures in [0, 1], shape [batch(, sequence), IMAGE_H, IMAGE_W, IMAGE_DEPTH], first, then what
    `PilotKind.channels` or its memory gives; outputs are as `PilotKind.output_names` says.

    Args:
        kind: One of `learn.kinds.KINDS`.
        config: A car's configuration; IMAGE_W, IMAGE_H, IMAGE_DEPTH, SEQUENCE_LENGTH, MEM_DEPTH, BEHAVIOR_LIST and
            NUM_LOCATIONS are read.

    Raises:
        SpecError: No such kind, or pictures too small for its layers.
        DonkeySimError: Keras or PyTorch is missing.
    """
    named = get_kind(kind)
    spec = read_spec(config)
    keras = import_keras()
    try:
        inputs, outputs = _BUILDERS[named.name](_Builder(keras), spec)
    except ValueError as error:
        height, width, _ = spec.image_shape
        raise SpecError(
            f"pictures of {width}x{height} are too small for the layers of the type {named.name}; "
            "set IMAGE_W and IMAGE_H to 160 and 120, or at least to 77 each."
        ) from error
    return keras.Model(inputs=inputs, outputs=outputs, name=named.model_name)


class _Builder:
    """Makes layers of Keras; names those without a name dense, dense_1, … as a fresh session would."""

    def __init__(self, keras: Any) -> None:
        self.layers = keras.layers
        self._used: Counter[str] = Counter()

    def take_name(self, stem: str) -> str:
        """Return stem, stem_1, stem_2, … in turn."""
        count = self._used[stem]
        self._used[stem] += 1
        return f"{stem}_{count}" if count else stem

    def make_input(self, shape: tuple[int, ...], name: str) -> Tensor:
        return self.layers.Input(shape=shape, name=name)

    def dense(self, units: int, name: str | None = None, activation: str = "relu") -> Net:
        return self.layers.Dense(units, activation=activation, name=name or self.take_name("dense"))  # type: ignore[no-any-return]

    def dropout(self, rate: float) -> Net:
        return self.layers.Dropout(rate, name=self.take_name("dropout"))  # type: ignore[no-any-return]

    def each_picture(self, layer: Net) -> Net:
        """Return a layer that does the same to every picture of a sequence."""
        return self.layers.TimeDistributed(layer, name=self.take_name("time_distributed"))  # type: ignore[no-any-return]

    def concatenate(self, tensors: list[Tensor]) -> Tensor:
        return self.layers.Concatenate(name=self.take_name("concatenate"))(tensors)


def _add_core(build: _Builder, x: Tensor, fourth_stride: int = 1) -> Tensor:
    """Five convolutions and their dropouts, flattened: shared by all kinds that look at one picture."""
    rows = ((24, 5, 2), (32, 5, 2), (64, 5, 2), (64, 3, fourth_stride), (64, 3, 1))
    for number, (filters, kernel, stride) in enumerate(rows, start=1):
        name = f"conv2d_{number}"
        x = build.layers.Conv2D(filters, kernel, strides=stride, activation="relu", name=name)(x)
        x = build.dropout(0.2)(x)
    return build.layers.Flatten(name="flattened")(x)


def _add_head(build: _Builder, x: Tensor) -> Tensor:
    """The two dense layers of linear, categorical, inferred and memory."""
    x = build.dropout(0.2)(build.dense(100, "dense_1")(x))
    return build.dropout(0.2)(build.dense(50, "dense_2")(x))


def _add_bins(build: _Builder, x: Tensor) -> list[Tensor]:
    angle = build.dense(ANGLE_BINS, "angle_out", "softmax")(x)
    return [angle, build.dense(THROTTLE_BINS, "throttle_out", "softmax")(x)]


def _build_linear(build: _Builder, spec: PilotSpec, output_count: int = 2) -> tuple[list[Tensor], list[Tensor]]:
    image = build.make_input(spec.image_shape, "img_in")
    x = _add_head(build, _add_core(build, image))
    return [image], [build.dense(1, f"n_outputs{index}", "linear")(x) for index in range(output_count)]


def _build_categorical(build: _Builder, spec: PilotSpec) -> tuple[list[Tensor], list[Tensor]]:
    image = build.make_input(spec.image_shape, "img_in")
    x = _add_head(build, _add_core(build, image, fourth_stride=2))
    return [image], _add_bins(build, x)


def _build_memory(build: _Builder, spec: PilotSpec) -> tuple[list[Tensor], list[Tensor]]:
    length = spec.sequence_length
    image = build.make_input(spec.image_shape, "img_in")
    x = _add_core(build, image)
    commands = y = build.make_input((2 * length,), "mem_in")
    for index in range(spec.memory_depth):
        y = build.dropout(0.1)(build.dense(4 * length, f"mem_{index}")(y))
    for index in range(1, length):
        y = build.dropout(0.1)(build.dense(2 * (length - index), f"mem_c_{index}")(y))
    x = _add_head(build, build.concatenate([x, y]))
    outputs = [build.dense(1, "n_outputs0", "tanh")(x), build.dense(1, "n_outputs1", "sigmoid")(x)]
    return [image, commands], outputs


def _build_imu(build: _Builder, spec: PilotSpec) -> tuple[list[Tensor], list[Tensor]]:
    image = build.make_input(spec.image_shape, "img_in")
    readings = build.make_input((6,), "imu_in")
    z = _merge_vector(build, image, readings, width=14)
    for _ in range(2):
        z = build.dropout(0.1)(build.dense(50)(z))
    return [image, readings], [build.dense(1, f"out_{index}", "linear")(z) for index in range(2)]


def _build_behavior(build: _Builder, spec: PilotSpec) -> tuple[list[Tensor], list[Tensor]]:
    image = build.make_input(spec.image_shape, "img_in")
    behavior = build.make_input((spec.behavior_count,), "xbehavior_in")
    z = _merge_vector(build, image, behavior, width=2 * spec.behavior_count)
    for units in (100, 50):
        z = build.dropout(0.1)(build.dense(units)(z))
    return [image, behavior], _add_bins(build, z)


def _merge_vector(build: _Builder, image: Tensor, vector: Tensor, width: int) -> Tensor:
    """The picture through the core, a vector through three dense layers, side by side."""
    x = _add_core(build, image)
    x = build.dropout(0.1)(build.dense(100)(x))
    y = vector
    for _ in range(3):
        y = build.dense(width)(y)
    return build.concatenate([x, y])


def _build_localizer(build: _Builder, spec: PilotSpec) -> tuple[list[Tensor], list[Tensor]]:
    image = build.make_input(spec.image_shape, "img_in")
    x = _add_core(build, image)
    for units in (100, 50):
        x = build.dropout(0.2)(build.dense(units)(x))
    numbers = [build.dense(1, name, "linear")(x) for name in ("angle", "throttle")]
    return [image], [*numbers, build.dense(spec.location_count, "zloc", "softmax")(x)]


def _build_rnn(build: _Builder, spec: PilotSpec) -> tuple[list[Tensor], list[Tensor]]:
    layers = build.layers
    images = x = build.make_input((spec.sequence_length, *spec.image_shape), "img_in")
    for filters, kernel, stride in ((24, 5, 2), (32, 5, 2), (32, 3, 2), (32, 3, 1)):
        name = build.take_name("conv2d")
        x = build.each_picture(layers.Conv2D(filters, kernel, strides=stride, activation="relu", name=name))(x)
        x = build.each_picture(build.dropout(0.3))(x)
    x = build.each_picture(layers.MaxPooling2D(2, name="max_pooling2d"))(x)
    x = build.each_picture(layers.Flatten(name="flattened"))(x)
    x = build.each_picture(build.dense(100))(x)
    x = build.each_picture(build.dropout(0.3))(x)
    x = build.dropout(0.1)(layers.LSTM(128, return_sequences=True, name="LSTM_seq")(x))
    x = build.dropout(0.1)(layers.LSTM(128, name="LSTM_fin")(x))
    x = build.dropout(0.1)(build.dense(128)(x))
    x = build.dense(64)(x)
    x = build.dense(10)(x)
    return [images], [build.dense(2, "model_outputs", "linear")(x)]


def _build_3d(build: _Builder, spec: PilotSpec) -> tuple[list[Tensor], list[Tensor]]:
    layers = build.layers
    images = x = build.make_input((spec.sequence_length, *spec.image_shape), "img_in")
    for filters, stride in ((16, (1, 3, 3)), (32, 1), (64, 1), (128, 1)):
        name = build.take_name("conv3d")
        x = layers.Conv3D(filters, 3, strides=stride, padding="same", activation="relu", name=name)(x)
        x = layers.MaxPooling3D((1, 2, 2), name=build.take_name("max_pooling3d"))(x)
    x = layers.Flatten(name="flatten")(x)
    for _ in range(2):
        x = build.dense(256, activation="linear")(x)
        x = layers.BatchNormalization(name=build.take_name("batch_normalization"))(x)
        x = layers.Activation("relu", name=build.take_name("activation"))(x)
        x = build.dropout(0.5)(x)
    return [images], [build.dense(2, "outputs", "linear")(x)]


_BUILDERS: dict[str, Callable[[_Builder, PilotSpec], tuple[list[Tensor], list[Tensor]]]] = {
    "linear": _build_linear,
    "categorical": _build_categorical,
    "inferred": partial(_build_linear, output_count=1),
    "memory": _build_memory,
    "imu": _build_imu,
    "behavior": _build_behavior,
    "localizer": _build_localizer,
    "rnn": _build_rnn,
    "3d": _build_3d,
}
