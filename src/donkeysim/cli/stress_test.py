"""`donkey evaluate --stress`: drives pilots under one hard thing at a time, prints the table, writes the report."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from donkeysim.cli.console import console
from donkeysim.cli.evaluation_matrix import (
    check_pilots,
    choose_executor,
    choose_out,
    find_laps,
    format_interval,
    gather,
)

if TYPE_CHECKING:
    from donkeysim.cluster.stress import StressCell, StressDrive, StressSpec
    from donkeysim.learn.evaluate import Conditions

REPORT_NAME = "stress.html"

SEEDS = 4
"""Drives of each cell, unless --seeds says otherwise."""


def run_stress(arguments: argparse.Namespace, models: list[Path], tracks: list[str], conditions: Conditions) -> int:
    """Drive, print, write; a pilot that fails under stress is no error, so the exit code is 0."""
    from donkeysim.cluster.stress import StressSpec, drive_stress, format_report, sum_up
    from donkeysim.core.files import write_whole

    out = choose_out(arguments, REPORT_NAME, "where the report is a page with all drives in a .json beside it")
    names = check_pilots(arguments, models, conditions)
    seeds = SEEDS if arguments.seeds is None else arguments.seeds
    spec = StressSpec(names, tuple(tracks), seeds, find_laps(arguments, 1), kind=arguments.type or "")
    drives, was_interrupted = gather(drive_stress(spec, conditions, choose_executor(arguments)), len(spec.drives))
    found = sum_up(spec, drives)
    if not found:
        raise KeyboardInterrupt  # before all pilots were through one column
    car = conditions.conf.experiment.describe_car()
    print_cells(spec, found)
    write_whole(out, format_report(spec, found, car).encode())
    write_drives(out.with_suffix(".json"), spec, drives, found, car)
    console.print(f"report: {out}, all drives: {out.with_suffix('.json')}", soft_wrap=True)
    return 130 if was_interrupted else 0


def print_cells(spec: StressSpec, cells: list[StressCell]) -> None:
    """Print a row for each column of the test, and in it a cell for each pilot."""
    from rich.table import Table

    from donkeysim.learn.pilot_names import name_pilots

    table = Table(title="share of the way before anything went wrong, with 95 % intervals; mean |cte| until then")
    table.add_column("")
    names = name_pilots(spec.models)
    for model in spec.models:
        table.add_column(names[model], justify="right", overflow="fold")
    for column in dict.fromkeys(cell.column for cell in cells):
        table.add_row(column, *(_describe(cell) for cell in cells if cell.column == column))
    console.print(table)


def _describe(cell: StressCell) -> str:
    score = cell.score
    share = f"{100 * score.mean:.0f} % ({100 * score.low:.0f} to {100 * score.high:.0f})"
    return f"{share}, {format_interval(cell.cte, 100.0)} cm"


def write_drives(path: Path, spec: StressSpec, drives: list[StressDrive], cells: list[StressCell], car: str) -> None:
    """Write everything as JSON.

    Raises:
        DonkeySimError: It cannot be written.
    """
    from donkeysim.core.files import write_whole

    whole = {"format": 1, **asdict(spec), "car": car, "cells": [asdict(cell) for cell in cells]}
    whole["drives"] = [asdict(drive) for drive in drives]
    write_whole(path, json.dumps(whole, indent=1).encode() + b"\n")
