"""`donkey evaluate --real`: pilots beside recorded drives; asks them, trains the ceiling, prints it, writes it."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from donkeysim.cli.console import Report, console, make_table, show_progress
from donkeysim.cli.evaluation_matrix import choose_out
from donkeysim.cli.shared_options import find_config, has_config
from donkeysim.core.errors import DonkeySimError, SpecError, format_count

if TYPE_CHECKING:
    from donkeysim.car.config import Config
    from donkeysim.core.types import FloatArray
    from donkeysim.learn.open_loop_report import DriveJudgement, JudgedPilot
    from donkeysim.learn.pilot import NetworkPilot
    from donkeysim.learn.real_drives import JudgedDrive
    from donkeysim.tub.reader import TubRecord

REPORT_NAME = "real.html"

MINUTES = 3.0
"""Training of the ceiling on each half, unless --ceiling says otherwise."""

# Two rows of 160x120.
NEAR_PROPORTION = 0.02
"""By how much width / height may differ without a word."""

_DRIVING = ("tracks", "look", "laps", "seed", "seeds", "workers", "address", "stress", "car", "camera")
"""Options of evaluations in the simulator."""


def add_real_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe what judges pilots by recorded drives."""
    add = parser.add_argument
    add(
        "--real",
        nargs="+",
        action="extend",
        metavar="TUB",
        help="compare with drives that were recorded, as by a real car; no laps",
    )
    add(
        "--ceiling",
        type=float,
        metavar="MINUTES",
        help="of --real: how long a pilot trains on each half of a drive, for comparison (default 3; 0: none)",
    )


def run_real(arguments: argparse.Namespace, models: Sequence[Path]) -> int:
    """Ask, print, write; there is nothing to pass, so the exit code is 0."""
    from donkeysim.core.files import write_whole
    from donkeysim.learn.open_loop_report import format_json, format_report
    from donkeysim.learn.pilot import load_pilot
    from donkeysim.learn.real_drives import read_drive
    from donkeysim.tub.folder import split_tubs

    minutes = _check_options(arguments)
    out = choose_out(arguments, REPORT_NAME, "where the report is a page with all figures in a .json beside it")
    config = find_config(arguments)
    pilots = {path: load_pilot(path, arguments.type, config) for path in models}
    judgements = []
    with tempfile.TemporaryDirectory(prefix="donkeysim-") as folder:
        paths = split_tubs(arguments.real)
        with show_progress("reading") as report:
            drives = []
            for number, path in enumerate(paths):
                drives.append(read_drive(path, Path(folder) / str(number)))
                report(number + 1, len(paths))
        for drive in drives:
            judgements.append(_judge(drive, pilots, config, minutes, has_config(arguments)))
            _print(judgements[-1])
        write_whole(out, format_report(judgements).encode())
        write_whole(out.with_suffix(".json"), format_json(judgements))
    console.print(f"report: {out}, all figures: {out.with_suffix('.json')}", soft_wrap=True)
    return 0


def _check_options(arguments: argparse.Namespace) -> float:
    """Return how many minutes the ceiling trains on each half.

    Raises:
        SpecError: That makes no sense, or an option is of evaluations in the simulator.
    """
    given = [name for name in _DRIVING if getattr(arguments, name) not in (None, "", False)]
    if given:
        raise SpecError(
            f"--{given[0]} is for driving in the simulator, but with --real nobody drives: pilots see recorded "
            "pictures; leave it out."
        )
    minutes = MINUTES if arguments.ceiling is None else float(arguments.ceiling)
    if not 0.0 <= minutes < float("inf"):
        raise SpecError(f"--ceiling {arguments.ceiling:g} is not valid; give the minutes for each half, 0 for none.")
    return minutes


