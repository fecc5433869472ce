"""How Numba keeps and finds kernels in the folders of `kernel_folders`."""

import contextlib
import functools
import gc
import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite.binding
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.codegen import get_host_cpu_features
from numba.core.runtime.nrt import rtsys

from donkeysim.core.files import describe_failure
from donkeysim.core.kernel_folders import CACHE_FOLDER, GATHERS, PACKAGE, note_unsaved


def describe_here() -> str:
    """Return the features of this machine's processor, and the ways to write for it, as LLVM takes them."""
    get_features: Any = get_host_cpu_features
    features: str = get_features()
    return f"{features},+{GATHERS}" if "+avx2" in features.split(",") else features


class _Place(NamedTuple):
    """Where the forms of one kernel lie; what Numba calls a locator."""

    folder: str
    source: str
    line: int

    def get_cache_path(self) -> str:
        return self.folder

    def get_disambiguator(self) -> str:
        return str(self.line)

    def get_source_stamp(self) -> str:
        return _hash_file(self.source)

    def ensure_cache_path(self) -> None:
        os.makedirs(self.folder, exist_ok=True)
        tempfile.TemporaryFile(dir=self.folder).close()


class _Shelf(NamedTuple):
    """A folder with a place for each kernel of this package: one whose name does not show where the package lies."""

    folder: str

    def from_function(self, function: Callable[..., Any], file: str) -> _Place | None:
        """Return a kernel's place; None for one that is not of this package, or where nothing can be written."""
        source = Path(file).resolve()
        if not source.is_relative_to(PACKAGE):
            return None
        folder = os.path.join(self.folder, ".".join(source.relative_to(PACKAGE).parts[:-1]))
        place = _Place(folder, str(source), function.__code__.co_firstlineno)
        try:
            place.ensure_cache_path()
        except OSError:
            return None
        return place


@functools.cache
def _hash_file(source: str) -> str:
    return hashlib.sha256(Path(source).read_bytes()).hexdigest()


class _Form(CompileResultCacheImpl):
    """Numba's way to write and read kernels, on a shelf of ours."""

    def __init__(self, function: Callable[..., Any], shelf: _Shelf) -> None:
        self._locator_classes: Any = [shelf, *CompileResultCacheImpl._locator_classes]
        super().__init__(function)  # type: ignore[no-untyped-call]


class _BareForm(_Form):
    """Machine code alone, for Python: no statements that other kernels could take in, and no types for people to read.

    Of a file these are three quarters, of a process that loads all kernels 16 MB, and most of the time it takes.
    """

    def reduce(self, result: Any) -> Any:
        """Return what is kept of a kernel."""
        whole: Any = super().reduce
        match kept := whole(result._replace(type_annotation="")):
            case (name, "object", (machine_code, _)), *others:
                result.library._get_module_for_linking = _refuse
                return (name, "object", (machine_code, _write_entry(result.fndesc.llvm_cpython_wrapper_name))), *others
        return kept  # a Numba that writes something else

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """Return a kernel from what was kept of it."""
        result: Any = super().rebuild(target_context, payload)  # type: ignore[no-untyped-call]
        result.library._get_module_for_linking = _refuse
        return result


def _refuse() -> None:
    raise TypeError("a kernel cannot call another one of which only machine code is kept; use kernel(taken_in=True).")


def _write_entry(name: str) -> bytes:
    """Return LLVM's statements of an entry from Python, from which Numba takes that there is one."""
    parse: Any = llvmlite.binding.parse_assembly
    statements: bytes = parse(f'define void @"{name}"() {{ ret void }}').as_bitcode()
    return statements


class _Kept(FunctionCache):
    """Compiled forms of one kernel that are kept in a folder."""

    def __init__(self, function: Callable[..., Any], shelf: _Shelf, form: type[_Form]) -> None:
        self._shelf, self._form = shelf, form
        super().__init__(function)  # type: ignore[no-untyped-call]

    def _impl_class(self, function: Callable[..., Any]) -> _Form:  # type: ignore[override]
        return self._form(function, self._shelf)

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return a compiled form, or None, without what Numba needs to compile, 0.2 s of a start."""
        rtsys.initialize(context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(signature, context)  # type: ignore[no-untyped-call]


class KernelCache:
    """Compiled forms of one kernel, as a dispatcher of Numba's asks for them.

    Damage to what is kept and a full disk cost a compilation, never a run.
    """

    def __init__(self, function: Callable[..., Any], *, is_taken_in: bool = False, folder: Path | None = None) -> None:
        """Find them.

        Args:
            function: What is compiled.
            is_taken_in: Whether other kernels call it, too, and take in its statements.
            folder: Where they are kept; None: where those of the package are.

        Raises:
            RuntimeError: Nothing can be written there.
        """
        self.function, self.is_taken_in = function, is_taken_in
        form = _Form if is_taken_in else _BareForm
        self._kept: Any = _Kept(function, _Shelf(str(folder or CACHE_FOLDER)), form)
        self.cache_path: str = self._kept.cache_path
        self.flush: Callable[[], None] = self._kept.flush

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return a compiled form for these types; None where there is none."""
        try:
            return self._kept.load_overload(signature, context)
        except Exception:  # noqa: BLE001  (a damaged pickle may raise anything)
            with contextlib.suppress(OSError):
                self.flush()
            return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep a compiled form."""
        try:
            self._kept.save_overload(signature, compiled)
        except OSError as error:
            note_unsaved(str(signature), describe_failure(error))


def forget_statements() -> None:
    """Let LLVM's statements of a kernel go once it is kept, for the rest of this process, which then cannot keep it
    again; 12 MB of 150 while kernels are compiled.

    Numba leaves them with the engine that runs machine code. The code stays.
    """
    kernel_cache: Any = KernelCache
    save = KernelCache.save_overload

    def save_and_forget(cache: KernelCache, signature: Any, compiled: Any) -> None:
        save(cache, signature, compiled)
        if cache.is_taken_in:
            return
        library = compiled.library
        with contextlib.suppress(AttributeError):  # a Numba that has them elsewhere
            library._codegen._engine._ee.remove_module(library._final_module)
            library._final_module.close()
            library._linking_libraries.clear()
            library._shared_module = None
        gc.collect()

    kernel_cache.save_overload = save_and_forget
