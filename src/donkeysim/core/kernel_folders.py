"""Where compiled kernels lie, found without the compiler: who only waits for kernels, or shows a menu, needs none.

Numba itself does not notice when a function that a cached kernel calls has changed, so the cache folder's name carries
a hash of all kernel sources, the versions of Python and Numba, and the processor. An install that cannot be written to
falls back to the user's cache folder.

A wheel of one system and one Python may carry a folder of kernels that were compiled for a processor which nearly
everybody's can stand in for, so that a first start has nothing to compile (`python -m supply build` makes such wheels).
What is not in it is compiled for the processor that is here, as without it.
"""

import functools
import hashlib
import logging
import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import llvmlite.binding

from donkeysim.core.errors import DonkeySimError

PACKAGE = Path(__file__).resolve().parent.parent

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


@functools.cache  # each kernel asks
def find_target() -> Target | None:
    """Return what ready kernels for this machine are compiled for; None where its processor cannot run them."""
    target = TARGETS.get(platform.machine().lower())
    return target if target is not None and can_run(target, llvmlite.binding.get_host_cpu_features()) else None


def can_run(target: Target, able: dict[str, bool]) -> bool:
    """Return whether a processor with these features can stand in for a target."""
    return all(able.get(feature) for feature in target.features)


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
    raise DonkeySimError(
        f"no folder for compiled kernels can be written: tried {', '.join(map(str, parents))}; "
        "set DONKEYSIM_KERNEL_CACHE to a folder that can."
    )


def note_unsaved(name: str, reason: str) -> None:
    """Take note that the cache folder did not take a kernel; the first time it is told."""
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


def list_kernel_sources() -> tuple[Path, ...]:
    """Return the files that compiled kernels are made from."""
    return _list_sources(PACKAGE)


@functools.cache  # each simulator asks several times, and looking through the package takes longer than making a car
def _list_sources(package: Path) -> tuple[Path, ...]:
    return (*sorted(package.rglob("kernels/**/*.py")), *(package / name for name in _SHARED))


def _hash_sources(processor: str | None = None) -> str:
    """Return a name that changes with the kernels' sources, Python, Numba and the processor, which is the one here."""
    digest = _digest_sources()
    digest.update(f"{version('numba')} {sys.version_info[:2]} {platform.machine()}".encode())
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
    target = find_target()
    if target is None:
        return None
    return PACKAGE / "ready_kernels" / _hash_sources(f"{sys.platform} {target.name} {llvmlite.__version__}")


def find_ready_folder() -> Path | None:
    """Return where kernels lie that came with the package; None where none fit."""
    folder = name_ready_folder()
    return folder if folder is not None and folder.is_dir() else None


CACHE_FOLDER = find_cache_folder()
READY_FOLDER = find_ready_folder()
