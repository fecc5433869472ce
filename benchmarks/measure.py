"""How figures are taken: several rounds, the median to quote and the best beside it."""

import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Figure:
    """One line of the results.

    Attributes:
        case: Name of the case.
        what: What was counted.
        value: Median of the rounds.
        best: Best round.
        unit: Of both.
        goal: The least that is asked for, None where nothing is.
        note: Anything a reader must know.
        most: The most that is asked for, None where nothing is.
    """

    case: str
    what: str
    value: float
    best: float
    unit: str
    goal: float | None = None
    note: str = ""
    most: float | None = None


def measure_rate(
    work: Callable[[], int], seconds: float = 1.0, rounds: int = 5, clock: Callable[[], float] = time.perf_counter
) -> tuple[float, float]:
    """Return (median, best) counts per second.

    Args:
        work: Does some counted work and returns the count.
        seconds: Length of a round.
        rounds: How many.
        clock: Wall time; or `time.process_time`, processor time of all threads, for what one thread does.
    """
    work()
    rates = []
    for _ in range(rounds):
        count, start = 0, clock()
        while (elapsed := clock() - start) < seconds:
            count += work()
        rates.append(count / elapsed)
    return statistics.median(rates), max(rates)


def measure_call(work: Callable[[], object], seconds: float) -> tuple[float, float]:
    """Return median and least processor time of a call of `work` on this thread [s], after one that allocates."""
    work()
    taken = []
    begin = time.perf_counter()
    while time.perf_counter() - begin < seconds or len(taken) < 3:
        before = time.thread_time()
        work()
        taken.append(time.thread_time() - before)
    return statistics.median(taken), min(taken)


def print_figures(figures: Iterable[Figure]) -> None:
    """Print a table of results."""
    for figure in figures:
        goal = f"  (at least {figure.goal:,.6g})" if figure.goal is not None else ""
        goal += f"  (at most {figure.most:,.6g})" if figure.most is not None else ""
        note = f"  {figure.note}" if figure.note else ""
        print(f"{figure.what:<58} {figure.value:>12,.6g} {figure.unit:<12}{goal}{note}", flush=True)


def write_lines(figures: list[Figure], path: Path) -> None:
    """Append results to a file of JSON lines, with the machine they were taken on."""
    path.parent.mkdir(parents=True, exist_ok=True)
    machine = {"python": platform.python_version(), "machine": platform.machine(), "cores": os.cpu_count()}
    with path.open("a", encoding="utf-8") as file:
        for figure in figures:
            file.write(json.dumps(asdict(figure) | machine) + "\n")


def report(figures: Iterable[Figure], path: Path) -> None:
    """Print and append each result as soon as it is there: whoever ends a long run keeps what was measured."""
    for figure in figures:
        print_figures([figure])
        write_lines([figure], path)
