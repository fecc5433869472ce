"""A race's result on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from donkeysim.cli.console import console

if TYPE_CHECKING:
    from donkeysim.racing.run.race_file import Report

INCIDENTS_SHOWN = 20
"""On the terminal; all are in the result's file."""


def show_result(report: Report) -> None:
    """Print a race's classification."""
    from rich.table import Table

    result = report.result
    again = f", attempt {result.attempt}" if result.attempt > 1 else ""
    table = Table(title=f"{result.rules}, {result.track}{again}")
    for heading in ("", "name", "laps", "time", "penalty", "best lap", ""):
        table.add_column(heading, justify="left" if heading == "name" else "right")
    for placing in result.placings:
        why = "" if placing.status == "finished" else ": ".join(filter(None, (placing.status, placing.why)))
        table.add_row(
            str(placing.place or ""),
            placing.name,
            str(placing.laps),
            _format_time(placing.time),
            f"{placing.penalty:g}" if placing.penalty else "",
            _format_time(placing.best_lap),
            why,
        )
    console.print(table)
    show_incidents(report)


def show_incidents(report: Report) -> None:
    """Print the first of the incidents that cost something; not those that were taken back."""
    from donkeysim.racing.rules.incident import ENGINEER
    from donkeysim.racing.rules.scoring import find_penalties

    texts = {line.text.partition(":")[0]: line.text for line in report.journal}
    penalties = report.race.book.penalty
    counted = [item for item in report.result.incidents if item.counts and item.number not in report.result.undone]
    costly = [item for item in counted if item.kind == ENGINEER or find_penalties(penalties, item.kind)]
    for incident in costly[:INCIDENTS_SHOWN]:
        console.print(f"{incident.time:8.2f} s  {texts[f'no. {incident.number}']}", soft_wrap=True)
    if len(costly) > INCIDENTS_SHOWN:
        console.print(f"... and {len(costly) - INCIDENTS_SHOWN} more in the result's file")


def _format_time(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:.3f}"
