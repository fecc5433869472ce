"""Keys of the original's configuration that mean nothing to a simulated car; they stand in `unused_keys.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from donkeysim.core.config import read_toml


@dataclass(frozen=True)
class UnusedKey:
    """A key without effect."""

    reason: str
    """Why it has none; the rest of a sentence."""
    defaults: tuple[Any, ...]
    """What it is in one template of the original or another; lists in it are tuples."""


@cache
def read_unused_keys() -> Mapping[str, UnusedKey]:
    """Return every such key."""
    return {
        name: UnusedKey(group["reason"], tuple(None if value == "None" else _freeze(value) for value in defaults))
        for group in read_toml(Path(__file__).with_name("unused_keys.toml"))["group"]
        for name, defaults in group["defaults"].items()
    }


def is_untouched(name: str, value: object) -> bool:
    """Say whether a key without effect has a value that it has by default, so that nobody expects anything of it."""
    given = _freeze(value)
    return any(type(given) is type(default) and given == default for default in read_unused_keys()[name].defaults)


def _freeze(value: object) -> object:
    return tuple(map(_freeze, value)) if isinstance(value, list | tuple) else value
