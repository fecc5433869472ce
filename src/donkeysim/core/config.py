"""TOML tables to frozen dataclasses; unknown or ill-typed keys fail with file, line and the nearest valid name."""

import dataclasses
import functools
import re
import tomllib
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from donkeysim.core.errors import SpecError, describe_unknown
from donkeysim.core.toml_lines import Step, map_lines

T = TypeVar("T")

_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")

MOST_TOML_BYTES = 1_000_000
"""Longest TOML file; of a longer one `tomllib` takes gigabytes."""

MOST_KEY_PARTS = 32
"""Most dots in a key; `tomllib` takes their square in time."""

_LONG_KEY = re.compile(rb"(?:\.[ \t]*[\"'\w-][^\n.,=]{0,60}+){%d}" % (MOST_KEY_PARTS + 1))


def read_toml(path: Path) -> dict[str, Any]:
    """Return the tables of a TOML file.

    Raises:
        SpecError: The file cannot be read, is longer than anybody writes, or is not TOML; the text names the file and
            the line.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MOST_TOML_BYTES + 1)
    except OSError as error:
        raise SpecError(f"cannot read {path}: {error.strerror or error}.") from error
    if len(content) > MOST_TOML_BYTES:
        raise SpecError(f"{path} is longer than {MOST_TOML_BYTES:,} bytes, the most that is read of a TOML file.")
    if _LONG_KEY.search(content):
        raise SpecError(f"{path} has a key with more than {MOST_KEY_PARTS} dots; a few levels are enough.")
    try:
        return tomllib.loads(content.decode("utf-8-sig").replace("\r\n", "\n"))
    except ValueError as error:  # also of whole numbers with more digits than Python reads
        is_path = re.search(r"hex value|Unescaped '\\'", str(error))
        hint = "; in double quotes, write paths with / in place of \\" if is_path else ""
        raise SpecError(f"{path} is not a valid TOML file: {error}{hint}.") from error
    except RecursionError as error:
        raise SpecError(f"{path} has lists or tables too deep inside one another; a few levels are enough.") from error


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
    hints = read_hints(kind)  # type: ignore[arg-type]
    fields = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    for key in table:
        if key not in fields:
            place = locate_key(source, _join(where, key))
            raise SpecError(f"{place}: {describe_unknown(f'key in [{where}]' if where else 'key', key, fields)}")
    values: dict[str, Any] = {}
    for name, field in fields.items():
        inner = _join(where, name)
        if name in table:
            values[name] = _convert(hints[name], table[name], source, inner)
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            place = locate_key(source, where) if where else str(source)
            raise SpecError(f"{place}: the key {inner!r} is missing; give it a value ({_name_type(hints[name])}).")
    try:
        return kind(**values)
    except ValueError as error:
        first = str(error).partition(" ")[0]  # most sentences begin with the key they are about
        place = locate_key(source, _join(where, first) if first in table else where)
        raise SpecError(f"{place}: {f'[{where}] ' if where else ''}{error}") from error


@functools.cache
def read_hints(kind: type) -> dict[str, Any]:
    """Return the types of a dataclass's fields; working them out takes longer than reading a table."""
    return typing.get_type_hints(kind)


def locate_key(source: Path | str, where: str) -> str:
    """Return "file, line N" of a value in a TOML file; of what holds it, or just the file, when it is not there.

    Args:
        where: Its place: "props[1].kind" is the key `kind` of the second [[props]].
    """
    try:
        lines = map_lines(Path(source).read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, RecursionError):  # changed or gone since it was read
        return str(source)
    place: tuple[Step, ...] = tuple(int(index) if index else key for key, index in _STEP.findall(where))
    while place:
        if place in lines:
            return f"{source}, line {lines[place]}"
        place = place[:-1]
    return str(source)


def _join(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key


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
            place = locate_key(source, where)
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
    return tuple(
        _convert(kind, item, source, f"{where}[{index}]")
        for index, (kind, item) in enumerate(zip(kinds, value, strict=True))
    )


def _mistyped(hint: Any, value: Any, source: Path | str, where: str) -> SpecError:
    place = locate_key(source, where)
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
