"""A path drawn as SVG: `<path>`, `<polyline>`, `<polygon>` or `<line>`, with the transforms around it.

Only the geometry is read. The document is read with expat and handlers of our own: nothing is loaded from anywhere, and
a document that declares entities (which may grow without end) is refused.

References:
    Scalable Vector Graphics (SVG) 2, W3C: chapters 8 (coordinate systems), 9 (paths) and appendix B.2 (arcs).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

import numpy as np
from svg.path import Arc, Close, CubicBezier, Move, QuadraticBezier, parse_path
from svg.path.path import PathSegment

from donkeysim.core.errors import SceneError, describe_unknown
from donkeysim.world.tracks.paths.raw_path import FARTHEST, POINTS_MOST, RawPath

# Programs round coordinates, and people close loops by eye.
MEETING = 0.01
"""Share of a drawing's size within which the ends of a line meet."""

# Drawing programs nest a few.
DEEPEST = 200
"""Levels of groups in groups."""

Matrix = tuple[float, float, float, float, float, float]
"""a, b, c, d, e, f: x' = a x + c y + e, y' = b x + d y + f."""

_UNIT: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
_LINES = {"path", "polyline", "polygon", "line"}
_SHAPES = {"rect", "circle", "ellipse", "text", "image", "use", "g"}
_UNSEEN = {"defs", "clipPath", "mask", "pattern", "marker", "symbol"}
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_STEP = re.compile(r"([A-Za-z]+)\s*\(([^()]*)\)\s*,?\s*")

# Of half a circle with a radius of 3 m pieces of 5 cm, half of what is taken of drawn lines.
PIECES = 200
"""Straight pieces that one curve is taken as; an arc gets as many for half a turn."""

_NEXT_NUMBER = re.compile(r"[\s,]*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)")

_FLAG = re.compile(r"[\s,]*([01])")

_COMMAND = re.compile(r"[\s,]*([MmZzLlHhVvCcSsQqTtAa])")

_COUNTS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7, "Z": 0}


@dataclass(frozen=True)
class _Drawn:
    """A line of the drawing.

    Attributes:
        name: Its id, or "".
        tag: Name of the element.
        shape: The attribute that holds its points.
        matrix: Of everything around it.
        line: Where it stands in the file.
        is_seen: Whether it is part of the picture.
    """

    name: str
    tag: str
    shape: str
    matrix: Matrix
    line: int
    is_seen: bool


def read_drawing(content: str, source: str, element: str) -> RawPath:
    """Return a path of a drawing, y upwards.

    Args:
        source: Its name, for error texts.
        element: Id of the path; "": the only one.

    Raises:
        SceneError: This is no drawing, has no such path, or the path cannot be read; the text names file and line.
    """
    drawn, others = _find_lines(content, source)
    chosen = _choose(drawn, others, element, source)
    place = f"{source}, line {chosen.line}"
    strokes = [stroke for stroke in _read_shape(chosen, place) if len(stroke.point) > 1]
    if len(strokes) != 1:
        raise SceneError(
            f"{place}: the {chosen.tag} {chosen.name!r} has {len(strokes)} lines apart from one another; a path is one "
            "line, so break it up and name the one."
        )
    (stroke,) = strokes
    a, b, c, d, e, f = chosen.matrix
    x, y = np.array(stroke.point).T
    position = np.column_stack((a * x + c * y + e, -(b * x + d * y + f)))
    if not np.abs(position).max() < FARTHEST:
        raise SceneError(f"{place}: a coordinate is beyond {FARTHEST:g}; scale the drawing down.")
    gap = float(np.hypot(*(position[-1] - position[0])))
    return RawPath(position, None, True, stroke.is_closed or gap < MEETING * float(np.ptp(position, axis=0).max()))


def _choose(drawn: list[_Drawn], others: dict[str, str], element: str, source: str) -> _Drawn:
    named = [item.name for item in drawn if item.name]
    if element:
        found = [item for item in drawn if item.name == element]
        if found:
            return found[0]
        if element in others:
            raise SceneError(f"{source}: {element!r} is a <{others[element]}>; turn it into a path where you drew it.")
        raise SceneError(f"{source}: {describe_unknown('element', element, named)}")
    seen = [item for item in drawn if item.is_seen]
    if not seen:
        raise SceneError(f"{source} draws no line; it needs a <path>, for example of a curve drawn in Inkscape.")
    if len(seen) > 1:
        names = ", ".join(repr(item.name or f"(no id, line {item.line})") for item in seen[:20])
        raise SceneError(
            f'{source} draws {len(seen)} lines: {names}; choose one in [path] by element = "ID", or with --element.'
        )
    return seen[0]


def _read_shape(drawn: _Drawn, place: str) -> list[SvgStroke]:
    if drawn.tag == "path":
        return read_strokes(drawn.shape, place)
    numbers = [float(number) for number in _NUMBER.findall(drawn.shape)]
    if not all(abs(number) < FARTHEST for number in numbers):
        raise SceneError(f"{place}: a coordinate is beyond {FARTHEST:g}; scale the drawing down.")
    points = list(zip(numbers[::2], numbers[1::2], strict=False))
    return [SvgStroke(points, drawn.tag == "polygon")]


