"""Whether a sweep can be done: all names and values of its file, before anything is trained."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from donkeysim.cli.sweep_options import OWN, list_options, read_value
from donkeysim.cli.sweep_training import make_learning, make_train_spec
from donkeysim.cluster.sweep.plan import Job
from donkeysim.cluster.sweep.spec import Options, SweepFile
from donkeysim.core.errors import DonkeySimError, SpecError, describe_unknown, shorten

FIGURES = {"rl": ("laps", "speed", "departures", "passed", "reward", "steps"), "train": ("val_loss", "loss")}
"""That may be minimized or maximized."""


def check_sweep(file: SweepFile) -> None:
    """Check all names and values, before anything is trained.

    Raises:
        SpecError: One of them is not possible; the text says where it stands.
    """
    spec = file.spec
    if spec.metric not in FIGURES[spec.command]:
        kind = f"figure of donkey {spec.command}"
        raise SpecError(f"{file.path}: {describe_unknown(kind, spec.metric, FIGURES[spec.command])}")
    for name, value in file.fixed.items():
        _check_value(file, name, value)
    for name, dimension in file.search.items():
        for value in dimension.list_samples():
            _check_value(file, name, value)
    first = {name: dimension.list_samples()[0] for name, dimension in file.search.items()}
    _check_trial(file, first, "")
    for name, dimension in file.search.items():
        for value in dimension.list_samples()[1:]:
            _check_trial(file, {**first, name: value}, name)


def _check_value(file: SweepFile, name: str, value: Any) -> None:
    command = file.spec.command
    options = list_options(command)
    option, _, key = name.partition(".")
    if name in OWN[command]:
        raise SpecError(f"{file.locate(name)}: {name} is the sweep's own matter; leave it out.")
    if option not in options.keys() - OWN[command]:
        kind = f"option of donkey {command}"
        raise SpecError(f"{file.locate(name)}: {describe_unknown(kind, name, options.keys() - OWN[command])}")
    if key:
        return  # of the configuration, which is checked as a whole
    try:
        read_value(options[option], value)
    except SpecError as error:
        text = shorten(repr(value))
        raise SpecError(f"{file.locate(name)}: {name} is {text}, which donkey {command} refuses: {error}.") from error


def _check_trial(file: SweepFile, options: Options, name: str) -> None:
    """Check the options of a trial together.

    Args:
        options: That differ.
        name: Of the one to blame; empty: the one that the error names, if any.
    """
    job = Job(0, 0, options, file.spec.budget, "")
    try:
        _CHECKS[file.spec.command](file, job)
    except DonkeySimError as error:
        named = (option for option in (*file.search, *file.fixed) if option.rpartition(".")[2] in str(error))
        blamed = name or next(named, "")
        raise SpecError(f"{file.locate(blamed) if blamed else file.path}: {error}") from error


def _check_learning(file: SweepFile, job: Job) -> None:
    from donkeysim.world.tracks.catalogue import find_track

    task, _ = make_learning(file, job, None)
    for scene in task.make_setup().scenes:
        find_track(scene)
    if task.source and not Path(task.source).is_file():
        raise SpecError(f"there is no pilot {task.source} to start from.")


def _check_training(file: SweepFile, job: Job) -> None:
    from donkeysim.learn.kinds import get_kind
    from donkeysim.tub.folder import open_tubs

    spec = make_train_spec(file, job, Path("a new folder"), None)
    config = spec.load_config()
    config.require("training")
    get_kind(spec.type or config.DEFAULT_MODEL_TYPE)
    open_tubs(spec.tubs or [config.DATA_PATH])
    if spec.transfer and not Path(spec.transfer).is_file():
        raise SpecError(f"there is no pilot {spec.transfer} to begin with.")


_CHECKS: Mapping[str, Callable[[SweepFile, Job], None]] = {"rl": _check_learning, "train": _check_training}
