"""What the tests of each folder may cost together, and the table that says what they did cost."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path

import pytest

FILE = Path(__file__).with_suffix(".toml")
BUDGETS: dict[str, float] = tomllib.loads(FILE.read_text(encoding="utf-8"))["seconds"]


def find_folder(nodeid: str) -> str:
    """Return the folder in tests/ that a test lies in."""
    parts = nodeid.partition("::")[0].split("/")
    return parts[1] if len(parts) > 2 else ""


def list_excesses(spent: Counter[str]) -> list[str]:
    """Return a sentence for each folder that took longer than it may, or that has no budget."""
    sentences = []
    for folder, seconds in sorted(spent.items()):
        if folder not in BUDGETS and seconds > 1.0:
            sentences.append(f"tests/{folder} took {seconds:.0f} s and has no budget; give it one in tests/{FILE.name}")
        elif seconds > BUDGETS.get(folder, seconds):
            sentences.append(
                f"tests/{folder} took {seconds:.0f} s, its budget is {BUDGETS[folder]:.0f} s; "
                "see --durations=25, and shorten tests or move some to `make soak`"
            )
    return sentences


class BudgetReport:
    """Adds up calls and setups, and prints them after a run of everything.

    Machines differ and have other work to do: what is over its budget is told in a warning, and fails nothing.
    """

    def __init__(self) -> None:
        self.spent: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "teardown":
            self.spent[find_folder(report.nodeid)] += report.duration

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section("seconds of calls and setups, and budgets")
        for folder, seconds in self.spent.most_common():
            terminalreporter.write_line(f"{folder:12} {seconds:6.1f} {BUDGETS.get(folder, 0.0):6.0f}")
        terminalreporter.write_line(f"{'together':12} {self.spent.total():6.1f} {sum(BUDGETS.values()):6.0f}")
        for sentence in list_excesses(self.spent):
            terminalreporter.write_line(f"WARNING: {sentence}.", yellow=True, bold=True)
