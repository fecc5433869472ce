"""Convert a drive: a tub becomes a LeRobot or Minari dataset, an MCAP file or a Parquet table, and each of them a tub.

What IN is, is seen from what lies there; what OUT becomes, from its ending (.mcap, .parquet) or from --to.

For example: donkey convert data drive.mcap, or: donkey convert data drive --to lerobot;
and back: donkey convert drive data2
"""

import argparse
from pathlib import Path

from donkeysim.cli.console import console, show_progress
from donkeysim.core.errors import SpecError
from donkeysim.core.files import check_place

KINDS = ("tub", "lerobot", "minari", "mcap", "parquet")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's options."""
    parser.add_argument("source", metavar="IN", help="a tub, a dataset or a file of one")
    parser.add_argument("target", metavar="OUT", help="where the other one is to be; nothing may be there yet")
    parser.add_argument("--to", choices=KINDS, help="what OUT becomes (default: as its ending says, else a tub)")
    parser.add_argument(
        "--video", action="store_true", help="LeRobot: pictures as a video, smaller and not quite the same"
    )
    parser.add_argument("--task", metavar="TEXT", help="LeRobot: what the drive is about, in words for policies")
    parser.add_argument("--fps", type=int, metavar="N", help="LeRobot: records per second, if their times lie")


def run(arguments: argparse.Namespace) -> int:
    """Convert, and say what came of it."""
    from donkeysim.tub.folder import find_path
    from donkeysim.tub.formats.convert import convert
    from donkeysim.tub.formats.lerobot import LeRobotOptions
    from donkeysim.tub.formats.lerobot_features import TASK

    if arguments.fps is not None and not 1 <= arguments.fps <= 1000:
        raise SpecError(f"--fps is {arguments.fps}; it takes 1 to 1000 records per second.")
    is_asked = arguments.video or arguments.task or arguments.fps
    options = LeRobotOptions(arguments.video, arguments.task or TASK, arguments.fps) if is_asked else None
    target = Path(arguments.target).expanduser()
    check_place(target)
    with show_progress("converting") as report:
        done = convert(find_path(arguments.source), target, arguments.to, options, report)
    console.print(f"saved {target}: {done}", soft_wrap=True)
    for note in done.notes:
        console.print(note, soft_wrap=True)
    return 0
