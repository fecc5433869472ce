"""How a sweep goes, on the terminal: a table that changes, of the best trials and of those under way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from donkeysim.cli.console import console
from donkeysim.cli.sweep_options import describe_options
from donkeysim.core.errors import format_count

if TYPE_CHECKING:
    from rich.table import Table

    from donkeysim.cluster.sweep.plan import Job, Plan, TrialResult
    from donkeysim.cluster.sweep.store import TrialStore

SHOWN = 10
"""Trials that are done, the best ones."""

REFRESH = 1.0
"""Time between two pictures of the table [s]."""


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
    from rich.table import Table

    spec = store.file.spec
    running = {name: point for name, point in store.read_running().items() if name in plan.taken}
    table = Table(title=_describe_state(plan, len(running)), title_justify="left")
    for heading in ("trial", "round", spec.metric, "options", "s"):
        table.add_column(heading, justify="left" if heading == "options" else "right", overflow="fold")
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
