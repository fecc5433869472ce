"""A path from a file beside the track's: points of a circuit (.csv), a drawing (.svg) or a model (.glb, .gltf).

What a file says is raw: in its own units and axes. `place_path` brings it into the world: scaled, turned and moved as
[path] asks. A track of its own may also be such a file alone, with the defaults of `bare_track`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from donkeysim.core.errors import SceneError, describe_unknown, nearest_name
from donkeysim.core.types import FloatArray
from donkeysim.world.path_frame import close_line, measure_length
from donkeysim.world.tracks.paths.gltf_lines import ModelLine, read_model_lines
from donkeysim.world.tracks.paths.raw_path import RawPath
from donkeysim.world.tracks.tables.path import PATH_SUFFIXES, PathTable

MODEL_SUFFIXES = (".glb", ".gltf")
"""Files that hold a whole place beside the path."""

# A fifth of a node's distance: nearer points are noise of whoever drew or recorded them.
SPACING_LEAST = 0.05
"""Points nearer than this to the one before are left out [m]: duplicates, and more detail than a road has."""

SPACING_NODES = 1e-4
"""Points that are the nodes themselves lie this far apart or more [m]."""

HIGHEST = 100.0
"""Heights of a file lie within this of 0 [m]."""

# Curves of 0.7 m radius, the tightest that the car can take, are met to 2 mm (0.1² / 8 / 0.7).
SPACING_DRAWN = 0.1
"""Between the points that are taken of drawn lines [m]."""

BELL = 1.18
"""Width of a bell curve that rounds a right-angled corner to a radius of 1."""

LONGEST_TRACE = 200_000
"""Most points that are taken of a line."""

# Five times as many points as are allowed, at 40 characters each.
LONGEST_FILE = 20_000_000
"""Of a drawing or a list of points [byte]."""


@dataclass(frozen=True)
class PathPlacement:
    """From the coordinates of a file to the world: scaled, turned about z, moved.

    Attributes:
        scale: Metres per unit.
        yaw: [rad]
        shift: x, y added at the end [m].
    """

    scale: float
    yaw: float
    shift: tuple[float, float]

    def apply(self, point: FloatArray) -> FloatArray:
        """Return points x, y in the world [m], shape [n, 2]."""
        cosine, sine = math.cos(self.yaw), math.sin(self.yaw)
        x, y = point.T * self.scale
        return np.column_stack((x * cosine - y * sine, x * sine + y * cosine)) + self.shift


@dataclass(frozen=True)
class PathPoints:
    """Points in the world that a smooth curve joins.

    Attributes:
        position: x, y [m], shape [point_count, 2].
        width: Distances from the path to the left and right edge [m], shape [point_count, 2]; None: not said.
        height: Of the ground [m], shape [point_count]; None: not said.
        bank: Of the ground at the road's left and right edge [m], shape [point_count, 2]; None: not banked.
        node_height: Of the points, where they are nodes [m], shape [point_count]; None: not said.
    """

    position: FloatArray
    width: FloatArray | None = None
    height: FloatArray | None = None
    bank: FloatArray | None = None
    node_height: FloatArray | None = None


def find_beside(file: str, suffixes: tuple[str, ...], key: str) -> Path:
    """Return a file that a track names.

    Raises:
        SceneError: There is none, or it is of no known kind.
    """
    path = Path(file)
    if path.suffix.lower() not in suffixes:
        raise SceneError(f"{key} is {path.name!r}; it takes a file that ends with {' or '.join(suffixes)}.", key)
    if not path.is_file():
        others = [item.name for item in path.parent.glob("*") if item.suffix.lower() in suffixes]
        near = nearest_name(path.name, others)
        hint = f"; did you mean {near!r}?" if near else "; give its name, as seen from the track's file."
        raise SceneError(f"there is no file {path.name!r} in {path.parent}{hint}", key)
    return path


def read_raw_path(path: Path, element: str) -> RawPath:
    """Return the path of a file in its own units.

    Args:
        path: Of a kind in `PATH_SUFFIXES`.
        element: Which one, where a file holds several; "": the only one.

    Raises:
        SceneError: One sentence with file, line and what is wrong.
    """
    suffix = path.suffix.lower()
    if suffix in MODEL_SUFFIXES:
        return read_model_path(path, element)
    if element and suffix == ".csv":
        raise SceneError(f"{path} is one list of points; it has no element {element!r}.")
    content = _read_content(path)
    if suffix == ".csv":
        from donkeysim.world.tracks.paths.path_csv import read_points

        return read_points(content, str(path))
    from donkeysim.world.tracks.paths.path_svg import read_drawing

    return read_drawing(content, str(path), element)


LEAST_CIRCUIT = 100.0
"""Lists of points of a longer path are of a circuit for real cars; shorter ones were recorded by small ones [m]."""


def is_full_size(raw: RawPath) -> bool:
    """Return whether a list of points is of a circuit for real cars, whose tracks are models of it."""
    return not raw.is_recorded and _measure(raw.position, raw.is_closed is not False) >= LEAST_CIRCUIT


def place_path(table: PathTable) -> tuple[PathPoints, PathPlacement]:
    """Return the path of a track whose [path] names a file, and how the file's coordinates became the world's.

    Raises:
        SceneError: The file is missing or broken, or its path is too short to be one.
    """
    path = find_beside(table.file, PATH_SUFFIXES, "path.file")
    raw = read_raw_path(path, table.element)
    scale = table.scale
    if table.length > 0.0:
        scale = table.length / max(_measure(raw.position, table.closed), 1e-9)
    points = _change(
        PathPoints(raw.position, raw.width, raw.height, raw.bank, raw.node_height), lambda value: value * scale
    )
    if table.reverse:
        points = _reverse(points, table.closed)
    points = _choose_points(points, table, raw.is_drawn, f"{path}: at scale = {scale:g} the path")
    placing = PathPlacement(1.0, math.radians(table.yaw), (0.0, 0.0))
    first = placing.apply(points.position[:1])[0]
    shift = (table.start[0] - float(first[0]), table.start[1] - float(first[1]))
    turned = PathPlacement(1.0, placing.yaw, shift)
    return replace(points, position=turned.apply(points.position)), PathPlacement(scale, placing.yaw, shift)


def _choose_points(points: PathPoints, table: PathTable, is_drawn: bool, what: str) -> PathPoints:
    """Return the points that the curve shall join: all of them where they are the nodes, else sound and smooth ones."""
    if points.height is not None and (highest := float(np.abs(points.height).max())) > HIGHEST:
        raise SceneError(
            f"{what} is up to {highest:g} m high; z_m lies within {HIGHEST:g} m of 0, so take away what all heights "
            "have in common."
        )
    if table.nodes == "points":
        _check_nodes(points.position, table.closed, what)
        return points
    points = _thin(points, table.closed, SPACING_LEAST / 50.0 if is_drawn else SPACING_LEAST, what)
    if is_drawn or table.smooth > 0.0:
        points = _trace(points, table.closed, not is_drawn)
    if table.smooth > 0.0:
        points = replace(points, position=_smooth(points.position, table))
    return points


def _change(points: PathPoints, change: Callable[[FloatArray], FloatArray]) -> PathPoints:
    """Return points with all that they carry changed alike."""
    carried = (points.width, points.height, points.bank, points.node_height)
    return PathPoints(change(points.position), *(None if value is None else change(value) for value in carried))


def _reverse(points: PathPoints, closed: bool) -> PathPoints:
    """Return points in the other direction, left and right exchanged; a closed path keeps its first point."""
    order = np.arange(len(points.position))[::-1]
    order = np.roll(order, 1) if closed else order
    points = _change(points, lambda value: value[order])
    width, bank = (None if value is None else value[:, ::-1] for value in (points.width, points.bank))
    return replace(points, width=width, bank=bank)


def _check_nodes(point: FloatArray, closed: bool, what: str) -> None:
    """Refuse points that are too few or too near to each other to be nodes themselves."""
    if len(point) < (least := 3 if closed else 2):
        raise SceneError(f"{what} has {len(point)} point{'s' * (len(point) != 1)}; it takes {least} or more.")
    step = np.hypot(*np.diff(close_line(point, closed), axis=0).T)
    if step[near := int(np.argmin(step))] < SPACING_NODES:
        after = "the first again" if near + 1 == len(point) else f"point {near + 1}"
        raise SceneError(
            f"{what} has {step[near]:.3g} m between point {near} (from 0) and {after}; points that are the nodes lie "
            f"{SPACING_NODES:g} m or more apart, so leave one out."
        )


def _read_content(path: Path) -> str:
    try:
        if path.stat().st_size > LONGEST_FILE:
            raise SceneError(f"{path} is longer than {LONGEST_FILE // 1_000_000} MB; a path needs far fewer points.")
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise SceneError(f"cannot read {path}: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise SceneError(f"{path} is not a text in UTF-8; save it as such.") from error


def _measure(point: FloatArray, closed: bool) -> float:
    """Return the length of the line through points, in their units."""
    return float(np.hypot(*np.diff(close_line(point, closed), axis=0).T).sum())


def _trace(points: PathPoints, closed: bool, is_curved: bool) -> PathPoints:
    """Return points about `SPACING_DRAWN` apart on the straight lines between points, or on a curve through them."""
    from scipy.interpolate import CubicSpline, make_interp_spline

    ring = _change(points, lambda value: close_line(value, closed))
    along = measure_length(ring.position)
    count = int(np.clip(math.ceil(along[-1] / SPACING_DRAWN), 8, LONGEST_TRACE))
    at = np.linspace(0.0, along[-1], count, endpoint=not closed)
    traced = _change(ring, lambda value: np.asarray(make_interp_spline(along, value, k=1)(at)))
    if not is_curved:
        return traced
    curve = CubicSpline(along, ring.position, bc_type="periodic" if closed else "natural")
    return replace(traced, position=np.asarray(curve(at)))


def _smooth(point: FloatArray, table: PathTable) -> FloatArray:
    """Return evenly spaced points with a bell curve of `smooth` [m] laid over them; open ends stay where they are."""
    from scipy.ndimage import gaussian_filter1d

    sigma = BELL * table.smooth * len(point) / max(_measure(point, table.closed), 1e-9)
    if table.closed:
        return np.asarray(gaussian_filter1d(point, min(sigma, 0.2 * len(point)), axis=0, mode="wrap"))
    reach = min(math.ceil(4.0 * sigma), len(point) - 1)
    before, after = 2.0 * point[0] - point[reach:0:-1], 2.0 * point[-1] - point[-2 : -reach - 2 : -1]
    return np.asarray(gaussian_filter1d(np.vstack((before, point, after)), sigma, axis=0)[reach : reach + len(point)])


def _thin(points: PathPoints, closed: bool, spacing: float, what: str) -> PathPoints:
    """Return the points that lie at least `spacing` [m] from the one kept before and, closed, from the first."""
    point, kept = points.position, [0]
    x, y = point[0].tolist()
    for index, (next_x, next_y) in enumerate(point.tolist()):
        if math.hypot(next_x - x, next_y - y) >= spacing:
            kept.append(index)
            x, y = next_x, next_y
    while closed and len(kept) > 1 and math.dist(point[kept[-1]], point[0]) < spacing:
        kept.pop()
    if len(kept) < (least := 3 if closed else 2):
        raise SceneError(
            f"{what} has {len(kept)} point{'s' * (len(kept) != 1)} that lie {spacing:g} m or more apart; it "
            f"takes {least} or more, so give [path] a larger scale, or length."
        )
    return _change(points, lambda value: value[kept])


def read_model_path(path: Path, element: str) -> RawPath:
    """Return a path of a model.

    Args:
        path: A .glb or .gltf file.
        element: Name of the node that holds the line; "": the only one.

    Raises:
        SceneError: This is no model, or has no such line; one sentence.
    """
    lines, others = read_model_lines(path)
    line = _choose(lines, others, element, path)
    point = line.point
    if line.is_closed and np.array_equal(point[0], point[-1]):
        point = point[:-1]
    return RawPath(np.column_stack((point[:, 0], -point[:, 2])), is_closed=line.is_closed)


def _choose(lines: list[ModelLine], others: list[str], element: str, path: Path) -> ModelLine:
    if element:
        found = [line for line in lines if line.name == element]
        if len(found) == 1:
            return found[0]
        if found:
            raise SceneError(f"{path}: {len(found)} lines are called {element!r}; a path is one line.")
        if element in others:
            raise SceneError(f"{path}: {element!r} has faces; the path is a line: edges without faces, or a curve.")
        raise SceneError(f"{path}: {describe_unknown('element', element, {line.name for line in lines})}")
    if not lines:
        raise SceneError(f"{path} has no line; draw the path as edges without faces, and export loose edges too.")
    if len(lines) > 1:
        names = ", ".join(repr(line.name) for line in lines[:20])
        raise SceneError(
            f'{path} has {len(lines)} lines: {names}; choose one in [path] by element = "NAME", or with --element.'
        )
    return lines[0]
