"""A client gets its share of a page and no more, and nobody waits for a client who is slow."""

import asyncio
import time

import pytest
import websockets
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute

from donkeysim.core.clock import ManualClock
from donkeysim.core.errors import WireError
from donkeysim.web import access, limits, serving
from donkeysim.web.limits import (
    MOST_FAILED_LOGINS,
    FailedLogins,
    PictureTurns,
    RateLimitedRequests,
    RateLimiter,
    name_client,
)
from stand_ins.served_app import visit_app


async def answer(request):
    return PlainTextResponse("done")


async def listen(socket):
    await socket.accept()
    async for text in socket.iter_text():
        await socket.send_text(text)


ROUTES = [Route("/", answer, methods=["GET", "POST"]), WebSocketRoute("/listen", listen)]


def serve(visit, app=None):
    """Run `visit(port)` beside a page's server and return what it returns."""
    return visit_app(app or Starlette(routes=ROUTES), visit)


@pytest.mark.parametrize(
    ("one", "other"),
    [("192.0.2.7", "::ffff:192.0.2.7"), ("2001:db8::1", "2001:db8::ffff:1:2"), ("fe80::1%eth0", "fe80::2")],
)
def test_addresses_of_one_subscriber_are_one_client(one, other):
    assert name_client(one) == name_client(other)


def test_addresses_of_others_are_other_clients():
    names = ["192.0.2.7", "192.0.2.8", "2001:db8::1", "2001:db8:0:1::1", "::1", "testclient", ""]
    assert len({name_client(name) for name in names}) == len(names)


def test_who_was_quiet_does_something_at_once_and_who_does_too_much_waits():
    clock = ManualClock()
    limiter = RateLimiter(100.0, clock)
    waits = [limiter.reserve("one") for _ in range(125)]
    assert waits[:24] == [0.0] * 24
    assert waits[124] == pytest.approx(1.0)
    assert limiter.reserve("other") == 0.0
    clock.advance(2.0)
    assert limiter.reserve("one") == 0.0


def test_clients_without_a_debt_are_forgotten(monkeypatch):
    monkeypatch.setattr(limits, "MOST_CLIENTS", 3)
    clock = ManualClock()
    limiter, wrong = RateLimiter(100.0, clock), FailedLogins(clock)
    for count in range(20):
        limiter.reserve(f"client {count}")
        wrong.note(f"client {count}", "word")
        clock.advance(100.0)
    assert max(len(limiter._used), len(wrong._tried)) <= 3


def test_pictures_of_a_client_are_drawn_a_few_at_a_time_and_others_do_not_wait_for_them():
    under_way, most = [], []

    async def take(turns, client, seconds):
        async with turns.take(client):
            under_way.append(client)
            most.append(under_way.count("greedy"))
            await asyncio.sleep(seconds)
            under_way.remove(client)

    async def run():
        turns = PictureTurns()
        greedy = [asyncio.create_task(take(turns, "greedy", 0.05)) for _ in range(40)]
        await asyncio.sleep(0.01)
        began = time.monotonic()
        await take(turns, "modest", 0.0)
        assert time.monotonic() - began < 0.05
        greedy[30].cancel()
        await asyncio.gather(*greedy, return_exceptions=True)
        assert (turns._users, turns._free) == ({}, {})

    asyncio.run(run())
    assert max(most) == limits.PICTURES_AT_ONCE


def test_different_wrong_words_are_counted_and_one_that_is_repeated_is_not():
    clock = ManualClock()
    wrong = FailedLogins(clock)
    for _ in range(100):
        wrong.note("old cookie", "yesterday")
    assert not wrong.is_blocked("old cookie")
    for count in range(MOST_FAILED_LOGINS):
        assert not wrong.is_blocked("guesser")
        wrong.note("guesser", f"word {count}")
    assert wrong.is_blocked("guesser")
    clock.advance(limits.BLOCKED_SECONDS)
    assert not wrong.is_blocked("guesser")


