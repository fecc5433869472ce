"""Options of `donkey rl` and `donkey train` as a sweep's file names them: what their arguments take, it takes."""

import argparse
import ast
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from donkeysim.cli.commands.train import read_changes
from donkeysim.cluster.sweep.plan import Job
from donkeysim.cluster.sweep.spec import SweepFile
from donkeysim.core.errors import SpecError

OWN = {
    "rl": {"help", "out", "resume", "steps", "page", "tensorboard", "test", "test-roads"},
    "train": {"help", "model", "framework", "set.MAX_EPOCHS"},
}
"""What a sweep says itself, or has no use for."""

PILOT = "pilot.h5"


def list_options(command: str) -> dict[str, argparse.Action]:
    """Return the options of a command by their long names, without the dashes."""
    parser = argparse.ArgumentParser()
    import_module(f"donkeysim.cli.commands.{command}").add_arguments(parser)
    return {
        name.removeprefix("--"): action
        for action in parser._actions
        for name in action.option_strings
        if name.startswith("--")
    }


def gather_options(file: SweepFile, job: Job, source: Path | None) -> dict[str, Any]:
    """Return the options of a training that begins, as the file names them.

    Args:
        source: Folder of the training it continues.
    """
    options, seed = {**file.fixed, **job.options}, file.spec.seed + job.trial
    pilot = str(source / PILOT) if source else None
    if file.spec.command == "rl":
        return {"seed": seed, **options, **({"from": pilot} if pilot else {})}
    options = {"set.TRAIN_SEED": seed, "set.SHOW_PLOT": False, **options, "set.MAX_EPOCHS": job.budget}
    return options | ({"transfer": pilot} if pilot else {})


def read_options(command: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return values by the names of the command's arguments; what `set` changes is a mapping, "changes".

    Raises:
        SpecError: An option takes no such value.
    """
    actions, given, changes = list_options(command), dict[str, Any](), dict[str, Any]()
    for name, value in options.items():
        option, _, key = name.partition(".")
        if key:
            changes[key] = value
        elif option == "set":
            changes |= read_changes(read_value(actions[option], value))
        else:
            given[actions[option].dest] = read_value(actions[option], value)
    return given | ({"changes": changes} if changes else {})


def read_value(action: argparse.Action, value: Any) -> Any:
    """Return the value of an option as the command reads it; None: as if it were not given.

    Raises:
        SpecError: It takes no such value.
    """
    if action.nargs == 0 or (action.nargs == "?" and isinstance(value, bool)):
        if not isinstance(value, bool):
            raise SpecError("it takes true or false")
        return action.const if value else None
    if isinstance(value, list):
        if action.nargs not in ("+", "*"):
            raise SpecError("it takes one value; lists to choose from stand in [search]")
        if not value:
            raise SpecError(f"argument {'/'.join(action.option_strings)}: expected at least one argument")
        return [_read_item(action, item) for item in value]
    if isinstance(value, bool | dict):
        raise SpecError("it takes a text or a number")
    return [_read_item(action, value)] if action.nargs == "+" else _read_item(action, value)


def _read_item(action: argparse.Action, item: Any) -> Any:
    read: Any = action.type or str
    try:
        return read(str(item))
    except ValueError:
        names = "/".join(action.option_strings)
        raise SpecError(f"argument {names}: invalid {read.__name__} value: {str(item)!r}") from None


def spell_repeat(file: SweepFile, job: Job) -> list[str]:
    """Return the command line that does a training again in folders of the same names, anywhere; for people."""
    command, steps = file.spec.command, f"--steps={job.budget}"
    source = Path(job.source.root) if job.source else None
    actions, options = list_options(command), gather_options(file, job, source)
    if command == "rl" and job.prolongs and source is not None:
        reward = ["--reward", str(options["reward"])] if options.get("reward") else []
        return ["donkey", command, "--resume", job.root, steps, *reward]
    words = [word for name, value in options.items() for word in _spell_option(actions, name, value)]
    own = ["--out", job.root, steps] if command == "rl" else ["--model", f"{job.root}/{PILOT}"]
    return ["donkey", command, *words, *own]


def _spell_option(actions: Mapping[str, argparse.Action], name: str, value: Any) -> list[str]:
    option, _, key = name.partition(".")
    if key:
        return ["--set", f"{key}={_spell_literal(value)}"]
    if isinstance(value, bool):
        return [f"--{option}"] if value else []
    if isinstance(value, list) or actions[option].nargs == "+":
        return [f"--{option}", *map(str, value if isinstance(value, list) else [value])]
    return [f"--{option}={value}"]


def _spell_literal(value: Any) -> str:
    """Return a value as `--set` reads it: a text without quotes where it cannot be taken for something else."""
    if not isinstance(value, str):
        return repr(value)
    try:
        ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return value
    return repr(value)


def describe_options(options: Mapping[str, Any]) -> str:
    """Return options in a few words."""
    return ", ".join(f"{name.removeprefix('set.')} {value}" for name, value in options.items())
