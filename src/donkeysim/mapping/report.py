"""The report of a place that was made of a drive: one HTML file that needs nothing else.

It shows pictures of the place from where the drive took them, beside the real ones.
"""

import base64
from collections.abc import Sequence
from html import escape
from math import degrees
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image

from donkeysim.calibration.motion import FloorCamera
from donkeysim.core.chart import Area, fill_report, join_pixels
from donkeysim.core.errors import format_count
from donkeysim.core.files import write_whole
from donkeysim.core.image import encode_jpeg, spread_grey
from donkeysim.core.types import BoolArray, ByteArray, Float32Array, FloatArray
from donkeysim.mapping.place_file import fade
from donkeysim.mapping.road import find_normals
from donkeysim.mapping.survey import FARTHEST, PlaceSurvey
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import CameraSpec, SceneSpec, WorldSpec

_TEMPLATE = Path(__file__).with_name("report.html")

MAP_SIDE = 1200
"""Longer side of the map [pixel]."""

AREA = Area(width=960, height=130, left=46, top=10, right=20, bottom=28)
"""Of the chart of errors."""

UNSURE = 0.5
"""Pictures that are less like what was seen before are marked."""


class Redrawn(NamedTuple):
    """A picture of the drive and the same from the place.

    Attributes:
        real: Shape [height, width, 1 or 3].
        drawn: In the light of that picture, shape [height, width, 3].
        floor: Which pixels show floor that was seen near by, shape [height, width].
        psnr: Of those pixels [dB].
    """

    number: int
    real: ByteArray
    drawn: ByteArray
    floor: BoolArray
    psnr: float


def write_report(path: Path, name: str, drive: Path, found: PlaceSurvey, drawn: Sequence[Redrawn]) -> None:
    """Write the report.

    Args:
        path: Of the HTML file.
        drive: The tub that it was made of.
        found: What was found out.
        drawn: Pictures beside the place's own.
    """
    facts = "".join(
        f"<tr><th>{escape(key)}</th><td>{escape(value)}</td></tr>" for key, value in list_facts(found, drawn)
    )
    text = fill_report(
        _TEMPLATE,
        name=escape(name),
        drive=escape(str(drive)),
        folder=escape(str(path.parent)),
        facts=facts,
        map=draw_map(found),
        errors=draw_errors(drawn, len(found.poses)),
        pictures="".join(map(_format_pair, drawn)),
        reach=f"{FARTHEST * found.camera.mount.height:.1f} m",
    )
    write_whole(path, text.encode())


def list_facts(found: PlaceSurvey, drawn: Sequence[Redrawn]) -> list[tuple[str, str]]:
    """Return names and values of what was found, for people."""
    road, mount, loops = found.road, found.camera.mount, found.loop_misses
    length = float(np.hypot(*(np.roll(road.line, -1, axis=0) - road.line).T).sum())
    width = road.left + road.right
    beside = sum(float(np.hypot(*np.diff(panel.points, axis=0).T).sum()) for panel in found.panels)
    source = ", found from the drive" if found.is_found else ""
    borders = "lines on the floor" if road.has_lines else "no lines found: where the car drove, and some room"
    facts = [
        ("pictures placed", f"{len(found.poses):,}, {found.followed:.1%} of them recognised"),
        ("laps", f"{road.lap_count:.1f}"),
        ("stretches recognised again", f"{len(loops)}, 95% within {100 * np.quantile(loops, 0.95):.1f} cm"),
        ("lap", f"{length:.2f} m"),
        ("road", f"{np.median(width):.2f} m wide ({width.min():.2f} to {width.max():.2f}), {borders}"),
        ("camera", f"field of view {degrees(found.camera.lens.fov):.0f}°, {degrees(mount.pitch):.1f}° down{source}"),
        ("camera above the floor", f"{100 * mount.height:.1f} cm"),
        ("beside the road", f"{format_count(len(found.panels), 'panel')}, {beside:.1f} m long in all"),
        ("floor redrawn", f"{np.median([one.psnr for one in drawn]):.1f} dB in the median"),
    ]
    if (steering := found.steering) is not None:
        text = f"seen {steering.late:.1f} pictures later; {steering.straight:+.2f} is straight on"
        facts.append(("steering", f"{text}, 1 a circle of {2.0 * abs(steering.radius):.2f} m"))
    return facts