class _Reader:
    """Collects the lines of a drawing with the transforms around them."""

    def __init__(self, source: str) -> None:
        self.drawn: list[_Drawn] = []
        self.others: dict[str, str] = {}
        self._source = source
        self._matrices: list[Matrix] = [_UNIT]
        self._unseen = 0
        self._tags: list[str] = []
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.StartElementHandler = self._begin
        self.parser.EndElementHandler = self._end
        self.parser.EntityDeclHandler = self._refuse_entity

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        tag, place = name.rpartition(" ")[2], f"{self._source}, line {self.parser.CurrentLineNumber}"
        if not self._tags and tag != "svg":
            raise SceneError(f"{place}: the document is a <{tag[:40]}>, not a drawing in SVG.")
        self._tags.append(tag)
        if len(self._tags) > DEEPEST:
            raise SceneError(f"{place}: groups lie more than {DEEPEST} deep inside one another.")
        self._unseen += tag in _UNSEEN
        matrix = self._matrices[-1]
        if "transform" in attributes:
            matrix = _join(matrix, _read_transform(attributes["transform"], place))
        self._matrices.append(matrix)
        own = attributes.get("id", "")
        if tag in _LINES:
            shape = attributes.get("d", attributes.get("points", ""))
            if tag == "line":
                shape = " ".join(attributes.get(key, "0") for key in ("x1", "y1", "x2", "y2"))
            self.drawn.append(_Drawn(own, tag, shape, matrix, self.parser.CurrentLineNumber, not self._unseen))
        elif own and tag in _SHAPES:
            self.others[own] = tag

    def _end(self, _name: str) -> None:
        self._unseen -= self._tags.pop() in _UNSEEN
        self._matrices.pop()

    def _refuse_entity(self, name: str, *_: object) -> NoReturn:
        raise SceneError(
            f"{self._source}, line {self.parser.CurrentLineNumber}: the drawing declares the entity {name[:40]!r}; "
            "save it as plain SVG, without entities."
        )


def _find_lines(content: str, source: str) -> tuple[list[_Drawn], dict[str, str]]:
    """Return the lines of a drawing, and the ids of other shapes with what they are."""
    reader = _Reader(source)
    try:
        reader.parser.Parse(content.encode(), True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise SceneError(f"{source}, line {error.lineno}: this is not a drawing in SVG ({reason}).") from error
    return reader.drawn, reader.others


def _join(outer: Matrix, inner: Matrix) -> Matrix:
    a, b, c, d, e, f = outer
    g, h, i, j, k, m = inner
    return (a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * m + e, b * k + d * m + f)


def _read_transform(text: str, place: str) -> Matrix:
    matrix, at = _UNIT, 0
    for step in _STEP.finditer(text.strip()):
        if step.start() != at:
            break
        at = step.end()
        numbers = [float(number) for number in _NUMBER.findall(step[2])]
        made = _make_matrix(step[1], numbers) if all(abs(number) < FARTHEST for number in numbers) else None
        if made is None:
            raise SceneError(f"{place}: the transform {step[0][:60]!r} is none of SVG's, or has other numbers.")
        matrix = _join(matrix, made)
    if at != len(text.strip()):
        raise SceneError(f"{place}: the transform {text.strip()[at:][:60]!r} cannot be read.")
    return matrix


def _make_matrix(name: str, value: list[float]) -> Matrix | None:
    """Return the matrix of one step of a transform, None where there is none like it."""
    count = len(value)
    if name == "matrix" and count == 6:
        return (value[0], value[1], value[2], value[3], value[4], value[5])
    if name == "translate" and count in (1, 2):
        return (1.0, 0.0, 0.0, 1.0, value[0], value[1] if count == 2 else 0.0)
    if name == "scale" and count in (1, 2):
        return (value[0], 0.0, 0.0, value[-1], 0.0, 0.0)
    if name == "rotate" and count in (1, 3):
        x, y = value[1:] if count == 3 else (0.0, 0.0)
        cosine, sine = float(np.cos(np.radians(value[0]))), float(np.sin(np.radians(value[0])))
        turn = (cosine, sine, -sine, cosine, 0.0, 0.0)
        return _join(_join((1.0, 0.0, 0.0, 1.0, x, y), turn), (1.0, 0.0, 0.0, 1.0, -x, -y))
    if name in ("skewX", "skewY") and count == 1:
        slope = float(np.tan(np.radians(value[0])))
        return (1.0, 0.0, slope, 1.0, 0.0, 0.0) if name == "skewX" else (1.0, slope, 0.0, 1.0, 0.0, 0.0)
    return None


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
    """Yield each command with its numbers; svg.path passes over much of what it cannot read, and names no place."""
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
        pattern = _FLAG if kind == "A" and index in (3, 4) else _NEXT_NUMBER
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
