"""Where functions of one index run: on this machine's threads, or on a GPU.

An index kernel is a plain function `f(index, ...)` (`core.kernel.index_kernel`) that does the work of one index
(a world, a triangle of a camera, a pixel) and writes what no other index of the same run writes. `Device.run` does it
for many: a compiled loop on threads here, a kernel with a thread for each index there. It is the same function, so what
is tested without a GPU is what runs on one.

One that needs working memory takes a second argument `room`, which says what is its own: each thread of this machine
has a row, each index on a GPU. A table of working memory has `Device.count_rooms` rows.

The device that is a GPU is `core.cuda.Cuda`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from donkeysim.core.cuda import Cuda
from donkeysim.core.errors import SpecError
from donkeysim.core.index_loops import make_loop, repeat
from donkeysim.core.types import LongArray
from donkeysim.core.workers import Workers, count_cores

T = TypeVar("T")

IndexKernel = Callable[..., None]
"""Called as `f(index, *arguments)`, or `f(index, room, *arguments)` where it asks for a room."""


class Device(Protocol):
    """Memory, and what runs index kernels on it."""

    @property
    def name(self) -> str:
        """`cpu`, or `cuda:0` and so on."""

    def run(self, function: IndexKernel, count: int, *arguments: Any, block: int = 1) -> None:
        """Run an index kernel for the indices [0, count), in no order; later calls find what earlier ones wrote.

        Args:
            function: Made by `core.kernel.index_kernel`.
            count: How many indices; for 0 the function is compiled for these arguments and not run.
            *arguments: Arrays of this device, numbers, and tuples and named tuples of these.
            block: How many neighbouring indices a thread of this machine takes at once; many where each does little.
        """

    @property
    def workers(self) -> Workers:
        """Threads of this machine, for what is not done on the device."""

    @property
    def shares_rooms(self) -> bool:
        """Whether a few working memories serve all indices, one after another; otherwise each has its own."""

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

    def capture(self, function: Callable[[], None]) -> Graph:
        """Return what a function runs, to be run again at once; on a GPU without Python and the cost of each launch.

        Args:
            function: Calls `run` only, with the same arguments each time, and has been called once: what it runs must
                be compiled. On a GPU it is called here to note what it runs, which does not run then.
        """

    @property
    def dlpack_device(self) -> tuple[int, int]:
        """How DLPack calls this device: the kind of its memory and its number."""

    def adopt(self, array: Any) -> Any:
        """Return an array of this device over memory of it that somebody else has; nothing is copied."""

    def copy_to(self, target: Any, source: NDArray[Any]) -> None:
        """Copy numbers of this machine's memory into an array of this device."""

    def order(self, stream: int) -> None:
        """Let what is put into another CUDA stream from now on find what has been run here; nothing on `Cpu`.

        Args:
            stream: Its address; 1: CUDA's default stream, 2: a thread's own.
        """

    def close(self) -> None:
        """Stop threads and give memory back."""


class Graph(Protocol):
    """What `Device.capture` has noted."""

    def launch(self) -> None:
        """Run it; as with `Device.run`, later calls find what it wrote."""


class Cpu:
    """The cores of this machine."""

    name = "cpu"
    shares_rooms = True

    def __init__(self, workers: Workers) -> None:
        self.workers = workers
        self._loops: dict[IndexKernel, Callable[..., None]] = {}

    def run(self, function: IndexKernel, count: int, *arguments: Any, block: int = 1) -> None:
        """See `Device.run`."""
        loop = self._loops.get(function)
        if loop is None:
            loop = self._loops[function] = repeat(make_loop(function))
        if count <= block:
            loop(arguments, np.zeros(1, np.int64), block, count, 0, arguments)
            return

        def task(worker: int, next_block: LongArray) -> None:
            loop(arguments, next_block, block, count, worker, arguments)

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

    def capture(self, function: Callable[[], None]) -> Graph:
        """See `Device.capture`."""
        return _Again(function)

    @property
    def dlpack_device(self) -> tuple[int, int]:
        """See `Device.dlpack_device`."""
        return 1, 0

    def adopt(self, array: Any) -> Any:
        """See `Device.adopt`."""
        return np.asarray(array)

    def copy_to(self, target: Any, source: NDArray[Any]) -> None:
        """See `Device.copy_to`."""
        target[...] = source

    def order(self, stream: int) -> None:
        """See `Device.order`."""

    def close(self) -> None:
        """See `Device.close`."""
        self.workers.close()


class _Again:
    """A graph of this machine: it calls the function."""

    def __init__(self, function: Callable[[], None]) -> None:
        self.launch = function


def is_here(device: Device) -> bool:
    """Return whether a device's memory is this machine's, so that NumPy may read its arrays."""
    return device.dlpack_device[0] == 1


def open_device(name: str = "cpu", threads: int | None = None) -> Device:
    """Return a device by name.

    Args:
        name: "cpu", "cuda" for the first GPU, "cuda:1" for the second.
        threads: Of this machine; None: one per core.

    Raises:
        DonkeySimError: A GPU is asked for and numba-cuda is missing.
        SpecError: There is no such device.
    """
    if name == "cpu":
        return Cpu(Workers(threads or count_cores()))
    kind, _, ordinal = name.partition(":")
    if kind == "cuda" and (ordinal.isdecimal() or name == "cuda"):
        return Cuda(int(ordinal or 0))
    raise SpecError(f"the device is {name!r}; it takes 'cpu', 'cuda' or 'cuda:0', 'cuda:1' …")
