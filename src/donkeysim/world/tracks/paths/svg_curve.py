"""The path data of SVG (`d`): lines, cubic and quadratic curves and arcs, as points on them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from svg.path import Arc, Close, CubicBezier, Move, QuadraticBezier, parse_path
from svg.path.path import PathSegment

from donkeysim.core.errors import SceneError
from donkeysim.world.tracks.paths.raw_path import FARTHEST, POINTS_MOST

PIECES = 200
"""Straight pieces that one curve is taken as; an arc gets as many for half a turn."""

_NUMBER = re.compile(r"[\s,]*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)")
_FLAG = re.compile(r"[\s,]*([01])")
_COMMAND = re.compile(r"[\s,]*([MmZzLlHhVvCcSsQqTtAa])")
_COUNTS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7, "Z": 0}


@dataclass
class SvgStroke:
    """One line of a drawing.

    Attributes:
        point: x, y on it, from its beginning to its end.
        is_closed: Whether it ends where it begins.
    """

    point: list[tuple[float, float]] = field(default_factory=list)
    is_closed: bool = False


def read_strokes(data: str, place: str) -> list[SvgStroke]:
    """Return the lines of an SVG path, curves as points on them.

    Args:
        data: The attribute `d`.
        place: File and line, for error texts.

    Raises:
        SceneError: It is not written as SVG says; the text shows where.
    """
    strokes: list[SvgStroke] = []
    count = 0
    try:
        segments = parse_path(" ".join(_list_commands(data, place)))
    except (ZeroDivisionError, ValueError) as error:
        raise SceneError(f"{place}: an arc of the path is too small to be one; draw it larger, or a line.") from error
    for segment in segments:
        points = _list_points(segment)
        if isinstance(segment, Move) or (strokes[-1].is_closed and points):
            strokes.append(SvgStroke([_split(segment.start)]))  # what follows a closed line begins where it began
        strokes[-1].point += points
        strokes[-1].is_closed |= isinstance(segment, Close)
        count += len(points)
        _check_count(count, place)
    return strokes


def _check_count(count: int, place: str) -> None:
    if count > POINTS_MOST:
        raise SceneError(f"{place}: the path has more than {POINTS_MOST} points; simplify it where you drew it.")


def _list_commands(data: str, place: str) -> Iterator[str]:
    """Yield each command with its numbers; svg.path passes over much of what it cannot read, and tells no place."""
    at, command, end, count = 0, "", len(data.rstrip(" \t\r\n,")), 0
    while at < end:
        letter = _COMMAND.match(data, at)
        if letter:
            command, at = letter[1], letter.end()
        elif not command or command in "Zz":
            raise SceneError(f"{place}: the path's data cannot be read at {data[at : at + 30].strip()!r}.")
        if not count and command not in "Mm":
            raise SceneError(f"{place}: the path's data begins with {command!r}; it begins with M.")
        values, at = _read_values(data, at, command.upper(), place)
        yield f"{command} {' '.join(values)}"
        _check_count(count, place)  # the first is a move and no point
        count += 1
        command = {"M": "L", "m": "l"}.get(command, command)  # more pairs after a move are lines


def _read_values(data: str, at: int, kind: str, place: str) -> tuple[list[str], int]:
    values: list[str] = []
    for index in range(_COUNTS[kind]):
        pattern = _FLAG if kind == "A" and index in (3, 4) else _NUMBER
        match = pattern.match(data, at)
        if match is None or not abs(float(match[1])) < FARTHEST:
            raise SceneError(
                f"{place}: the path's data needs {_COUNTS[kind]} numbers after {kind!r}, but goes on with "
                f"{data[at : at + 30].strip()!r}."
            )
        is_radius = kind == "A" and index < 2
        values.append(match[1].lstrip("-") if is_radius else match[1])  # SVG takes a radius without its sign
        at = match.end()
    return values, at


def _list_points(segment: PathSegment) -> list[tuple[float, float]]:
    """Return points on a piece of a path, without the one that it begins at."""
    if isinstance(segment, Move) or (segment.start == segment.end and isinstance(segment, Arc | Close)):
        return []
    count = 1
    if isinstance(segment, Arc) and segment.radius.real and segment.radius.imag:  # without a radius it is a line
        count = max(2, math.ceil(PIECES * abs(segment.delta) / 180.0))
    elif isinstance(segment, CubicBezier | QuadraticBezier):
        count = PIECES
    return [*(_split(segment.point(index / count)) for index in range(1, count)), _split(segment.end)]


def _split(point: complex) -> tuple[float, float]:
    return (point.real, point.imag)
