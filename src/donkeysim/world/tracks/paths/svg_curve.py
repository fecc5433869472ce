"""The path data of SVG (`d`): lines, cubic and quadratic curves and arcs, as points on them."""

from __future__ import annotations

import cmath
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from donkeysim.core.errors import SceneError
from donkeysim.world.tracks.paths.raw_path import FARTHEST, POINTS_MOST

PIECES = 200
"""Straight pieces that one curve is taken as; an arc gets as many for half a turn."""

_NUMBER = re.compile(r"[\s,]*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)")
_FLAG = re.compile(r"[\s,]*([01])")
_COMMAND = re.compile(r"[\s,]*([MmZzLlHhVvCcSsQqTtAa])")
_COUNTS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7, "Z": 0}


@dataclass
class Stroke:
    """One line of a drawing.

    Attributes:
        point: x, y on it, from its beginning to its end.
        is_closed: Whether it ends where it begins.
    """

    point: list[tuple[float, float]] = field(default_factory=list)
    is_closed: bool = False


def read_strokes(data: str, place: str) -> list[Stroke]:
    """Return the lines of an SVG path, curves as points on them.

    Args:
        data: The attribute `d`.
        place: File and line, for error texts.

    Raises:
        SceneError: It is not written as SVG says; the text shows where.
    """
    pen = _Pen()
    at, command, end = 0, "", len(data.rstrip(" \t\r\n,"))
    while at < end:
        letter = _COMMAND.match(data, at)
        if letter:
            command, at = letter[1], letter.end()
        elif not command or command in "Zz":
            raise SceneError(f"{place}: the path's data cannot be read at {data[at : at + 30].strip()!r}.")
        if not pen.strokes and command not in "Mm":
            raise SceneError(f"{place}: the path's data begins with {command!r}; it begins with M.")
        values, at = _read_values(data, at, command.upper(), place)
        pen.draw(command, values)
        command = {"M": "L", "m": "l"}.get(command, command)  # more pairs after a move are lines
        if pen.count > POINTS_MOST:
            raise SceneError(f"{place}: the path has more than {POINTS_MOST} points; simplify it where you drew it.")
    return pen.strokes


def _read_values(data: str, at: int, kind: str, place: str) -> tuple[list[float], int]:
    values: list[float] = []
    for index in range(_COUNTS[kind]):
        pattern = _FLAG if kind == "A" and index in (3, 4) else _NUMBER
        match = pattern.match(data, at)
        if match is None or not abs(float(match[1])) < FARTHEST:
            raise SceneError(
                f"{place}: the path's data needs {_COUNTS[kind]} numbers after {kind!r}, but goes on with "
                f"{data[at : at + 30].strip()!r}."
            )
        values.append(float(match[1]))
        at = match.end()
    return values, at


class _Pen:
    """Draws commands one after the other; complex numbers are points."""

    def __init__(self) -> None:
        self.strokes: list[Stroke] = []
        self.count = 0
        self._here = 0j
        self._start = 0j
        self._handle: complex | None = None
        self._handle_kind = ""

    def draw(self, command: str, values: list[float]) -> None:
        kind, base = command.upper(), self._here if command.islower() else 0j
        if kind == "Z":
            self._close()
        elif kind == "M":
            self._start = self._here = base + complex(*values)
            self.strokes.append(Stroke([_split(self._here)]))
        elif kind in "HV":
            self._line_to(self._slide(kind, command.islower(), values[0]))
        elif kind == "A":
            self._arc_to(values, base + complex(values[5], values[6]))
        else:
            points = [base + complex(x, y) for x, y in zip(values[::2], values[1::2], strict=True)]
            self._bend_to(kind, points)
            return
        self._handle_kind = ""

    def _slide(self, kind: str, is_relative: bool, value: float) -> complex:
        x, y = _split(self._here)
        if kind == "H":
            return complex(x + value if is_relative else value, y)
        return complex(x, y + value if is_relative else value)

    def _close(self) -> None:
        if self._here != self._start:
            self._line_to(self._start)
        self.strokes[-1].is_closed = True

    def _line_to(self, end: complex) -> None:
        self._add(lambda share: self._here + share * (end - self._here), 1, end)

    def _bend_to(self, kind: str, points: list[complex]) -> None:
        """Draw a line, a cubic or a quadratic curve; S and T mirror the handle of the curve before."""
        here, end = self._here, points[-1]
        family = "C" if kind in "CS" else "Q" if kind in "QT" else ""
        mirrored = 2.0 * here - self._handle if self._handle is not None and self._handle_kind == family else here
        self._handle_kind = family
        if kind == "L":
            self._line_to(end)
        elif family == "C":
            first, second = (mirrored, points[0]) if kind == "S" else (points[0], points[1])
            self._handle = second
            self._add(lambda t: _bend(t, here, first, second, end), PIECES, end)
        else:
            middle = mirrored if kind == "T" else points[0]
            self._handle = middle
            first, second = here + 2.0 / 3.0 * (middle - here), end + 2.0 / 3.0 * (middle - end)
            self._add(lambda t: _bend(t, here, first, second, end), PIECES, end)

    def _arc_to(self, values: list[float], end: complex) -> None:
        """Draw an elliptical arc (SVG 2, B.2.4: from end points to the middle)."""
        here, (rx, ry) = self._here, (abs(values[0]), abs(values[1]))
        if here == end:
            return
        if rx == 0.0 or ry == 0.0:
            self._line_to(end)
            return
        turn = cmath.rect(1.0, math.radians(values[2]))
        half = 0.5 * (here - end) / turn
        unit = complex(half.real / rx, half.imag / ry)
        if abs(unit) > 1.0:  # too small to reach: enlarged until it does
            rx, ry, unit = rx * abs(unit), ry * abs(unit), unit / abs(unit)
        side = 1.0 if values[3] != values[4] else -1.0
        middle = side * math.sqrt(max(0.0, 1.0 / abs(unit) ** 2 - 1.0)) * complex(unit.imag, -unit.real)
        begin = cmath.phase(unit - middle)
        sweep = cmath.phase((-unit - middle) / (unit - middle))
        if values[4] and sweep < 0.0:
            sweep += 2.0 * math.pi
        elif not values[4] and sweep > 0.0:
            sweep -= 2.0 * math.pi
        centre = 0.5 * (here + end)

        def point(share: float) -> complex:
            around = cmath.rect(1.0, begin + share * sweep) + middle
            return centre + turn * complex(rx * around.real, ry * around.imag)

        self._add(point, max(2, math.ceil(PIECES * abs(sweep) / math.pi)), end)

    def _add(self, curve: Callable[[float], complex], count: int, end: complex) -> None:
        if self.strokes[-1].is_closed:  # what follows a closed line begins where it began
            self.strokes.append(Stroke([_split(self._start)]))
        self.strokes[-1].point += [_split(curve(index / count)) for index in range(1, count)] + [_split(end)]
        self.count += count
        self._here = end


def _bend(t: float, a: complex, b: complex, c: complex, d: complex) -> complex:
    s = 1.0 - t
    return s * s * s * a + 3.0 * s * s * t * b + 3.0 * s * t * t * c + t * t * t * d


def _split(point: complex) -> tuple[float, float]:
    return (point.real, point.imag)
