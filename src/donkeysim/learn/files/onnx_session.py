"""Running an ONNX graph on one core with onnxruntime, which every install has."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from donkeysim.core.errors import PilotError
from donkeysim.core.types import Float32Array
from donkeysim.learn.files.header import HEADER_KEY, read_header
from donkeysim.learn.files.session import Port


class OnnxSession:
    """A loaded network; meets `files.session.PilotSession`."""

    def __init__(self, model: bytes, path: Path) -> None:
        """Load a graph.

        Args:
            model: The bytes of the ONNX file.
            path: Where they come from, for error texts and the header.

        Raises:
            PilotError: Not an ONNX file, one that needs a newer onnxruntime, or shapes that are not fixed.
        """
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime has a class of its own per reason
            reason = str(error).splitlines()[0]
            raise PilotError(
                f"{path} is not an .onnx file that onnxruntime {onnxruntime.__version__} can run: {reason}"
            ) from error
        given = self._session.get_inputs()
        _check_types(given, path)
        self.inputs = tuple(_read_port(port, path) for port in given)
        self.outputs = tuple(_read_port(port, path) for port in self._session.get_outputs())
        self._has_bytes = given[0].type == "tensor(uint8)"
        try:
            self.header = read_header(self._session.get_modelmeta().custom_metadata_map.get(HEADER_KEY))
        except PilotError as error:
            raise PilotError(f"{path}: {error}") from error
        shape = self.inputs[0].shape  # files that PyTorch exports have the channels before the height
        self._has_channels_first = len(shape) in (3, 4) and shape[-1] not in (1, 3) and shape[-3] in (1, 3)

    @property
    def image_shape(self) -> tuple[int, ...]:
        """Height, width and channels of the picture; with the length of the sequence before, for sequences."""
        shape = self.inputs[0].shape
        return (*shape[:-3], *shape[-2:], shape[-3]) if self._has_channels_first else shape

    def run(self, image: Any, others: Sequence[Float32Array]) -> list[Float32Array]:
        """Return the outputs for one picture.

        Args:
            image: uint8, `image_shape`.
            others: The further inputs, float32, in the order and with the shapes of `inputs`.
        """
        if self._has_channels_first:
            image = np.moveaxis(image, -1, -3)
        if not self._has_bytes:
            image = image.astype(np.float32) * np.float32(1.0 / 255.0)
        values = [np.ascontiguousarray(image), *others]
        feed = {port.name: value[None] for port, value in zip(self.inputs, values, strict=True)}
        return [np.asarray(output[0], dtype=np.float32) for output in self._session.run(None, feed)]


def _check_types(inputs: Sequence[Any], path: Path) -> None:
    allowed = ("tensor(uint8)", "tensor(float)")
    if not inputs or inputs[0].type not in allowed or any(port.type != allowed[1] for port in inputs[1:]):
        raise PilotError(
            f"{path} takes {', '.join(f'{port.name}: {port.type}' for port in inputs) or 'nothing'}; a pilot takes "
            "the picture as uint8 or float32 first, then float32."
        )


def _read_port(port: Any, path: Path) -> Port:
    shape = tuple(port.shape[1:])
    if not all(isinstance(size, int) for size in shape):
        raise PilotError(f"{path}: the size of {port.name!r} is not fixed ({port.shape}); export it with fixed sizes.")
    return Port(port.name, shape)
