"""Replay an action log, and check after every step that the result is identical.

A log is written on request: log="run.dlog" in donkeysim environments and races, the key action_log in the conf of the
original's environments and in the GYM_CONF of a car. The exit code is 1 if the result differs, or if the log is
damaged.

For example: donkey replay run.dlog --film run.mp4, or: donkey replay race.dlog --watch
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from donkeysim.cli.console import Report, console, show_progress
from donkeysim.cli.shared_options import add_tracks_argument
from donkeysim.core.errors import SpecError, format_count
from donkeysim.core.files import check_place

if TYPE_CHECKING:
    from donkeysim.record.replay import Replay

DEFAULT_PORT = 8890


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's options."""
    parser.add_argument("log", metavar="FILE", help="the action log")
    parser.add_argument("--film", metavar="FILE", help="make a film of it, for example run.mp4")
    parser.add_argument(
        "--view",
        choices=("chase", "seat", "camera", "top"),
        default="chase",
        help="view of the film: from behind (chase, the default), from the car's seat drawn anew, its own camera's "
        "pictures, or from above",
    )
    parser.add_argument("--car", default="0", metavar="N|NAME", help="the car that the film shows (default: 0)")
    parser.add_argument("--size", metavar="WxH", help="of the film, for example 1280x720 (default: 640x360)")
    parser.add_argument("--watch", action="store_true", help="show it in the browser, any moment of it, until Ctrl-C")
    parser.add_argument(
        "--port", type=int, default=DEFAULT_PORT, help=f"the page's port; 0: any free one (default {DEFAULT_PORT})"
    )
    parser.add_argument("--host", default="127.0.0.1", help="the page's address (default 127.0.0.1; 0.0.0.0: network)")
    add_tracks_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Play the log, report what came of it."""
    from donkeysim.record.replay import Replay

    if arguments.size is not None and not arguments.film:
        raise SpecError("--size is of a film; give --film with a file, too.")
    if arguments.watch and arguments.film:
        raise SpecError("--watch shows the log in the browser, --film makes a film of it; give one of them.")
    if arguments.watch:
        shown = show_replay(Path(arguments.log).expanduser(), arguments.host, arguments.port)
        return 0 if shown is None else _print_outcome(shown)
    if arguments.film:
        check_place(Path(arguments.film))
    replay = Replay(arguments.log)
    with show_progress("getting ready") as report:
        replay.simulator.compile(lambda _, done, total: report(done, total))
    with show_progress("replaying") as report:
        count = _film(replay, arguments, report) if arguments.film else sum(1 for _ in replay.play(report=report))
    cars, worlds = len(replay.rows), replay.simulator.spec.world_count
    names = ", ".join(scene.name for scene in replay.simulator.scenes)
    console.print(
        f"{arguments.log}: {format_count(replay.step_count, 'step')}, {replay.time:.2f} s simulated; "
        f"{format_count(cars, 'car')} in {format_count(worlds, 'world')}: {names}",
        soft_wrap=True,
    )
    if arguments.film:
        text = f"saved {arguments.film}: {format_count(count, 'picture')}"
        console.print(text if count else "no film: the car was never on the track", soft_wrap=True)
    return _print_outcome(replay)


def _film(replay: Replay, arguments: argparse.Namespace, report: Report) -> int:
    from donkeysim.record.replay_view import draw_replay, read_size
    from donkeysim.tub.film import write_film

    path = Path(arguments.film).expanduser()
    return write_film(path, 20, draw_replay(replay, arguments.view, arguments.car, read_size(arguments.size), report))


def _print_outcome(replay: Replay) -> int:
    """Say what came of it and return the exit code."""
    if replay.broken:
        console.print(f"{replay.broken}; it was replayed up to that point", style="yellow", soft_wrap=True)
    if replay.deviation is None:
        console.print("identical, bit for bit", style="green")
        return int(replay.is_damaged)
    console.print(f"the replay differs from step {replay.deviation} on", style="red")
    if replay.differences:
        console.print(f"the likely cause: {'; '.join(replay.differences)}", soft_wrap=True)
    else:
        console.print("versions, machine and tracks have not changed, so this is a bug in donkeysim")
    return 1


def show_replay(path: Path, host: str, port: int) -> Replay | None:
    """Serve the watching page on a file until Ctrl-C, and return what came of playing it; None: it was not played out.

    Raises:
        DonkeySimError: The file cannot be played, or no port is free.
    """
    from donkeysim.racing.show.race_show import RaceShow, list_race_routes
    from donkeysim.watch.spectator import create_app
    from donkeysim.web.access import arrange_access
    from donkeysim.web.serving import PageServer, bind_port
    from donkeysim.web.token import make_token

    show = RaceShow(path)
    listener = bind_port(port, host)
    access = arrange_access(listener, make_token, None)

    async def serve() -> None:
        app = create_app(show, wire_port=None, access=access, races=show, race_routes=list_race_routes(show))
        async with PageServer(app, listener):
            console.print(f"Open {access.url} in a browser; Ctrl-C stops.", soft_wrap=True)
            if access.network_url:
                console.print(f"Others in the network find it at {access.network_url}", soft_wrap=True)
            try:
                await asyncio.to_thread(show.play)
                console.print(f"{path} is ready: {show.replay.time:.2f} s", soft_wrap=True)
                await asyncio.Event().wait()
            finally:
                show.stop()

    try:
        asyncio.run(serve())
    except KeyboardInterrupt:
        console.print("Stopped.")
    return None if show.is_loading else show.replay
