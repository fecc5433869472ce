"""How generated_track looks in its look "2020" to the car's camera beside what recordings of the original show.

Cars spread over a lap take one picture each. Points of the ground whose place beside the path is known, such as those
on the middle of a line, are projected into it; the picture of classes tells which of them something else hides. The
original's figures are means over published recordings of April 2020 (`docs/tracks/generated_track.md`).
"""

import dataclasses
from dataclasses import dataclass

import numpy as np

from benchmarks.fidelity.row import Row
from benchmarks.lap import LapDrive
from donkeysim.core.rotation import make_rotation
from donkeysim.core.types import BoolArray, ByteArray, FloatArray
from donkeysim.render.warp import compute_focal
from donkeysim.world.scene import CLASS_GROUND, CLASS_LINE, CLASS_PROP, CLASS_ROAD, CLASS_SKY
from donkeysim.world.specs import CameraSpec, SceneSpec
from donkeysim.world.tracks.catalogue import find_track
from donkeysim.world.tracks.paths.path import CentreLine, build_centre_line
from donkeysim.world.tracks.track_file import read_track

U = 1.0 / 8.0
"""The original's unit of length [m]."""

PICTURES = 108
"""Over a lap, one at each node."""

ALLOWED = 12.0
"""By how much a mean colour may differ [grey level]."""

AHEAD = (0.35, 1.6)
"""How far ahead of the camera's node the ground is looked at [m]."""


@dataclass(frozen=True)
class Region:
    """A strip along the path.

    Attributes:
        name: What it is.
        colour: The original's mean, sRGB.
        across: Its sides, right of the path [U].
        segment: CLASS_* of what is there.
        height: Above the road [m].
        ahead: How far ahead it is looked at [m].
    """

    name: str
    colour: tuple[int, int, int]
    across: tuple[float, float]
    segment: int
    height: float = 0.0
    ahead: tuple[float, float] = AHEAD


REGIONS = (
    Region("right lane", (134, 140, 149), (-1.6, 1.6), CLASS_ROAD),
    Region("left lane", (126, 135, 144), (-5.6, -2.5), CLASS_ROAD),
    Region("white lines", (238, 247, 250), (1.93, 2.03), CLASS_LINE, ahead=(0.25, 0.7)),
    Region("yellow line", (204, 182, 133), (-2.04, -1.94), CLASS_LINE, ahead=(0.25, 0.7)),
    Region("outside the white line", (148, 153, 154), (2.3, 2.75), CLASS_ROAD),
    Region("verge right", (103, 108, 88), (3.4, 5.9), CLASS_GROUND),
    Region("verge left", (127, 129, 122), (-9.8, -7.4), CLASS_GROUND, ahead=(0.6, 2.5)),
    Region("hedges", (65, 103, 25), (7.0, 7.4), CLASS_PROP, 0.05, (0.8, 3.0)),
)
"""What recordings show beside the path."""

LANE_MIDDLE = Region("middle of the lane", (0, 0, 0), (-0.2, 0.2), CLASS_ROAD)
WHEEL_TRACKS = tuple(
    Region("wheel track", (0, 0, 0), (at - 0.15, at + 0.15), CLASS_ROAD) for at in (-0.085 / U, 0.085 / U)
)


@dataclass(frozen=True)
class Shots:
    """Pictures over a lap and where they were taken.

    Attributes:
        colour: sRGB, shape [picture_count, height, width, 3].
        segment: CLASS_*, shape [picture_count, height, width].
        eye: World frame [m], shape [picture_count, 3].
        axes: Forward, left, up of the camera in the world frame, shape [picture_count, 3, 3].
        along: Place on the path [m], shape [picture_count].
        ground: Height of the ground [m].
        focal: Focal length [pixel].
        line: The path.
    """

    colour: ByteArray
    segment: ByteArray
    eye: FloatArray
    axes: FloatArray
    along: FloatArray
    ground: float
    focal: float
    line: CentreLine


def measure_look(look: str = "2020") -> list[Row]:
    """Return all figures of generated_track.

    Args:
        look: Which look of the track; empty: its own.
    """
    shots = take_shots(SceneSpec("generated_track", look=look))
    rows: list[Row] = []
    for region in REGIONS:
        rows += _compare_colours(region.name, region.colour, sample_region(shots, region))
    red = (shots.segment == CLASS_PROP) & (shots.colour[..., 0] > shots.colour[..., 1].astype(int) + 25)
    sky = shots.segment == CLASS_SKY
    rows += _compare_colours("cones", (140, 85, 87), shots.colour[red])
    rows += _compare_colours("sky at the top", (91, 116, 155), shots.colour[:, :3][sky[:, :3]])
    rows += _compare_colours("sky at the horizon", (127, 151, 172), shots.colour[:, 33:36][sky[:, 33:36]])
    lanes = [sample_region(shots, region).mean(axis=1) for region in REGIONS[:2]]
    track = np.concatenate([sample_region(shots, region) for region in WHEEL_TRACKS])
    brighter = float(sample_region(shots, LANE_MIDDLE).mean() - track.mean())
    return [
        *rows,
        Row("spread of the right lane", 19.5, float(lanes[0].std()), "grey level", 3.5),
        Row("spread of the left lane", 19.5, float(lanes[1].std()), "grey level", 3.5),
        Row("middle of a lane above its wheel tracks", 17.5, brighter, "grey level", 2.5),
        Row("darkest own shadow", 53.0, find_own_shadow(shots), "grey level", 20.0),
        Row("horizon", 43.0, find_horizon(shots), "row of 120", 1.0),
        Row("top of the hills", 38.0, find_hills(shots), "row of 120", 1.5),
    ]


