"""How inner loops are compiled, and where the machine code is kept.

Numba itself does not notice when a function that a cached kernel calls has changed, so the cache folder's name carries
a hash of all kernel sources, the versions of Python and Numba, and the processor. An install that cannot be written to
falls back to the user's cache folder.

Kernels release the GIL and take a half-open range of rows, or launch one row after another (`take_row`): the work of a
row is a function of its own then, without threads in it, that another back end can compile. Callers run kernels on
threads (see `donkeysim.core.workers`). This compiles once for serial and parallel use, gives the same bytes for both,
and survives fork.
"""

import contextlib
import functools
import hashlib
import logging
import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, overload

import llvmlite.binding
import numba
from numba import types
from numba.core.compiler import Flags
from numba.core.cpu import CPUTargetOptions
from numba.core.options import TargetOptions
from numba.extending import intrinsic

from donkeysim.core.errors import DonkeySimError
from donkeysim.core.files import describe_failure
from donkeysim.core.inner_compiler import COMPILER
from donkeysim.core.ready_kernels import describe_here, find_target, open_cache, open_ready

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

_PACKAGE = Path(__file__).resolve().parent.parent

_TARGET = find_target()

_SHARED = (
    "core/index_loops.py",
    "core/kernel.py",
    "core/rng.py",
    "core/rotation.py",
    "core/vector.py",
    "envs/rules.py",
    "render/warp.py",
    "world/ledger.py",
    "world/randomization.py",
    "world/state.py",
)
"""Sources outside of `kernels` whose functions or numbers kernels take in."""

_log = logging.getLogger(__name__)

_unsaved: list[str] = []
"""Kernels that the cache folder did not take."""


class _Cache:
    """Compiled forms of one kernel, kept by Numba; damage to them and a full disk cost a compilation, never a run."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._kept: Any = open_cache(function, numba.config.CACHE_DIR)  # type: ignore[attr-defined]
        self._ready: Any = None
        if READY_FOLDER is not None and _TARGET is not None:
            self._ready = open_ready(function, str(READY_FOLDER), _TARGET)
        self.cache_path: str = self._kept.cache_path
        self.flush: Callable[[], None] = self._kept.flush

    def load_overload(self, signature: Any, context: Any) -> Any:
        with contextlib.suppress(Exception):  # the package's files may be damaged, too
            if self._ready is not None and (ready := self._ready.load_overload(signature, context)) is not None:
                return ready
        try:
            return self._kept.load_overload(signature, context)
        except Exception:  # noqa: BLE001  (a damaged pickle may raise anything)
            with contextlib.suppress(OSError):
                self.flush()
            return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        try:
            self._kept.save_overload(signature, compiled)
        except OSError as error:
            _note_unsaved(str(signature), describe_failure(error))


def _note_unsaved(name: str, reason: str) -> None:
    if not _unsaved:
        _log.warning("compiled kernels cannot be kept in %s (%s); each start will compile them", CACHE_FOLDER, reason)
    _unsaved.append(name)


def compile_function(function: F, *, is_cached: bool = False, widens: bool = False, **options: Any) -> F:
    """Return Numba's dispatcher of a function; its own annotations do not know all its options.

    Args:
        function: What is compiled.
        is_cached: Whether its machine code is kept.
        widens: Whether it is compiled once for all whole numbers. Left alone, Numba compiles it anew for every constant
            and every width of an integer it is called with.
        **options: Of `numba.njit`.
    """
    njit: Any = numba.njit
    dispatcher: Any = njit(**options)(function)
    if is_cached:
        try:
            dispatcher._cache = _Cache(function)
        except RuntimeError as error:  # not even an empty folder can be made for it
            _note_unsaved(function.__name__, str(error))
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
def kernel(*, loose: bool) -> Callable[[F], F]: ...
def kernel(function: F | None = None, *, loose: bool = False) -> F | Callable[[F], F]:
    """Compile a scalar loop that Python calls: cached, without the GIL.

    Args:
        function: The loop.
        loose: Whether arithmetic may fuse for speed, as pictures want; otherwise strict, repeatable to the last bit.
    """
    return _decorate(function, is_cached=True, _nrt=False, **_choose_arithmetic(loose))


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


def get_formula(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the Python function of a kernel made of operators only, which takes arrays as well as numbers."""
    dispatcher: Any = function
    formula: Callable[..., Any] = dispatcher.py_func
    return formula


