"""Writes a place that was made of a drive: a track file, its path with widths, and the picture of its floor."""

import io
from contextlib import suppress
from itertools import count
from pathlib import Path

import numpy as np
from PIL import Image
from scipy.ndimage import distance_transform_edt

from donkeysim import __version__
from donkeysim.core.errors import SceneError
from donkeysim.core.files import write_whole
from donkeysim.core.types import ByteArray, FloatArray
from donkeysim.mapping.floor import PaintedFloor
from donkeysim.mapping.road import Road
from donkeysim.mapping.survey import PlaceSurvey
from donkeysim.world.tracks.new_track import refuse_track_name

FADE = 0.1
"""Over which distance the seen floor fades into what surrounds it [m]."""

QUALITY = 92
"""Of the picture, WebP."""

_MARGIN = 4.0  # Of plain floor around what was seen [m]

_TEXT = """# Made by donkey place (donkeysim {version}) of {source}.
# {road}, lap {length:.2f} m, road {width:.2f} m wide. The floor is one picture, in the light of the drive.
format = 1
name = "{name}"

[path]
file = "{name}.csv"  # the line that is driven, with the road's widths
start = [{start[0]:.4f}, {start[1]:.4f}]  # its first point: it lies where the floor's picture shows the road
closed = true

[road]
texture = "none"  # the floor's picture shows it
edge = 0.0
obstacles = true

[ground]
texture = "concrete"
colour = [{colour}]  # of what was not seen
margin = {margin:.2f}
patches = [
    {{ at = [{x:.4f}, {y:.4f}], size = [{long:.4f}, {high:.4f}], picture = "{name}_floor.webp", cover = 1.0 }},
]

[start]
lines = [0.5]
silent = true  # none is painted on the floor

[light]
sun_height = 90.0
sun = [0.0, 0.0, 0.0]
ambient = [1.0, 1.0, 1.0]  # light and shadows are in the picture
sky = "{name}_around.webp"
fog_density = 0.0
"""

_PANEL = """
[[panels]]
picture = "{name}_panel_{number}.webp"
points = [{points}]
height = {height:.4f}
cutout = true
hit = "wall"
name = "wall"
"""


def write_place(folder: Path, name: str, found: PlaceSurvey, drive: str) -> Path:
    """Write the files of a place, and return the track file.

    Args:
        folder: Where to; made if there is none.
        name: Of the place; its files have it too.
        found: What was seen.
        drive: Of which it was made, for the file's first line.

    Raises:
        SceneError: The name is not possible, or a file cannot be written.
    """
    refuse_track_name(name)
    picture, surroundings = fade(found.floor)
    panels = [(f"panel_{number}", panel.picture) for number, panel in enumerate(found.panels, 1)]
    for kind, shown in (("floor", picture), ("around", found.ring), *panels):
        content = io.BytesIO()
        Image.fromarray(shown).save(content, "WEBP", quality=QUALITY, method=4)
        write_whole(folder / f"{name}_{kind}.webp", content.getvalue(), SceneError)
    for number in count(len(panels) + 1):  # of a place of this name that had more
        if not (stale := folder / f"{name}_panel_{number}.webp").exists():
            break
        with suppress(OSError):  # somebody looks at it
            stale.unlink()
    road = found.road
    rows = np.column_stack([road.line, road.right, road.left])
    lines = ["# x_m,y_m,w_tr_right_m,w_tr_left_m", *(",".join(f"{value:.4f}" for value in row) for row in rows)]
    write_whole(folder / f"{name}.csv", ("\n".join(lines) + "\n").encode(), SceneError)
    text = _describe(name, found.floor, road, surroundings, f"{len(found.poses)} pictures of {drive}")
    for number, panel in enumerate(found.panels, 1):
        points = ", ".join(f"[{x:.3f}, {y:.3f}]" for x, y in panel.points.tolist())
        text += _PANEL.format(name=name, number=number, points=points, height=panel.height)
    write_whole(folder / f"{name}.toml", text.encode(), SceneError)
    return folder / f"{name}.toml"


def _describe(name: str, floor: PaintedFloor, road: Road, surroundings: FloatArray, source: str) -> str:
    """Return the text of the track file; `surroundings`: colour of the ground around the floor."""
    low, high = _measure_box(floor)
    beside = np.minimum(road.line.min(axis=0) - low, high - road.line.max(axis=0)).min()
    length = float(np.hypot(*(np.roll(road.line, -1, axis=0) - road.line).T).sum())
    return _TEXT.format(
        version=__version__,
        source=source,
        road="borders as the lines on the floor have them" if road.has_lines else "borders as the car drove",
        length=length,
        width=float(np.median(road.left + road.right)),
        name=name,
        start=road.line[0],
        colour=", ".join(str(round(float(value))) for value in np.clip(surroundings, 0, 255)),
        margin=max(1.0, float(beside) + _MARGIN),
        x=0.5 * (low[0] + high[0]),
        y=0.5 * (low[1] + high[1]),
        long=high[0] - low[0],
        high=high[1] - low[1],
    )


def fade(floor: PaintedFloor) -> tuple[ByteArray, FloatArray]:
    """Return the floor as a picture with x to the right and y upwards, alpha where it was seen, and what surrounds it.

    Returns:
        Shape [rows, columns, 4], and a colour, shape [3].
    """
    cell = abs(float(floor.axes[0, 1]))
    inside = distance_transform_edt(np.pad(floor.seen, 1))[1:-1, 1:-1] * cell
    share = np.clip(inside / FADE, 0.0, 1.0)
    alpha = share * share * (3.0 - 2.0 * share)
    rim = floor.seen & (inside < FADE)
    around = np.median(floor.colour[rim], axis=0) if rim.any() else np.full(3, 128.0)
    shown = np.where(floor.seen[..., None], floor.colour, around)  # or the picture's compression would blend in black
    colour = np.clip(np.dstack([shown, 255.0 * alpha]) + 0.5, 0.0, 255.0).astype(np.uint8)
    return np.ascontiguousarray(colour.transpose(1, 0, 2)[:, ::-1]), around


def _measure_box(floor: PaintedFloor) -> tuple[FloatArray, FloatArray]:
    """Return least and greatest x and y of the floor's picture [m]."""
    rows, columns = floor.weight.shape
    half = 0.5 * abs(float(floor.axes[0, 1]))
    high = floor.axes[:2, 2] + half
    low = (floor.axes @ (columns - 1.0, rows - 1.0, 1.0))[:2] - half
    return low, high
