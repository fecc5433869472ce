"""The centre path as a curve by arc length, from a script of straights and turns, from points, or at random."""

import dataclasses
import itertools
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from donkeysim.core.errors import SceneError
from donkeysim.core.types import BoolArray, FloatArray, LongArray
from donkeysim.world.path_frame import close_line, measure_length
from donkeysim.world.tracks.paths.line import fit_curve, join_heights
from donkeysim.world.tracks.paths.path_file import PathPlacement, PathPoints, place_path
from donkeysim.world.tracks.paths.walk import Walk, draw_walk
from donkeysim.world.tracks.tables.path import PathTable, RandomWalk
from donkeysim.world.tracks.tables.road import RoadTable

# About the ground's finest texels (7.5 mm); a random road of 250 m has 25,000 samples.
SAMPLE_SPACING = 0.01
"""Between the samples of a centre line [m]."""

# The original's 2 U, so that node numbers of generated places mean the same.
NODE_SPACING = 0.25
"""Between nodes, where the track does not say how many there are, about [m]."""

KNOT_SPACING = 0.01
"""Nodes that lie nearer than this behind the one before are passed by the curve through the others [m]."""

# Nearly twice around the Nürburgring's northern loop at 1/8: what is longer is a mistake in units.
LONGEST = 5000.0
"""Length of a path that a scene is built for [m]; 40 km of the original's world."""

# A change by a tenth is hardly seen on a map; a script that needs more was meant otherwise.
CLOSING_LIMIT = 0.1
"""A script is not closed by changing any length or angle by more than about this share."""


@dataclass(frozen=True)
class Nodes:
    """What cars count their way by.

    Attributes:
        distance: Along the path [m], shape [node_count].
        position: x, y [m], shape [node_count, 2]; beside the path by a few millimetres where [path] smooth rounds it.
        height: As the path's file says it [m], shape [node_count]; None: that of a standing car's origin.
    """

    distance: FloatArray
    position: FloatArray
    height: FloatArray | None = None


