"""Kernels as machine code that comes with the package, and where Numba keeps and finds kernels.

A wheel of one system and one Python may carry a folder of kernels that were compiled for a processor which nearly
everybody's can stand in for, so that a first start has nothing to compile (`python -m supply build` makes such wheels).
What is not in it is compiled for the processor that is here, as without it.
"""

import functools
import hashlib
import os
import platform
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite.binding
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.codegen import get_host_cpu_features

PACKAGE = Path(__file__).resolve().parent.parent


class Target(NamedTuple):
    """A kind of processor: LLVM's name of it and what it can do."""

    name: str
    features: tuple[str, ...]
    ways: tuple[str, ...] = ()
    """How LLVM is to write for it, which is nothing that a processor can or cannot do."""

    @property
    def switches(self) -> str:
        """Features and ways as LLVM takes them."""
        return ",".join(f"+{word}" for word in self.features + self.ways)


GATHERS = "fast-gather"
"""A way: load a vector's numbers from many places by one instruction. LLVM takes it for Intel's processors only; left
without it, it makes no vectors at all of loops over texels, which are a third slower for that on AMD's (decision 0034).
"""


_HASWELL = Target(
    "x86-64-v3",
    (
        *("sse3", "ssse3", "sse4.1", "sse4.2", "popcnt", "cx16", "sahf"),
        *("avx", "avx2", "fma", "f16c", "bmi", "bmi2", "lzcnt", "movbe", "xsave"),
    ),
    (GATHERS,),
)
"""What Intel's can do since 2013 and AMD's since 2015."""

_ARM = Target("generic", ("neon",))

TARGETS = {"x86_64": _HASWELL, "amd64": _HASWELL, "arm64": _ARM, "aarch64": _ARM}
"""What ready kernels are compiled for, by `platform.machine` in small letters."""


def find_target() -> Target | None:
    """Return what ready kernels for this machine are compiled for; None where its processor cannot run them."""
    target = TARGETS.get(platform.machine().lower())
    return target if target is not None and can_run(target, llvmlite.binding.get_host_cpu_features()) else None


def can_run(target: Target, able: dict[str, bool]) -> bool:
    """Return whether a processor with these features can stand in for a target."""
    return all(able.get(feature) for feature in target.features)


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
    is_written_to: bool

    def get_cache_path(self) -> str:
        return self.folder

    def get_disambiguator(self) -> str:
        return str(self.line)

    def get_source_stamp(self) -> str:
        return _hash_file(self.source)

    def ensure_cache_path(self) -> None:
        if self.is_written_to:
            os.makedirs(self.folder, exist_ok=True)
            tempfile.TemporaryFile(dir=self.folder).close()


class _Shelf(NamedTuple):
    """A folder with a place for each kernel of this package: one that does not tell where the package lies."""

    folder: str
    is_written_to: bool

    def from_function(self, function: Callable[..., Any], file: str) -> _Place | None:
        """Return a kernel's place; None for one that is not of this package, or where nothing can be written."""
        source = Path(file).resolve()
        if not source.is_relative_to(PACKAGE):
            return None
        folder = os.path.join(self.folder, ".".join(source.relative_to(PACKAGE).parts[:-1]))
        place = _Place(folder, str(source), function.__code__.co_firstlineno, self.is_written_to)
        try:
            place.ensure_cache_path()
        except OSError:
            return None
        return place


@functools.cache
def _hash_file(source: str) -> str:
    return hashlib.sha256(Path(source).read_bytes()).hexdigest()


class _Kept(CompileResultCacheImpl):
    """Numba's way to write and read kernels, on a shelf of ours."""

    def __init__(self, function: Callable[..., Any], shelf: _Shelf) -> None:
        others = CompileResultCacheImpl._locator_classes if shelf.is_written_to else []
        self._locator_classes: Any = [shelf, *others]
        super().__init__(function)  # type: ignore[no-untyped-call]


class KernelCache(FunctionCache):
    """Compiled forms of one kernel, kept in a folder."""

    def __init__(self, function: Callable[..., Any], shelf: _Shelf) -> None:
        self._shelf = shelf
        super().__init__(function)  # type: ignore[no-untyped-call]

    def _impl_class(self, function: Callable[..., Any]) -> _Kept:  # type: ignore[override]
        return _Kept(function, self._shelf)


class ReadyCache(KernelCache):
    """Compiled forms of one kernel that came with the package, for a target, whatever processor is here."""

    def __init__(self, function: Callable[..., Any], shelf: _Shelf, target: Target) -> None:
        self._target = target
        super().__init__(function, shelf)

    def _index_key(self, signature: Any, codegen: Any) -> Any:
        own, (system, *_), hashes = super()._index_key(signature, codegen)  # type: ignore[no-untyped-call]
        return own, (system, self._target.name, self._target.switches), hashes


def open_cache(function: Callable[..., Any], folder: str) -> KernelCache:
    """Return the compiled forms of a kernel that are kept in a folder.

    Raises:
        RuntimeError: Nothing can be written there.
    """
    return KernelCache(function, _Shelf(folder, is_written_to=True))


def open_ready(function: Callable[..., Any], folder: str, target: Target) -> ReadyCache | None:
    """Return the compiled forms of a kernel that came with the package; None where it is a kernel of somebody else."""
    try:
        return ReadyCache(function, _Shelf(folder, is_written_to=False), target)
    except RuntimeError:
        return None
