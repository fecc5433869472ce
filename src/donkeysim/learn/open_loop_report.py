"""The report on pilots beside recorded drives: one HTML file that needs nothing else, and the same as JSON.

Its figures are SVG: what pilots answer by what the driver steered, and where they are most wrong both over the picture.
"""

import base64
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import Any

from donkeysim.core.chart import Area, fill_report, join_pixels, write
from donkeysim.core.errors import format_count
from donkeysim.core.image import encode_jpeg, spread_grey
from donkeysim.core.types import FloatArray
from donkeysim.learn.open_loop import BEND, OpenLoop, find_share, list_worst
from donkeysim.learn.real_drives import JudgedDrive

_TEMPLATE = Path(__file__).with_name("open_loop.html")

# Two rows of four; neighbours of a bad moment look like it.
WORST_COUNT, WORST_APART = 8, 20
"""Pictures that are shown of a pilot, and how many records at least lie between them: a second of driving."""

PLOT = Area(width=420, height=250, left=46, top=14, right=12, bottom=34)

FULL_LOCK = math.radians(45.0)
"""How far from straight up the line of a fully turned wheel stands."""

COLOURS = ("#2f7d57", "#1f5fbf", "#e2742d", "#7a3fb0", "#b3261e", "#0b8a9a", "#8a6d0b")

FLOOR, PILOT, CEILING = "floor", "pilot", "ceiling"


@dataclass(frozen=True)
class JudgedPilot:
    """One row of a drive's table.

    Attributes:
        name: What to call it.
        role: `FLOOR`, `PILOT` or `CEILING`.
        said: Its answers, steering and throttle, shape [n, 2].
        found: How well they fit.
        file: Where the pilot lies; "" for floor and ceiling.
    """

    name: str
    role: str
    said: FloatArray
    found: OpenLoop
    file: str = ""


@dataclass(frozen=True)
class DriveJudgement:
    """All that was found on one drive.

    Attributes:
        rows: The floor, the pilots, the ceiling if there is one.
        notes: What is to be known beside the figures.
    """

    drive: JudgedDrive
    rows: Sequence[JudgedPilot]
    notes: Sequence[str]

    def find_way(self, row: JudgedPilot) -> float | None:
        """Return how much of the way from floor to ceiling a pilot's correlation is; None where that says nothing."""
        found = {other.role: other.found.correlation for other in self.rows}
        if row.role != PILOT or CEILING not in found:
            return None
        return find_share(row.found.correlation, found[FLOOR], found[CEILING])

    def list_cells(self, row: JudgedPilot) -> list[str]:
        """Return a row's figures for people, in the order of `HEADS`."""
        found, way = row.found, self.find_way(row)
        return [
            f"{found.correlation:+.2f}",
            "" if found.right_side is None else f"{100.0 * found.right_side:.0f} %",
            f"{found.error:.3f}",
            f"{found.delay:+d}" if row.role != FLOOR else "",
            f"{found.throttle_error:.3f}",
            "" if way is None else f"{100.0 * way:.0f} %",
        ]


HEADS = ("correlation", "right side", "error", "delay", "throttle error", "of the way")


def format_report(judgements: Sequence[DriveJudgement]) -> str:
    """Return the report as HTML."""
    return fill_report(_TEMPLATE, drives="".join(map(_format_drive, judgements)), bend=f"{BEND:g}")


def format_json(judgements: Sequence[DriveJudgement]) -> bytes:
    """Return everything as JSON."""
    drives = [
        {
            "path": str(one.drive.path),
            "records": len(one.drive.records),
            "picture": one.drive.size,
            "skipped": {"no_picture": one.drive.no_picture_count, "no_command": one.drive.no_command_count},
            "notes": list(one.notes),
            "rows": [_describe_row(one, row) for row in one.rows],
        }
        for one in judgements
    ]
    return json.dumps({"format": 1, "drives": drives}, indent=1).encode() + b"\n"


def _describe_row(one: DriveJudgement, row: JudgedPilot) -> dict[str, Any]:
    driven = one.drive.driven
    worst = [
        {
            "record": one.drive.records[index].index,
            "session": one.drive.records[index].session_id,
            "driven": float(driven[index, 0]),
            "answered": float(row.said[index, 0]),
        }
        for index in list_worst(driven[:, 0], row.said[:, 0], WORST_COUNT, WORST_APART)
    ]
    doubts = row.found.list_doubts() if row.role == PILOT else []
    heading = {"name": row.name, "role": row.role, "file": row.file, "way": one.find_way(row)}
    return {**heading, **asdict(row.found), "doubts": doubts, "worst": worst}