def take_shots(scene: SceneSpec) -> Shots:
    """Return one picture at each node, from cars that have driven for two seconds."""
    drive = LapDrive(PICTURES, None, scene=scene)
    simulator, ledger = drive.simulator, drive.simulator.ledger
    camera: CameraSpec = dataclasses.replace(simulator.car_spec.camera, segment=True)
    for car in range(PICTURES):
        simulator.configure_camera(car, camera)
    simulator.render()
    turn = np.array([_make_matrix(quaternion) for quaternion in ledger.orientation])
    path = find_track(scene)
    track = read_track(path, scene.look)
    line = build_centre_line(track.path, track.road)
    return Shots(
        np.stack([simulator.get_picture(car) for car in range(PICTURES)]),
        np.stack([simulator.get_segments(car) for car in range(PICTURES)]),
        ledger.position + turn @ np.array(camera.position),
        np.transpose(turn @ make_rotation(camera.rotation).reshape(3, 3), (0, 2, 1)),
        ledger.node_index * (line.length / len(simulator.scene.path.position)),
        track.ground.height,
        compute_focal(camera.fov, camera.height),
        line,
    )


def _make_matrix(quaternion: FloatArray) -> FloatArray:
    """Return the rotation matrix, body to world, of a quaternion w, x, y, z."""
    w, x, y, z = quaternion
    return np.array(
        (
            (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
            (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
            (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
        )
    )


def sample_region(shots: Shots, region: Region) -> ByteArray:
    """Return the colours of a region's points that the cameras see, shape [point_count, 3]."""
    ahead, across = np.meshgrid(np.linspace(*region.ahead, 60), np.linspace(*region.across, 9))
    found = []
    for picture in range(len(shots.colour)):
        flat, _ = shots.line.offset(shots.along[picture] + ahead.ravel(), -U * across.ravel())
        point = np.column_stack((flat, np.full(len(flat), shots.ground + region.height)))
        row, column, is_inside = _project(shots, picture, point)
        seen = shots.segment[picture, row[is_inside], column[is_inside]] == region.segment
        pixel = np.unique(np.column_stack((row, column))[is_inside][seen], axis=0)
        found.append(shots.colour[picture, pixel[:, 0], pixel[:, 1]])
    return np.concatenate(found)


def _project(shots: Shots, picture: int, point: FloatArray) -> tuple[np.ndarray, np.ndarray, BoolArray]:
    """Return rows and columns of world points in a picture, and which of them lie inside it."""
    height, width = shots.segment.shape[1:]
    away, left, up = shots.axes[picture] @ (point - shots.eye[picture]).T
    depth = np.where(away > 0.05, away, np.inf)
    column = np.floor(0.5 * width - shots.focal * left / depth).astype(int)
    row = np.floor(0.5 * height - shots.focal * up / depth).astype(int)
    is_inside = (away > 0.05) & (row >= 0) & (row < height) & (column >= 0) & (column < width)
    return row, column, is_inside


def find_own_shadow(shots: Shots) -> float:
    """Return the darkest tenth of the road in the lowest rows of the picture in which it is darkest [grey level]."""
    darkest = []
    for colour, segment in zip(shots.colour[:, 95:, 40:120], shots.segment[:, 95:, 40:120], strict=True):
        grey = np.sort(colour[segment == CLASS_ROAD].mean(axis=1))
        if len(grey) >= 200:
            darkest.append(float(grey[: len(grey) // 10].mean()))
    return min(darkest)


def find_horizon(shots: Shots) -> float:
    """Return the row where the open ground meets what is painted on the sky, the median over the lap."""
    rows = []
    for segment in shots.segment:
        first = np.argmax(segment != CLASS_SKY, axis=0)
        columns = np.arange(segment.shape[1])
        rows += first[np.isin(segment[first, columns], (CLASS_GROUND, CLASS_ROAD))].tolist()
    return float(np.median(rows))


def find_hills(shots: Shots) -> float:
    """Return the row of the higher hills' tops: where the sky turns from blue to green-brown."""
    middle = slice(60, 100)
    colour = shots.colour[:, :, middle].astype(int)
    is_hill = (shots.segment[:, :, middle] == CLASS_SKY) & (colour[..., 2] < colour[..., 1] + 6)
    rows = np.argmax(is_hill, axis=1)[is_hill.any(axis=1)]
    return float(np.percentile(rows, 25)) if len(rows) else float(shots.colour.shape[1])


def _compare_colours(name: str, original: tuple[int, int, int], pixels: ByteArray) -> list[Row]:
    mean = pixels.mean(axis=0) if len(pixels) else np.full(3, np.nan)
    parts = zip(("red", "green", "blue"), original, mean, strict=True)
    return [Row(f"{name}, {part}", float(wanted), float(got), "grey level", ALLOWED) for part, wanted, got in parts]
