"""A recorded drive or race in the browser, until Ctrl-C."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from donkeysim.cli.console import console

if TYPE_CHECKING:
    from donkeysim.record.replay import Replay

DEFAULT_PORT = 8890


def show_replay(path: Path, host: str, port: int) -> Replay | None:
    """Serve the watching page on a file until Ctrl-C, and return what came of playing it; None: it was not played out.

    Raises:
        DonkeySimError: The file cannot be played, or no port is free.
    """
    from donkeysim.meeting.race_show import RaceShow
    from donkeysim.watch.spectator import create_app
    from donkeysim.web.access import arrange_access
    from donkeysim.web.serving import PageServer, bind_port
    from donkeysim.web.token import make_token

    show = RaceShow(path)
    listener = bind_port(port, host)
    access = arrange_access(listener, make_token, None)

    async def serve() -> None:
        page = PageServer(create_app(show, wire_port=None, access=access), listener)
        await page.start()
        console.print(f"Open {access.url} in a browser; Ctrl-C stops.", soft_wrap=True)
        if access.network_url:
            console.print(f"Others in the network find it at {access.network_url}", soft_wrap=True)
        try:
            await asyncio.to_thread(show.play)
            console.print(f"{path} is ready: {show.replay.time:.2f} s", soft_wrap=True)
            await asyncio.Event().wait()
        finally:
            show.stop()
            await page.stop()

    try:
        asyncio.run(serve())
    except KeyboardInterrupt:
        console.print("Stopped.")
    return None if show.is_loading else show.replay
