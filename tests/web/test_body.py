"""A request's body is read up to a limit."""

import asyncio

import pytest
from starlette.requests import Request

from donkeysim.core.errors import WireError
from donkeysim.web.access import read_body


def read(*chunks, limit=10):
    """Return the body that comes in these pieces, and how many of them were taken."""
    pieces = [{"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks]
    pieces.append({"type": "http.request", "body": b"", "more_body": False})
    left = iter(pieces)

    async def receive():
        return next(left)

    try:
        return asyncio.run(read_body(Request({"type": "http"}, receive), limit, WireError("too long"))), [*left]
    except WireError:
        assert [*left], "the rest must not be read"
        raise


def test_return_the_whole_body_whatever_its_pieces():
    assert read(b"12345", b"", b"67890") == (b"1234567890", [])


def test_stop_reading_at_the_limit():
    with pytest.raises(WireError, match="too long"):
        read(b"12345", b"678901", b"never read")
