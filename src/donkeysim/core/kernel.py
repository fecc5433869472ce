"""How inner loops are compiled; `kernel_folders` says where the machine code is kept.

Kernels release the GIL and take a half-open range of rows, or launch one row after another (`workers.take_row`): the
work of a row is a function of its own then, without threads in it, that another back end can compile. Callers run
kernels on threads (`core.workers`). This compiles once for serial and parallel use, gives the same bytes for both, and
survives fork.

Numba compiles them (`dispatcher`), unless the package carries them as machine code for this processor
(`ready_kernel`): then no compiler is read, nor need one be installed.
"""

from collections.abc import Callable
from typing import Any, TypeVar, overload

from donkeysim.core.errors import import_extra
from donkeysim.core.kernel_folders import READY_LIBRARY
from donkeysim.core.ready_kernel import ReadyKernel

F = TypeVar("F", bound=Callable[..., Any])


def make_kernel(function: Callable[..., Any], **manner: bool) -> Any:
    """Return what Python calls for a function: machine code that came with the package, or Numba's dispatcher.

    Args:
        function: What is compiled.
        **manner: How, see `dispatcher.compile_function`.
    """
    if READY_LIBRARY is not None:
        return ReadyKernel(function, manner, _compile_ready)
    from donkeysim.core.dispatcher import compile_function

    return compile_function(function, **manner)


def _compile_ready(kernel: ReadyKernel) -> Any:
    """Return the dispatcher of a kernel that did not come compiled for what it is given."""
    name = kernel.py_func.__qualname__.removeprefix("loop_")
    need = f"{name} did not come compiled for these arguments and needs the compiler Numba"
    import_extra("numba", need, "compile")
    from donkeysim.core.dispatcher import thaw

    return thaw(kernel)


def _decorate(function: F | None, **manner: bool) -> F | Callable[[F], F]:
    """Return a compiled function, or where there is none yet what compiles one."""

    def compile_it(function: F) -> F:
        kernel: F = make_kernel(function, **manner)
        return kernel

    return compile_it if function is None else compile_it(function)


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
    return _decorate(function, is_entry=True, is_kept=True, is_loose=loose, is_taken_in=taken_in)


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
    return _decorate(function, is_loose=loose, is_merged=merged, is_copied=copied)


def span_kernel(function: F) -> F:
    """Compile a loop over neighbouring pixels that must run on vectors: a loose, merged inner kernel.

    No array it is given may overlap one that it writes: only with that promise may a loop gather texels and store
    pixels at once.
    """
    compiled: F = make_kernel(function, is_loose=True, is_merged=True, is_apart=True)
    return compiled


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
    return _decorate(function, is_loose=loose, is_merged=not loose)


def prepare_compiler() -> None:
    """Do now what Numba would do at the first kernel: fill its tables of types and code, half a second."""
    if READY_LIBRARY is None:
        from donkeysim.core.dispatcher import fill_tables

        fill_tables()


def get_formula(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the Python function of a kernel made of operators only, which takes arrays as well as numbers."""
    kernel: Any = function
    formula: Callable[..., Any] = kernel.py_func
    return formula
