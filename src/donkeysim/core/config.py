"""TOML tables to frozen dataclasses; unknown or ill-typed keys fail with file, line and the nearest valid name."""

from __future__ import annotations

import dataclasses
import re
import tomllib
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from donkeysim.core.errors import SpecError, describe_unknown

T = TypeVar("T")


def read_toml(path: Path) -> dict[str, Any]:
    """Return the tables of a TOML file.

    Raises:
        SpecError: The file cannot be read or is not TOML; the text names the file and the line.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SpecError(f"cannot read {path}: {error.strerror or error}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SpecError(f"{path} is not a valid TOML file: {error}.") from error


def read_dataclass(kind: type[T], table: Mapping[str, Any], source: Path | str, where: str = "") -> T:
    """Return a dataclass filled from a table of a TOML file; nested dataclasses and tuples of them are followed.

    Args:
        kind: A (frozen) dataclass whose field types are float, int, bool, str, tuples of these, nested dataclasses,
            tuples of nested dataclasses, or any of these or None.
        table: The table as `tomllib` gives it.
        source: The file, for error texts; its lines are searched for the key when there is an error.
        where: Dotted name of the table inside the file, for error texts.

    Raises:
        SpecError: Unknown key, missing key or wrong type.
    """
    hints = typing.get_type_hints(kind)
    fields = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    for key in table:
        if key not in fields:
            place = locate_key(source, key)
            raise SpecError(f"{place}: {describe_unknown(f'key in [{where}]' if where else 'key', key, fields)}")
    values: dict[str, Any] = {}
    for name, field in fields.items():
        inner = f"{where}.{name}" if where else name
        if name in table:
            values[name] = _convert(hints[name], table[name], source, inner)
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise SpecError(f"{source}: the key {inner!r} is missing; give it a value ({_name_type(hints[name])}).")
    try:
        return kind(**values)
    except ValueError as error:
        raise SpecError(f"{source}: [{where}] {error}") from error


def locate_key(source: Path | str, key: str) -> str:
    """Return "file, line N" of the first line that sets `key`, or just the file when it is not found."""
    path = Path(source)
    if path.is_file():
        pattern = re.compile(
            rf"^\s*(\[+\s*)?(?:[\w.\"]+\.)?\"?{re.escape(key)}\"?\s*(=|\]|\.)|[{{,]\s*{re.escape(key)}\s*="
        )
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if pattern.search(line):
                return f"{source}, line {number}"
    return str(source)


def _convert(hint: Any, value: Any, source: Path | str, where: str) -> Any:
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        choices = [choice for choice in typing.get_args(hint) if choice is not type(None)]
        return _convert(choices[0], value, source, where)
    if dataclasses.is_dataclass(hint):
        if not isinstance(value, Mapping):
            raise _mistyped(hint, value, source, where)
        return read_dataclass(typing.cast(type, hint), value, source, where)
    if origin is tuple:
        return _convert_tuple(hint, value, source, where)
    if hint is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if hint is bool or not isinstance(value, bool):
        if isinstance(hint, type) and isinstance(value, hint):
            return value
        if typing.get_origin(hint) is typing.Literal and value in typing.get_args(hint):
            return value
        if typing.get_origin(hint) is typing.Literal and isinstance(value, str):
            place = locate_key(source, where.rsplit(".", 1)[-1])
            raise SpecError(f"{place}: {describe_unknown(where, value, typing.get_args(hint))}")
    raise _mistyped(hint, value, source, where)


def _convert_tuple(hint: Any, value: Any, source: Path | str, where: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise _mistyped(hint, value, source, where)
    kinds = typing.get_args(hint)
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        return tuple(_convert(kinds[0], item, source, f"{where}[{index}]") for index, item in enumerate(value))
    if len(kinds) != len(value):
        raise _mistyped(hint, value, source, where)
    return tuple(_convert(kind, item, source, where) for kind, item in zip(kinds, value, strict=True))


def _mistyped(hint: Any, value: Any, source: Path | str, where: str) -> SpecError:
    place = locate_key(source, where.rsplit(".", 1)[-1].split("[")[0])
    return SpecError(f"{place}: {where} is {value!r}, but must be {_name_type(hint)}.")


def _name_type(hint: Any) -> str:
    if dataclasses.is_dataclass(hint):
        return "a table"
    names = {float: "a number", int: "a whole number", bool: "true or false", str: "a text"}
    if typing.get_origin(hint) is tuple:
        kinds = typing.get_args(hint)
        if len(kinds) == 2 and kinds[1] is Ellipsis:
            return f"a list of {_name_type(kinds[0]).removeprefix('a ')}s"
        return f"a list of {len(kinds)} values"
    if typing.get_origin(hint) is typing.Literal:
        return "one of " + ", ".join(map(str, typing.get_args(hint)))
    return names.get(hint, str(hint))
