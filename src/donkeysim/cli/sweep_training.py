"""Whether a sweep can be done, and one training of it: what `donkey rl` or `donkey train` does without a terminal."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from donkeysim.cli.commands import rl
from donkeysim.cli.commands.train import TrainSpec
from donkeysim.cli.sweep_options import OWN, PILOT, gather_options, list_options, read_options, read_value, spell_repeat
from donkeysim.cluster.sweep.plan import Job, TrialResult
from donkeysim.cluster.sweep.spec import Options, SweepFile
from donkeysim.cluster.sweep.store import JobSpec
from donkeysim.core.errors import DonkeySimError, SpecError, describe_unknown, shorten

if TYPE_CHECKING:
    from donkeysim.learn.fit import EpochResult
    from donkeysim.rl.progress import Check, Update
    from donkeysim.rl.session import Limit
    from donkeysim.rl.task import TrainingTask


FIGURES = {"rl": ("laps", "speed", "departures", "passed", "reward", "steps"), "train": ("val_loss", "loss")}
"""That may be minimized or maximized."""


def do_training(job_spec: JobSpec) -> TrialResult:
    """Train on one thread.

    Raises:
        DonkeySimError: It cannot be done.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # before anything counts cores
    import torch

    torch.set_num_threads(1)
    begun = time.perf_counter()
    figures = _TRAININGS[job_spec.file.spec.command](job_spec)
    return TrialResult(
        figures=figures,
        words=spell_repeat(job_spec.file, job_spec.job),
        pilot=PILOT,
        seconds=time.perf_counter() - begun,
    )


def make_learning(file: SweepFile, job: Job, source: Path | None) -> tuple[TrainingTask, Limit]:
    """Return what `donkey rl` learns, and until when; see `gather_options`.

    Raises:
        DonkeySimError: It is not possible.
    """
    given = read_options("rl", gather_options(file, job, source))
    return rl.make_task(given), rl.make_limit(given.get("minutes"), job.budget)


def make_train_spec(file: SweepFile, job: Job, folder: Path, source: Path | None) -> TrainSpec:
    """Return what `donkey train` trains into a folder; see `gather_options`.

    Raises:
        DonkeySimError: It is not possible.
    """
    given = read_options("train", gather_options(file, job, source))
    return TrainSpec(**given, model=str(folder / PILOT))


def _learn(job_spec: JobSpec) -> dict[str, float]:
    from donkeysim.rl.curve import CurveFile
    from donkeysim.rl.session import TrainingSession
    from donkeysim.rl.task import read_task

    begun, job = time.perf_counter(), job_spec.job
    if job.prolongs:
        task, limit = read_task(job_spec.folder), rl.make_limit(None, job.budget)
    else:
        task, limit = make_learning(job_spec.file, job, job_spec.source)
    session = TrainingSession(task, job_spec.folder, limit, begun, job.prolongs)
    curve = CurveFile(job_spec.folder / rl.CURVE_NAME, session.steps)

    rewards = [0.0]

    def report(update: Update) -> None:
        rewards[0] = update.reward
        job_spec.report(update.steps, {"reward": update.reward, **_sum_checks(update.checks)})

    outcome = session.run([curve, report])
    curve.close()
    if outcome.was_interrupted:
        raise KeyboardInterrupt
    return {"steps": outcome.steps, "reward": rewards[0], **_sum_checks(outcome.checks)}


def _sum_checks(checks: Sequence[Check]) -> dict[str, float]:
    """Return what the checks of the best policy so far come to; before the first, nothing."""
    if not checks:
        return {}
    return {
        "laps": float(np.mean([max(0.0, min(check.laps, check.wanted_laps)) for check in checks])),
        "speed": float(np.mean([check.speed for check in checks])),
        "departures": float(sum(check.departures for check in checks)),
        "passed": float(np.mean([check.is_passed for check in checks])),
    }


def _train(job_spec: JobSpec) -> dict[str, float]:
    from donkeysim.learn.backend import import_keras

    import_keras().utils.clear_session()  # names of layers are counted from the first one of the process
    spec = make_train_spec(job_spec.file, job_spec.job, job_spec.folder, job_spec.source)

    def report(epoch: EpochResult) -> None:
        job_spec.report(epoch.number, epoch.losses)

    result = spec.train(spec.load_config(), report)
    if result.was_interrupted:
        raise KeyboardInterrupt
    best = result.history["loss"][result.best_epoch - 1]
    return {"val_loss": result.best_loss, "loss": best, "epochs": float(len(result.history["loss"]))}


_TRAININGS: Mapping[str, Callable[[JobSpec], dict[str, float]]] = {"rl": _learn, "train": _train}


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
