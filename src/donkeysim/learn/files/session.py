"""A loaded network, whatever runs it: what it takes, what it gives, and what its file says about itself.

ONNX runs in onnxruntime, which every install has, `.tflite` in LiteRT, which the extra `tflite` brings; both on one
core.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from donkeysim.core.errors import PilotError, import_extra
from donkeysim.core.types import Float32Array
from donkeysim.learn.files.header import HEADER_KEY, PilotHeader, read_header
from donkeysim.learn.files.tflite_metadata import SIGNATURE, read_metadata

_WEIGHTS_FOLDER = "session.model_external_initializers_file_folder_path"
"""Setting of onnxruntime: where files of weights lie that an ONNX file names, as PyTorch exports them."""

_TYPES = {"tensor(uint8)": np.uint8, "tensor(float)": np.float32, "tensor(float16)": np.float16}
"""Of the inputs of an ONNX file."""


@dataclass(frozen=True)
class Port:
    """An input or an output of a network: its name and its shape without the batch."""

    name: str
    shape: tuple[int, ...]


class PilotSession(Protocol):
    """Pictures in, numbers out.

    Attributes:
        inputs: The picture first.
        outputs: In the order in which `run` returns them.
        header: None: another program made the file.
    """

    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    header: PilotHeader | None

    @property
    def image_shape(self) -> tuple[int, ...]:
        """Height, width and channels of the picture; with the length of the sequence before, for sequences."""

    def run(self, image: Any, others: Sequence[Float32Array]) -> list[Float32Array]:
        """Return the outputs for one picture.

        Args:
            image: uint8, `image_shape`.
            others: The further inputs, float32, in the order and with the shapes of `inputs`.
        """


class OnnxSession:
    """A loaded network; meets `files.session.PilotSession`."""

    def __init__(self, model: bytes, path: Path) -> None:
        """Load a graph.

        Args:
            path: Where they come from, for error texts and the header.

        Raises:
            PilotError: Not an ONNX file, one that needs a newer onnxruntime, or shapes that are not fixed.
        """
        import onnxruntime  # 30 MB, which a car that somebody drives does without

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        options.add_session_config_entry(_WEIGHTS_FOLDER, str(path.parent.absolute()))
        try:
            self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
            kept = self._session.get_modelmeta().custom_metadata_map
        except Exception as error:  # onnxruntime has a class of its own per reason; texts may be no UTF-8
            reason = str(error).splitlines()[0]
            if "external data path" in reason.lower() or "cannot get file size" in reason:  # from 1.25, and before
                raise PilotError(
                    f"{path} has its weights in another file, mostly {path.name}.data, which is not beside it; copy it "
                    "there, or export again with external_data=False."
                ) from error
            raise PilotError(
                f"{path} is not an .onnx file that onnxruntime {onnxruntime.__version__} can run: {reason}"
            ) from error
        given = sorted(self._session.get_inputs(), key=lambda port: -len(port.shape))
        _check_types(given, path)
        self.inputs = tuple(_read_port(port, path) for port in given)
        outputs = [_read_port(port, path) for port in self._session.get_outputs()]
        self.outputs = tuple(outputs[place] for place in _order_outputs([port.name for port in outputs]))
        self._types = [_TYPES[port.type] for port in given]
        self._names = [port.name for port in self.outputs]
        try:
            self.header = read_header(kept.get(HEADER_KEY))
        except PilotError as error:
            raise PilotError(f"{path}: {error}") from error
        shape = self.inputs[0].shape  # files that PyTorch exports have the channels before the height
        self._has_channels_first = len(shape) in (3, 4) and 4 * shape[-3] <= min(shape[-2:])

    @property
    def image_shape(self) -> tuple[int, ...]:
        """Height, width and channels of the picture; with the length of the sequence before, for sequences."""
        shape = self.inputs[0].shape
        return (*shape[:-3], *shape[-2:], shape[-3]) if self._has_channels_first else shape

    def run(self, image: Any, others: Sequence[Float32Array]) -> list[Float32Array]:
        """Return the outputs for one picture; see `PilotSession.run`."""
        if self._has_channels_first:
            image = np.moveaxis(image, -1, -3)
        if self._types[0] != np.uint8:
            image = image.astype(np.float32) * np.float32(1.0 / 255.0)
        feed = {
            port.name: np.ascontiguousarray(value, dtype=kind)[None]
            for port, value, kind in zip(self.inputs, [image, *others], self._types, strict=True)
        }
        return [np.asarray(output[0], dtype=np.float32) for output in self._session.run(self._names, feed)]


def _check_types(inputs: Sequence[Any], path: Path) -> None:
    types = [port.type for port in inputs]
    if not types or not set(types) <= _TYPES.keys() or "tensor(uint8)" in types[1:]:
        raise PilotError(
            f"{path} takes {', '.join(f'{port.name}: {port.type}' for port in inputs) or 'nothing'}; a pilot takes "
            "the picture as uint8 or float32, and beside it float32 (or float16 in place of either)."
        )


def _order_outputs(names: list[str]) -> list[int]:
    """Return the order of outputs that puts the angle before the throttle, where their names say which is which."""
    first, second, *_ = *map(str.lower, names), "", ""
    is_turned = "throttle" in first and any(word in second for word in ("angle", "steer"))
    return [1, 0, *range(2, len(names))] if is_turned else list(range(len(names)))


def _read_port(port: Any, path: Path) -> Port:
    shape = tuple(port.shape[1:])
    if not all(isinstance(size, int) for size in shape):
        raise PilotError(f"{path}: the size of {port.name!r} is not fixed ({port.shape}); export it with fixed sizes.")
    return Port(port.name, shape)


class TfliteSession:
    """A loaded network; meets `files.session.PilotSession`. Its numbers may be integers inside, or at its ends."""

    def __init__(self, model: bytes, path: Path) -> None:
        """Load a file.

        Args:
            model: The bytes of the file.
            path: Where they come from, for error texts.

        Raises:
            PilotError: Not a `.tflite` file, or one with operations that LiteRT does not have.
            DonkeySimError: LiteRT is missing.
        """
        try:
            self.header = read_header(read_metadata(model, HEADER_KEY))
        except PilotError as error:
            raise PilotError(f"{path}: {error}") from error
        litert = import_extra("ai_edge_litert.interpreter", "driving with a .tflite file needs LiteRT", "tflite")
        try:
            self._interpreter = litert.Interpreter(model_content=model, num_threads=1)
            self._interpreter.allocate_tensors()
            self._interpreter.invoke()
        except (ValueError, RuntimeError) as error:
            raise PilotError(f"{path} is not a .tflite file that LiteRT can run: {_find_reason(error)}") from error
        names = self._read_names()
        self._given = _sort_ends(self._interpreter.get_input_details(), names[0])
        self._given.sort(key=lambda end: -len(end["shape"]))
        said = _sort_ends(self._interpreter.get_output_details(), names[1])
        self._said = [said[place] for place in _order_outputs([end["port"] for end in said])]
        self.inputs = tuple(Port(end["port"], tuple(map(int, end["shape"][1:]))) for end in self._given)
        self.outputs = tuple(Port(end["port"], tuple(map(int, end["shape"][1:]))) for end in self._said)
        if len(self.image_shape) not in (3, 4):
            raise PilotError(f"{path} takes no picture [batch, height, width, channels]; it is not a pilot.")

    @property
    def image_shape(self) -> tuple[int, ...]:
        """Height, width and channels of the picture; with the length of the sequence before, for sequences."""
        return self.inputs[0].shape if self.inputs else ()

    def run(self, image: Any, others: Sequence[Float32Array]) -> list[Float32Array]:
        """Return the outputs for one picture; see `PilotSession.run`."""
        scaled = np.asarray(image).astype(np.float32) * np.float32(1.0 / 255.0)
        for end, value in zip(self._given, (scaled, *others), strict=True):
            self._interpreter.set_tensor(end["index"], _encode(value, end)[np.newaxis])
        self._interpreter.invoke()
        return [_decode(self._interpreter.get_tensor(end["index"])[0], end) for end in self._said]

    def _read_names(self) -> tuple[dict[int, str], dict[int, str]]:
        """Return how programs name inputs and outputs, by tensor; files of TensorFlow before 2.5 do not say it."""
        signatures = self._interpreter.get_signature_list()
        if not signatures:
            return {}, {}
        key = SIGNATURE if SIGNATURE in signatures else min(signatures)
        runner = self._interpreter.get_signature_runner(key)
        ends = runner.get_input_details(), runner.get_output_details()
        return ({end["index"]: name for name, end in ends[0].items()}), (
            {end["index"]: name for name, end in ends[1].items()}
        )


def _sort_ends(ends: list[dict[str, Any]], names: dict[int, str]) -> list[dict[str, Any]]:
    """Return inputs or outputs in the order of their names, which is the one that the original takes them in."""
    ports = [{**end, "port": names.get(end["index"], end["name"])} for end in ends]
    return sorted(ports, key=lambda end: str(end["port"]))


def _find_reason(error: Exception) -> str:
    reason = str(error).splitlines()[0] if str(error) else "it is broken."
    if "Select TensorFlow op" not in reason:
        return reason
    return (
        "it needs operations that only TensorFlow has; write it anew from the pilot's .h5 file: "
        "donkey models --tflite FILE."
    )


def _encode(value: Any, end: dict[str, Any]) -> Any:
    """Return numbers as an input takes them: as they are, or as its integers."""
    if end["dtype"] == np.float32:
        return np.ascontiguousarray(value, dtype=np.float32)
    scale, zero = end["quantization"]
    ends = np.iinfo(end["dtype"])
    return np.clip(np.rint(value / (scale or 1.0)) + zero, ends.min, ends.max).astype(end["dtype"])


def _decode(value: Any, end: dict[str, Any]) -> Float32Array:
    scale, zero = end["quantization"]
    if end["dtype"] == np.float32 or not scale:
        return np.asarray(value, dtype=np.float32)
    return np.asarray((value.astype(np.float32) - zero) * scale, dtype=np.float32)
