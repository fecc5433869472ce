"""Ask the package index, as uv is set up to, which systems and Pythons have wheels of all that is pinned."""

import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from packaging.markers import Marker, default_environment
from packaging.tags import Tag, compatible_tags, cpython_tags, mac_platforms
from packaging.utils import parse_wheel_filename

from supply.pins import CONSTRAINTS, ROOT

PYTHONS = ("3.11", "3.12", "3.13", "3.14")


class System(NamedTuple):
    """A system as markers of dependencies see it, and the platforms whose wheels it takes."""

    name: str
    markers: dict[str, str]
    platforms: tuple[str, ...]


class Package(NamedTuple):
    """A pinned package: where it is needed and the files that the index has of it."""

    name: str
    version: str
    marker: Marker | None
    wheels: tuple[str, ...]


SYSTEMS = (
    System(
        "Linux x86-64",
        {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix", "platform_machine": "x86_64"},
        (*(f"manylinux_2_{minor}_x86_64" for minor in range(35, 4, -1)), "manylinux2014_x86_64", "manylinux1_x86_64"),
    ),
    System(
        "macOS arm64",
        {"sys_platform": "darwin", "platform_system": "Darwin", "os_name": "posix", "platform_machine": "arm64"},
        tuple(mac_platforms((14, 0), "arm64")),
    ),
    System(
        "Windows x86-64",
        {"sys_platform": "win32", "platform_system": "Windows", "os_name": "nt", "platform_machine": "AMD64"},
        ("win_amd64",),
    ),
)
"""Linux: of 2022 (glibc 2.35) or later."""

KINDS = {"base": (), "all": ("all",), "dev": ("dev",), "bench": ("bench",)}
"""What people install, and the extras that it is made of."""


def report_wheels() -> int:
    """Print for each system and Python how many packages there are and which have no wheel; 1 if base lacks any."""
    is_base_whole = True
    for kind, extras in KINDS.items():
        packages = resolve_packages(extras)
        for system in SYSTEMS:
            for python in PYTHONS:
                needed = [package for package in packages if is_needed(package, system, python)]
                lacking = [package for package in needed if not has_wheel(package.wheels, list_tags(system, python))]
                is_base_whole &= kind != "base" or not lacking
                names = ", ".join(f"{package.name} {package.version}" for package in lacking)
                print(f"{kind:5} | {system.name:14} | {python:4} | {len(needed):3} | {names or 'a wheel of each'}")
    return 0 if is_base_whole else 1


def resolve_packages(extras: Iterable[str]) -> list[Package]:
    """Return what the package with some extras needs anywhere, at the pinned versions."""
    options = "--universal --python-version 3.11 --no-annotate --no-header --format pylock.toml"
    chosen = [part for extra in extras for part in ("--extra", extra)]
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", *options.split(), *chosen]
    inputs = ["--constraint", CONSTRAINTS.name, "pyproject.toml"]
    said = subprocess.run([*command, *inputs], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if said.returncode:
        raise SystemExit("the package index could not be asked, for the reason above: try again where it can.")
    return list(read_packages(tomllib.loads(said.stdout)))


def read_packages(lock: dict[str, Any]) -> Iterator[Package]:
    """Yield the packages of a lock file's tables."""
    for entry in lock["packages"]:
        if "directory" not in entry:  # this package itself, which an extra of extras names
            files = (wheel.get("name") or wheel["url"].rpartition("/")[2] for wheel in entry.get("wheels", ()))
            marker = Marker(entry["marker"]) if "marker" in entry else None
            yield Package(entry["name"], entry["version"], marker, tuple(files))


def is_needed(package: Package, system: System, python: str) -> bool:
    """Return whether an install there needs a package."""
    environment: dict[str, Any] = {**default_environment(), **system.markers}
    environment |= {"python_version": python, "python_full_version": f"{python}.0"}
    return package.marker is None or package.marker.evaluate(environment)


def list_tags(system: System, python: str) -> frozenset[Tag]:
    """Return the tags of wheels that a Python there takes."""
    major, minor = map(int, python.split("."))
    own = cpython_tags((major, minor), platforms=system.platforms)
    return frozenset([*own, *compatible_tags((major, minor), f"cp{major}{minor}", system.platforms)])


def has_wheel(files: Iterable[str], tags: frozenset[Tag]) -> bool:
    """Return whether one of these wheels has one of these tags."""
    return any(not tags.isdisjoint(parse_wheel_filename(file)[3]) for file in files)