def _judge(
    drive: JudgedDrive, pilots: dict[Path, NetworkPilot], config: Config, minutes: float, is_in_car: bool
) -> DriveJudgement:
    """Return what the pilots, the floor and the ceiling are worth on a drive."""
    import numpy as np

    from donkeysim.learn.database import name_pilots
    from donkeysim.learn.open_loop import judge_answers
    from donkeysim.learn.open_loop_report import CEILING, FLOOR, PILOT, DriveJudgement, JudgedPilot

    def judge(name: str, role: str, said: FloatArray, file: str = "") -> JudgedPilot:
        return JudgedPilot(name, role, said, judge_answers(drive.driven, said, drive.stretch), file)

    names, notes = name_pilots(map(str, pilots)), drive.list_notes()
    rows = [judge("mean of the drive", FLOOR, np.broadcast_to(drive.driven.mean(axis=0), drive.driven.shape))]
    for path, pilot in pilots.items():
        notes += _note_pictures(drive, pilot, names[str(path)], config)
        with show_progress(f"asking {names[str(path)]}") as report:
            said = _ask(pilot, drive.records, config, is_in_car, report)
        rows.append(judge(names[str(path)], PILOT, said, str(path)))
    if minutes:
        try:
            ceiling = judge("trained on the other half", CEILING, _find_ceiling(drive, config, minutes))
        except DonkeySimError as error:
            notes.append(f"No ceiling: {error}")
        else:
            rows.append(ceiling)
            notes += _note_ceiling(ceiling)
    return DriveJudgement(drive, rows, notes)


def _note_ceiling(ceiling: JudgedPilot) -> list[str]:
    """Return a sentence where a ceiling is too low to measure by."""
    from donkeysim.learn.open_loop import LEAST_FIT

    if ceiling.found.correlation >= LEAST_FIT:
        return []
    return [
        f"The ceiling is low (correlation {ceiling.found.correlation:.2f}): what one half of this drive shows says "
        "little about the other. Record several laps, so that each half has all of the road."
    ]


def _find_ceiling(drive: JudgedDrive, config: Config, minutes: float) -> FloatArray:
    from donkeysim.learn.pilot import load_pilot
    from donkeysim.learn.real_drives import find_ceiling

    def ask(path: Path, records: Sequence[TubRecord]) -> FloatArray:
        return _ask(load_pilot(path, config=config), records, config, True)

    with show_progress("training the ceiling [s]") as report:
        return find_ceiling(drive, config, minutes, ask, report)


def _ask(
    pilot: NetworkPilot,
    records: Sequence[TubRecord],
    config: Config,
    is_in_car: bool,
    report: Report = lambda _done, _total: None,
) -> FloatArray:
    """Return what a pilot answers to records, steering and throttle, shape [n, 2].

    Args:
        is_in_car: Pictures have the configuration's size and transformations; else the pilot's size, and none.
    """
    import numpy as np

    from donkeysim.car.config import Config
    from donkeysim.drive.replay import PilotReplay

    size: dict[str, Any] = {}
    if not is_in_car:
        height, width, depth = pilot.image_shape
        size = {"IMAGE_H": height, "IMAGE_W": width, "IMAGE_DEPTH": depth}
    replay = PilotReplay(pilot, Config({**config.to_dict(), **size}))
    said = np.zeros((len(records), 2))
    for number, record in enumerate(records):
        said[number] = replay.answer(record)[:2]
        report(number + 1, len(records))
    return said


def _note_pictures(drive: JudgedDrive, pilot: NetworkPilot, name: str, config: Config) -> list[str]:
    """Return sentences where a pilot is shown pictures of other proportions, or prepared otherwise than in training."""
    notes = []
    height, width = drive.records[0].load_image().shape[:2]
    wanted_height, wanted_width = pilot.image_shape[:2]
    if abs(width * wanted_height / (height * wanted_width) - 1.0) > NEAR_PROPORTION:
        notes.append(
            f"Pictures of {width}x{height} are stretched to {wanted_width}x{wanted_height} for {name}, as in training, "
            "which changes their proportions."
        )
    return notes + pilot.compare_transformations(config, name)


def _print(one: DriveJudgement) -> None:
    """Print a drive's table and what is to be said about it."""
    from donkeysim.learn.open_loop_report import HEADS, PILOT

    title = f"{one.drive.path}: {format_count(len(one.drive.records), 'record')}"
    table = make_table(title, ("", *HEADS), left=("",))
    for row in one.rows:
        table.add_row(row.name, *one.list_cells(row))
    console.print(table)
    for note in one.notes:
        console.print(note, soft_wrap=True)
    for row in one.rows:
        for doubt in row.found.list_doubts() if row.role == PILOT else ():
            console.print(f"{row.name}: {doubt}", soft_wrap=True)
