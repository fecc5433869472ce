"""Where functions of one index run: on this machine's threads, or on a GPU.

An index kernel is a plain function `f(index, room, ...)` (`core.kernel.index_kernel`) that does the work of one index
(a world, a triangle of a camera, a pixel) and writes what no other index of the same run writes. `Device.run` does it
for many: a compiled loop on threads here, a kernel with a thread for each index there. It is the same function, so what
is tested without a GPU is what runs on one.

`room` says which working memory is the caller's own: each thread of this machine has one, each index on a GPU. A table
of working memory has `Device.count_rooms` rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from donkeysim.core.errors import SpecError
from donkeysim.core.kernel import RepeatedCall, make_loop
from donkeysim.core.types import LongArray
from donkeysim.core.workers import Workers, count_cores

T = TypeVar("T")

IndexKernel = Callable[..., None]
"""Called as `f(index, room, *arguments)`."""


class Device(Protocol):
    """Memory, and what runs index kernels on it."""

    @property
    def name(self) -> str:
        """`cpu`, or `cuda:0` and so on."""

    def run(self, function: IndexKernel, count: int, *arguments: Any, block: int = 1) -> None:
        """Run an index kernel for the indices [0, count), in no order; later calls find what earlier ones wrote.

        Args:
            function: Made by `core.kernel.index_kernel` or `index_pixel_kernel`.
            count: How many indices.
            *arguments: Arrays of this device, numbers, and tuples and named tuples of these.
            block: How many neighbouring indices a thread of this machine takes at once; many where each does little.
        """

    def count_rooms(self, count: int) -> int:
        """Return how many working memories runs over `count` indices need."""

    def upload(self, value: T) -> T:
        """Return an array, or a tuple or named tuple of arrays, in this device's memory; on `Cpu` the same ones."""

    def download(self, array: Any) -> NDArray[Any]:
        """Return an array in this machine's memory, after all that runs has ended; here the same array."""

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return an array of this device whose numbers are not set."""

    def zeros(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return an array of zeros of this device."""

    def synchronize(self) -> None:
        """Wait until all that runs has ended."""

    def close(self) -> None:
        """Stop threads and give memory back."""


class Cpu:
    """The cores of this machine.

    Attributes:
        workers: The threads.
    """

    name = "cpu"

    def __init__(self, workers: Workers) -> None:
        self.workers = workers
        self._loops: dict[IndexKernel, RepeatedCall] = {}

    def run(self, function: IndexKernel, count: int, *arguments: Any, block: int = 1) -> None:
        """See `Device.run`."""
        loop = self._loops.get(function)
        if loop is None:
            loop = self._loops[function] = RepeatedCall(make_loop(function))

        owned = tuple(type(given) if isinstance(given, (int, float)) else given for given in arguments)

        def task(worker: int, next_block: LongArray) -> None:
            loop(owned, next_block, block, count, worker, arguments)

        if count > 0:
            self.workers.run(task, -(-count // block))

    def count_rooms(self, count: int) -> int:
        """See `Device.count_rooms`."""
        del count
        return self.workers.worker_count

    def upload(self, value: T) -> T:
        """See `Device.upload`."""
        return value

    def download(self, array: Any) -> NDArray[Any]:
        """See `Device.download`."""
        given: NDArray[Any] = array
        return given

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """See `Device.empty`."""
        return np.empty(shape, dtype)

    def zeros(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """See `Device.zeros`."""
        return np.zeros(shape, dtype)

    def synchronize(self) -> None:
        """See `Device.synchronize`."""

    def close(self) -> None:
        """See `Device.close`."""
        self.workers.close()


def open_device(name: str = "cpu", threads: int | None = None) -> Device:
    """Return a device by name.

    Args:
        name: "cpu".
        threads: Of this machine; None: one per core.

    Raises:
        SpecError: There is no such device.
    """
    if name == "cpu":
        return Cpu(Workers(threads or count_cores()))
    raise SpecError(f"the device is {name!r}; it takes 'cpu'.")