def _widen(argument: Any) -> Any:
    unliteral: Any = types.unliteral
    plain = unliteral(argument)
    return types.int64 if plain in types.signed_domain else plain


def find_cache_folder() -> Path:
    """Return the folder of compiled kernels for these sources on this processor, creating it.

    `DONKEYSIM_KERNEL_CACHE` names another parent folder. Otherwise it lies beside the package, or in the user's cache
    folder when the package cannot be written to.
    """
    name = _hash_sources()
    chosen = os.environ.get("DONKEYSIM_KERNEL_CACHE")
    parents = [Path(chosen)] if chosen else [_PACKAGE / ".kernels", _user_cache() / "kernels"]
    for parent in parents:
        folder = parent / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    raise DonkeySimError(
        f"no folder for compiled kernels can be written: tried {', '.join(map(str, parents))}; "
        "set DONKEYSIM_KERNEL_CACHE to a folder that can."
    )


def is_cache_whole() -> bool:
    """Return whether the cache folder took every kernel that this process compiled."""
    return not _unsaved


def count_cached_kernels() -> int:
    """Return how many compiled kernels the cache folder holds; 0 means that the first run will compile."""
    return sum(1 for _ in CACHE_FOLDER.rglob("*.nbc"))


def _user_cache() -> Path:
    import platformdirs

    return Path(platformdirs.user_cache_dir("donkeysim", appauthor=False))


def list_kernel_sources() -> tuple[Path, ...]:
    """Return the files that compiled kernels are made from."""
    return _list_sources(_PACKAGE)


@functools.cache  # each simulator asks several times, and looking through the package takes longer than making a car
def _list_sources(package: Path) -> tuple[Path, ...]:
    return (*sorted(package.rglob("kernels/**/*.py")), *(package / name for name in _SHARED))


def _hash_sources(processor: str | None = None) -> str:
    """Return a name that changes with the kernels' sources, Python, Numba and the processor, which is the one here."""
    digest = _digest_sources()
    digest.update(f"{numba.__version__} {sys.version_info[:2]} {platform.machine()}".encode())
    digest.update((processor or str(llvmlite.binding.get_host_cpu_name())).encode())
    return digest.hexdigest()[:16]


def _digest_sources() -> "hashlib._Hash":
    digest = hashlib.sha256()
    for source in list_kernel_sources():
        digest.update(source.name.encode())
        digest.update(source.read_bytes())
    return digest


def name_sources() -> str:
    """Return a name that changes with the kernels' sources, whatever compiles them and for whom."""
    return _digest_sources().hexdigest()[:16]


def name_ready_folder() -> Path | None:
    """Return where kernels for these sources lie in the package if it carries them; None: no such can run here."""
    if _TARGET is None:
        return None
    return _PACKAGE / "ready_kernels" / _hash_sources(f"{sys.platform} {_TARGET.name} {llvmlite.__version__}")


def find_ready_folder() -> Path | None:
    """Return where kernels lie that came with the package; None where none fit."""
    folder = name_ready_folder()
    return folder if folder is not None and folder.is_dir() else None


CACHE_FOLDER = find_cache_folder()
READY_FOLDER = find_ready_folder()
numba.config.CACHE_DIR = str(CACHE_FOLDER)  # type: ignore[attr-defined]
if numba.config.CPU_FEATURES is None:  # type: ignore[attr-defined]
    numba.config.CPU_FEATURES = describe_here()  # type: ignore[attr-defined]
