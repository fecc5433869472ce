"""Compile what a device runs for GPUs, without one: `python -m benchmarks.gpu_kernels` prints the table in docs/envs.

A tiny batch runs on this machine's cores and notes each index kernel with the types of its arguments. Each is compiled
to PTX by numba-cuda, once, for the oldest GPU; the assembler inside NVIDIA's linker then makes machine code of it for
each kind of GPU and says what registers it needs. PTX is made to be assembled for later GPUs, and what is compiled for
one of those differs in little; compiling it for each would take three times as long.
"""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numba
import numpy as np
from numba import types
from supply.kernels import run_index_kernels

from donkeysim.core.device import Cpu, IndexKernel
from donkeysim.core.index_loops import make_grid_loop
from donkeysim.core.workers import Workers

OLDEST = (7, 5)
"""Compute capability that PTX is made for: Turing, the oldest that CUDA 13 knows."""
GPUS = {"sm_75": "Turing", "sm_90": "Hopper", "sm_120": "Blackwell"}
MOST_REGISTERS, MOST_SPILLED = 255, 1024
"""Registers of a thread, and bytes that a thread may put aside for want of them."""


class Recorder(Cpu):
    """The cores of this machine, noting what they run.

    Attributes:
        kinds: Arguments of each index kernel, one for each combination of types.
    """

    shares_rooms = False  # pictures are drawn as on a GPU

    def __init__(self) -> None:
        super().__init__(Workers(1))
        self.kinds: dict[IndexKernel, dict[str, tuple[Any, ...]]] = {}

    def run(self, function: IndexKernel, count: int, *arguments: Any, block: int = 1) -> None:
        """Note the kernel and run it."""
        uploaded = upload(arguments)
        self.kinds.setdefault(function, {})[str(numba.typeof(uploaded))] = uploaded
        super().run(function, count, *arguments, block=block)


def upload(value: Any) -> Any:
    """Return arguments with arrays such as an upload makes: writable and contiguous."""
    if isinstance(value, np.ndarray):
        return np.empty((1,) * value.ndim, value.dtype)
    if isinstance(value, tuple):
        parts = map(upload, value)
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def record_kernels() -> dict[IndexKernel, dict[str, tuple[Any, ...]]]:
    """Return every index kernel that a device runs, with arguments of each combination of types."""
    device = Recorder()
    run_index_kernels(device)
    device.close()
    return device.kinds


@dataclass(frozen=True)
class Usage:
    """What a kernel takes of one kind of GPU.

    Attributes:
        registers: Of a thread.
        spilled: Bytes that a thread stores for want of registers.
        stack: Bytes of a thread's stack.
        code: Bytes of machine code.
    """

    registers: int
    spilled: int
    stack: int
    code: int


@contextmanager
def pretend_gpu() -> Iterator[None]:
    """Let numba-cuda compile without a GPU: functions that a kernel calls ask the current one what it can."""
    modules = [import_module(f"numba.cuda.{name}") for name in ("compiler", "dispatcher")]
    known = [module.get_current_device for module in modules]
    for module in modules:
        module.get_current_device = lambda: SimpleNamespace(compute_capability=OLDEST)
    try:
        yield
    finally:
        for module, own in zip(modules, known, strict=True):
            module.get_current_device = own


def compile_kernel(function: Any, arguments: tuple[Any, ...]) -> bytes:
    """Return the PTX of an index kernel."""
    cuda: Any = import_module("numba.cuda")
    signature = types.void(types.int64, numba.typeof(arguments))
    loose = bool(function.targetoptions.get("fastmath"))
    with pretend_gpu():
        loop = make_grid_loop(function, cuda.grid)
        text, _ = cuda.compile(loop, signature, cc=OLDEST, device=False, abi="numba", fastmath=loose)
    return text.encode()


def assemble(ptx: bytes, gpu: str) -> Usage:
    """Return what PTX takes of a kind of GPU, as sm_90."""
    linker: Any = import_module("cuda.bindings.nvjitlink")
    handle = linker.create(3, [f"-arch={gpu}", "-verbose", "-Xptxas=-v"])
    try:
        linker.add_data(handle, linker.InputType.PTX, ptx, len(ptx), "kernel")
        linker.complete(handle)
        log = bytearray(linker.get_info_log_size(handle))
        linker.get_info_log(handle, log)
        code = linker.get_linked_cubin_size(handle)
    finally:
        linker.destroy(handle)
    return read_log(log.decode(), code)


def read_log(log: str, code: int) -> Usage:
    """Return what the assembler says: the most that any function of a kernel takes."""

    def find_most(pattern: str) -> int:
        return max(int(number) for number in re.findall(pattern, log))

    return Usage(
        find_most(r"Used (\d+) registers"),
        find_most(r"(\d+) bytes spill stores"),
        find_most(r"(\d+) bytes stack"),
        code,
    )


def count_words(kind: Any) -> int:
    """Return how many words of eight bytes an argument of a type takes of a launch."""
    if isinstance(kind, types.Array):
        return 5 + 2 * int(kind.ndim)
    return sum(map(count_words, kind)) if isinstance(kind, types.BaseTuple) else 1


def main() -> None:
    """Print the table."""
    print(f"| kernel | arguments | compiled | {' | '.join(f'{name} ({gpu})' for gpu, name in GPUS.items())} |")
    print("|---|---|---|" + "---|" * len(GPUS))
    for function, kinds in record_kernels().items():
        for arguments in kinds.values():
            begun = time.process_time()
            ptx = compile_kernel(function, arguments)
            taken, words = time.process_time() - begun, 1 + count_words(numba.typeof(arguments))
            used = [assemble(ptx, gpu) for gpu in GPUS]
            name = function.py_func.__name__  # type: ignore[attr-defined]
            cells = [f"{one.registers}, {one.spilled} B" for one in used]
            print(f"| `{name}` | {8 * words:,} B | {taken:.1f} s | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
