"""The body of a request, up to a limit: a page takes no more from anybody than it has use for."""

from __future__ import annotations

import asyncio

from starlette.requests import Request

from donkeysim.core.errors import DonkeySimError, WireError

BODY_SECONDS = 10.0
"""Longest time that a body may take to come [s]."""


async def read_body(request: Request, limit: int, too_long: DonkeySimError) -> bytes:
    """Return the body of a request.

    Args:
        request: Which.
        limit: The most bytes to take; the rest is not read.
        too_long: What is raised when there are more.

    Raises:
        DonkeySimError: `too_long`, or it did not come within `BODY_SECONDS`.
        ClientDisconnect: Who asked has gone.
    """
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                body += chunk
                if len(body) > limit:
                    raise too_long
    except TimeoutError as error:
        raise WireError(f"the request did not come within {BODY_SECONDS:g} s; send it again.") from error
    return bytes(body)