@dataclass(frozen=True)
class CentreLine:
    """The path as samples by arc length; between them it is an arc of the sample's curvature.

    Attributes:
        distance: Along the path from its beginning [m], shape [sample_count], growing from 0; below `length`.
        position: x, y [m], shape [sample_count, 2].
        yaw: Of the driving direction, continuous (not wrapped) [rad], shape [sample_count].
        curvature: + = turning left [1/m], shape [sample_count].
        length: Of the whole path [m].
        closed: Whether its end meets its beginning.
        width_left: From the path to the road's left edge [m], shape [sample_count].
        width_right: The same on the right.
        height: Of the ground [m], shape [sample_count]; None: the path's file says nothing about it.
        nodes: The nodes that the path's points are; None: they lie evenly on the path.
        bank: Height of the ground at the road's left and right edge [m], shape [sample_count, 2]; None: as at the path.
    """

    distance: FloatArray
    position: FloatArray
    yaw: FloatArray
    curvature: FloatArray
    length: float
    closed: bool
    width_left: FloatArray
    width_right: FloatArray
    height: FloatArray | None = None
    nodes: Nodes | None = None
    bank: FloatArray | None = None

    @property
    def widest(self) -> float:
        """Greatest distance from the path to an edge of the road [m]."""
        return float(max(self.width_left.max(), self.width_right.max()))

    def find_sample(self, distance: npt.ArrayLike) -> tuple[FloatArray, LongArray]:
        """Return places along the path [m], wrapped on a closed one, and the samples before them, shape [n] each."""
        place = np.asarray(distance, float)
        place = np.mod(place, self.length) if self.closed else place
        return place, np.clip(np.searchsorted(self.distance, place, side="right") - 1, 0, len(self.distance) - 1)

    def measure_widths(self, distance: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return the distances to the left and right edge [m] at places along the path, shape [n] each."""
        _, index = self.find_sample(distance)
        return self.width_left[index], self.width_right[index]

    def locate(self, distance: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return positions [m], shape [n, 2], and yaws [rad], shape [n], at places along the path [m].

        Places beyond the ends wrap on a closed path and continue straight on an open one.
        """
        place, index = self.find_sample(distance)
        rest = place - self.distance[index]
        inside = (rest >= 0.0) & (place <= self.length)
        turn = np.where(inside, self.curvature[index] * rest, 0.0)
        chord = rest * np.sinc(turn / (2.0 * np.pi))
        direction = self.yaw[index] + 0.5 * turn
        step = np.stack((np.cos(direction), np.sin(direction)), axis=-1) * chord[..., None]
        return self.position[index] + step, self.yaw[index] + turn

    def find_along(self, point: npt.ArrayLike) -> float:
        """Return the place along the path [m] nearest to a point x, y [m]: up to a sample before its beginning."""
        away = np.asarray(point, float) - self.position
        nearest = int(np.argmin(np.hypot(away[:, 0], away[:, 1])))
        ahead = np.array((np.cos(self.yaw[nearest]), np.sin(self.yaw[nearest])))
        return float(self.distance[nearest] + away[nearest] @ ahead)

    def offset(self, distance: npt.ArrayLike, lateral: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return positions moved to the left of the path by `lateral` [m], and the path's yaws there."""
        position, yaw = self.locate(distance)
        left = np.stack((-np.sin(yaw), np.cos(yaw)), axis=-1)
        return position + left * np.asarray(lateral, float)[..., None], yaw


def place_nodes(table: PathTable, line: CentreLine) -> Nodes:
    """Return the nodes of a path: its points, or places evenly spaced on it."""
    if line.nodes is not None:
        return line.nodes
    count = table.node_count or min(100_000, max(8, round(line.length / NODE_SPACING)))
    step = line.length / (count if line.closed else count - 1)
    distance = np.asarray(step * np.arange(count), np.float64)
    return Nodes(distance, line.locate(distance)[0])


def build_centre_line(table: PathTable, road: RoadTable) -> CentreLine:
    """Return the centre line that a track file describes, with the road's widths along it.

    Raises:
        SceneError: The path is too long, a closed script misses its beginning by more than small changes can mend, or
            nothing says how wide the road is.
    """
    line = _draw_line(table) if table.walk is None else _draw_random(table, table.walk, road)
    left, right = _measure_road(line, road)
    return dataclasses.replace(line, width_left=left, width_right=right)


def _measure_road(line: CentreLine, road: RoadTable) -> tuple[FloatArray, FloatArray]:
    """Return the distances to the road's edges at every sample: from `widths`, the table, or the path's own."""
    if not road.widths:
        if road.width_left > 0.0:
            return np.full(len(line.distance), road.width_left), np.full(len(line.distance), road.width_right)
        if line.width_left.min() > 0.0:
            return line.width_left, line.width_right
        raise SceneError("[road] has no width; give width_left and width_right, or widths.", "road")
    at = np.array([point.at for point in road.widths]) * line.length
    edge = np.array([(point.left, point.right) for point in road.widths])
    if line.closed:
        at, edge = np.concatenate((at - line.length, at, at + line.length)), np.tile(edge, (3, 1))
    if len(at) == 1:
        return np.full(len(line.distance), edge[0, 0]), np.full(len(line.distance), edge[0, 1])
    from scipy.interpolate import PchipInterpolator  # a third of a second, which most tracks do without

    found = PchipInterpolator(at, edge, extrapolate=False)(np.clip(line.distance, at[0], at[-1]))
    return found[:, 0].copy(), found[:, 1].copy()


def _draw_line(table: PathTable) -> CentreLine:
    """Return the path; without widths of its own they are 0."""
    rough = sum(segment.straight + abs(math.radians(segment.turn)) * segment.radius for segment in table.segments)
    rough += sum(math.dist(a, b) for a, b in itertools.pairwise(table.points))
    if rough > LONGEST:
        raise SceneError(f"the path is {rough:.0f} m long; scenes are built for up to {LONGEST:.0f} m.", "path")
    if table.file:
        return draw_file(table)[0]
    if table.points:
        return _spline_through(PathPoints(np.array(table.points, float)), table)
    angle = np.radians([part.turn for part in table.segments])
    length = np.array([part.straight for part in table.segments])
    length = length + np.abs(angle) * [part.radius for part in table.segments]
    if table.closed:
        length, angle = _close_script(length, angle, table.length)
    return _sample_script(np.array(table.start), math.radians(table.yaw), length, angle, table.closed)


def _draw_random(table: PathTable, walk: RandomWalk, road: RoadTable) -> CentreLine:
    """Return a random path; its turns and the room between its stretches suit the road's width."""
    edges = [(road.width_left, road.width_right), *((point.left, point.right) for point in road.widths)]
    wanted = Walk(walk.seed, walk.liveliness, table.length, max(max(pair) for pair in edges))
    line = _spline_through(PathPoints(draw_walk(wanted, table.start, math.radians(table.yaw))), table)
    return _stretch(line, table.length / line.length)


def _end_of_script(length: FloatArray, angle: FloatArray) -> FloatArray:
    """Return x, y, total turn and total length of a script that begins at the origin along +x."""
    before = np.concatenate(([0.0], np.cumsum(angle)[:-1]))
    direction = before + 0.5 * angle
    chord = length * np.sinc(angle / (2.0 * np.pi))
    return np.array([np.sum(chord * np.cos(direction)), np.sum(chord * np.sin(direction)), angle.sum(), length.sum()])


def _close_script(length: FloatArray, angle: FloatArray, wanted_length: float) -> tuple[FloatArray, FloatArray]:
    """Change lengths and turns by the smallest shares (least squares) that make the script end where it begins."""
    scale = np.concatenate((length, np.where(angle != 0.0, np.abs(angle), 0.0)))
    count = len(length)
    turns = round(angle.sum() / (2.0 * math.pi)) or math.copysign(1, angle.sum())
    target = np.array([0.0, 0.0, turns * 2.0 * math.pi, wanted_length])
    rows = 4 if wanted_length > 0.0 else 3
    share = np.zeros(2 * count)

    def miss(share: FloatArray) -> FloatArray:
        value = np.concatenate((length, angle)) + share * scale
        return np.asarray((_end_of_script(value[:count], value[count:]) - target)[:rows])

    for _ in range(30):
        error = miss(share)
        if np.abs(error).max() < 1e-12:
            break
        slope = np.stack([(miss(share + step) - error) / 1e-7 for step in 1e-7 * np.eye(2 * count)], axis=1)
        share = np.linalg.pinv(slope) @ (slope @ share - error)
    if np.abs(miss(share)).max() > 1e-9 or np.abs(share).max() > CLOSING_LIMIT:
        x, y, turn, _ = _end_of_script(length, angle)
        raise SceneError(
            f"the segments of [path] end {math.hypot(x, y):.2f} m from the start after turning "
            f"{math.degrees(turn):.0f} degrees; change them so that they close, or set closed = false.",
            "path.segments",
        )
    value = np.concatenate((length, angle)) + share * scale
    return value[:count], value[count:]


def _sample_script(start: FloatArray, yaw: float, length: FloatArray, angle: FloatArray, closed: bool) -> CentreLine:
    distances, positions, yaws, curvatures = [], [], [], []
    done = 0.0
    for piece_length, piece_angle in zip(length, angle, strict=True):
        count = max(2, math.ceil(piece_length / SAMPLE_SPACING))
        rest = np.arange(count) * (piece_length / count)
        curvature = piece_angle / piece_length
        along = np.append(rest, piece_length)
        chord = along * np.sinc(curvature * along / (2.0 * np.pi))
        direction = yaw + 0.5 * curvature * along
        place = start + np.stack((chord * np.cos(direction), chord * np.sin(direction)), axis=1)
        distances.append(done + rest)
        positions.append(place[:-1])
        yaws.append(yaw + curvature * rest)
        curvatures.append(np.full(count, curvature))
        start, yaw, done = place[-1], yaw + piece_angle, done + piece_length
    width = np.zeros(sum(len(part) for part in distances))
    return CentreLine(
        np.concatenate(distances),
        np.concatenate(positions),
        np.concatenate(yaws),
        np.concatenate(curvatures),
        done,
        closed,
        width,
        width,
    )


def draw_file(table: PathTable) -> tuple[CentreLine, PathPlacement]:
    """Return the path of a file and how the file's coordinates became the world's.

    It is scaled once more where smoothing and the curve have changed a wanted length.

    Raises:
        SceneError: The file is missing or broken, or the path is too long.
    """
    points, placing = place_path(table)
    if (rough := float(np.hypot(*np.diff(points.position, axis=0).T).sum())) > LONGEST:
        raise SceneError(
            f"the path is {rough:.0f} m long; scenes are built for up to {LONGEST:.0f} m, so give [path] a smaller "
            "scale, or length.",
            "path.scale",
        )
    line = _spline_through(points, table)
    if table.length > 0.0:
        factor = table.length / line.length
        line = _stretch(line, factor)
        x, y = (begin + factor * (shift - begin) for begin, shift in zip(table.start, placing.shift, strict=True))
        placing = PathPlacement(placing.scale * factor, placing.yaw, (x, y))
    return line, placing


def _space_out(parameter: FloatArray, closed: bool) -> BoolArray:
    """Return which points a curve passes through: all but those less than `KNOT_SPACING` behind the one before."""
    kept = np.ones(len(parameter), bool)
    last = 0
    for index in range(1, len(parameter)):
        kept[index] = parameter[index] - parameter[last] >= KNOT_SPACING
        last = index if kept[index] else last
    if closed and not kept[-1]:
        kept[last], kept[-1] = False, True
    return kept


def _stretch(line: CentreLine, factor: float) -> CentreLine:
    """Return a line made longer about its beginning."""
    start = line.position[0]
    return dataclasses.replace(
        line,
        distance=line.distance * factor,
        position=start + (line.position - start) * factor,
        curvature=line.curvature / factor,
        length=line.length * factor,
        width_left=line.width_left * factor,
        width_right=line.width_right * factor,
        height=None if line.height is None else line.height * factor,
        bank=None if line.bank is None else line.bank * factor,
    )


def _spline_through(points: PathPoints, table: PathTable) -> CentreLine:
    """Return a twice differentiable curve through points, sampled by arc length, and what the points carry along it.

    Points that are the nodes stay what they are; their `smooth` rounds the curve alone.
    """
    point, closed = points.position, table.closed
    parameter = measure_length(close_line(point, closed))
    if (same := np.nonzero(np.diff(parameter) < 1e-6)[0]).size:
        first, second = same[0], (same[0] + 1) % len(point)
        text = f"points {first} and {second} of [path] are the same; leave one out."
        raise SceneError(text, f"path.points[{second}]")
    is_node = table.nodes == "points"
    knot = _space_out(parameter, closed) if is_node else np.ones(len(parameter), bool)
    curve = fit_curve(parameter[knot], point[knot[: len(point)]], closed, table.smooth if is_node else 0.0)
    fine = np.linspace(0.0, parameter[-1], max(64, int(parameter[-1] / SAMPLE_SPACING) * 4))
    speed = np.hypot(*curve(fine, 1).T)
    if (slowest := int(np.argmin(speed))) >= 0 and speed[slowest] < 1e-3:
        x, y = curve(fine[slowest])
        raise SceneError(f"the path turns back on itself at ({x:.2f}, {y:.2f}).", "path")
    arc = np.concatenate(([0.0], np.cumsum(0.5 * (speed[1:] + speed[:-1]) * np.diff(fine))))
    count = max(16, math.ceil(arc[-1] / SAMPLE_SPACING))
    distance = np.arange(count) * (arc[-1] / count)
    at = np.interp(distance, arc, fine)
    (dx, dy), (ddx, ddy) = curve(at, 1).T, curve(at, 2).T
    yaw = np.unwrap(np.arctan2(dy, dx))
    curvature = (dx * ddy - dy * ddx) / np.hypot(dx, dy) ** 3
    width = np.zeros((len(point), 2)) if points.width is None else points.width
    left, right = (np.interp(at, parameter, value) for value in close_line(width, closed).T)
    height, bank = (
        None if value is None else join_heights(parameter, value, closed, at) for value in (points.height, points.bank)
    )
    nodes = Nodes(np.interp(parameter[: len(point)], fine, arc), point, points.node_height) if is_node else None
    return CentreLine(distance, curve(at), yaw, curvature, float(arc[-1]), closed, left, right, height, nodes, bank)
