"""Where compiled kernels lie, found without the compiler: who only waits for kernels, or shows a menu, needs none.

Numba itself does not notice when a function that a cached kernel calls has changed, so the cache folder's name carries
a hash of all kernel sources, the versions of Python and Numba, and the processor. An install that cannot be written to
falls back to the user's cache folder.

A wheel of one system may carry a library of kernels that were compiled for a processor which nearly everybody's can
stand in for (`ready_kernel`): a start has nothing to compile then, and needs no compiler.
"""

import contextlib
import functools
import hashlib
import logging
import os
import platform
import sys
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from donkeysim.core.errors import DonkeySimError, import_extra

PACKAGE = Path(__file__).resolve().parent.parent

_SHARED = (
    "core/dispatcher.py",
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


_NAMES = {"sse3": "SSE3", "sse4.1": "SSE41", "sse4.2": "SSE42", "fma": "FMA3", "sahf": "LAHF"}
"""What NumPy calls features that it has another name for than LLVM in capitals."""

_TOLD = ("avx2", "fma")
"""Features that every NumPy reports; only newer ones report each of the others, which come with these."""

SUFFIX = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")
"""Of libraries."""


def find_target() -> Target | None:
    """Return what ready kernels for this machine are compiled for; None where its processor cannot run them."""
    target = TARGETS.get(platform.machine().lower())
    return target if target is not None and can_run(target, read_features()) else None


def read_features() -> dict[str, bool]:
    """Return what this processor can do, by NumPy's names, as NumPy has asked it; nothing where it does not say."""
    try:
        numpy: Any = import_module("numpy._core._multiarray_umath" if hasattr(np, "_core") else "numpy.core")
        features: dict[str, bool] = getattr(numpy, "_multiarray_umath", numpy).__cpu_features__
    except (ImportError, AttributeError):
        return {}
    return features


def can_run(target: Target, able: dict[str, bool]) -> bool:
    """Return whether a processor with these features can stand in for a target."""
    return all(able.get(_NAMES.get(feature, feature.upper()), feature not in _TOLD) for feature in target.features)


def find_cache_folder() -> Path:
    """Return the folder of compiled kernels for these sources on this processor, creating it.

    `DONKEYSIM_KERNEL_CACHE` names another parent folder. Otherwise it lies beside the package, or in the user's cache
    folder when the package cannot be written to.
    """
    name = _hash_sources()
    chosen = os.environ.get("DONKEYSIM_KERNEL_CACHE")
    parents = [Path(chosen)] if chosen else [PACKAGE / ".kernels", _user_cache() / "kernels"]
    for parent in parents:
        folder = parent / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    if READY_LIBRARY is not None:  # nothing may have to be written
        return parents[-1] / name
    raise DonkeySimError(
        f"no folder for compiled kernels can be written: tried {', '.join(map(str, parents))}; "
        "set DONKEYSIM_KERNEL_CACHE to a folder that can."
    )


def note_unsaved(name: str, reason: str) -> None:
    """Take note that the cache folder did not take a kernel; the first time it is logged."""
    if not _unsaved:
        _log.warning("compiled kernels cannot be kept in %s (%s); each start will compile them", CACHE_FOLDER, reason)
    _unsaved.append(name)


def is_cache_whole() -> bool:
    """Return whether the cache folder took every kernel that this process compiled."""
    return not _unsaved


def count_cached_kernels() -> int:
    """Return how many compiled kernels the cache folder holds; 0 means that the first run will compile."""
    return sum(1 for _ in CACHE_FOLDER.rglob("*.nbc"))


def _user_cache() -> Path:
    import platformdirs

    return Path(platformdirs.user_cache_dir("donkeysim", appauthor=False))


@functools.cache  # each simulator asks several times, and looking through the package takes longer than making a car
def _list_sources(package: Path) -> tuple[Path, ...]:
    """Return the files that compiled kernels are made from."""
    return (*sorted(package.rglob("kernels/**/*.py")), *(package / name for name in _SHARED))


def _hash_sources() -> str:
    """Return a name that changes with the kernels' sources, Python, Numba and the processor."""
    digest = _digest_sources()
    digest.update(f"{find_numba_version()} {sys.version_info[:2]} {platform.machine()} {name_processor()}".encode())
    return digest.hexdigest()[:16]


def find_numba_version() -> str | None:
    """Return the version of Numba; None: it is not installed."""
    with contextlib.suppress(PackageNotFoundError):
        return version("numba")
    return None


def name_processor() -> str:
    """Return LLVM's name of the processor that kernels are compiled for: this one, or what ready ones stand for."""
    if READY_LIBRARY is not None and (target := find_target()) is not None:
        return target.name
    llvm: Any = import_extra("llvmlite.binding", "there are no ready kernels for this system and processor", "compile")
    return str(llvm.get_host_cpu_name())


def _digest_sources() -> "hashlib._Hash":
    digest = hashlib.sha256()
    for source in _list_sources(PACKAGE):
        digest.update(source.name.encode())
        digest.update(source.read_bytes())
    return digest


def name_sources() -> str:
    """Return a name that changes with the kernels' sources, whatever compiles them and for whom."""
    return _digest_sources().hexdigest()[:16]


def name_ready_library() -> Path | None:
    """Return where a library of kernels for these sources lies in the package if it carries one; None: none runs here.

    Beside it, under the same name with another suffix, lies what it contains.
    """
    target = find_target()
    if target is None:
        return None
    return PACKAGE / "ready_kernels" / f"{sys.platform}-{target.name}-{name_sources()}{SUFFIX}"


def find_ready_library() -> Path | None:
    """Return the library of kernels that came with the package; None where there is none that can run here.

    `DONKEYSIM_COMPILE=1` leaves it alone.
    """
    if os.environ.get("DONKEYSIM_COMPILE") or not (PACKAGE / "ready_kernels").is_dir():
        return None
    library = name_ready_library()
    return library if library is not None and library.is_file() else None


READY_LIBRARY = find_ready_library()
CACHE_FOLDER = find_cache_folder()
