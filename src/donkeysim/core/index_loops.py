"""Loops around index kernels, for threads of this machine and of a GPU, and calls of one kernel again and again."""

import functools
import operator
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numba
import numpy as np

from donkeysim.core.kernel import compile_function, take_row


@functools.cache
def make_loop(function: Callable[..., Any]) -> Callable[..., None]:
    """Return a kernel `loop(next_block, block, end, room, arguments)` that runs an index kernel.

    It takes blocks of `block` indices by `take_row` and runs the function for the indices of each that are below `end`.
    """
    loop = _fill(_run_blocks_in_rooms if takes_room(function) else _run_blocks, function, take=take_row)
    compiled: Callable[..., None] = compile_function(
        loop, is_cached=is_own(function), nogil=True, error_model="numpy", _nrt=False
    )
    return compiled


def is_own(function: Any) -> bool:
    """Return whether the cache folder's name tells when an index kernel has changed: it is one of this package."""
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


class RepeatedCall:
    """Calls of one kernel with the same large arguments.

    Numba looks up the types of all arguments in each call: for a hundred arrays ten times what the call itself takes.
    Here they are looked up when one that the types depend on is another object than in the last call, and not alike.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._kernel: Any = function
        self._known: tuple[tuple[Any, ...], Callable[..., Any]] | None = None

    def __call__(self, owned: tuple[Any, ...], *arguments: Any) -> None:
        """Call the kernel.

        Args:
            owned: All arguments whose types somebody else decides on, always as many; numbers, arrays, and tuples,
                which nobody can change.
            *arguments: Of the kernel; those that `owned` leaves out must be of the same types in every call.
        """
        known = self._known
        if known is not None and (all(map(operator.is_, known[0], owned)) or all(map(_are_alike, known[0], owned))):
            known[1](*arguments)
            return
        self._kernel(*arguments)
        compiled = self._kernel.overloads[tuple(map(numba.typeof, arguments))]
        self._known = (owned, compiled.entry_point)


def _are_alike(one: Any, other: Any) -> bool:
    """Return whether two arguments have one type for Numba: rows that are told anew in each call, for example."""
    if one is other:
        return True
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype and one.ndim == other.ndim and one.flags.num == other.flags.num
    return isinstance(one, (int, float)) and type(one) is type(other)
