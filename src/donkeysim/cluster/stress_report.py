"""The report of a stress test: one HTML file that needs nothing else, what pilots had to cope with and how they did."""

from __future__ import annotations

import time
from html import escape
from pathlib import Path
from string import Template

from donkeysim import __version__
from donkeysim.cluster.stress import NONE, StressCell, StressSpec
from donkeysim.core.errors import format_count
from donkeysim.learn.pilot_names import name_pilots

_TEMPLATE = Path(__file__).with_name("stress_report.html")


def format_report(spec: StressSpec, cells: list[StressCell], car: str) -> str:
    """Return the report as HTML; `car`: that all drove, in words."""
    tracks = ", ".join(Path(track).stem for track in spec.tracks)
    laps, drives = format_count(spec.laps, "lap"), format_count(spec.seeds, "drive")
    told = (
        f"How far a car gets, from wherever its drive begins, before it first leaves the road, hits something or "
        f"gives up, as a share of the length of {laps}: on {tracks}, {drives} at each strength, the same for all "
        f"pilots, of the car {car}."
    )
    names = name_pilots(spec.models)
    return Template(_TEMPLATE.read_text(encoding="utf-8")).substitute(
        told=escape(told),
        heads="".join(f"<th>{escape(names[model])}</th>" for model in spec.models),
        rows="".join(_format_row(column, [cell for cell in cells if cell.column == column]) for column in spec.columns),
        version=__version__,
        written=time.strftime("%Y-%m-%d %H:%M"),
    )


def _format_row(column: str, cells: list[StressCell]) -> str:
    best = max(map(_rank, cells))
    name = "nothing" if column == NONE else column
    return f"<tr><th>{name}</th>{''.join(_format_cell(cell, _rank(cell) == best) for cell in cells)}</tr>"


def _rank(cell: StressCell) -> tuple[float, float]:
    """Return what a cell is judged by: whole per cents of the way, then how near to the path."""
    return round(cell.score.mean, 2), -cell.cte.mean


def _format_cell(cell: StressCell, is_best: bool) -> str:
    score = cell.score
    bars = "".join(
        f'<i title="{100 * mean:.0f} %"><span style="height:{100 * mean:.0f}%"></span></i>' for mean in cell.by_strength
    )
    return (
        f"<td{' class=best' if is_best else ''}><b>{100 * score.mean:.0f} %</b>"
        f"<small>{100 * score.low:.0f} to {100 * score.high:.0f} %</small>"
        f'<div class="bars">{bars}</div><small>|cte| {100 * cell.cte.mean:.1f} cm</small></td>'
    )
