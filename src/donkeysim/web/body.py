"""The body of a request, up to a limit: a page takes no more from anybody than it has use for."""

from __future__ import annotations

from starlette.requests import Request

from donkeysim.core.errors import DonkeySimError


async def read_body(request: Request, limit: int, too_long: DonkeySimError) -> bytes:
    """Return the body of a request.

    Args:
        request: Which.
        limit: The most bytes to take; the rest is not read.
        too_long: What is raised when there are more.

    Raises:
        DonkeySimError: `too_long`.
        ClientDisconnect: Who asked has gone.
    """
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            raise too_long
    return bytes(body)
