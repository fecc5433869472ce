"""Check this machine for problems: packages, kernels, ports, the joystick, the car folder.

The exit code is 0 if all is well, and 1 if something has to be fixed.
"""

from __future__ import annotations

import argparse

from donkeysim.cli.checkup import FINE, NOTE, WRONG, check_all
from donkeysim.cli.console import console

_COLOURS = {FINE: "green", NOTE: "yellow", WRONG: "red"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's options: it has none."""


def run(arguments: argparse.Namespace) -> int:  # noqa: ARG001 - every command takes them
    """Show all findings as a table."""
    from rich.table import Table
    from rich.text import Text

    with console.status("Checking ..."):
        findings = list(check_all())
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for finding in findings:
        text = Text(finding.text, overflow="fold")
        if finding.advice:
            text.append(f"\n-> {finding.advice}", style="bold")
        table.add_row(Text(finding.state, style=_COLOURS[finding.state]), Text(finding.subject, no_wrap=True), text)
    console.print(table)
    wrong = [finding.subject for finding in findings if finding.state == WRONG]
    console.print(f"\nTo be fixed: {', '.join(wrong)}." if wrong else "\nNo problems found.")
    return 1 if wrong else 0
