"""Train many pilots with different options, and keep the best one.

A small file of TOML says which command trains (rl or train), which of its options differ, and which figure decides: all
combinations (grid), drawn ones (random), drawn ones of which fewer and fewer train longer and longer (halving), or ones
that take over the training of better ones with changed options (population). Trainings are done by all cores of this
machine, or by a cluster of Ray, one thread each; the same file gives the same pilots wherever they are trained.

The folder then holds every training, a report with curves and a table, and the best pilot with the command lines that
train it again. Ctrl-C ends the sweep; --resume continues, also after the program was killed: no training is done twice.

For example: donkey sweep learning_rate.toml
"""

from __future__ import annotations

import argparse
import logging
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from donkeysim.cli.console import console, make_table
from donkeysim.cli.sweep_options import describe_options, spell_repeat
from donkeysim.core.errors import SpecError, format_count

if TYPE_CHECKING:
    from rich.table import Table

    from donkeysim.cluster.sweep.plan import Job, Plan, TrialResult
    from donkeysim.cluster.sweep.store import TrialStore

COMMANDS_NAME, REPORT_NAME = "commands.txt", "report.html"

# A screen, with what is still driven below.
SHOWN = 10
"""Trials that are done, the best ones."""

REFRESH = 1.0
"""Time between two pictures of the table [s]."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's options."""
    add = parser.add_argument
    add("file", nargs="?", metavar="FILE.toml", help="what to train")
    add("--out", metavar="DIR", help="folder to write into (default: the file's name without .toml)")
    add("--resume", metavar="DIR", help="continue the sweep in this folder")
    add("--workers", type=int, metavar="N", help="processes; 0: this one, without Ray (default: one per core)")
    add("--address", metavar="ADDRESS", help="of a Ray cluster that this machine belongs to: auto, or HOST:PORT")


def run(arguments: argparse.Namespace) -> int:
    """Train what is left, show how it goes, and write the report."""
    from donkeysim.cluster.executor import Executor
    from donkeysim.cluster.sweep.plan import Plan, find_best
    from donkeysim.cluster.sweep.report import write_report
    from donkeysim.cluster.sweep.run import run_sweep
    from donkeysim.cluster.sweep.store import BEST

    executor = Executor(arguments.workers, arguments.address)
    store = open_store(arguments)
    plan = Plan(store.file)
    logging.getLogger("donkeysim").setLevel(logging.WARNING)
    with show_table(store, plan) as watch:
        run_sweep(store, executor, plan, watch)
    best = find_best(store.file.spec, plan.done)
    report = write_report(store.file, plan.done, best, store.folder / REPORT_NAME)
    if best is not None:
        keep_best(store, best)
        commands = [join_words(spell_repeat(store.file, job)) for job in list_chain(plan, best[0])]
        (store.folder / BEST / COMMANDS_NAME).write_text("\n".join(commands) + "\n", encoding="utf-8")
    return say_result(store, plan, best, report)


def join_words(words: Sequence[str]) -> str:
    """Return a command as the shell of this system takes it."""
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)


def open_store(arguments: argparse.Namespace) -> TrialStore:
    """Return where the sweep takes place, begun or gone on with.

    Raises:
        DonkeySimError: What is asked for is not possible, or the folder cannot be used.
    """
    from donkeysim.cli.sweep_training import check_sweep, do_training
    from donkeysim.cluster.sweep.spec import read_sweep
    from donkeysim.cluster.sweep.store import TrialStore, claim_folder, resume_folder

    if (arguments.file is None) == (arguments.resume is None):
        raise SpecError("give the FILE.toml of a sweep, or --resume with the folder of one, and only one of them.")
    if arguments.resume is not None:
        if arguments.out is not None:
            raise SpecError("--resume continues in its folder; leave out --out.")
        folder = Path(arguments.resume).expanduser().resolve()
        file, base = resume_folder(folder)
        return TrialStore(file, folder, base, do_training)
    path = Path(arguments.file).expanduser()
    check_sweep(read_sweep(path))
    folder = Path(arguments.out or path.with_suffix("").name).expanduser().resolve()
    return TrialStore(claim_folder(path, folder), folder, Path.cwd(), do_training)


def list_chain(plan: Plan, job: Job) -> list[Job]:
    """Return the trainings that lead to one, in their order."""
    jobs = {(done.trial, done.turn): done for done, _ in plan.done}
    chain = [job]
    while (source := chain[0].source) is not None:
        chain.insert(0, jobs[source.trial, source.turn])
    return chain


