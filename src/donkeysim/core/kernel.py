"""How inner loops are compiled; `kernel_folders` says where the machine code is kept.

Kernels release the GIL and take a half-open range of rows, or launch one row after another (`take_row`): the work of a
row is a function of its own then, without threads in it, that another back end can compile. Callers run kernels on
threads (see `donkeysim.core.workers`). This compiles once for serial and parallel use, gives the same bytes for both,
and survives fork.
"""

from collections.abc import Callable
from typing import Any, TypeVar, overload

import numba
from numba import types
from numba.core.compiler import Flags
from numba.core.cpu import CPUTargetOptions
from numba.core.options import TargetOptions
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from donkeysim.core.inner_compiler import COMPILER
from donkeysim.core.kernel_cache import KernelCache, describe_here
from donkeysim.core.kernel_folders import CACHE_FOLDER, note_unsaved

F = TypeVar("F", bound=Callable[..., Any])

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
    function: F, *, is_cached: bool = False, is_taken_in: bool = False, widens: bool = False, **options: Any
) -> F:
    """Return Numba's dispatcher of a function; its own annotations do not know all its options.

    Args:
        function: What is compiled.
        is_cached: Whether its machine code is kept.
        is_taken_in: Whether other kernels call it though Python does, too.
        widens: Whether it is compiled once for all whole numbers. Left alone, Numba compiles it anew for every constant
            and every width of an integer it is called with.
        **options: Of `numba.njit`.
    """
    njit: Any = numba.njit
    dispatcher: Any = njit(**options)(function)
    if is_cached:
        try:
            dispatcher._cache = KernelCache(function, is_taken_in=is_taken_in)
        except RuntimeError as error:  # not even an empty folder can be made for it
            note_unsaved(function.__name__, str(error))
    if widens:
        resolve = dispatcher.get_call_template
        dispatcher.get_call_template = lambda arguments, keywords: resolve(tuple(map(_widen, arguments)), keywords)
    compiled: F = dispatcher
    return compiled


def _decorate(function: F | None, **options: Any) -> F | Callable[[F], F]:
    """Return a compiled function, or where there is none yet what compiles one."""

    def compile_it(function: F) -> F:
        return compile_function(function, **options)

    return compile_it if function is None else compile_it(function)


def _choose_arithmetic(loose: bool) -> dict[str, Any]:
    strict = {"nogil": True, "error_model": "numpy"}
    return strict | {"fastmath": _LOOSE} if loose else strict


@overload
def kernel(function: F, /) -> F: ...
@overload
def kernel(*, loose: bool = ..., taken_in: bool = ...) -> Callable[[F], F]: ...
def kernel(function: F | None = None, *, loose: bool = False, taken_in: bool = False) -> F | Callable[[F], F]:
    """Compile a scalar loop that Python calls: cached, without the GIL.

    Args:
        function: The loop.
        loose: Whether arithmetic may fuse for speed, as pictures want; otherwise strict, repeatable to the last bit.
        taken_in: Whether other kernels call it, too; what it is made of is kept for them.
    """
    return _decorate(function, is_cached=True, is_taken_in=taken_in, _nrt=False, **_choose_arithmetic(loose))


@overload
def inner_kernel(function: F, /) -> F: ...
@overload
def inner_kernel(*, loose: bool = ..., merged: bool = ..., copied: bool = ...) -> Callable[[F], F]: ...
def inner_kernel(
    function: F | None = None, *, loose: bool = False, merged: bool = False, copied: bool = False
) -> F | Callable[[F], F]:
    """Compile a function that only kernels call: no entry from Python.

    Args:
        function: What they call.
        loose: As for `kernel`; what is `copied` takes its caller's.
        merged: Whether LLVM takes its code into every kernel that calls it, instead of calling it.
        copied: Whether Numba copies it into them, before it knows any types. Copying is slow and done for each call:
            a minute of first starts, when all was copied. Only for a few lines, or where types differ from call to
            call.
    """
    options = _choose_arithmetic(loose)
    if copied:
        return _decorate(function, inline="always", **options)
    options |= _INNER
    if merged:
        return _decorate(function, forceinline=True, **options)
    return _decorate(function, widens=not loose, **options)


def span_kernel(function: F) -> F:
    """Compile a loop over neighbouring pixels that must run on vectors: a loose, merged inner kernel.

    No array it is given may overlap one that it writes: only with that promise may a loop gather texels and store
    pixels at once.
    """
    return compile_function(function, forceinline=True, **_choose_arithmetic(loose=True), **_INNER, **_NO_OVERLAP)


@overload
def index_kernel(function: F, /) -> F: ...
@overload
def index_kernel(*, loose: bool) -> Callable[[F], F]: ...
def index_kernel(function: F | None = None, *, loose: bool = False) -> F | Callable[[F], F]:
    """Compile a function that a `core.device.Device` runs for many indices.

    Args:
        function: `f(index, ...)`; or `f(index, room, ...)`, where `room` is the row of working memory that is its own
            meanwhile.
        loose: As for `kernel`.
    """
    # Called, a strict one would be handed all arrays of the state for each index, a twentieth of a world's step.
    compile_index = inner_kernel(loose=loose, merged=not loose)
    return compile_index if function is None else compile_index(function)


@intrinsic
def take_row(_context: Any, next_row: Any) -> Any:
    """Return the number in `next_row[0]` and make it one more, in one go: no two threads get the same.

    Args:
        next_row: Of 64-bit whole numbers, shape [1]; the rows before its number are taken.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.atomic_rmw("add", array.data, context.get_constant(types.int64, 1), "monotonic")

    return types.int64(next_row), generate


def prepare_compiler() -> None:
    """Do now what Numba would do at the first kernel: fill its tables of types and code, half a second."""
    for context in (cpu_target.typing_context, cpu_target.target_context):
        context.refresh()


def get_formula(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the Python function of a kernel made of operators only, which takes arrays as well as numbers."""
    dispatcher: Any = function
    formula: Callable[..., Any] = dispatcher.py_func
    return formula


def _widen(argument: Any) -> Any:
    unliteral: Any = types.unliteral
    plain = unliteral(argument)
    return types.int64 if plain in types.signed_domain else plain


numba.config.CACHE_DIR = str(CACHE_FOLDER)  # type: ignore[attr-defined]
if numba.config.CPU_FEATURES is None:  # type: ignore[attr-defined]
    numba.config.CPU_FEATURES = describe_here()  # type: ignore[attr-defined]
