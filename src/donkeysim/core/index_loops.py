"""Loops around index kernels, for threads of this machine and of a GPU, and calls of one kernel again and again."""

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any

from donkeysim.core.kernel import make_kernel
from donkeysim.core.ready_kernel import ReadyCall, ReadyKernel
from donkeysim.core.workers import take_row


@functools.cache
def make_loop(function: Callable[..., Any]) -> Callable[..., None]:
    """Return a kernel `loop(next_block, block, end, room, arguments)` that runs an index kernel.

    It takes blocks of `block` indices by `take_row` and runs the function for the indices of each that are below `end`.
    """
    loop = _fill(_run_blocks_in_rooms if takes_room(function) else _run_blocks, function, take=take_row)
    compiled: Callable[..., None] = make_kernel(loop, is_entry=True, is_kept=is_own(function))
    return compiled


def is_own(function: Any) -> bool:
    """Return whether the cache folder's name shows when an index kernel has changed: it is one of this package."""
    own: bool = function.py_func.__module__.startswith("donkeysim.")
    return own


def make_grid_loop(function: Callable[..., Any], grid: Any) -> Any:
    """Return `loop(end, arguments)`, to be compiled for a GPU: each of its threads runs one index of an index kernel.

    Args:
        function: The index kernel.
        grid: Tells a GPU's thread its number.
    """
    return _fill(_run_thread_in_room if takes_room(function) else _run_thread, function, grid=grid)


def takes_room(function: Any) -> bool:
    """Return whether an index kernel asks for working memory."""
    return "room" in function.py_func.__code__.co_varnames[1:2]


def _fill(template: Any, function: Any, **names: Any) -> Any:
    """Return a loop around an index kernel; Numba names the file of its machine code by what it is called."""
    python = function.py_func
    loop: Any = FunctionType(template.__code__, {**names, "call": function}, f"loop_{python.__name__}")
    loop.__module__, loop.__qualname__ = python.__module__, f"loop_{python.__module__}.{python.__qualname__}"
    return loop


# Numba compiles these; what they call is filled in.
def _run_blocks(next_block: Any, block: int, end: int, _room: int, arguments: tuple[Any, ...]) -> None:
    while True:
        first = take(next_block) * block  # type: ignore[name-defined]  # noqa: F821
        if first >= end:
            break
        for index in range(first, min(first + block, end)):
            call(index, *arguments)  # type: ignore[name-defined]  # noqa: F821


def _run_blocks_in_rooms(next_block: Any, block: int, end: int, room: int, arguments: tuple[Any, ...]) -> None:
    while True:
        first = take(next_block) * block  # type: ignore[name-defined]  # noqa: F821
        if first >= end:
            break
        for index in range(first, min(first + block, end)):
            call(index, room, *arguments)  # type: ignore[name-defined]  # noqa: F821


def _run_thread(end: int, arguments: tuple[Any, ...]) -> None:
    index = grid(1)  # type: ignore[name-defined]  # noqa: F821
    if index < end:
        call(index, *arguments)  # type: ignore[name-defined]  # noqa: F821


def _run_thread_in_room(end: int, arguments: tuple[Any, ...]) -> None:
    index = grid(1)  # type: ignore[name-defined]  # noqa: F821
    if index < end:
        call(index, index, *arguments)  # type: ignore[name-defined]  # noqa: F821


def repeat(function: Callable[..., Any]) -> Any:
    """Return `call(owned, *arguments)`, which calls one kernel again and again with the same large arguments.

    `owned` are all arguments whose types somebody else decides on, always as many: numbers, arrays, and tuples, which
    nobody can change. Those that it leaves out must be of the same types in every call.
    """
    if isinstance(function, ReadyKernel):
        return ReadyCall(function)
    from donkeysim.core.dispatcher import RepeatedCall

    return RepeatedCall(function)
