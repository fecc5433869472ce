"""A race's result on the terminal, and `donkey race export`: as files for other programs and for people."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from donkeysim.cli.console import console, make_table, show_progress
from donkeysim.cli.shared_options import add_tracks_argument
from donkeysim.core.errors import SpecError
from donkeysim.core.files import choose_free

if TYPE_CHECKING:
    from donkeysim.racing.export.walk import Export
    from donkeysim.racing.run.race_file import Report

BESIDE = ""
"""Instead of a path: beside the race file."""

KINDS = {
    "mcap": "for Foxglove: poses, telemetry, standing, incidents, journal",
    "parquet": "a table for pandas and its like: a row for each car and frame",
    "html": "a report for people: results, charts, map, incidents",
}

# A screen.
INCIDENTS_SHOWN = 20
"""On the terminal; all are in the result's file."""


def add_export_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe what can be exported."""
    parser.set_defaults(work=export)
    parser.add_argument("file", metavar="RACE", help="the race file (.dlog)")
    for kind, summary in KINDS.items():
        parser.add_argument(f"--{kind}", nargs="?", const=BESIDE, metavar="FILE", help=summary)
    pictures = "put the pictures of this car's camera into the MCAP file; may be repeated"
    parser.add_argument("--camera", action="append", default=[], metavar="CAR", help=pictures)
    add_tracks_argument(parser)


def export(arguments: argparse.Namespace) -> int:
    """Export a race; exit code 1 if its file does not hold."""
    from donkeysim.racing.export.walk import export_race

    path = Path(arguments.file).expanduser()
    exports = make_exports(path, arguments)
    with show_progress("replaying") as report:
        verdict = export_race(path, exports, report)
    for made in exports:
        console.print(f"saved {made.path}", soft_wrap=True)
    for complaint in verdict.list_complaints():
        console.print(f"but {complaint}", style="red", soft_wrap=True)
    return 0 if verdict.is_confirmed else 1


def make_exports(path: Path, arguments: argparse.Namespace) -> list[Export]:
    """Return what was asked for.

    Raises:
        SpecError: Nothing was, or a camera without an MCAP file.
        DonkeySimError: A package is missing.
    """
    wanted = {kind: getattr(arguments, kind) for kind in KINDS if getattr(arguments, kind) is not None}
    if not wanted:
        raise SpecError("nothing is to be exported; give --mcap, --parquet or --html, each with a file if you like.")
    if arguments.camera and "mcap" not in wanted:
        raise SpecError("--camera puts pictures into an MCAP file; give --mcap, too.")
    exports: list[Export] = []
    for kind, given in wanted.items():
        file = choose_free(path.with_suffix(f".{kind}") if given == BESIDE else Path(given).expanduser())
        if kind == "mcap":
            from donkeysim.racing.export.mcap_file import McapExport

            exports.append(McapExport(file, arguments.camera))
        elif kind == "parquet":
            from donkeysim.racing.export.parquet_file import ParquetExport

            exports.append(ParquetExport(file))
        else:
            from donkeysim.racing.export.report_page import ReportExport

            exports.append(ReportExport(file))
    return exports


def show_result(report: Report) -> None:
    """Print a race's classification."""
    from donkeysim.racing.rules.describe import describe_end

    result = report.result
    again = f", attempt {result.attempt}" if result.attempt > 1 else ""
    headings = ("", "name", "laps", "time", "penalty", "best lap", "")
    table = make_table(f"{result.rules}, {result.track}{again}", headings, left=("name",))
    for placing in result.placings:
        why = describe_end(placing.status, placing.why)
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
