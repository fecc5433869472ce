"""The figures of an evaluation's report as SVG: the track from above coloured by cte, and curves along the lap."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from html import escape

import numpy as np

from donkeysim.core.types import BoolArray, FloatArray
from donkeysim.learn.evaluate import Event, Run
from donkeysim.watch.watchable import draw_outline

COLOURS = ("#1f5fbf", "#4f86d9", "#86aeea", "#b9cdea", "#9fd3a6", "#f3cf9f", "#f0a35e", "#e2742d", "#b84a0c")
"""Of cte, from far left over the path to far right."""

MAP_MARGIN = 0.6
"""Around the road [m]."""

PLOT_WIDTH, PLOT_HEIGHT = 900, 170
"""Of a plot's area [pixel]."""

PLOT_LEFT, PLOT_RIGHT, PLOT_TOP, PLOT_BOTTOM = 46, 12, 12, 26
"""Room for a plot's axes [pixel]."""


def find_cte_scale(run: Run) -> float:
    """Return the cte at which the colours end [m]: just above the greatest, within the road's narrower side."""
    path = run.scene.path
    rounded = 0.05 * np.ceil(run.cte_most / 0.05)
    return float(min(max(0.1, rounded), path.width_left.min(), path.width_right.min()))


def draw_map(run: Run) -> str:
    """Return the track from above with all laps, coloured by cte; world x to the right, y up."""
    outline = draw_outline(run.scene)
    edges = np.concatenate([outline.left, outline.right])
    low, high = edges.min(axis=0) - MAP_MARGIN, edges.max(axis=0) + MAP_MARGIN
    width, height = (high - low).tolist()
    parts = [
        f'<svg class="map" viewBox="{low[0]:.2f} {-high[1]:.2f} {width:.2f} {height:.2f}" role="img" '
        f'aria-label="{escape(run.scene.name)} from above, the driven line coloured by its distance from the path">',
        f'<path class="road" fill-rule="evenodd" d="{_format_ring(outline.left)}{_format_ring(outline.right)}"/>',
        f'<path class="middle" d="{_format_ring(outline.path)}"/>',
    ]
    parts.extend(f'<path class="start" d="{_format_line(line)}"/>' for line in outline.start_line)
    parts.extend(_draw_trace(run))
    parts.extend(_mark(event, "departure", f"left the road to the {event.name}") for event in run.departures)
    parts.extend(_mark(event, "hit", f"hit {event.name}") for event in run.hits)
    return "".join([*parts, '<circle class="here" r="0.11" cx="0" cy="0" visibility="hidden"/></svg>'])


def _draw_trace(run: Run) -> Iterator[str]:
    """Yield the driven line in pieces of one colour and one lap each."""
    place = np.column_stack([run.column("x"), run.column("y")])
    colour = find_colours(run.column("cte"), find_cte_scale(run))
    lap = run.column("lap").astype(int)
    for begin, end in _find_pieces((np.diff(colour) != 0) | (np.diff(lap) != 0)):
        piece = place[begin : end + 1]
        yield f'<path class="lap lap-{lap[begin]} c{colour[begin]}" d="{_format_line(piece)}"/>'


def _find_pieces(is_broken: BoolArray) -> Iterator[tuple[int, int]]:
    """Return begin and end of each piece of a line that is broken behind the points told, shape [point_count - 1]."""
    return itertools.pairwise([0, *(np.flatnonzero(is_broken) + 1).tolist(), len(is_broken) + 1])


def find_colours(cte: FloatArray, scale: float) -> list[int]:
    """Return the index in `COLOURS` of each cte [m], shape [count]."""
    share = np.clip(-cte / scale, -1.0, 1.0)
    index: list[int] = np.clip((0.5 + 0.5 * share) * len(COLOURS), 0, len(COLOURS) - 1).astype(int).tolist()
    return index


def draw_curves(run: Run, name: str, label: str, low: float, high: float, ticks: Sequence[float]) -> str:
    """Return a plot of one column of the trace along the lap, a curve for each lap.

    Args:
        run: What was driven.
        name: Of the column.
        label: Of the y axis, with its unit.
        low: Lower end of the y axis.
        high: Upper end.
        ticks: Values with a line.
    """
    length = run.scene.path.frame.length
    full_width = PLOT_LEFT + PLOT_WIDTH + PLOT_RIGHT
    full_height = PLOT_TOP + PLOT_HEIGHT + PLOT_BOTTOM
    parts = [
        f'<svg class="plot" viewBox="0 0 {full_width} {full_height}" role="img" '
        f'aria-label="{escape(label)} along the lap, a curve for each lap">',
        f'<text class="label" x="{PLOT_LEFT + 6}" y="{PLOT_TOP + 12}">{escape(label)}</text>',
    ]
    for tick in ticks:
        y = PLOT_TOP + PLOT_HEIGHT * (high - tick) / (high - low)
        parts.append(f'<path class="grid" d="M{PLOT_LEFT} {y:.1f}h{PLOT_WIDTH}"/>')
        parts.append(f'<text class="tick" x="{PLOT_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>')
    for metre in np.arange(0.0, length, 5.0).tolist():
        x = PLOT_LEFT + PLOT_WIDTH * metre / length
        bottom = PLOT_TOP + PLOT_HEIGHT
        parts.append(f'<path class="grid" d="M{x:.1f} {bottom}v5"/>')
        parts.append(f'<text class="tick" x="{x:.1f}" y="{bottom + 20}" text-anchor="middle">{metre:g} m</text>')
    column = PLOT_LEFT + PLOT_WIDTH * run.column("along") / length
    value = np.clip(run.column(name), low, high)
    row = PLOT_TOP + PLOT_HEIGHT * (high - value) / (high - low)
    parts.extend(_draw_laps(run, np.column_stack([column, row])))
    cursor = f'<path class="cursor" d="M0 {PLOT_TOP}v{PLOT_HEIGHT}" visibility="hidden"/>'
    return "".join([*parts, cursor, "</svg>"])


def _draw_laps(run: Run, point: FloatArray) -> Iterator[str]:
    """Yield curves, broken where a lap ends or the place along the path jumps back."""
    lap = run.column("lap").astype(int)
    for begin, end in _find_pieces((np.diff(lap) != 0) | (np.abs(np.diff(point[:, 0])) > 0.2 * PLOT_WIDTH)):
        d = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in point[begin:end].tolist())
        yield f'<path class="curve lap lap-{lap[begin]}" d="{d}"/>'


def _mark(event: Event, kind: str, text: str) -> str:
    title = escape(f"{text} after {event.time:.1f} s, in lap {event.lap}")
    return (
        f'<g class="{kind}" transform="translate({event.x:.3f} {-event.y:.3f})"><title>{title}</title>'
        '<circle r="0.14"/><path d="M-0.07 -0.07L0.07 0.07M-0.07 0.07L0.07 -0.07"/></g>'
    )


def _format_line(points: FloatArray) -> str:
    return "M" + "L".join(f"{x:.3f} {-y:.3f}" for x, y in points.tolist())


def _format_ring(points: FloatArray) -> str:
    return _format_line(points) + "Z"
