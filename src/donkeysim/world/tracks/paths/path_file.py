"""A path from a file beside the track's: points of a circuit (.csv), a drawing (.svg) or a model (.glb, .gltf).

What a file says is raw: in its own units and axes. `place_path` brings it into the world: scaled, turned and moved as
[path] asks. A track of its own may also be such a file alone, with the defaults of `bare_track`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from donkeysim.core.config import locate_key
from donkeysim.core.errors import SceneError, nearest_name
from donkeysim.core.types import FloatArray
from donkeysim.world.tracks.paths.raw_path import RawPath
from donkeysim.world.tracks.tables.path import PATH_SUFFIXES, PathTable

MODEL_SUFFIXES = (".glb", ".gltf")
"""Files that hold a whole place beside the path."""

SPACING_LEAST = 0.05
"""Points nearer than this to the one before are left out [m]: duplicates, and more detail than a road has."""

SPACING_DRAWN = 0.1
"""Between the points that are taken of drawn lines [m]."""

BELL = 1.18
"""Width of a bell curve that rounds a right-angled corner to a radius of 1."""

LONGEST_TRACE = 200_000
"""Most points that are taken of a line."""

LONGEST_FILE = 20_000_000
"""Of a drawing or a list of points [byte]."""


@dataclass(frozen=True)
class Placing:
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
    """

    position: FloatArray
    width: FloatArray | None


def find_path_file(table: PathTable, source: str) -> Path:
    """Return where the file of a path lies: beside the track's.

    Raises:
        SceneError: There is none, it is of no known kind, or it is too long.
    """
    beside = Path(source).parent
    path = beside / Path(table.file).expanduser()
    place = locate_key(source, "path.file")
    if path.suffix.lower() not in PATH_SUFFIXES:
        raise SceneError(f"{place}: file is {table.file!r}; a path is read from {', '.join(PATH_SUFFIXES)}.")
    if not path.is_file():
        near = nearest_name(path.name, [item.name for item in beside.glob("*") if item.suffix.lower() in PATH_SUFFIXES])
        hint = f"; did you mean {near!r}?" if near else "; give its name, as seen from the track's file."
        raise SceneError(f"{place}: there is no file {table.file!r} in {beside}{hint}")
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
        from donkeysim.world.tracks.paths.model_path import read_model_path

        return read_model_path(path, element)
    if element and suffix == ".csv":
        raise SceneError(f"{path} is one list of points; it has no element {element!r}.")
    content = _read_content(path)
    if suffix == ".csv":
        from donkeysim.world.tracks.paths.path_csv import read_points

        return read_points(content, str(path))
    from donkeysim.world.tracks.paths.path_svg import read_drawing

    return read_drawing(content, str(path), element)


def measure_raw_path(raw: RawPath) -> float:
    """Return the length of the line through a path's points, in the file's units."""
    return _measure(raw.position, raw.is_closed is not False)


def place_path(table: PathTable, source: str) -> tuple[PathPoints, Placing]:
    """Return the path of a track whose [path] names a file, and how the file's coordinates became the world's.

    Raises:
        SceneError: The file is missing or broken, or its path is too short to be one.
    """
    path = find_path_file(table, source)
    raw = read_raw_path(path, table.element)
    point, width = raw.position, raw.width
    if table.reverse:
        order = np.arange(len(point))[::-1]
        order = np.roll(order, 1) if table.closed else order
        point, width = point[order], None if width is None else width[order, ::-1]
    scale = table.scale
    if table.length > 0.0:
        scale = table.length / max(_measure(point, table.closed), 1e-9)
    point, width = point * scale, None if width is None else width * scale
    spacing = SPACING_LEAST / 50.0 if raw.is_drawn else SPACING_LEAST
    point, width = _thin(point, width, table.closed, spacing, f"{path}: at scale = {scale:g} the path")
    if raw.is_drawn or table.smooth > 0.0:
        point, width = _trace(point, width, table.closed, not raw.is_drawn)
    if table.smooth > 0.0:
        point, width = _smooth(point, width, table)
    placing = Placing(1.0, math.radians(table.yaw), (0.0, 0.0))
    first = placing.apply(point[:1])[0]
    shift = (table.start[0] - float(first[0]), table.start[1] - float(first[1]))
    turned = Placing(1.0, placing.yaw, shift)
    return PathPoints(turned.apply(point), width), Placing(scale, placing.yaw, shift)


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
    ring = np.vstack((point, point[:1])) if closed else point
    return float(np.hypot(*np.diff(ring, axis=0).T).sum())


def _trace(
    point: FloatArray, width: FloatArray | None, closed: bool, is_curved: bool
) -> tuple[FloatArray, FloatArray | None]:
    """Return points about `SPACING_DRAWN` apart on the straight lines between points, or on a curve through them."""
    from scipy.interpolate import CubicSpline, make_interp_spline

    ring = np.vstack((point, point[:1])) if closed else point
    along = np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(ring, axis=0).T))))
    count = int(np.clip(math.ceil(along[-1] / SPACING_DRAWN), 8, LONGEST_TRACE))
    at = np.linspace(0.0, along[-1], count, endpoint=not closed)
    if is_curved:
        curve = CubicSpline(along, ring, bc_type="periodic" if closed else "natural")
    else:
        curve = make_interp_spline(along, ring, k=1)
    if width is None:
        return np.asarray(curve(at)), None
    edge = make_interp_spline(along, np.vstack((width, width[:1])) if closed else width, k=1)
    return np.asarray(curve(at)), np.asarray(edge(at))


def _smooth(point: FloatArray, width: FloatArray | None, table: PathTable) -> tuple[FloatArray, FloatArray | None]:
    """Return evenly spaced points with a bell curve of `smooth` [m] laid over them; open ends stay where they are."""
    from scipy.ndimage import gaussian_filter1d

    sigma = BELL * table.smooth * len(point) / max(_measure(point, table.closed), 1e-9)
    if table.closed:
        return gaussian_filter1d(point, min(sigma, 0.2 * len(point)), axis=0, mode="wrap"), width
    reach = min(math.ceil(4.0 * sigma), len(point) - 1)
    before, after = 2.0 * point[0] - point[reach:0:-1], 2.0 * point[-1] - point[-2 : -reach - 2 : -1]
    return gaussian_filter1d(np.vstack((before, point, after)), sigma, axis=0)[reach : reach + len(point)], width


def _thin(
    point: FloatArray, width: FloatArray | None, closed: bool, spacing: float, what: str
) -> tuple[FloatArray, FloatArray | None]:
    """Return the points that lie at least `spacing` [m] from the one kept before and, closed, from the first."""
    kept = [0]
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
    return point[kept], None if width is None else width[kept]
