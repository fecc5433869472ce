"""Where cars come from: presets, the surfaces that they are offered on, and TOML files of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

from donkeysim.core.config import locate_key, read_dataclass, read_toml
from donkeysim.core.errors import SpecError, describe_unknown

T = TypeVar("T")

_CARS = Path(__file__).parent / "cars"

_TYRE_KEYS = ("forward", "sideways", "sideways_rear")


def list_names() -> tuple[str, ...]:
    """Return the names of the presets, with those on other surfaces."""
    return tuple(sorted(name for path in _CARS.glob("*.toml") for name in (path.stem, *_list_surfaces(path))))


def read_car(kind: type[T], name: str) -> T:
    """Return a car.

    A file holds the same keys as the presets; with `base = "rc10"` it holds only those that differ from that car.

    Args:
        kind: `CarSpec`.
        name: Of a preset, of a preset and a surface ("rc10-asphalt"), or a file that ends in .toml.

    Raises:
        SpecError: There is none, or it is broken.
    """
    path = Path(name).expanduser()
    if path.suffix == ".toml":
        table = _read_table(path)
        try:
            return read_dataclass(kind, table, path)
        except SpecError as error:  # what a table says of itself has no place yet
            raise error if str(path) in str(error) else SpecError(f"{path}: {error}") from error
    path, surface = _find_preset(name)
    table = read_toml(path)
    if surface:
        table = _change_tyres(table, surface) | {"name": name}
    return read_dataclass(kind, table, path)


def _find_preset(name: str) -> tuple[Path, str]:
    """Return a preset's file and the surface, "" for its own."""
    if (path := _CARS / f"{name}.toml").is_file():
        return path, ""
    for path in _CARS.glob("*.toml"):
        if name in _list_surfaces(path):
            return path, name.removeprefix(f"{path.stem}-")
    raise SpecError(f"{describe_unknown('car preset', name, list_names())} A file of your own ends in .toml.")


def _list_surfaces(path: Path) -> tuple[str, ...]:
    return tuple(f"{path.stem}-{tyres['surface']}" for tyres in read_toml(path).get("tyres", ()))


def _change_tyres(table: dict[str, Any], surface: str) -> dict[str, Any]:
    chosen = next(tyres for tyres in table["tyres"] if tyres["surface"] == surface)
    kept = {key: value for key, value in table.items() if key not in _TYRE_KEYS}
    return kept | {key: chosen[key] for key in _TYRE_KEYS if key in chosen}


def _read_table(path: Path) -> dict[str, Any]:
    """Return what a file of one's own says, on top of the preset that it names."""
    table = read_toml(path)
    table.setdefault("name", path.stem)
    base = table.pop("base", None)
    if base is None:
        return table
    if not isinstance(base, str) or base not in list_names():
        raise SpecError(f"{locate_key(path, 'base')}: {describe_unknown('car preset', str(base), list_names())}")
    preset, surface = _find_preset(base)
    whole = _change_tyres(read_toml(preset), surface) if surface else read_toml(preset)
    for key, value in table.items():
        known = whole.get(key)
        whole[key] = known | value if isinstance(known, dict) and isinstance(value, dict) else value
    return whole