def draw_map(found: PlaceSurvey) -> str:
    """Return the floor from above, with the way of the car and the road, as SVG."""
    picture, around = fade(found.floor)
    share = picture[..., 3:].astype(np.float32) / 255.0
    flat = (picture[..., :3] * share + 0.5 * around * (1.0 - share)).astype(np.uint8)
    small = Image.fromarray(flat)
    small.thumbnail((MAP_SIDE, MAP_SIDE))
    scale = small.width / picture.shape[1]
    road = found.road
    normal = find_normals(road.line)
    left, right = road.line + road.left[:, None] * normal, road.line - road.right[:, None] * normal

    def locate(places: FloatArray) -> FloatArray:
        cells = np.linalg.inv(found.floor.axes) @ np.vstack([places.T, np.ones(len(places))])
        return np.asarray(np.column_stack([picture.shape[1] - 1 - cells[1], cells[0]]) * scale)

    wide = max(1.0, 0.0025 * max(small.size))
    lines = [("border", np.vstack([side, side[:1]])) for side in (left, right)] + [("way", found.poses[:, :2])]
    lines += [("lost", found.poses[begin:end, :2]) for begin, end in _list_unsure(found.correlation)]
    lines += [("panel", panel.points) for panel in found.panels] + [("start", np.stack([left[0], right[0]]))]
    drawn = "".join(
        f'<path class="{kind}" stroke-width="{wide:.1f}" d="{join_pixels(locate(places))}"/>' for kind, places in lines
    )
    corners = np.vstack([(0.0, 0.0), small.size, *(locate(panel.points) for panel in found.panels)])
    left_top, size = corners.min(axis=0), np.ptp(corners, axis=0)
    unseen = ",".join(f"{level:.0f}" for level in 0.5 * around)
    return (
        f'<svg viewBox="{left_top[0]:.0f} {left_top[1]:.0f} {size[0]:.0f} {size[1]:.0f}" role="img"'
        f' aria-label="the floor from above" style="background:rgb({unseen})">'
        f'<image href="{_encode(np.asarray(small))}" width="{small.width}" height="{small.height}"/>{drawn}</svg>'
    )


def draw_errors(drawn: Sequence[Redrawn], count: int) -> str:
    """Return a chart of how like the drive's floor the place's is, along a drive of `count` pictures."""
    across, up = (
        AREA.make_across(0, count),
        AREA.make_up(*np.quantile([one.psnr for one in drawn], (0.0, 1.0)).tolist()),
    )
    line = join_pixels([(across.find(one.number), up.find(one.psnr)) for one in drawn])
    axes = AREA.draw_axes(across, [(tick, f"{tick:,.0f}") for tick in across.list_ticks()], up, up.list_ticks(4))
    return (
        f'{AREA.open("errors", "floor redrawn, along the drive [dB]")}{axes}<path class="likeness" d="{line}"/></svg>'
    )


def _list_unsure(correlation: FloatArray) -> list[tuple[int, int]]:
    """Return where stretches of unsure pictures begin and end, with a picture on both sides."""
    change = np.flatnonzero(np.diff(np.r_[False, correlation < UNSURE, False].astype(int)))
    return [
        (max(0, begin - 1), end + 1) for begin, end in zip(change[::2].tolist(), change[1::2].tolist(), strict=True)
    ]


def _format_pair(one: Redrawn) -> str:
    images = "".join(
        f'<img src="{_encode(picture)}" alt="{kind}">'
        for kind, picture in (("as the car saw it", spread_grey(one.real)), ("drawn from the place", one.drawn))
    )
    return f"<figure>{images}<figcaption>picture {one.number}: {one.psnr:.1f} dB</figcaption></figure>"


def _encode(picture: ByteArray) -> str:
    return f"data:image/jpeg;base64,{base64.b64encode(encode_jpeg(np.ascontiguousarray(picture), 85)).decode()}"


def redraw(track: Path, found: PlaceSurvey, numbers: Sequence[int], gains: Float32Array | None = None) -> list[Redrawn]:
    """Return pictures beside the same from the place.

    Args:
        track: The place's file.
        found: What it was made of.
        gains: How bright each of these is, shape [number_count, 3]; None: as the floor shows.
    """
    camera, own, floor = found.camera, found.own, found.floor
    lens, mount = camera.lens, camera.mount
    eye = CameraSpec(width=lens.size[0], height=lens.size[1], fov=lens.fov, lens=lens, quality="smooth")
    simulator = Simulator(WorldSpec(SceneSpec(str(track))))
    shown = _find_floor(camera) & ~own
    drawn = []
    for number, gain in zip(numbers, floor.gain[numbers] if gains is None else gains, strict=True):
        x, y, yaw = found.poses[number]
        c, s = np.cos(yaw), np.sin(yaw)
        position = (float(x + c * camera.ahead), float(y + s * camera.ahead), mount.height)
        view = simulator.view(0, position, (mount.roll, mount.pitch, float(yaw) + mount.yaw), eye).astype(float)
        view = np.clip(view * floor.vignette[..., None] * gain + 0.5, 0, 255).astype(np.uint8)
        real = found.pictures[number]
        off = (view.astype(float) - real)[shown]
        psnr = 10.0 * np.log10(255.0**2 / max(1e-9, float((off**2).mean())))
        drawn.append(Redrawn(number, real, view, shown, psnr))
    simulator.close()
    return drawn


def _find_floor(camera: FloorCamera) -> BoolArray:
    width, height = camera.lens.size
    places = np.indices((height, width))[::-1].reshape(2, -1).T.astype(float)
    floor = camera.find_floor(places) - (camera.ahead, 0.0)
    with np.errstate(invalid="ignore"):
        near = np.hypot(*floor.T) < FARTHEST * camera.mount.height
    return np.asarray(near.reshape(height, width))
