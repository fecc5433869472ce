"""How large what is installed is."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from supply.pins import ROOT


def list_direct() -> dict[str, list[str]]:
    """Return the names of the dependencies that pyproject.toml names, and the extras that bring each ("base": none)."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found: dict[str, list[str]] = {}
    for extra, lines in {"base": project["dependencies"], **project["optional-dependencies"]}.items():
        for name in (canonicalize_name(Requirement(line).name) for line in lines):
            if name != "donkeysim" and extra not in found.setdefault(name, []):
                found[name].append(extra)
    return found


def measure_size(name: str) -> float:
    """Return the size of a package's own files, as its wheel lists them [MB]."""
    try:
        files = distribution(name).files or ()
    except PackageNotFoundError:
        return 0.0
    return sum(file.size or 0 for file in files if not re.search(r"\.pyc$", str(file))) / 1e6


def print_sizes() -> int:
    """Print the direct dependencies with their extras and sizes, the largest first."""
    direct = list_direct()
    for name in sorted(direct, key=measure_size, reverse=True):
        print(f"{measure_size(name):8.1f} MB  {name} ({', '.join(direct[name])})")
    return 0
