"""Options of `donkey rl` and `donkey train` as a sweep's file names them: what their parsers take, it takes."""

from __future__ import annotations

import argparse
import ast
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from donkeysim.cluster.sweep.folder import Order
from donkeysim.cluster.sweep.plan import Job
from donkeysim.cluster.sweep.spec import SweepFile
from donkeysim.core.errors import SpecError

OWN = {
    "rl": {"help", "out", "resume", "steps", "page", "tensorboard", "test", "test-roads"},
    "train": {"help", "model", "framework", "set.MAX_EPOCHS"},
}
"""What a sweep says itself, or has no use for."""

PILOT = "pilot.h5"


class _Parser(argparse.ArgumentParser):
    """Raises what it refuses."""

    def error(self, message: str) -> NoReturn:
        raise SpecError(message)


def make_parser(command: str) -> argparse.ArgumentParser:
    """Return the parser of a command."""
    parser = _Parser(prog=f"donkey {command}", allow_abbrev=False)
    import_module(f"donkeysim.cli.commands.{command}").add_arguments(parser)
    return parser


def list_options(parser: argparse.ArgumentParser) -> dict[str, argparse.Action]:
    """Return the options of a parser by their long names, without the dashes."""
    return {
        name.removeprefix("--"): action
        for action in parser._actions
        for name in action.option_strings
        if name.startswith("--")
    }


def spell_option(parser: argparse.ArgumentParser, name: str, value: Any) -> list[str]:
    """Return an option as words of the command line.

    Raises:
        SpecError: It takes no such value.
    """
    option, _, key = name.partition(".")
    if key:
        return ["--set", f"{key}={_spell_literal(value)}"]
    action = list_options(parser)[option]
    if action.nargs == 0 or (action.nargs == "?" and isinstance(value, bool)):
        if not isinstance(value, bool):
            raise SpecError("it takes true or false")
        return [f"--{option}"] if value else []
    if isinstance(value, list):
        if action.nargs not in ("+", "*"):
            raise SpecError("it takes one value; lists to choose from stand in [search]")
        return [f"--{option}", *map(str, value)]
    if isinstance(value, bool | dict):
        raise SpecError("it takes a text or a number")
    return [f"--{option}", str(value)] if action.nargs == "+" else [f"--{option}={value}"]


def _spell_literal(value: Any) -> str:
    """Return a value as `--set` reads it: a text without quotes where it cannot be taken for something else."""
    if not isinstance(value, str):
        return repr(value)
    try:
        ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return value
    return repr(value)


def spell_training(file: SweepFile, job: Job, folder: Path, source: Path | None) -> list[str]:
    """Return the words of the command line that do a training.

    Args:
        file: What was asked for.
        job: The training.
        folder: To write into, or for what is prolonged to go on in.
        source: Folder of what it goes on from.
    """
    parser, options = make_parser(file.spec.command), {**file.fixed, **job.options}
    seed = file.spec.seed + job.trial
    if file.spec.command == "rl":
        if job.prolongs and source is not None:
            return ["--resume", str(folder), f"--steps={job.budget}"]
        options = {"seed": seed, **options, **({"from": str(source / PILOT)} if source else {})}
        own = ["--out", str(folder), f"--steps={job.budget}"]
    else:
        options = {"set.TRAIN_SEED": seed, "set.SHOW_PLOT": False, **options, "set.MAX_EPOCHS": job.budget}
        options |= {"transfer": str(source / PILOT)} if source else {}
        own = ["--model", str(folder / PILOT)]
    return [word for name, value in options.items() for word in spell_option(parser, name, value)] + own


def spell_order(order: Order) -> list[str]:
    """Return the words that do what is ordered, where it is ordered."""
    return spell_training(order.file, order.job, order.folder, order.source)


def spell_repeat(file: SweepFile, job: Job) -> list[str]:
    """Return the words that do a training again in folders of the same names, anywhere."""
    source = Path(job.source.root) if job.source else None
    return ["donkey", file.spec.command, *spell_training(file, job, Path(job.root), source)]


def describe_options(options: Mapping[str, Any]) -> str:
    """Return options in a few words."""
    return ", ".join(f"{name.removeprefix('set.')} {value}" for name, value in options.items())
