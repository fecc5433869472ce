"""Kernels that Numba compiles: its options, what kernels call beside each other, and calls that are repeated."""

import operator
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core.compiler import Flags
from numba.core.cpu import CPUTargetOptions
from numba.core.options import TargetOptions
from numba.core.registry import cpu_target
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import lower_builtin

from donkeysim.core.inner_compiler import COMPILER
from donkeysim.core.kernel_cache import KernelCache, describe_here
from donkeysim.core.kernel_folders import CACHE_FOLDER, note_unsaved
from donkeysim.core.ready_kernel import ReadyKernel
from donkeysim.core.workers import take_row

# Pictures: products and sums may fuse, signs of zero and non-numbers do not matter; but the order of operations is kept
# and division is exact, so that a value does not depend on whether it was computed in a vector or alone.
_LOOSE = {"contract", "nnan", "ninf", "nsz"}

_INNER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False, **COMPILER}

# Numba has this flag for its own parallel loops; a name makes it an option of `njit`. Without it pictures are only
# slower.
_NO_OVERLAP: dict[str, bool] = {}
if hasattr(Flags, "noalias"):
    mapping: Any = TargetOptions.Mapping
    CPUTargetOptions.noalias = mapping("noalias")
    _NO_OVERLAP["noalias"] = True


def compile_function(
    function: Callable[..., Any],
    *,
    is_entry: bool = False,
    is_kept: bool = False,
    is_taken_in: bool = False,
    is_loose: bool = False,
    is_merged: bool = False,
    is_copied: bool = False,
    is_apart: bool = False,
) -> Any:
    """Return Numba's dispatcher of a function.

    Args:
        function: What is compiled.
        is_entry: Whether Python calls it; otherwise only kernels do.
        is_kept: Whether an entry's machine code is kept, for which its sources must be hashed (`kernel_folders`).
        is_taken_in: Whether other kernels call a kept entry, too.
        is_loose: Whether arithmetic may fuse, see `kernel.kernel`.
        is_merged: Whether LLVM takes its code into every kernel that calls it.
        is_copied: Whether Numba copies it into them.
        is_apart: Whether no array that it is given overlaps one that it writes.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    if is_loose:
        options["fastmath"] = _LOOSE
    if is_copied:
        options["inline"] = "always"
    else:
        options |= {"_nrt": False} if is_entry else _INNER
    if is_merged:
        options["forceinline"] = True
    if is_apart:
        options |= _NO_OVERLAP
    njit: Any = numba.njit
    dispatcher: Any = njit(**options)(function)
    if is_kept:
        try:
            dispatcher._cache = KernelCache(function, is_taken_in=is_taken_in)
        except RuntimeError as error:  # not even an empty folder can be made for it
            note_unsaved(function.__name__, str(error))
    if not (is_entry or is_loose or is_merged or is_copied):
        _widen_arguments(dispatcher)
    return dispatcher


def _widen_arguments(dispatcher: Any) -> None:
    """Let a function be compiled once for all whole numbers.

    Left alone, Numba compiles it anew for every constant and every width of an integer it is called with.
    """
    resolve = dispatcher.get_call_template
    dispatcher.get_call_template = lambda arguments, keywords: resolve(tuple(map(_widen, arguments)), keywords)


def _widen(argument: Any) -> Any:
    unliteral: Any = types.unliteral
    plain = unliteral(argument)
    return types.int64 if plain in types.signed_domain else plain


def thaw(kernel: Any) -> Any:
    """Return the dispatcher of a kernel that came with the package, or of anything else that thing itself.

    A kernel that calls others is compiled of their dispatchers.
    """
    if not isinstance(kernel, ReadyKernel):
        return kernel
    if kernel.dispatcher is None:
        function: Any = kernel.py_func
        names = function.__globals__
        called = {name: thaw(names[name]) for name in function.__code__.co_names if name in names}
        parts = function.__name__, function.__defaults__, function.__closure__
        copy: Any = FunctionType(function.__code__, names | called, *parts)
        copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
        kernel.dispatcher = compile_function(copy, **kernel.manner)
    return kernel.dispatcher


_infer: Any = infer_global
_lower: Any = lower_builtin


@_infer(take_row)
class _TakeRow(AbstractTemplate):
    """What `take_row` returns when a kernel calls it."""

    key = take_row

    def generic(self, arguments: Any, keywords: Any) -> Any:  # noqa: ARG002
        """Return the types of a call."""
        (next_row,) = arguments
        return types.int64(next_row)


@_lower(take_row, types.Array)
def _write_take_row(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    return builder.atomic_rmw("add", array.data, context.get_constant(types.int64, 1), "monotonic")


def fill_tables() -> None:
    """Fill Numba's tables of types and code."""
    for context in (cpu_target.typing_context, cpu_target.target_context):
        context.refresh()


class RepeatedCall:
    """Calls of one kernel with the same large arguments.

    Numba looks up the types of all arguments in each call: for a hundred arrays ten times what the call itself takes.
    Here they are looked up when one that the types depend on is another object than in the last call, and not alike.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._kernel: Any = function
        self._known: tuple[tuple[Any, ...], Callable[..., Any]] | None = None

    def __call__(self, owned: tuple[Any, ...], *arguments: Any) -> None:
        """Call the kernel, see `index_loops.repeat`."""
        known = self._known
        if known is not None and (all(map(operator.is_, known[0], owned)) or all(map(_are_alike, known[0], owned))):
            known[1](*arguments)
            return
        self._kernel(*arguments)
        compiled = self._kernel.overloads[tuple(map(numba.typeof, arguments))]
        self._known = (owned, compiled.entry_point)


def _are_alike(one: Any, other: Any) -> bool:
    """Return whether two arguments have one type for Numba: rows that are given anew in each call, for example."""
    if one is other:
        return True
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype and one.ndim == other.ndim and one.flags.num == other.flags.num
    return isinstance(one, (int, float)) and type(one) is type(other)


numba.config.CACHE_DIR = str(CACHE_FOLDER)  # type: ignore[attr-defined]
if numba.config.CPU_FEATURES is None:  # type: ignore[attr-defined]
    numba.config.CPU_FEATURES = describe_here()  # type: ignore[attr-defined]
