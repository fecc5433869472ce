"""Running a `.tflite` file on one core with LiteRT, which the extra `tflite` brings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from donkeysim.core.errors import PilotError
from donkeysim.core.extras import import_extra
from donkeysim.core.types import Float32Array
from donkeysim.learn.files.header import HEADER_KEY, read_header
from donkeysim.learn.files.session import Port
from donkeysim.learn.files.tflite_metadata import SIGNATURE, read_metadata


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
        self._said = _sort_ends(self._interpreter.get_output_details(), names[1])
        self.inputs = tuple(Port(end["port"], tuple(map(int, end["shape"][1:]))) for end in self._given)
        self.outputs = tuple(Port(end["port"], tuple(map(int, end["shape"][1:]))) for end in self._said)
        if len(self.image_shape) not in (3, 4):
            raise PilotError(f"{path} takes no picture [batch, height, width, channels]; it is not a pilot.")

    @property
    def image_shape(self) -> tuple[int, ...]:
        """Height, width and channels of the picture; with the length of the sequence before, for sequences."""
        return self.inputs[0].shape if self.inputs else ()

    def run(self, image: Any, others: Sequence[Float32Array]) -> list[Float32Array]:
        """Return the outputs for one picture.

        Args:
            image: uint8, `image_shape`.
            others: The further inputs, float32, in the order and with the shapes of `inputs`.
        """
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
