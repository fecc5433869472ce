"""Check this machine for problems: packages, kernels, ports, the joystick, the car folder.

With a folder, check what is in it instead: which car folders, myconfig.py files, tubs, datasets, pilots, tracks,
recorded paths and joysticks load, train and drive, and why the others do not. Configurations are Python and are run.

The exit code is 0 if all is well, and 1 if something has to be fixed.
"""

import argparse
from pathlib import Path

from donkeysim.cli.checkup import FINE, NOTE, WRONG, check_all
from donkeysim.cli.console import console

_COLOURS = {FINE: "green", NOTE: "yellow", WRONG: "red"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's options."""
    parser.add_argument("folder", nargs="?", metavar="FOLDER", help="look through this folder instead of the machine")


def run(arguments: argparse.Namespace) -> int:
    """Show all findings as a table."""
    return look_through(Path(arguments.folder).expanduser()) if arguments.folder else look_at_machine()


def look_through(folder: Path) -> int:
    """Show what in a folder loads, trains and drives; return 1 where anything does not."""
    from rich.table import Table
    from rich.text import Text

    from donkeysim.cli.folder_checkup import ASPECTS, check_folder, describe_counts, shorten_path

    verdicts = []
    with console.status("Checking ...") as status:
        for verdict in check_folder(folder):
            verdicts.append(verdict)
            status.update(f"Checking ... {len(verdicts)}: {shorten_path(verdict.path, folder)}")
    if not verdicts:
        console.print(f"{folder} holds no car folder, tub, pilot, track, recorded path or joystick.", soft_wrap=True)
        return 1
    table = Table(box=None, padding=(0, 1, 0, 0))
    for title in ("", "", *ASPECTS, ""):
        table.add_column(title, overflow="fold")
    for verdict in verdicts:
        states = [{True: "yes", False: "no", None: ""}[verdict.works.get(aspect)] for aspect in ASPECTS]
        cells = [Text(state, style="green" if state == "yes" else "red") for state in states]
        table.add_row(verdict.kind, Text(shorten_path(verdict.path, folder)), *cells, Text(verdict.reason))
    console.print(table)
    console.print("\n" + "\n".join(describe_counts(verdicts)))
    return 1 if any(verdict.reason for verdict in verdicts) else 0


def look_at_machine() -> int:
    """Show what could keep donkeysim from working here; return 1 where something has to be fixed."""
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
