"""List the trained pilots of a car folder, from its models/database.json."""

from __future__ import annotations

import argparse
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.table import Table

from donkeysim.cli.console import console

COLUMNS = ("Number", "Name", "Pilot", "Type", "Tubs", "Places", "Time", "Transfer", "Comment")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--config", default="./config.py", help="configuration of the car (default ./config.py)")
    parser.add_argument("--group", action="store_true", help="list groups of tubs once, below the table")


def run(arguments: argparse.Namespace) -> int:
    """Print the table."""
    from donkeysim.car.config import load_config
    from donkeysim.learn.database import group_tubs, read_entries
    from donkeysim.learn.files.places import read_places

    config = load_config(arguments.config, driving=False)
    folder = Path(config.MODELS_PATH)
    entries = read_entries(folder)
    if not entries:
        console.print(f"No pilot has been trained in {config.MODELS_PATH} yet.", soft_wrap=True)
        return 0
    groups = group_tubs(entries) if arguments.group else {}
    table = Table(*COLUMNS)
    for entry in entries:
        told = {**entry, "Places": "\n".join(read_places(folder / str(entry.get("Name"))))}
        table.add_row(*(_show(told, column, groups) for column in COLUMNS))
    console.print(table)
    if groups:
        tubs = Table("Group", "Tubs")
        for paths, name in groups.items():
            tubs.add_row(name, "\n".join(paths.split(",")))
        console.print(tubs)
    return 0


def _show(entry: dict[str, Any], column: str, groups: dict[str, str]) -> str:
    value = entry.get(column)
    if value is None:
        return ""
    if column == "Time" and isinstance(value, int | float):
        return f"{datetime.fromtimestamp(value):%Y-%m-%d %H:%M:%S}"
    if column == "Tubs":
        return groups.get(str(value), str(value).replace(",", "\n"))
    return str(value)
