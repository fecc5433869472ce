"""A league of twenty pilots: its two races, verified and exported; seconds of a processor's time."""

import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.measure import Figure
from donkeysim.core.errors import format_count
from donkeysim.learn.pilot import BUILT_IN_PILOT, load_pilot
from donkeysim.racing.export.mcap_file import McapExport
from donkeysim.racing.export.parquet_file import ParquetExport
from donkeysim.racing.export.report_page import ReportExport
from donkeysim.racing.export.walk import Export, export_race
from donkeysim.racing.rules.rule_book import load_rule_book
from donkeysim.racing.rules.standings import count_points
from donkeysim.racing.run.race_file import RacePlan
from donkeysim.racing.run.race_run import PilotRace
from donkeysim.racing.run.racer import DriverRacer, PilotRacer, Racer
from donkeysim.racing.run.tournament import read_league, report_race
from donkeysim.racing.run.verify import verify_race

PILOTS, DRIVERS = 12, ("fast", "steady", "human", "fast", "steady", "human", "fast", "human")
"""So many pilots from files, and drivers who know the track."""

EVENINGS = ("time_trial", "original")
"""Rule books: each alone for three laps; then 100 s of qualifying and 120 s of race, all together."""

MOST = 60.0
"""A league of twenty shall take no more than a minute."""


def run() -> list[Figure]:
    """Hold both evenings, verify the second one, and export it."""
    figures = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for rules in EVENINGS:
            seconds, raced = _race(rules, folder)
            note = f"{raced:.0f} s of racing"
            figures.append(Figure("races", f"twenty pilots, {rules}", seconds, seconds, "s", None, note))
        both = sum(figure.value for figure in figures)
        drivers = len(count_points(read_league(folder)))
        note = format_count(drivers, "driver")
        figures.append(Figure("races", "the league of twenty pilots", both, both, "s", None, note, MOST))
        path = folder / EVENINGS[-1] / "race.dlog"
        seconds = _measure(lambda: verify_race(path))
        figures.append(Figure("races", f"verifying {EVENINGS[-1]}", seconds, seconds, "s"))
        exports: tuple[Export, ...] = (
            ReportExport(folder / "race.html"),
            McapExport(folder / "race.mcap"),
            ParquetExport(folder / "race.parquet"),
        )
        for export in exports:
            seconds = _measure(lambda export=export: export_race(path, [export]))  # type: ignore[misc]
            size = f"{export.path.stat().st_size / 1e6:.1f} MB"
            figures.append(Figure("races", f"the same as {export.path.suffix}", seconds, seconds, "s", None, size))
    return figures


def _measure(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def _race(rules: str, folder: Path) -> tuple[float, float]:
    """Race by a rule book; return the processor's time and what was simulated [s]."""
    racers: dict[str, Racer] = {f"driver {number}": DriverRacer(name) for number, name in enumerate(DRIVERS, start=1)}
    for number in range(1, PILOTS + 1):
        file = folder / f"pilot-{number}.onnx"
        shutil.copy2(BUILT_IN_PILOT, file)
        pilot = load_pilot(file)
        racers[file.stem] = PilotRacer(pilot, pilot.image_shape)
    book = load_rule_book(rules)
    plan = RacePlan("generated_track", rules, book, tuple(racers))
    race = PilotRace(plan, list(racers.values()), folder / rules / "race.dlog")
    begin = time.process_time()
    record = race.run()
    seconds = time.process_time() - begin
    report_race(record)
    return seconds, record.time
