"""Whatever goes wrong while a page answers: an answer like every other, few lines in the log, a page that goes on."""

import asyncio
import logging

import pytest
import websockets
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute

from donkeysim.core.clock import ManualClock
from donkeysim.web import serving
from donkeysim.web.error_answers import (
    MOST_LINES,
    PAGE_HEADERS,
    STRETCH_SECONDS,
    ErrorAnswers,
    RateLimitedLog,
    limit_log,
)
from donkeysim.web.origin import OriginCheck
from stand_ins.served_app import visit_app

REQUEST = b"%s / HTTP/1.1\r\nHost: 127.0.0.1\r\n%s\r\n"


async def answer(_request):
    return PlainTextResponse("done")


async def fail(_request):
    raise KeyError("text")


async def read(request):
    return PlainTextResponse(str(len(await request.body())))


async def listen(socket):
    await socket.accept()
    async for text in socket.iter_text():
        await socket.send_text(text)


@pytest.fixture(autouse=True)
def fresh_log(caplog):
    caplog.set_level("INFO")
    limit_log()
    for name in ("donkeysim.web.error_answers", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.filters = [RateLimitedLog() if isinstance(one, RateLimitedLog) else one for one in logger.filters]
    return caplog


def serve(visit):
    """Run `visit(port)` beside the server of a page that fails at /fail and reads what is sent to /read."""
    routes = [Route("/", answer, methods=["GET", "POST"]), Route("/fail", fail), Route("/read", read, methods=["POST"])]
    routes.append(WebSocketRoute("/listen", listen))
    app = ErrorAnswers(Starlette(routes=routes, middleware=[Middleware(OriginCheck, programs_may=True)]))
    return visit_app(app, visit)


async def ask(port, sent, *, leaves=False):
    """Return the answer's head in small letters, and whether the server closes the connection after it."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    await writer.drain()
    if leaves:
        writer.close()
        return "", True
    head = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 8.0)).decode().lower()
    try:
        await asyncio.wait_for(reader.read(), 0.5)
        return head, True
    except TimeoutError:
        return head, False
    finally:
        writer.close()


def test_a_fault_is_answered_with_the_headers_of_all_answers_and_logged(fresh_log):
    head, _ = serve(lambda port: ask(port, REQUEST.replace(b" / ", b" /fail ") % (b"GET", b"")))
    assert head.startswith("http/1.1 500")
    for name, value in PAGE_HEADERS.items():
        assert f"{name}: {value}".lower() in head
    assert fresh_log.messages == ["a page could not answer '/fail'"]
    assert "KeyError: 'text'" in fresh_log.text


def test_faults_without_end_fill_no_log_and_the_page_goes_on(fresh_log):
    async def visit(port):
        for _ in range(3 * MOST_LINES):
            await ask(port, REQUEST.replace(b" / ", b" /fail ") % (b"GET", b"Connection: close\r\n"))
        return await ask(port, REQUEST % (b"GET", b""))

    head, _ = serve(visit)
    assert head.startswith("http/1.1 200")
    assert len(fresh_log.records) == MOST_LINES


def test_what_was_left_out_is_told_as_a_number():
    clock = ManualClock()
    few = RateLimitedLog(clock)

    def tell():
        record = logging.LogRecord("a", logging.ERROR, "", 0, "line of %s", ("a",), None)
        return few.filter(record), record.getMessage()

    assert [tell()[0] for _ in range(MOST_LINES + 7)].count(True) == MOST_LINES
    clock.advance(STRETCH_SECONDS + 1.0)
    assert tell() == (True, "line of a (before it, 7 lines of its kind were left out)")
    assert tell() == (True, "line of a")


def test_who_leaves_before_the_body_is_no_fault(fresh_log):
    async def visit(port):
        sent = REQUEST.replace(b" / ", b" /read ") % (b"POST", b"Content-Length: 100\r\n")
        for _ in range(5):
            await ask(port, sent + b"x", leaves=True)
        return await ask(port, sent + b"x" * 100)

    head, is_closed = serve(visit)
    assert (head.startswith("http/1.1 200"), is_closed) == (True, False)
    assert fresh_log.messages == []


@pytest.mark.parametrize(
    ("method", "path", "headers"),
    [
        (b"POST", b"/", b""),
        (b"GET", b"/", b""),
        (b"POST", b"/nowhere", b""),
        (b"POST", b"/", b"Origin: http://evil.example\r\n"),
    ],
)
@pytest.mark.parametrize("length", [b"Content-Length: 100\r\n", b"Transfer-Encoding: chunked\r\n"])
def test_a_connection_whose_body_does_not_come_is_closed_after_its_answer(method, path, headers, length, monkeypatch):
    monkeypatch.setattr(serving, "BODY_SECONDS", 0.1)
    sent = REQUEST.replace(b" / ", b" %s " % path) % (method, headers + length)
    assert serve(lambda port: ask(port, sent))[1]


@pytest.mark.parametrize("body", [b"", b"Content-Length: 3\r\n\r\nabc"])
def test_a_connection_whose_body_has_come_stays_open(body, monkeypatch):
    monkeypatch.setattr(serving, "BODY_SECONDS", 0.1)
    sent = (REQUEST % (b"POST", b"")).removesuffix(b"\r\n") + (body or b"\r\n")
    assert not serve(lambda port: ask(port, sent))[1]


def test_sockets_that_are_refused_or_talk_nonsense_write_few_lines(fresh_log):
    async def visit(port):
        url = f"ws://127.0.0.1:{port}/listen"
        for _ in range(2 * MOST_LINES):
            with pytest.raises(websockets.InvalidStatus):
                await websockets.connect(url, origin="http://evil.example")
        for _ in range(2 * MOST_LINES):
            async with websockets.connect(url) as socket:
                await socket.send(b"\xff\xfe", text=True)
                with pytest.raises(websockets.ConnectionClosed):
                    await socket.recv()

    serve(visit)
    assert len(fresh_log.records) <= 2 * MOST_LINES
    assert len(fresh_log.text) < 50_000
