"""A loaded network, whatever runs it: what it takes, what it gives, and what its file says about itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from donkeysim.core.types import Float32Array
from donkeysim.learn.files.header import PilotHeader


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
