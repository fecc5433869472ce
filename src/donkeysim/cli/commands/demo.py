"""Sample, train, evaluate: an expert drives, a pilot learns from it and drives, and a report shows how well.

The folder it makes is a car folder like that of `donkey createcar`, with the tub in data, the pilot in models and the
report in report.html. The exit code is 1 if the pilot left the road, hit something, or did not finish its laps; after a
demo that failed or was stopped, the next one in its folder starts over.

For example: donkey demo, or donkey demo --quick, which takes half a minute.
"""

from __future__ import annotations

import argparse
import itertools
import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from donkeysim.cli.commands.evaluate import read_conditions, report_evaluation, show_evaluation
from donkeysim.cli.commands.train import show_training
from donkeysim.cli.console import console, show_progress

if TYPE_CHECKING:
    from donkeysim.car.config import Config
    from donkeysim.learn.evaluate import Evaluation


class _Plan(NamedTuple):
    """How much is done."""

    record_count: int
    lap_count: int


_FULL, _QUICK = _Plan(10_000, 10), _Plan(1_200, 3)
"""A minute of driving is enough to see a car that laps."""


_MARK = ".unfinished-demo"
"""File with the process's number in the folder of a demo that has not ended well: the next one begins anew there."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's options."""
    parser.add_argument("--records", type=int, help="records to learn from (default 10000, with --quick 1200)")
    parser.add_argument("--out", default="demo", metavar="DIR", help="new folder for everything (default demo)")
    parser.add_argument("--quick", action="store_true", help="fewer records, and 3 laps instead of 10")


def run(arguments: argparse.Namespace) -> int:
    """Do the three stages, and end with what came of them."""
    from donkeysim.car.config import make_default_config
    from donkeysim.learn.backend import import_keras

    plan = _QUICK if arguments.quick else _FULL
    folder = Path(arguments.out).expanduser().absolute()
    import_keras()  # before anything is driven: it may be missing
    _make_folder(folder)
    config = make_default_config(folder, {"PRINT_MODEL_SUMMARY": False})
    marks = [time.perf_counter()]
    _sample(config, plan.record_count if arguments.records is None else arguments.records)
    marks.append(time.perf_counter())
    pilot = folder / "models" / "mypilot.h5"
    if not _train(config, pilot):
        console.print("Stopped by Ctrl-C; the best pilot so far is kept until the next demo here, but has not driven.")
        return 130
    marks.append(time.perf_counter())
    report = folder / "report.html"
    evaluation = _evaluate(config, pilot, plan.lap_count, report)
    marks.append(time.perf_counter())
    _tell(evaluation, marks, report)
    if not evaluation.is_passed:
        return 1
    (folder / _MARK).unlink(missing_ok=True)
    return 0


def _make_folder(folder: Path) -> None:
    """Make the car folder, or empty that of a demo that did not end well.

    Raises:
        SpecError: There is something else in it already, or it cannot be made.
    """
    from donkeysim.car.folder import create_car
    from donkeysim.core.errors import SpecError
    from donkeysim.core.files import write_whole

    mark = folder / _MARK
    if mark.is_file():
        _take_over(mark)
    elif folder.is_dir() and any(folder.iterdir()):
        raise SpecError(f"{folder} is not empty; the demo begins anew: remove it, or choose another --out.")
    if not folder.is_file():  # else create_car says what is in the way
        write_whole(mark, str(os.getpid()).encode(), SpecError)
    create_car(folder, say=lambda _: None)


def _take_over(mark: Path) -> None:
    """Remove what an earlier demo has recorded and trained, unless it is still at it."""
    from donkeysim.core.errors import SpecError

    folder = mark.parent
    if _is_at_work(mark):
        raise SpecError(
            f"a demo is running in {folder} (process {mark.read_text('utf-8')}); wait for it, or choose another --out."
        )
    console.print(f"The demo in {folder} did not end well; beginning anew there.", soft_wrap=True)
    for name in ("data", "models"):
        shutil.rmtree(folder / name, ignore_errors=True)


def _is_at_work(mark: Path) -> bool:
    """Return whether the process that wrote a mark still runs, and not a later one of the same number."""
    import psutil

    try:
        process = psutil.Process(int(mark.read_text("utf-8")))
        return process.pid != os.getpid() and bool(process.create_time() <= mark.stat().st_mtime)
    except (psutil.Error, ValueError):
        return False


def _sample(config: Config, record_count: int) -> None:
    from donkeysim.drive.sample import record_sample

    with show_progress("recording") as report:
        result = record_sample(config.DATA_PATH, record_count=record_count, config=config, report=report)
    console.print(f"Recorded {result.record_count:,} records of an expert, {result.speed_up:.0f} times real time")


def _train(config: Config, pilot: Path) -> bool:
    """Train, and return whether nobody stopped it."""
    from donkeysim.learn.train import train

    with show_training() as (report, on_epoch):
        result = train(config, config.DATA_PATH, pilot, comment="donkey demo", report=report, on_epoch=on_epoch)
    console.print(f"Best epoch {result.best_epoch}: validation loss {result.best_loss:.5f}")
    return not result.was_interrupted


def _evaluate(config: Config, pilot: Path, lap_count: int, report: Path) -> Evaluation:
    """Let the pilot drive, write the report, and return how it did."""
    from donkeysim.learn.evaluate import evaluate
    from donkeysim.learn.pilot import load_pilot

    conditions, scene = read_conditions(config)
    with show_progress("driving") as show:
        evaluation = evaluate(load_pilot(pilot, None, config), [scene], lap_count, conditions, report=show)
    show_evaluation(evaluation)
    report_evaluation(evaluation, pilot, report)
    return evaluation


def _tell(evaluation: Evaluation, marks: list[float], report: Path) -> None:
    """Print how it went and how long it took in a line, and where the report is."""
    from donkeysim.core.errors import format_count

    (run,) = evaluation.runs
    sampled, trained, driven = (end - begin for begin, end in itertools.pairwise(marks))
    total = round(marks[-1] - marks[0])
    console.print(
        f"{len(run.lap_times)} of {format_count(run.wanted_laps, 'lap')}, "
        f"on the road {100.0 * run.on_road_share:.1f} %, {format_count(len(run.hits), 'hit')}; "
        f"recording took {sampled:.0f} s, training {trained:.0f} s, driving {driven:.0f} s, "
        f"together {total // 60} min {total % 60} s",
        soft_wrap=True,
    )
    console.print(f"report: {report}", soft_wrap=True)
