"""`donkey evaluate` with several pilots or starts: drives the matrix, prints it, writes it."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from donkeysim.cli.console import console, make_table, show_progress
from donkeysim.core.errors import SpecError
from donkeysim.core.files import check_place, choose_free, write_whole

if TYPE_CHECKING:
    from donkeysim.cluster.executor import Executor
    from donkeysim.cluster.matrix import Cells, EvaluationSpec, Interval
    from donkeysim.learn.evaluate import Conditions

T = TypeVar("T")

MATRIX_NAME = "evaluation.json"


def add_matrix_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe what makes an evaluation a matrix."""
    add = parser.add_argument
    add("--seeds", type=int, metavar="N", help="drive from N starts, seeds from 0, and give confidence intervals")
    add("--workers", type=int, metavar="N", help="drive on N processes (extra cluster)")
    add("--address", metavar="ADDRESS", help="drive on a Ray cluster: auto, or ray://HOST:10001")
    add("--stress", action="store_true", help="drive under bad light, late pictures and more, at growing strengths")


def is_matrix(arguments: argparse.Namespace) -> bool:
    """Return whether a matrix is asked for."""
    chosen = (arguments.seeds, arguments.workers, arguments.address)
    return len(arguments.model or ()) > 1 or any(value is not None for value in chosen)


def find_laps(arguments: argparse.Namespace, default: int = 3) -> int:
    """Return how many laps each drive has."""
    return default if arguments.laps is None else int(arguments.laps)


def check_start(arguments: argparse.Namespace) -> None:
    """Check what only one pilot's drive takes.

    Raises:
        SpecError: A seed is given, but the starts have seeds of their own.
    """
    if arguments.seed is not None and (arguments.stress or is_matrix(arguments)):
        raise SpecError(
            f"--seed {arguments.seed} is where a single pilot starts, but --seeds, --stress, --workers, --address and "
            "several pilots have starts of their own; leave it out."
        )


def choose_out(arguments: argparse.Namespace, default: str, what: str) -> Path:
    """Return the file to write into, of the same kind as the default, before anything takes time.

    Without a wish nothing is replaced: a number is added to the default's name. A wish may replace a file (logged).

    Raises:
        SpecError: Another kind is asked for, or nothing can be written there.
    """
    ending = Path(default).suffix
    out = default if arguments.out is None else arguments.out
    if Path(out).suffix.lower() != ending:
        raise SpecError(f"--out {out} is not valid here, {what}; give a name that ends in {ending}.")
    path = Path(out).expanduser()
    if path.is_dir() or not path.parent.is_dir():
        raise SpecError(f"{path} cannot be written; give another file with --out, in a folder that is there.")
    check_place(path, SpecError)
    if arguments.out is None:
        return choose_free(path, "_")
    if path.exists():
        console.print(f"{path} will be replaced.", soft_wrap=True)
    return path


def check_pilots(arguments: argparse.Namespace, models: list[Path], conditions: Conditions) -> tuple[str, ...]:
    """Return the full names of pilots' files; which cannot be read or drive is said before anybody drives."""
    from donkeysim.cluster.matrix import load_once
    from donkeysim.learn.pilot import try_pilot

    names = tuple(str(model.resolve()) for model in models)
    for name, model in zip(names, models, strict=True):
        try_pilot(load_once(name, arguments.type or "", conditions.throttle_range), model)
    return names


def choose_executor(arguments: argparse.Namespace) -> Executor:
    """Return who drives: this process alone, unless workers or a cluster are asked for."""
    from donkeysim.cluster.executor import Executor

    alone = arguments.workers is None and arguments.address is None
    return Executor(0 if alone else arguments.workers, arguments.address)


def gather(drives: Iterator[T], count: int) -> tuple[list[T], bool]:
    """Return drives while a bar shows how many of `count` are done, and whether Ctrl-C ended them; those done count."""
    found: list[T] = []
    with show_progress("driving") as report:
        try:
            for drive in drives:
                found.append(drive)
                report(len(found), count)
        except KeyboardInterrupt:
            if not found:
                raise
            console.print(f"Stopped by Ctrl-C after {len(found)} of {count} drives, which are reported.")
            return found, True
    return found, False


def run_matrix(arguments: argparse.Namespace, models: list[Path], tracks: list[str], conditions: Conditions) -> int:
    """Drive, print, write; return 0 if every drive was clean."""
    from donkeysim.cluster.matrix import MatrixSpec, drive_matrix, sum_up

    out = choose_out(arguments, MATRIX_NAME, "where all drives are written as JSON")
    names = check_pilots(arguments, models, conditions)
    seeds = 1 if arguments.seeds is None else arguments.seeds
    spec = MatrixSpec(names, tuple(tracks), seeds, find_laps(arguments), arguments.type or "")
    cells, was_interrupted = gather(drive_matrix(spec, conditions, choose_executor(arguments)), len(spec.drives))
    found = sum_up(spec, cells)
    print_matrix(found)
    cells.sort(key=lambda cell: cell.number)
    write_drives(out, spec, conditions.conf.experiment.describe_car(), pairs=found, drives=cells)
    console.print(f"all drives: {out}", soft_wrap=True)
    return 130 if was_interrupted else 0 if all(row.passed == row.count for row in found) else 1


def print_matrix(rows: list[Cells]) -> None:
    """Print a row for each pilot on each track."""
    from donkeysim.learn.database import name_pilots

    names = name_pilots(row.model for row in rows)
    headings = ("pilot", "track", "clean", "share", "lap [s]", "|cte| [cm]", "m/s")
    table = make_table("clean drives, and means with their 95 % intervals", headings, left=("pilot", "track"))
    for row in rows:
        table.add_row(
            names[row.model],
            row.track,
            f"{row.passed} of {row.count}",
            f"{100.0 * row.share.low:.0f} to {100.0 * row.share.high:.0f} %",
            format_interval(row.lap_time, 1.0),
            format_interval(row.cte, 100.0),
            format_interval(row.speed, 1.0),
        )
    console.print(table)


def format_interval(interval: Interval, factor: float) -> str:
    """Return a mean and half the width of its interval."""
    if math.isnan(interval.mean):
        return ""
    half = 0.5 * (interval.high - interval.low)
    return f"{factor * interval.mean:.2f}" + ("" if math.isnan(half) else f" ± {factor * half:.2f}")


def write_drives(path: Path, spec: EvaluationSpec, car: str, **tables: Sequence[Any]) -> None:
    """Write everything as JSON, each table as a list of dataclasses; what is no number is null.

    Raises:
        DonkeySimError: It cannot be written.
    """
    import msgspec

    whole = {"format": 1, **asdict(spec), "car": car, **{name: list(rows) for name, rows in tables.items()}}
    write_whole(path, json.dumps(json.loads(msgspec.json.encode(whole)), indent=1).encode() + b"\n")
