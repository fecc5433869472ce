"""What the tests of each folder may cost together, and the table that says what they did cost."""

import os
import time
import tomllib
from collections import Counter
from collections.abc import Generator
from pathlib import Path

import pytest

FILE = Path(__file__).with_suffix(".toml")
BUDGETS: dict[str, float] = tomllib.loads(FILE.read_text(encoding="utf-8"))["seconds"]

CONSIDERABLE = 1.25
"""So many times its budget is worth a warning: the same work takes a busy processor, whose cores share, longer."""


def find_folder(nodeid: str) -> str:
    """Return the folder in tests/ that a test lies in."""
    parts = nodeid.partition("::")[0].split("/")
    return parts[1] if len(parts) > 2 else ""


def list_excesses(spent: Counter[str]) -> list[str]:
    """Return a sentence for each folder that took considerably more than it may, or that has no budget.

    Args:
        spent: Processor time of each folder [s].
    """
    sentences = []
    for folder, seconds in sorted(spent.items()):
        if folder not in BUDGETS and seconds > 1.0:
            sentences.append(f"tests/{folder} took {seconds:.0f} s and has no budget; give it one in tests/{FILE.name}")
        elif seconds > CONSIDERABLE * BUDGETS.get(folder, seconds):
            sentences.append(
                f"tests/{folder} took {seconds:.0f} s, its budget is {BUDGETS[folder]:.0f} s; "
                "see --durations=25, and shorten tests or move some to `make soak`"
            )
    return sentences


def read_processor() -> float:
    """Return how long processors have worked for this process and for those that it has waited for [s]."""
    return sum(os.times()[:4])


class ProcessorClock:
    """Notes in each report, as `processor` [s], what a test's setup, call or teardown took of the processors."""

    def __init__(self) -> None:
        self._before = 0.0

    def pytest_runtest_logstart(self) -> None:
        self._before = read_processor()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        before, self._before = self._before, read_processor()
        report.processor = self._before - before
        return report


class BudgetReport:
    """Adds up what tests took, and prints it after a run of everything.

    Processor time, as a busy machine makes everything last longer; and what is over its budget is told in a warning and
    fails nothing, as machines differ. Programs whose end nobody waits for are not in it.
    """

    def __init__(self) -> None:
        self.began = time.perf_counter()
        self.spent: Counter[str] = Counter()
        self.lasted: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        folder = find_folder(report.nodeid)
        self.spent[folder] += getattr(report, "processor", 0.0)  # that of a worker that broke has none
        self.lasted[folder] += report.duration

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section("seconds of tests: processors, their budget, clock")
        for folder, seconds in self.spent.most_common():
            budget = BUDGETS.get(folder, 0.0)
            terminalreporter.write_line(f"{folder:12} {seconds:6.1f} {budget:6.0f} {self.lasted[folder]:8.1f}")
        spent, lasted = self.spent.total(), self.lasted.total()
        terminalreporter.write_line(f"{'together':12} {spent:6.1f} {sum(BUDGETS.values()):6.0f} {lasted:8.1f}")
        terminalreporter.write_line(f"{'from start':12} {time.perf_counter() - self.began:22.1f}")
        for sentence in list_excesses(self.spent):
            terminalreporter.write_line(f"WARNING: {sentence}.", yellow=True, bold=True)
