"""Plot a pilot's answers against what the driver did, record by record: angle above, throttle below.

The picture is saved next to the model: mypilot.h5_pred.png, that of a pilot of the package in the working folder.
"""

import argparse
import os
import sys
import webbrowser
from pathlib import Path

from donkeysim.cli.console import console, show_progress
from donkeysim.core.errors import format_count


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--tub", nargs="+", action="extend", required=True, metavar="TUB", help="tubs, separated by spaces or commas"
    )
    parser.add_argument(
        "--model", required=True, metavar="FILE", help="the pilot: .h5, .keras, .onnx or .tflite, built-in or anywhere"
    )
    parser.add_argument("--type", help="the pilot's type, if the file does not say")
    parser.add_argument(
        "--limit", type=int, default=1000, metavar="N", help="maximum number of records (default: 1000)"
    )
    parser.add_argument("--noshow", action="store_true", help="only save the picture, do not open it")
    parser.add_argument("--config", default="./config.py", metavar="FILE", help="the car's (default: ./config.py)")


def run(arguments: argparse.Namespace) -> int:
    """Ask the pilot and draw the picture."""
    from donkeysim.car.config import load_config
    from donkeysim.drive.replay import compare_drive
    from donkeysim.learn.database import find_pilot
    from donkeysim.learn.pilot import PACKAGE_PILOTS, load_pilot
    from donkeysim.tub.folder import open_tubs
    from donkeysim.tub.histogram import draw_comparison

    tubs = open_tubs(arguments.tub)
    config = load_config(arguments.config, driving=False)
    model = find_pilot(arguments.model)
    pilot = load_pilot(model, arguments.type, config)
    with show_progress("running the pilot") as report:
        driven, said = compare_drive(tubs, pilot, config, arguments.limit, report)
    beside = Path(arguments.model) if arguments.model in PACKAGE_PILOTS else model
    path = beside.with_name(f"{beside.name}_pred.png")
    names = ", ".join(str(tub.path) for tub in tubs)
    draw_comparison(driven, said, f"Model predictions\nTubs: {names}\nModel: {beside}\nType: {pilot.kind}", path)
    console.print(f"saved {path} with {format_count(len(said), 'record')}", soft_wrap=True)
    has_display = sys.platform in ("win32", "darwin") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))
    if has_display and not arguments.noshow:
        webbrowser.open(path.absolute().as_uri())
    return 0