def test_too_many_connections_of_one_address_are_told_so_and_a_closed_one_makes_room(monkeypatch):
    monkeypatch.setattr(serving, "MOST_CONNECTIONS", 3)

    async def visit(port):
        held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
        await asyncio.sleep(0.05)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        refused = await reader.read()
        writer.close()
        held.pop()[1].close()
        await asyncio.sleep(0.05)
        async with websockets.connect(f"ws://127.0.0.1:{port}/listen") as socket:
            await socket.send("hello")
            assert await socket.recv() == "hello"
            reader, again = await asyncio.open_connection("127.0.0.1", port)
            assert b"429" in await reader.read()
        for _, writer in [*held, (None, again)]:
            writer.close()
        return refused

    refused = serve(visit)
    assert refused.startswith(b"HTTP/1.1 429 ")
    assert refused.endswith(b"close some of its pages.\n")


def test_room_is_kept_for_the_rest_of_the_program(monkeypatch):
    monkeypatch.setattr(serving, "MOST_CONNECTIONS_IN_ALL", 1)

    async def visit(port):
        _, first = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.sleep(0.05)
        reader, second = await asyncio.open_connection("127.0.0.1", port)
        refused = await reader.read()
        first.close()
        second.close()
        return refused

    assert serve(visit).startswith(b"HTTP/1.1 429 ")


@pytest.mark.parametrize("start", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET / HTTP/1.1\r\nA: "])
def test_a_head_that_does_not_come_is_not_waited_for(monkeypatch, start):
    monkeypatch.setattr(serving, "HEAD_SECONDS", 0.3)

    async def visit(port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        began = time.monotonic()
        writer.write(start)

        async def drip():
            while True:
                await asyncio.sleep(0.05)
                writer.write(b"x")

        dripping = asyncio.create_task(drip())
        await asyncio.wait_for(reader.read(), 4.0)
        dripping.cancel()
        writer.close()
        return time.monotonic() - began

    assert 0.2 < serve(visit) < 3.0


def test_an_open_web_socket_may_be_silent_for_longer_than_a_head_takes(monkeypatch):
    monkeypatch.setattr(serving, "HEAD_SECONDS", 0.1)

    async def visit(port):
        async with websockets.connect(f"ws://127.0.0.1:{port}/listen") as socket:
            await asyncio.sleep(0.3)
            await socket.send("still here")
            return await socket.recv()

    assert serve(visit) == "still here"


def test_a_body_that_does_not_come_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(access, "BODY_SECONDS", 0.05)

    async def receive():
        await asyncio.sleep(0.02)
        return {"type": "http.request", "body": b"x", "more_body": True}

    with pytest.raises(WireError, match="did not come within"):
        asyncio.run(access.read_body(Request({"type": "http"}, receive), 1000, WireError("too long")))


def test_questions_beyond_the_rate_wait_and_all_are_answered(monkeypatch):
    monkeypatch.setattr(limits, "QUESTIONS_A_SECOND", 200.0)
    app = Starlette(routes=ROUTES, middleware=[Middleware(RateLimitedRequests)])

    async def visit(port):
        began = time.monotonic()
        async with websockets.connect(f"ws://127.0.0.1:{port}/listen") as socket:
            for count in range(110):
                await socket.send(str(count))
            assert [await socket.recv() for _ in range(110)] == [str(count) for count in range(110)]
        return time.monotonic() - began

    assert serve(visit, app) > 0.25


def test_broken_requests_write_nothing_to_the_log(caplog):
    caplog.set_level("INFO")

    async def visit(port):
        for garbage in (b"\x16\x03\x01\x02\x00", b"GARBAGE\r\n\r\n", b"GET /listen HTTP/1.1\r\nHost: x\r\n"
                        b"Connection: upgrade\r\nUpgrade: websocket\r\n\r\n", b"GET / HTTP/1.1\r\nHost: x\r\n"
                        b"Connection: upgrade\r\nUpgrade: h2c\r\n\r\n"):  # fmt: skip
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(garbage)
            writer.write_eof()
            await asyncio.wait_for(reader.read(), 8.0)
            writer.close()

    serve(visit)
    assert [record.getMessage() for record in caplog.records] == []