def keep_best(store: TrialStore, best: tuple[Job, TrialResult]) -> None:
    """Copy the best pilot, with all that lies beside it under its name, into a folder of its own."""
    from donkeysim.cluster.sweep.store import BEST

    folder = store.folder / BEST
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    job, result = best
    for path in store.locate(job).glob(f"{Path(result.pilot).stem}.*"):
        shutil.copy2(path, folder / path.name)


def say_result(store: TrialStore, plan: Plan, best: tuple[Job, TrialResult] | None, report: Path) -> int:
    """Say what came of it and return the exit code."""
    from donkeysim.cluster.sweep.store import BEST

    failed = [(job, result) for job, result in plan.done if result.error]
    for job, result in failed[:3]:
        console.print(f"Trial {job.trial} ({describe_options(job.options)}): {result.error}", style="yellow")
    if len(failed) > 3:
        console.print(f"{len(failed) - 3} more could not be done; the report says why.", style="yellow")
    if best is not None:
        job, result = best
        value = result.figures[store.file.spec.metric]
        console.print(f"Best: trial {job.trial}, {store.file.spec.metric} {value:.6g}, {describe_options(job.options)}")
        console.print(
            f"Pilot: {store.folder / BEST / result.pilot}; {COMMANDS_NAME} beside it trains it again", soft_wrap=True
        )
    console.print(f"Report: {report}", soft_wrap=True)
    if not plan.is_over:
        console.print(f"Continue: donkey sweep --resume {store.folder}", soft_wrap=True)
        return 130
    return 0 if best is not None else 1


@contextmanager
def show_table(store: TrialStore, plan: Plan) -> Iterator[Callable[[], None]]:
    """Show the table while the block runs; elsewhere than on a terminal a line for each training that is done."""
    from rich.live import Live

    shown, printed = 0.0, 0
    with Live(console=console, auto_refresh=False, transient=True) as live:

        def watch() -> None:
            nonlocal shown, printed
            if not console.is_interactive:
                for job, result in plan.done[printed:]:
                    console.print(_describe(store, job, result), soft_wrap=True)
                printed = len(plan.done)
            elif time.monotonic() - shown > REFRESH:
                shown = time.monotonic()
                live.update(draw_table(store, plan), refresh=True)

        yield watch


def _describe(store: TrialStore, job: Job, result: TrialResult) -> str:
    metric = store.file.spec.metric
    value = result.error or f"{metric} {result.figures.get(metric, float('nan')):.6g}"
    turn = f", round {job.turn + 1}" if store.file.spec.method in ("halving", "population") else ""
    return f"trial {job.trial}{turn}: {value}  {describe_options(job.options)}  {result.seconds:.1f} s"


def draw_table(store: TrialStore, plan: Plan) -> Table:
    """Return the table as things stand."""
    spec = store.file.spec
    running = {name: point for name, point in store.read_running().items() if name in plan.taken}
    headings = ("trial", "round", spec.metric, "options", "s")
    table = make_table(_describe_state(plan, len(running)), headings, left=("options",), title_justify="left")
    for name, point in sorted(running.items()):
        job = plan.taken[name]
        value = "" if point is None or spec.metric not in point[1] else f"{point[1][spec.metric]:.6g}"
        where = "begins" if point is None else f"{point[0]:,.0f} of {job.budget:,}"
        options = f"{describe_options(job.options)} ({where})"
        table.add_row(str(job.trial), str(job.turn + 1), value, options, "", style="cyan")
    best = sorted(plan.done, key=lambda pair: (-spec.score(pair[1].figures), -pair[0].turn, pair[0].trial))
    for job, result in best[:SHOWN]:
        value = f"{result.figures[spec.metric]:.6g}" if spec.metric in result.figures else "failed"
        options = describe_options(job.options)
        table.add_row(str(job.trial), str(job.turn + 1), value, options, f"{result.seconds:.1f}")
    return table


def _describe_state(plan: Plan, running: int) -> str:
    failed = sum(bool(result.error) for _, result in plan.done)
    trouble = f", {failed} failed" if failed else ""
    done = format_count(len(plan.done), "training")
    return f"{done} done{trouble}, {running} under way, {plan.waiting} of this round wait"
