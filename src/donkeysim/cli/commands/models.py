"""List the trained pilots of a car folder, from its models/database.json, or write one for a car or for a page.

For example: donkey models --tflite models/mypilot.h5 --tub data
With --tub there is also a file in 8-bit integers, made for the pictures of these tubs.
"""

import argparse
import contextlib
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.table import Column, Table

from donkeysim.cli.console import console
from donkeysim.core.errors import SpecError
from donkeysim.core.files import write_whole

COLUMNS = ("Number", "Name", "Pilot", "Type", "Tubs", "Places", "Cars", "Time", "Transfer", "Comment")


WHOLE = ("Name", "Type", "Places", "Cars")
"""Columns whose words are not broken where the terminal is narrow."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--config", default="./config.py", help="configuration of the car (default ./config.py)")
    parser.add_argument("--group", action="store_true", help="list groups of tubs once, below the table")
    parser.add_argument(
        "--tflite", metavar="FILE", help="write this pilot, .h5 or .keras, as .tflite beside it; or anywhere"
    )
    parser.add_argument(
        "--tub", nargs="+", action="extend", metavar="TUB", default=[], help="drives to make the integers for"
    )
    parser.add_argument("--onnx", metavar="FILE", help="write this pilot, .h5 or .keras, as .onnx beside it, for pages")


def run(arguments: argparse.Namespace) -> int:
    """Print the table, or write the files."""
    from donkeysim.car.config import load_config
    from donkeysim.learn.database import group_tubs, read_entries
    from donkeysim.learn.files.places import read_cars, read_places

    config = load_config(arguments.config, driving=False)
    if arguments.tub and not arguments.tflite:
        raise SpecError("--tub goes with --tflite FILE, the pilot to write for a car.")
    if arguments.onnx:
        return _write_onnx(Path(arguments.onnx).expanduser())
    if arguments.tflite:
        return _write_lite(arguments.tflite, config, arguments.tub)
    folder = Path(config.MODELS_PATH)
    entries = read_entries(folder)
    if not entries:
        console.print(f"No pilot has been trained in {config.MODELS_PATH} yet.", soft_wrap=True)
        return 0
    groups = group_tubs(entries) if arguments.group else {}
    rows = []
    for entry in entries:
        path = folder / str(entry.get("Name"))
        details = {**entry, "Places": "\n".join(read_places(path)), "Cars": "\n".join(read_cars(path))}
        rows.append([_show(details, column, groups) for column in COLUMNS])
    filled = [index for index in range(len(COLUMNS)) if any(row[index] for row in rows)]
    table = Table(*(Column(COLUMNS[index], no_wrap=COLUMNS[index] in WHOLE) for index in filled))
    for row in rows:
        table.add_row(*(row[index] for index in filled))
    console.print(table)
    if groups:
        tubs = Table("Group", "Tubs")
        for paths, name in groups.items():
            tubs.add_row(name, "\n".join(paths.split(",")))
        console.print(tubs)
    return 0


def _write_onnx(path: Path) -> int:
    from donkeysim.learn.files.model_file import read_onnx

    target = path.with_suffix(".onnx")
    content = read_onnx(path)
    if target.exists() and target.read_bytes() != content:
        raise SpecError(f"{target} is there already and another pilot, so it is kept; rename one of the two.")
    write_whole(target, content)
    console.print(f"Wrote {target}", soft_wrap=True)
    return 0


def _write_lite(given: str, config: Any, tubs: list[str]) -> int:
    from donkeysim.learn.train import convert_pilot
    from donkeysim.tub.folder import split_tubs

    for written in convert_pilot(given, config, split_tubs(tubs)):
        console.print(f"Wrote {written}", soft_wrap=True)
    return 0


def _show(entry: dict[str, Any], column: str, groups: dict[str, str]) -> str:
    value = entry.get(column)
    if value is None:
        return ""
    if column == "Time" and isinstance(value, int | float):
        with contextlib.suppress(ValueError, OverflowError, OSError):  # no time; Windows knows none before 1970
            return f"{datetime.fromtimestamp(value):%Y-%m-%d %H:%M:%S}"
    if column == "Tubs":
        return groups.get(str(value), str(value).replace(",", "\n"))
    return str(value)
