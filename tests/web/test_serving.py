"""A page is served inside a running loop: on the next free port, with prompt ends and untouched signals."""

import asyncio
import gc
import signal
import socket
import time

import httpx
import pytest
import websockets
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route, WebSocketRoute

from donkeysim.core.errors import SpecError
from donkeysim.web import serving
from donkeysim.web.serving import PageServer, bind_exactly, bind_port


async def answer(request):
    return PlainTextResponse("done")


async def listen(socket):
    await socket.accept()
    async for _ in socket.iter_text():
        await asyncio.Event().wait()


async def pour(request):
    async def fill():
        while True:
            yield bytes(100_000)

    return StreamingResponse(fill())


def make_app():
    return Starlette(routes=[Route("/", answer), Route("/pour", pour), WebSocketRoute("/listen", listen)])


def test_a_port_in_use_gives_the_next_free_one():
    with bind_port(0) as first:
        port = first.getsockname()[1]
        with bind_port(port) as second:
            assert second.getsockname()[0] == "127.0.0.1"
            assert port < second.getsockname()[1] < port + serving.PORT_TRIES


def test_no_free_port_is_said_in_one_sentence(monkeypatch):
    monkeypatch.setattr(serving, "PORT_TRIES", 1)
    with bind_port(0) as first, pytest.raises(SpecError, match=r"^ports \d+ to \d+ on 127.0.0.1 are all in use; .*\.$"):
        bind_port(first.getsockname()[1])


def test_a_promised_port_is_that_one_or_none():
    with bind_port(0) as first:
        port = first.getsockname()[1]
        with pytest.raises(SpecError, match=rf"^port {port} on 127.0.0.1 is in use; stop it\.$"):
            bind_exactly(port, "127.0.0.1", "stop it.")
    with bind_exactly(port, "127.0.0.1", "stop it.") as second:
        assert second.getsockname()[1] == port
    with pytest.raises(SpecError, match="65535"):
        bind_exactly(65536, "127.0.0.1", "stop it.")


@pytest.mark.parametrize("port", [-1, 65536])
def test_an_impossible_port_is_refused(port):
    with pytest.raises(SpecError, match="65535"):
        bind_port(port)


def test_the_last_port_is_tried_alone():
    with socket.socket() as taken:
        try:
            taken.bind(("127.0.0.1", 65535))
        except OSError:
            pytest.skip("port 65535 is in use here")
        taken.listen()
        with pytest.raises(SpecError, match="65535 to 65535"):
            bind_port(65535)


def test_the_page_answers_and_leaves_signals_and_the_log_alone(caplog):
    caplog.set_level("INFO")

    async def run():
        before = [signal.getsignal(kind) for kind in (signal.SIGINT, signal.SIGTERM)]
        async with PageServer(make_app(), bind_port(0)) as server:
            assert [signal.getsignal(kind) for kind in (signal.SIGINT, signal.SIGTERM)] == before
            async with httpx.AsyncClient() as client:
                assert (await client.get(server.address)).text == "done"
            async with websockets.connect(server.address.replace("http", "ws") + "/listen"):
                pass
        assert [record for record in caplog.records if record.name.startswith("uvicorn")] == []

    asyncio.run(run())


def test_open_connections_end_promptly_when_the_page_stops():
    async def run():
        server = PageServer(make_app(), bind_port(0))
        await server.start()
        address = server.address.replace("http", "ws") + "/listen"
        idle = await websockets.connect(address)
        stuck = await websockets.connect(address)
        await stuck.send("never answered")
        began = time.monotonic()
        await server.stop()
        assert time.monotonic() - began < 5.0
        for client in (idle, stuck):
            with pytest.raises(websockets.ConnectionClosed):
                await asyncio.wait_for(client.recv(), 1)
        with pytest.raises(OSError):
            await asyncio.open_connection("127.0.0.1", int(server.address.rsplit(":", 1)[1]))

    asyncio.run(run())


def test_a_connection_that_reads_nothing_does_not_outlive_the_page():
    async def run(client):
        async with PageServer(make_app(), bind_port(0)) as server:
            loop = asyncio.get_running_loop()
            await loop.sock_connect(client, ("127.0.0.1", int(server.address.rsplit(":", 1)[1])))
            await loop.sock_sendall(client, b"GET /pour HTTP/1.1\r\nHost: here\r\n\r\n")
            await asyncio.sleep(0.2)

    with socket.socket() as client:
        client.setblocking(False)
        asyncio.run(run(client))
        gc.collect()  # a socket that is still open warns here, and a warning is an error


def test_a_page_that_never_started_gives_its_port_back():
    async def run():
        listener = bind_port(0)
        port = listener.getsockname()[1]
        await PageServer(make_app(), listener).stop()
        with bind_port(port) as again:
            assert again.getsockname()[1] == port

    asyncio.run(run())
