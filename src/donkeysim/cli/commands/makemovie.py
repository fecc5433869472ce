"""Make a film of a tub at the rate it was recorded at, with a green line for what the driver did.

The line's direction is the angle, its length the throttle. With --model, a blue line shows what the pilot would do.
"""

import argparse
from pathlib import Path

from donkeysim.cli.console import console, show_progress
from donkeysim.core.files import check_place


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--tub", required=True, help="the tub")
    parser.add_argument("--out", default="tub_movie.mp4", metavar="FILE", help="the film (default: tub_movie.mp4)")
    parser.add_argument("--config", default="./config.py", metavar="FILE", help="the car's (default: ./config.py)")
    parser.add_argument(
        "--model", metavar="FILE", help="a pilot whose answers are drawn too: .h5, .keras, .onnx, .tflite, built-in"
    )
    parser.add_argument("--type", help="the pilot's type, if the file does not say")
    parser.add_argument("--salient", action="store_true", help="highlight what matters to the pilot (slow)")
    parser.add_argument("--start", type=int, default=0, metavar="N", help="first record (default: 0)")
    parser.add_argument(
        "--end", type=int, default=-1, metavar="N", help="one past the last record (default: -1, to the end)"
    )
    parser.add_argument("--scale", type=int, default=2, metavar="N", help="scale factor of the film (default: 2)")
    parser.add_argument(
        "--draw-user-input", action="store_false", help="do NOT draw what the driver did (the flag turns it off)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Make the film."""
    from donkeysim.car.config import load_config
    from donkeysim.core.errors import SpecError, format_count
    from donkeysim.drive.replay import PilotReplay
    from donkeysim.learn.database import find_pilot
    from donkeysim.learn.pilot import load_pilot
    from donkeysim.tub.film import FilmOptions, make_film
    from donkeysim.tub.folder import find_path
    from donkeysim.tub.reader import TubReader

    if arguments.salient and not arguments.model:
        raise SpecError("--salient shows what matters to a pilot; name one with --model.")
    path = Path(arguments.out).expanduser()
    check_place(path)
    if path.exists():
        console.print(f"{path} will be replaced.", soft_wrap=True)
    tub = TubReader(find_path(arguments.tub))
    config = load_config(arguments.config, driving=False)
    answer = find_saliency = None
    if arguments.model:
        replay = PilotReplay(load_pilot(find_pilot(arguments.model), arguments.type, config), config)
        answer, find_saliency = replay.answer, replay.find_saliency if arguments.salient else None
    options = FilmOptions(arguments.scale, arguments.draw_user_input, answer, find_saliency)
    with show_progress("making the film") as report:
        count = make_film(tub, path, config.DRIVE_LOOP_HZ, options, arguments.start, arguments.end, report)
    console.print(
        f"saved {path}: {format_count(count, 'picture')}, {count / config.DRIVE_LOOP_HZ:.1f} s", soft_wrap=True
    )
    return 0
