"""The figures of an evaluation's report as SVG: the track from above coloured by cte, and curves along the lap."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from html import escape

import numpy as np

from donkeysim.core.chart import Area, join_pixels, join_places, open_map
from donkeysim.core.types import BoolArray, FloatArray
from donkeysim.learn.evaluate import PilotRun, RunEvent
from donkeysim.watch.watchable import draw_outline

COLOURS = ("#1f5fbf", "#4f86d9", "#86aeea", "#b9cdea", "#9fd3a6", "#f3cf9f", "#f0a35e", "#e2742d", "#b84a0c")
"""Of cte, from far left over the path to far right."""

MAP_MARGIN = 0.6
"""Around the road [m]."""

PLOT = Area(width=900, height=170, left=46, top=12, right=12, bottom=26)


def find_cte_scale(run: PilotRun) -> float:
    """Return the cte at which the colours end [m]: just above the greatest, within the road's narrower side."""
    path = run.scene.path
    rounded = 0.05 * np.ceil(run.cte_most / 0.05)
    return float(min(max(0.1, rounded), path.width_left.min(), path.width_right.min()))


def draw_map(run: PilotRun) -> str:
    """Return the track from above with all laps, coloured by cte; world x to the right, y up."""
    outline = draw_outline(run.scene)
    label = f"{run.scene.name} from above, the driven line coloured by its distance from the path"
    parts = [open_map(outline.left, outline.right, MAP_MARGIN, label).svg]
    parts.append(f'<path class="middle" d="{join_places(outline.path)}Z"/>')
    parts.extend(f'<path class="start" d="{join_places(line)}"/>' for line in outline.start_line)
    parts.extend(_draw_trace(run))
    parts.extend(_mark(event, "departure", f"left the road to the {event.name}") for event in run.departures)
    parts.extend(_mark(event, "hit", f"hit {event.name}") for event in run.hits)
    return "".join([*parts, '<circle class="here" r="0.11" cx="0" cy="0" visibility="hidden"/></svg>'])


def _draw_trace(run: PilotRun) -> Iterator[str]:
    """Yield the driven line in pieces of one colour and one lap each."""
    place = np.column_stack([run.column("x"), run.column("y")])
    colour = find_colours(run.column("cte"), find_cte_scale(run))
    lap = run.column("lap").astype(int)
    for begin, end in _find_pieces((np.diff(colour) != 0) | (np.diff(lap) != 0)):
        piece = place[begin : end + 1]
        yield f'<path class="lap lap-{lap[begin]} c{colour[begin]}" d="{join_places(piece)}"/>'


def _find_pieces(is_broken: BoolArray) -> Iterator[tuple[int, int]]:
    """Return begin and end of each piece of a line that is broken behind the given points, shape [point_count - 1]."""
    return itertools.pairwise([0, *(np.flatnonzero(is_broken) + 1).tolist(), len(is_broken) + 1])


def find_colours(cte: FloatArray, scale: float) -> list[int]:
    """Return the index in `COLOURS` of each cte [m], shape [count]."""
    share = np.clip(-cte / scale, -1.0, 1.0)
    index: list[int] = np.clip((0.5 + 0.5 * share) * len(COLOURS), 0, len(COLOURS) - 1).astype(int).tolist()
    return index


def draw_curves(run: PilotRun, name: str, label: str, low: float, high: float, ticks: Sequence[float]) -> str:
    """Return a plot of one column of the trace along the lap, a curve for each lap.

    Args:
        label: Of the y axis, with its unit.
        low: Lower end of the y axis.
        ticks: Values with a line.
    """
    length = run.scene.path.frame.length
    across, up = PLOT.make_across(0.0, length), PLOT.make_up(low, high)
    metres = [(metre, f"{metre:g} m") for metre in np.arange(0.0, length, 5.0).tolist()]
    parts = [
        PLOT.open("plot", f"{label} along the lap, a curve for each lap"),
        f'<text class="label" x="{PLOT.left + 6}" y="{PLOT.top + 12}">{escape(label)}</text>',
        PLOT.draw_axes(across, metres, up, ticks),
    ]
    column = [across.find(value) for value in run.column("along")]
    row = [up.find(value) for value in run.column(name)]
    parts.extend(_draw_laps(run, np.column_stack([column, row])))
    cursor = f'<path class="cursor" d="M0 {PLOT.top}v{PLOT.height}" visibility="hidden"/>'
    return "".join([*parts, cursor, "</svg>"])


def _draw_laps(run: PilotRun, point: FloatArray) -> Iterator[str]:
    """Yield curves, broken where a lap ends or the place along the path jumps back."""
    lap = run.column("lap").astype(int)
    for begin, end in _find_pieces((np.diff(lap) != 0) | (np.abs(np.diff(point[:, 0])) > 0.2 * PLOT.width)):
        yield f'<path class="curve lap lap-{lap[begin]}" d="{join_pixels(point[begin:end])}"/>'


def _mark(event: RunEvent, kind: str, text: str) -> str:
    title = escape(f"{text} after {event.time:.1f} s, in lap {event.lap}")
    return (
        f'<g class="{kind}" transform="translate({event.x:.3f} {-event.y:.3f})"><title>{title}</title>'
        '<circle r="0.14"/><path d="M-0.07 -0.07L0.07 0.07M-0.07 0.07L0.07 -0.07"/></g>'
    )
