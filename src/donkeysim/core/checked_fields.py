"""Whether a dataclass has what its annotations say, with a sentence where it has not.

Specs and settings are filled by programs that no type checker has seen, in notebooks above all.
"""

import math
import os
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from numbers import Integral, Real
from typing import Any

from donkeysim.core.config import read_hints
from donkeysim.core.errors import SpecError, shorten

_UNFIT: Any = object()
"""In place of a value that is of another type."""

_ROUNDING = 1e-9
"""By so large a share a value may lie beyond a limit, which has been converted from another unit."""

_WORDS = {float: "number", int: "whole number", str: "text", bool: "True or False", type(None): "None"}
_COUNTS = {2: "two", 3: "three", 4: "four"}


def limit(low: float, high: float, unit: str = "") -> dict[str, Any]:
    """Return what a number's field says of itself, its metadata: least and greatest value, and their unit."""
    return {"low": low, "high": high, "unit": unit}


def check_fields(spec: Any, *, finite: bool = False) -> None:
    """Make sure that a dataclass has what its annotations and limits say; for its `__post_init__`.

    What means the same becomes what the annotation says: a path a text, a list or an array a tuple, numbers of NumPy
    those of Python.

    Args:
        spec: The dataclass, frozen or not.
        finite: Whether its fractional numbers, those in tuples too, must be finite.

    Raises:
        SpecError: A value is of another type or beyond its limits; the sentence begins with its name.
    """
    hints = read_hints(type(spec))  # type: ignore[arg-type]
    for field in fields(spec):
        given, hint = getattr(spec, field.name), hints[field.name]
        value = _convert(hint, given)
        if value is _UNFIT:
            example = f", as [{given!r}]" if isinstance(given, str) and "list" in name_type(hint) else ""
            raise SpecError(f"{field.name} is {shorten(repr(given))}; it takes {name_type(hint)}{example}.")
        if field.metadata and not _is_within(value, **field.metadata):
            raise SpecError(f"{field.name} is {value!r}; it takes {_name_limits(**field.metadata)}.")
        if finite and not _is_finite(value):
            raise SpecError(f"{field.name} is {value!r}, but must be finite.")
        if value is not given:
            object.__setattr__(spec, field.name, value)


def name_type(hint: Any) -> str:
    """Return a type in words, for example "a number or None" and "a list of texts"."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if _is_union(origin):
        *first, last = map(name_type, arguments)
        return f"{', '.join(first)} or {last}"
    if origin is tuple and Ellipsis not in arguments:
        return f"{_COUNTS.get(len(arguments), len(arguments))} {_name_many(arguments[0])}"
    if origin in (tuple, Sequence):
        return f"a list of {_name_many(arguments[0])}"
    word = _name_one(hint)
    if hint in (bool, type(None)):
        return word
    return f"{'an' if word[0] in 'AEIO' else 'a'} {word}"


def _name_many(hint: Any) -> str:
    if _is_union(typing.get_origin(hint)):
        return " or ".join(map(_name_many, typing.get_args(hint)))
    return f"{_name_one(hint)}s"


def _name_one(hint: Any) -> str:
    return "function" if typing.get_origin(hint) is Callable else _WORDS.get(hint) or hint.__name__


def _name_limits(low: float, high: float, unit: str) -> str:
    words = f"{low:g} to {high:g} {unit}".rstrip()
    return f"{words} ({math.degrees(low):g}° to {math.degrees(high):g}°)" if unit == "rad" else words


def _is_within(value: float, low: float, high: float, unit: str) -> bool:
    del unit  # for people
    return low - _ROUNDING * abs(low) <= value <= high + _ROUNDING * abs(high)


def _is_finite(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_finite, value))
    return not isinstance(value, float) or math.isfinite(value)


def _is_union(origin: Any) -> bool:
    return origin in (typing.Union, types.UnionType)


def _convert(hint: Any, value: Any) -> Any:
    """Return a value as a type has it, `_UNFIT` for one of another type."""
    if type(value) is hint:
        return value
    origin = typing.get_origin(hint)
    if _is_union(origin):
        fitting = (_convert(choice, value) for choice in typing.get_args(hint))
        return next((choice for choice in fitting if choice is not _UNFIT), _UNFIT)
    if origin in (tuple, Sequence):
        return _convert_list(typing.get_args(hint), origin is Sequence, value)
    if origin is Callable:
        return value if callable(value) else _UNFIT
    if hint in (float, int, bool):
        return _convert_number(hint, value)
    if hint is str and isinstance(value, os.PathLike):
        path = os.fspath(value)
        return path if isinstance(path, str) else _UNFIT
    return value if isinstance(value, hint) else _UNFIT


def _convert_list(kinds: tuple[Any, ...], any_length: bool, value: Any) -> Any:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        return _UNFIT
    try:
        items = tuple(value)
    except TypeError:  # an array without axes
        return _UNFIT
    if any_length or Ellipsis in kinds:
        kinds = kinds[:1] * len(items)
    if len(items) != len(kinds):
        return _UNFIT
    items = tuple(map(_convert, kinds, items))
    return _UNFIT if any(item is _UNFIT for item in items) else items


def _convert_number(hint: type, value: Any) -> Any:
    if hasattr(value, "dtype") and hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        value = value.item()  # a number of NumPy, its truth values too
    if isinstance(value, bool) or hint is bool:
        return bool(value) if hint is bool and isinstance(value, int) and value in (0, 1) else _UNFIT
    if not isinstance(value, Integral if hint is int else Real):
        return _UNFIT
    try:
        return hint(value)
    except OverflowError:
        return _UNFIT
