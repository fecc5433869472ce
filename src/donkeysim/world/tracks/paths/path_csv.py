"""Points of a circuit as text, in the public racetrack database's format: `# x_m,y_m,w_tr_right_m,w_tr_left_m`.

A row is a point of the centre line and the distances from it to the road's right and left edge. A file may leave the
widths out; when its first row names them, columns may stand in another order, be more, and give heights (`z_m`), also
those of the road's edges (`z_right_m`, `z_left_m`) and of nodes (`z_node_m`). They are separated by commas, semicolons,
tabs or spaces. Three columns without names are a path that a car of the original recorded: x, y and the throttle, which
is passed over. Rows that begin with # and name no column are comments.

References:
    Heilmeier et al., Minimum curvature trajectory planning and control for an autonomous race car, Vehicle System
    Dynamics 58 (2020), with which the database was published.
"""

import math

import numpy as np

from donkeysim.core.errors import SceneError
from donkeysim.core.types import FloatArray
from donkeysim.world.tracks.paths.raw_path import FARTHEST, POINTS_MOST, RawPath

COLUMNS = ("x_m", "y_m", "w_tr_right_m", "w_tr_left_m")

HEIGHT = "z_m"
"""Column of the ground's height, if a file names it."""

BANK = ("z_right_m", "z_left_m")
"""Columns of the ground's height at the road's edges, if a file names them: both, beside `HEIGHT`."""

RECORDED = (*COLUMNS[:2], "throttle")
"""Columns of paths that cars of the original record, without a row that names them."""

MEETING = 1.5
"""A list whose ends lie within this many of its longest steps is taken for a circuit, unless the file says."""

NODE_HEIGHT = "z_node_m"
"""Column of the height of nodes that hang above the ground or lie below it, if a file names it."""

_SHORT = {"x": "x_m", "y": "y_m", "z": HEIGHT, "z_right": BANK[0], "z_left": BANK[1]} | {
    f"w_{side}{unit}": f"w_tr_{side}_m" for side in ("right", "left") for unit in ("", "_m")
}


def read_points(content: str, source: str) -> RawPath:
    """Return the path of a list of points.

    Args:
        source: Its name, for error texts.

    Raises:
        SceneError: A row is not what it should be; the text names file, line and column.
    """
    names: list[str] | None = None
    rows: list[list[float]] = []
    for number, line in enumerate(content.splitlines(), start=1):
        text = line.strip()
        if not text:
            continue
        if text.startswith("#") or (not rows and names is None and not _is_number(_split(text)[0])):
            names = names if rows else _read_names(text.lstrip("# "), f"{source}, line {number}") or names
            continue
        if len(rows) >= POINTS_MOST:
            raise SceneError(f"{source} has more than {POINTS_MOST} points; take every tenth of them.")
        if not rows and names is None and len(_split(text)) == len(RECORDED):
            names = [*RECORDED]
        rows.append(_read_row(text, names, f"{source}, line {number}"))
        if len(rows[-1]) != len(rows[0]):
            raise SceneError(
                f"{source}, line {number}: {len(rows[-1])} columns, but the rows before have {len(rows[0])}."
            )
    if not rows:
        raise SceneError(f"{source} has no point; a row is {','.join(COLUMNS)}, for example 12.5,3.0,0.5,0.5.")
    table = np.array(rows)
    step = np.hypot(*np.diff(table[:, :2], axis=0).T)
    gap = math.dist(table[0, :2], table[-1, :2])
    width = table[:, [3, 2]] if (names is None and table.shape[1] == 4) or COLUMNS[2] in (names or ()) else None
    is_closed = bool(len(step)) and gap <= MEETING * float(step.max())
    heights = _take_heights(table, names or [])
    return RawPath(table[:, :2], width, False, is_closed, *heights, is_recorded=names == [*RECORDED])


def _take_heights(
    table: FloatArray, names: list[str]
) -> tuple[FloatArray | None, FloatArray | None, FloatArray | None]:
    """Return the heights at the path, at its left and right edge and of nodes; they stand behind all other columns."""
    named = [name for name in (HEIGHT, *BANK, NODE_HEIGHT) if name in names]
    column = {name: table[:, len(table.T) - len(named) + place] for place, name in enumerate(named)}
    bank = np.column_stack((column[BANK[1]], column[BANK[0]])) if BANK[0] in column else None
    return column.get(HEIGHT), bank, column.get(NODE_HEIGHT)


def _read_names(text: str, place: str) -> list[str] | None:
    """Return the columns' names, or None for a comment that names none."""
    names = [_SHORT.get(name, name) for name in (part.strip().lower() for part in _split(text))]
    if not set(names) & set(COLUMNS):
        return None
    missing = [name for name in COLUMNS[:2] if name not in names]
    if not missing and set(BANK) & set(names):
        missing = [name for name in (*COLUMNS[2:], HEIGHT, *BANK) if name not in names]
    if missing or len(set(COLUMNS[2:]) & set(names)) == 1:
        missing = missing or [name for name in COLUMNS[2:] if name not in names]
        raise SceneError(f"{place}: the columns are {', '.join(names)}; {missing[0]} is missing beside them.")
    return names


def _read_row(text: str, names: list[str] | None, place: str) -> list[float]:
    """Return x, y and, where the row has them, the widths on the right and left, and the heights."""
    fields = _split(text)
    if names is None and len(fields) not in (2, len(COLUMNS)):
        raise SceneError(
            f"{place}: {len(fields)} column{'s' * (len(fields) != 1)}; a row is x,y or {','.join(COLUMNS)}."
        )
    if names is not None and len(fields) != len(names):
        raise SceneError(f"{place}: {len(fields)} columns, but the first row names {len(names)}.")
    order = names or list(COLUMNS[: len(fields)])
    values = []
    for name in (*COLUMNS, HEIGHT, *BANK, NODE_HEIGHT):
        if name in order:
            value = _read_number(fields[order.index(name)], name, place)
            if name in COLUMNS[2:] and value <= 0.0:
                raise SceneError(f"{place}: {name} is {value:g}; the path lies inside the road, so it is above 0.")
            values.append(value)
    return values


def _read_number(text: str, name: str, place: str) -> float:
    value = float(text) if _is_number(text) else math.nan
    if not abs(value) < FARTHEST:
        raise SceneError(
            f"{place}: {name} is {text[:40]!r}; it takes a number between -{FARTHEST:g} and {FARTHEST:g}, with a point."
        )
    return value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def _split(text: str) -> list[str]:
    separator = next((mark for mark in ";,\t" if mark in text), None)
    return [part.strip() for part in text.split(separator)]
