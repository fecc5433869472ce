"""Plot how often each value occurs in tubs: a histogram for each numeric key, or only for the one given by --record."""

import argparse
from pathlib import Path

from donkeysim.cli.console import console
from donkeysim.core.files import check_place


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--tub", nargs="+", action="extend", required=True, metavar="TUB", help="tubs, separated by spaces or commas"
    )
    parser.add_argument("--record", metavar="KEY", help="only this key, for example user/angle")
    parser.add_argument("--out", metavar="FILE", help="the picture (default: TUB_hist.png or TUB_hist_KEY.png)")


def run(arguments: argparse.Namespace) -> int:
    """Draw the picture."""
    from donkeysim.tub.folder import open_tubs
    from donkeysim.tub.histogram import choose_key, draw_histograms, gather_numbers, name_histogram

    if arguments.out:
        check_place(Path(arguments.out))
    tubs = open_tubs(arguments.tub)
    numbers = choose_key(gather_numbers(tubs), arguments.record)
    path = Path(arguments.out or name_histogram(tubs[-1].path, arguments.record)).expanduser()
    draw_histograms(numbers, path)
    console.print(f"saved {path}", soft_wrap=True)
    return 0
