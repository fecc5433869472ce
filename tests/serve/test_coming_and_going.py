"""Who is taken up, who is sent away, and when the simulation hears of a client."""

import asyncio
import json
import socket
import time
from contextlib import contextmanager

import pytest

from donkeysim.serve import server as server_module
from donkeysim.serve.server import JOIN_SECONDS, JOIN_SECONDS_OF_STRANGE, Server
from donkeysim.web.listener import try_listen

PING, PONG = b'{"msg_type":"get_protocol_version"}', b'{"msg_type":"protocol_version","version":"2"}\n'


class Thread:
    """Stands in for the simulation's thread and notes what it is told."""

    def __init__(self):
        self.told = []

    def join(self, client_id):
        self.told.append("join")

    def leave(self, client_id):
        self.told.append("leave")

    def execute(self, client_id, request):
        self.told.append(request.message_type())

    def is_in_lock_step(self):
        return False

    def is_listening(self, client_id):
        return True

    def note_health(self, client_id, is_reading, is_troublesome):
        pass

    def scene_names(self):
        return ()


def serve(scenario):
    """Run a scenario against a server with a stand-in for the simulation; return what the simulation was told."""

    async def run():
        thread, listener = Thread(), try_listen("127.0.0.1", 0)
        server = Server(listener, time.perf_counter)
        await server.start(thread)
        try:
            await scenario(listener.getsockname()[1], thread)
        finally:
            await server.stop()
        return thread.told

    return asyncio.run(run())


@contextmanager
def connect(port):
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.setblocking(False)
        yield client


async def receive(client):
    return await asyncio.wait_for(asyncio.get_running_loop().sock_recv(client, 1 << 16), 5.0)


async def until(condition, seconds=5.0):
    deadline = time.perf_counter() + seconds
    while not condition():
        assert time.perf_counter() < deadline
        await asyncio.sleep(0.005)


def test_who_connects_and_vanishes_is_never_heard_of():
    async def vanish(port, thread):
        for _ in range(50):
            with connect(port):
                pass
        await asyncio.sleep(3 * JOIN_SECONDS)

    assert serve(vanish) == []


def test_who_stays_gets_a_car_and_who_asks_for_something_gets_it_at_once():
    async def stay(port, thread):
        with connect(port) as client:
            await until(lambda: thread.told == ["join"])
            began = time.perf_counter()
            with connect(port) as second:
                second.sendall(b'{"msg_type":"reset_car"}')
                await until(lambda: thread.told == ["join", "join", "reset_car"])
            assert time.perf_counter() - began < JOIN_SECONDS or len(thread.told) == 4
            client.sendall(PING)
            assert await receive(client) == PONG

    assert serve(stay)[:3] == ["join", "join", "reset_car"]


def test_who_talks_nonsense_waits_longer_for_a_car():
    async def talk_nonsense(port, thread):
        with connect(port) as client:
            client.sendall(b"nonsense")
            began = time.perf_counter()
            await until(lambda: thread.told)
            assert time.perf_counter() - began > 0.7 * JOIN_SECONDS_OF_STRANGE

    assert serve(talk_nonsense)[:1] == ["join"]


@pytest.mark.parametrize("limit", ["MOST_CONNECTIONS", "MOST_OF_AN_ADDRESS"])
def test_who_is_one_too_many_is_told_so_until_somebody_leaves(monkeypatch, limit):
    monkeypatch.setattr(server_module, limit, 2)
    monkeypatch.setattr(server_module, "is_loopback", lambda address: False)

    async def come(port, thread):
        with connect(port) as first, connect(port), connect(port) as third:
            refusal = json.loads(await receive(third))
            assert refusal["msg_type"] == "error"
            assert "2 clients" in refusal["error"]
            assert await receive(third) == b""
            first.close()
            await asyncio.sleep(0.05)
            with connect(port) as fourth:
                fourth.sendall(PING)
                assert await receive(fourth) == PONG

    serve(come)


def test_clients_are_served_while_others_come_all_the_time():
    def come_and_go(port):
        for _ in range(500):
            with connect(port):
                pass

    async def crowd(port, thread):
        with connect(port) as client:
            others = asyncio.create_task(asyncio.to_thread(come_and_go, port))
            answers = 0
            while not others.done() or answers < 20:
                client.sendall(PING)
                assert await receive(client) == PONG
                answers += 1

    serve(crowd)


def test_an_error_in_taking_up_one_client_does_not_keep_the_next_one_out(monkeypatch, caplog):
    monkeypatch.setattr(server_module, "SHORTAGE_SECONDS", 0.01)
    faults = [KeyError("of our own making")]

    def look(accepted):
        if faults:
            raise faults.pop()
        return False

    monkeypatch.setattr(server_module, "is_gone", look)

    async def come(port, thread):
        with connect(port):
            await until(lambda: "an error in taking up a client" in caplog.text)
            with connect(port) as second:
                second.sendall(PING)
                assert await receive(second) == PONG

    serve(come)
