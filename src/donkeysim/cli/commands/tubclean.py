"""Play a tub like a film in the browser, cut out what a pilot should not learn, and restore what it should.

The page says what is wrong with the drive (mirrored steering, late pictures, standing still and more), with pictures,
and deletes the stretch it shows with one key. Every change is saved at once and can be undone; deleted records are only
marked, as in the original. With --report the same is printed, and no page is served.
"""

import argparse
import asyncio
from collections.abc import Sequence

from donkeysim.cli.console import console, show_progress
from donkeysim.core.errors import format_count

DEFAULT_PORT = 8886

NAMED_SPANS = 5
"""Stretches of a flaw that the report names; the others are counted."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("tub", nargs="?", default="./data", metavar="TUB", help="the tub (default: ./data)")
    parser.add_argument(
        "--port", type=int, default=DEFAULT_PORT, help=f"the page's port; 0: any free one (default: {DEFAULT_PORT})"
    )
    parser.add_argument("--report", action="store_true", help="only print what is wrong with the drive; no page")


def run(arguments: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C, or print the report."""
    if arguments.report:
        return print_report(arguments.tub)
    from donkeysim.drive.tub_page import create_app
    from donkeysim.tub.folder import find_path
    from donkeysim.web.serving import PageServer, bind_port

    async def serve() -> None:
        async with PageServer(app, bind_port(arguments.port)) as page:
            console.print(f"Open {page.address} in a browser on this machine; Ctrl-C stops.", soft_wrap=True)
            await asyncio.Event().wait()

    app = create_app(find_path(arguments.tub))
    try:
        asyncio.run(serve())
    except KeyboardInterrupt:
        console.print("Stopped; every change is saved.")
    return 0


def print_report(given: str) -> int:
    """Print what is wrong with a tub and what to do; that something is wrong is no failure, so the exit code is 0."""
    from donkeysim.tub.flaws import LEAST_RECORDS, find_flaws
    from donkeysim.tub.folder import find_path
    from donkeysim.tub.reader import TubReader

    tub = TubReader(find_path(given))
    with show_progress("looking") as report:
        flaws = find_flaws(tub, report)
    for flaw in flaws:
        finding, advice = flaw.describe()
        console.print(f"{finding}\n  {advice}{describe_spans(flaw.spans)}", soft_wrap=True, markup=False)
    if len(tub) < LEAST_RECORDS:
        console.print(f"{format_count(len(tub), 'record')} are too few to judge: record {LEAST_RECORDS} or more.")
    elif not flaws:
        console.print(f"Nothing is wrong with the {format_count(len(tub), 'record')} of {tub.path}.", soft_wrap=True)
    return 0


def describe_spans(spans: Sequence[tuple[int, int]]) -> str:
    """Return in words which stretches those are; nothing for the whole tub."""
    named = [str(first) if first == last else f"{first} to {last}" for first, last in spans[:NAMED_SPANS]]
    if len(spans) > NAMED_SPANS:
        named.append(f"{len(spans) - NAMED_SPANS} more stretches")
    return f"\n  Records {', '.join(named)}." if named else ""
