"""What pilots are called where several stand side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from donkeysim.learn.pilot import BUILT_IN_PILOT

BUILT_IN = "built-in"
"""How the pilot in the package is called."""

_WAYS: tuple[Callable[[Path], str], ...] = (
    lambda path: path.stem,
    lambda path: path.name,
    lambda path: path.parent.name,
    lambda path: f"{path.parent.name}/{path.stem}",
    lambda path: f"{path.parent.name}/{path.name}",
)
"""From the shortest on; `donkey rl` calls every pilot `pilot.onnx`, and only the folder says which."""


def find_pilot(name: str) -> Path:
    """Return the file of a pilot that is given as `built-in` or as a file."""
    return BUILT_IN_PILOT if name == BUILT_IN else Path(name)


def name_pilots(models: Iterable[str]) -> dict[str, str]:
    """Return by the pilots' files what to call each in tables: the shortest names that tell them apart."""
    paths = {model: Path(model) for model in models}
    files = {model: path for model, path in paths.items() if path.resolve() != BUILT_IN_PILOT.resolve()}
    for way in _WAYS:
        names = {model: way(path) for model, path in files.items()}
        if "" not in names.values() and len(set(names.values())) == len(files):
            break
    else:
        names = {model: str(path) for model, path in files.items()}
    return {model: names.get(model, BUILT_IN) for model in paths}
