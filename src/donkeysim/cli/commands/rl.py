"""Learn to drive from pictures alone: no recorded drives, no trained network to begin with.

Many cars try at once, and the policy learns from what happens to them. It ends when the policy drives its laps in a row
on fresh starts, without chance and without leaving the road, at the speed that was asked for; or when the time is up.
The folder then holds the pilot (.h5 and .onnx), a report with a film of its best lap, and the curve of learning.

With --teacher, a driver that is told where it is shows the policy what to do: that takes less time. Ctrl-C ends
learning and keeps what was learned; --resume goes on, also after the program was killed.

For example: donkey rl --track generated_track --minutes 10
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass

BEGUN = time.perf_counter()
"""About when the command was given: its module is imported first."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("--track", nargs="+", metavar="TRACK", help='where to learn: names or files, or "all" (default generated_track)')
    add("--roads", type=int, help="random roads to learn on besides (default 0)")
    add(
        "--teacher",
        nargs="?",
        const="learned",
        metavar="expert",
        help="learn from a driver that is told where it is: one that learns first itself, or the path follower (expert)",
    )
    add("--from", dest="source", metavar="FILE", help="pilot to go on from: .h5, .keras or .onnx")
    add("--seed", type=int, help="of all chance; the same command gives the same weights (default 0)")
    add("--minutes", type=float, default=10.0, help="time that learning may take, earlier sittings included (default 10)")
    add("--laps", type=int, help="in a row, without leaving the road, before it ends (default 10; 1 on several tracks)")
    add("--speed", type=float, help="mean speed to reach, as a share of the fast pace car's (default 0.75)")
    add("--cars", type=int, help="that learn together (default 128)")
    add("--colour", action="store_true", default=None, help="the policy sees colours (default: grey)")
    add("--randomize", metavar="PRESET", help="vary light, colours, camera and car: mild, wide, or a file")
    add("--out", metavar="DIR", help="folder to write into (default rl_TRACK_SEED)")
    add("--resume", metavar="DIR", help="go on with what was asked for in this folder")
    add("--page", type=int, default=8889, metavar="PORT", help="of the page that shows how it goes; 0: none (default 8889)")
    add("--tensorboard", action="store_true", help="write event files for TensorBoard into the folder")