def _format_drive(one: DriveJudgement) -> str:
    heads = "".join(f"<th>{head}</th>" for head in HEADS)
    rows = "".join(_format_row(one, row) for row in one.rows)
    pilots = [row for row in one.rows if row.role == PILOT]
    doubts = [f"{row.name}: {doubt}" for row in pilots for doubt in row.found.list_doubts()]
    notes = "".join(f"<li>{escape(note)}</li>" for note in (*one.notes, *doubts))
    legend = "".join(f' <i style="background:{colour}"></i> {escape(row.name)}' for colour, row in _list_lines(one))
    records = f"{format_count(len(one.drive.records), 'record')}, pictures of {one.drive.size}"
    worst = "".join(_format_worst(one, row) for row in pilots)
    return (
        f"<section><h2>{escape(str(one.drive.path))}</h2><p>{records}</p>"
        f'<div class="scroll"><table><thead><tr><th></th>{heads}</tr></thead><tbody>{rows}</tbody></table></div>'
        f"{f'<ul>{notes}</ul>' if notes else ''}<figure>{draw_bins(one)}<figcaption>Answer by what the driver steered, "
        f"means; the dashed line is the driver.{legend}</figcaption></figure>{worst}</section>"
    )


def _format_row(one: DriveJudgement, row: JudgedPilot) -> str:
    name = escape(row.name) if row.role == PILOT else f"<i>{escape(row.name)}</i>"
    return f"<tr><th>{name}</th>{''.join(f'<td>{cell}</td>' for cell in one.list_cells(row))}</tr>"


def _list_lines(one: DriveJudgement) -> list[tuple[str, JudgedPilot]]:
    """Return the rows that are drawn, each with its colour."""
    rows = [row for row in one.rows if row.role != FLOOR]
    return [(COLOURS[number % len(COLOURS)], row) for number, row in enumerate(rows)]


def draw_bins(one: DriveJudgement) -> str:
    """Return a chart of the mean answer by the driver's steering, a line for each pilot."""
    across, up = PLOT.make_across(-1.0, 1.0), PLOT.make_up(-1.0, 1.0)
    ticks = (-1.0, -0.6, -0.3, 0.0, 0.3, 0.6, 1.0)
    parts = [
        PLOT.open("plot", "mean answer by the driver's steering"),
        PLOT.draw_axes(across, [(tick, f"{tick:g}") for tick in ticks], up, (-1.0, -0.5, 0.0, 0.5, 1.0)),
        f'<path class="driver" d="{join_pixels([(across.find(-1), up.find(-1)), (across.find(1), up.find(1))])}"/>',
        write("tick", PLOT.left + 6, PLOT.top + 12, "answer, + = right"),
    ]
    for colour, row in _list_lines(one):
        bins = [part for part in row.found.bins if part.count]
        points = [(across.find(part.driven or 0.0), up.find(part.answered or 0.0)) for part in bins]
        parts.append(f'<path class="curve" style="stroke:{colour}" d="{join_pixels(points)}"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
    return "".join(parts) + "</svg>"


def _format_worst(one: DriveJudgement, row: JudgedPilot) -> str:
    """Return the pictures at which a pilot is most wrong."""
    chosen = list_worst(one.drive.driven[:, 0], row.said[:, 0], WORST_COUNT, WORST_APART)
    pictures = "".join(
        _format_picture(one.drive, index, float(one.drive.driven[index, 0]), float(row.said[index, 0]))
        for index in chosen
    )
    return f'<h3>Where {escape(row.name)} is most wrong</h3><div class="pictures">{pictures}</div>'


def _format_picture(drive: JudgedDrive, index: int, driven: float, said: float) -> str:
    record = drive.records[index]
    picture = spread_grey(record.load_image())
    height, width = picture.shape[:2]
    file = base64.b64encode(encode_jpeg(picture, 85)).decode()
    lines = "".join(
        f'<path class="{kind}" stroke-width="{0.02 * height:.1f}" d="{_draw_line(width, height, angle)}"/>'
        for kind, angle in (("driven", driven), ("said", said))
    )
    return (
        f'<figure><svg viewBox="0 0 {width} {height}" role="img" aria-label="record {record.index}">'
        f'<image href="data:image/jpeg;base64,{file}" width="{width}" height="{height}"/>{lines}</svg>'
        f"<figcaption>record {record.index}: driver {driven:+.2f}, pilot {said:+.2f}</figcaption></figure>"
    )


def _draw_line(width: int, height: int, angle: float) -> str:
    """Return a line from the bottom's middle to where somebody steers."""
    turn = min(max(angle, -1.0), 1.0) * FULL_LOCK
    tip = width / 2 + 0.5 * height * math.sin(turn), height - 0.5 * height * math.cos(turn)
    return join_pixels([(width / 2, float(height)), tip])
