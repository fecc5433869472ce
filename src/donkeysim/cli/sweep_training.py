"""One training of a sweep: what `donkey rl` or `donkey train` does for these words, without a terminal."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from donkeysim.cli.commands import rl, train
from donkeysim.cli.sweep_options import PILOT, make_parser, spell_order, spell_repeat
from donkeysim.cluster.sweep.folder import Order
from donkeysim.cluster.sweep.plan import Result

if TYPE_CHECKING:
    from donkeysim.learn.fit import EpochResult
    from donkeysim.learn.rl.progress import Check, Update


def do_training(order: Order) -> Result:
    """Train on one thread.

    Raises:
        DonkeySimError: It cannot be done.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # before anything counts cores
    import torch

    torch.set_num_threads(1)
    begun = time.perf_counter()
    arguments = make_parser(order.file.spec.command).parse_args(spell_order(order))
    figures = _TRAININGS[order.file.spec.command](order, arguments)
    return Result(
        figures=figures,
        words=spell_repeat(order.file, order.job),
        pilot=PILOT,
        seconds=time.perf_counter() - begun,
    )


def _learn(order: Order, arguments: argparse.Namespace) -> dict[str, float]:
    from donkeysim.learn.rl.curve import CurveFile
    from donkeysim.learn.rl.session import Session

    begun = time.perf_counter()
    task, folder = rl.read_request(arguments)
    session = Session(task, folder, rl.read_limit(arguments), begun, arguments.resume is not None)
    curve = CurveFile(folder / rl.CURVE_NAME, session.steps)

    rewards = [0.0]

    def tell(update: Update) -> None:
        rewards[0] = update.reward
        order.report(update.steps, {"reward": update.reward, **_sum_checks(update.checks)})

    outcome = session.run([curve, tell])
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


def _train(order: Order, arguments: argparse.Namespace) -> dict[str, float]:
    from donkeysim.car.config import load_config
    from donkeysim.learn import train as training
    from donkeysim.learn.backend import import_keras

    import_keras().utils.clear_session()  # names of layers are counted from the first one of the process
    config = load_config(
        arguments.config, arguments.myconfig, driving=False, changes=train.read_changes(arguments.changes)
    )

    def tell(epoch: EpochResult) -> None:
        order.report(epoch.number, epoch.losses)

    result = training.train(
        config,
        arguments.tub or [config.DATA_PATH],
        arguments.model,
        arguments.type,
        arguments.transfer,
        arguments.comment,
        tell=tell,
    )
    if result.was_interrupted:
        raise KeyboardInterrupt
    best = result.history["loss"][result.best_epoch - 1]
    return {"val_loss": result.best_loss, "loss": best, "epochs": float(len(result.history["loss"]))}


_TRAININGS: Mapping[str, Callable[[Order, argparse.Namespace], dict[str, float]]] = {"rl": _learn, "train": _train}
