"""Play a tub like a film in the browser, cut out what a pilot should not learn, and restore what it should.

Every change is saved at once and can be undone; deleted records are only marked, as in the original.
"""

import argparse
import asyncio

from donkeysim.cli.console import console

DEFAULT_PORT = 8886


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("tub", nargs="?", default="./data", metavar="TUB", help="the tub (default: ./data)")
    parser.add_argument(
        "--port", type=int, default=DEFAULT_PORT, help=f"the page's port; 0: any free one (default: {DEFAULT_PORT})"
    )


def run(arguments: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C."""
    from donkeysim.drive.tub_page import create_app
    from donkeysim.tub.folder import find_path
    from donkeysim.web.serving import PageServer, bind_port

    async def serve() -> None:
        page = PageServer(app, bind_port(arguments.port))
        await page.start()
        console.print(f"Open {page.address} in a browser on this machine; Ctrl-C stops.", soft_wrap=True)
        try:
            await asyncio.Event().wait()
        finally:
            await page.stop()

    app = create_app(find_path(arguments.tub))
    try:
        asyncio.run(serve())
    except KeyboardInterrupt:
        console.print("Stopped; every change is saved.")
    return 0
