"""Repeat what an action log holds, and check after every step that the very same came of it.

Logs are written where one is asked for: log="run.dlog" of donkeysim environments and races, the key action_log in the
conf of the original's environments and in GYM_CONF of a car. Exit code 1 when something else came of it, or
when the log is damaged.

For example: donkey replay run.dlog --film run.mp4
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from donkeysim.cli.console import Report, console, show_progress
from donkeysim.cli.shared_options import add_tracks_argument

if TYPE_CHECKING:
    from donkeysim.record.replay import Replay


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's options."""
    parser.add_argument("log", metavar="FILE", help="the action log")
    parser.add_argument("--film", metavar="FILE", help="make a film of it, for example run.mp4")
    parser.add_argument(
        "--view", choices=("chase", "camera", "top"), default="chase", help="of the film (default: chase, from behind)"
    )
    parser.add_argument("--car", type=int, default=0, metavar="N", help="whom the film shows (default: 0)")
    add_tracks_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Play the log, report what came of it."""
    from donkeysim.record.replay import Replay

    replay = Replay(arguments.log)
    with show_progress("getting ready") as report:
        replay.simulator.compile(lambda _, done, total: report(done, total))
    with show_progress("replaying") as report:
        count = _film(replay, arguments, report) if arguments.film else sum(1 for _ in replay.play(report=report))
    cars, worlds = len(replay.rows), replay.simulator.spec.world_count
    console.print(
        f"{arguments.log}: {replay.step_count} steps, {replay.time:.2f} s simulated; {cars} car{'s' * (cars != 1)} in "
        f"{worlds} world{'s' * (worlds > 1)}: {', '.join(scene.name for scene in replay.simulator.scenes)}",
        soft_wrap=True,
    )
    if count and arguments.film:
        console.print(f"saved {arguments.film}: {count} pictures", soft_wrap=True)
    return _tell_outcome(replay)


def _film(replay: Replay, arguments: argparse.Namespace, report: Report) -> int:
    from donkeysim.record.replay_view import draw_replay
    from donkeysim.tub.film import write_film

    path = Path(arguments.film).expanduser()
    return write_film(path, 20, draw_replay(replay, arguments.view, arguments.car, report))


def _tell_outcome(replay: Replay) -> int:
    """Say what came of it and return the exit code."""
    if replay.broken:
        console.print(f"{replay.broken}; up to there it was replayed", style="yellow", soft_wrap=True)
    if replay.deviation is None:
        console.print("the same as then, bit for bit", style="green")
        return int(replay.is_damaged)
    console.print(f"from step {replay.deviation} on it is not the same as then", style="red")
    if replay.differences:
        console.print(f"the likely cause: {'; '.join(replay.differences)}", soft_wrap=True)
    else:
        console.print("versions, machine and tracks are the same as then, so this is a fault of donkeysim")
    return 1
