"""Arrays laid out in the memory of a WebAssembly module, and calls of kernels that read and write them there.

A compiled kernel takes its arguments flat: of an array seven numbers and more (who owns it, how many, where, shape,
strides), of a tuple what is in it, of a number the number. The page does not make such lists: they are made here, once,
and lie in the module's memory as blocks of eight bytes for each; a call is the address of its block.
"""

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

BASE = 1 << 20
"""Where arrays begin [byte]; the module's own numbers and its stack lie below."""

_ALIGNED = 64


class Call(NamedTuple):
    """One call of a kernel, always with the same arrays."""

    kernel: str
    """By which name the module has it."""
    block: int
    """Address of its arguments."""
    next_row: int
    """Address of a whole number of 64 bits that is to be 0 before each call; 0: it takes none."""
    arguments: tuple[Any, ...]
    """What lies in that block."""


class MemoryImage:
    """A module's memory as it is before the first call."""

    def __init__(self) -> None:
        self.size = BASE
        self._parts: list[tuple[int, NDArray[Any]]] = []
        self._known: dict[tuple[int, int], int] = {}

    def find(self, array: NDArray[Any]) -> int:
        """Return the address of an array; it and all that shares its memory then have a place here."""
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        if not (owner.flags.c_contiguous or owner.flags.f_contiguous):
            raise ValueError(f"an array of shape {owner.shape} has gaps between its numbers.")
        low, size = int(owner.__array_interface__["data"][0]), owner.nbytes
        if (low, size) not in self._known:
            self.size += -self.size % _ALIGNED
            self._known[low, size] = self.size
            self._parts.append((self.size, owner))
            self.size += size
        return self._known[low, size] + int(array.__array_interface__["data"][0]) - low

    def describe(self, array: NDArray[Any]) -> dict[str, Any]:
        """Return where an array is, for the page."""
        return {"at": self.find(array), "type": array.dtype.name, "shape": list(array.shape)}

    def add_call(self, kernel: str, arguments: tuple[Any, ...], next_row: NDArray[np.int64] | None = None) -> Call:
        """Add a call of a kernel with these arguments."""
        words = b"".join(map(_pack, self._flatten(arguments)))
        block = self.find(np.frombuffer(words, np.int64).copy())
        at = 0 if next_row is None else self.find(next_row)
        return Call(kernel, block, at, arguments)

    def list_parts(self) -> Iterator[tuple[int, bytes]]:
        """Give address and content of all that is not zero."""
        for address, owner in self._parts:
            content = (owner if owner.flags.c_contiguous else owner.T).tobytes()
            if content.strip(b"\0"):
                yield address, content

    def _flatten(self, value: Any) -> Iterator[Any]:
        if isinstance(value, tuple):
            for part in value:
                yield from self._flatten(part)
        elif isinstance(value, np.ndarray):
            yield from (0, 0, value.size, value.itemsize, self.find(value), *value.shape, *value.strides)
        else:
            yield value


def _pack(value: Any) -> bytes:
    """Return an argument as eight bytes."""
    if isinstance(value, np.float32):
        return struct.pack("<fxxxx", value)
    return struct.pack("<d", value) if isinstance(value, float) else struct.pack("<q", int(value))
