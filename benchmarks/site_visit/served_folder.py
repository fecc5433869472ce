"""A folder on a server of files that knows nothing of what it serves, as a school's share or a project's pages."""

import contextlib
import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path


class _Quiet(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""

    def handle(self) -> None:
        """Answer; a browser that leaves early is nobody's fault."""
        with contextlib.suppress(ConnectionError):
            super().handle()


@contextlib.contextmanager
def serve_folder(folder: Path) -> Iterator[str]:
    """Give the address while it is served."""
    handler = functools.partial(_Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
