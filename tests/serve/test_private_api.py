"""Organisers are heard on a port of their own when they know its key, and whoever guesses is kept waiting."""

import asyncio
import json
import time

import pytest

from donkeysim.core.errors import SceneError
from donkeysim.serve import private_api
from donkeysim.serve.output import ORGANISERS, Output, OutputKind
from donkeysim.serve.private_api import PrivateApi
from donkeysim.serve.server import Server
from donkeysim.web.limits import MOST_FAILED_LOGINS
from donkeysim.web.listener import try_listen
from donkeysim.wire.replies import CarCrossedLine, encode_reply
from serve.test_coming_and_going import Thread, connect, receive

KEY = "73550198"
VERIFY = b'{"msg_type":"verify","private_key":"73550198"}'
WRONG = b'{"msg_type":"verify","private_key":"%d"}'
VERIFIED = b'{"msg_type":"verified"}\n'
SEED = b'{"msg_type":"set_random_seed","seed":"5"}'


class Challenged(Thread):
    """Stands in for the simulation's thread, which draws challenges."""

    async def draw_challenges(self, seed):
        self.told.append(seed)
        if seed == 13:
            raise SceneError("there are no challenges.")


def serve(scenario):
    """Run a scenario against a server with a private API; return what the simulation was told."""

    async def run():
        thread = Challenged()
        server = Server(try_listen("127.0.0.1", 0), time.perf_counter)
        listener = try_listen("127.0.0.1", 0)
        server.neighbours.append(PrivateApi(listener, time.perf_counter, KEY))
        await server.start(thread)
        try:
            await scenario(listener.getsockname()[1], server)
        finally:
            await server.stop()
        return thread.told

    return asyncio.run(run())


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(private_api, "REFUSAL_SECONDS", 0.02)


async def read(client):
    return json.loads(await receive(client))


def test_who_shows_the_key_may_draw_challenges_and_hears_of_every_car():
    crossing = encode_reply(CarCrossedLine(0, 1.5, "blue"))

    async def organise(port, server):
        with connect(port) as client, connect(port) as stranger:
            client.sendall(VERIFY + SEED + b'\n{"msg_type":"reset_challenges"}')
            assert await receive(client) == VERIFIED
            server.deliver([Output(3, OutputKind.TELEMETRY, b"{}\n"), Output(ORGANISERS, OutputKind.EVENT, crossing)])
            assert await receive(client) == crossing
            with pytest.raises(BlockingIOError):
                stranger.recv(1)
            client.sendall(b'{"msg_type":"set_random_seed","seed":13}')
            assert (await read(client))["error"] == "set_random_seed: there are no challenges."

    assert serve(organise) == [5, None, 13]


def test_without_the_key_nothing_is_done(quick):
    async def try_it(port, server):
        with connect(port) as client:
            client.sendall(SEED + SEED)
            assert "send verify with the private key first" in (await read(client))["error_message"]
            client.sendall(WRONG % 0 + SEED)
            assert "the private key is wrong" in (await read(client))["error_message"]
            client.sendall(b'{"msg_type":"control","steering":"0","throttle":"0","brake":"0"}')
            assert "'control'" in (await read(client))["error"]
            client.sendall(VERIFY + SEED)
            assert await receive(client) == VERIFIED

    assert serve(try_it) == [5]


def test_who_guesses_waits_for_each_answer_and_is_then_not_even_told_when_a_guess_is_right(quick):
    async def guess(port, server):
        with connect(port) as client:
            began = time.perf_counter()
            for number in range(MOST_FAILED_LOGINS):
                client.sendall(WRONG % number + WRONG % (100 + number))
                assert "wrong" in (await read(client))["error_message"]
            assert time.perf_counter() - began > MOST_FAILED_LOGINS * 0.02
            client.sendall(VERIFY + SEED)
            assert "too many wrong keys from your address" in (await read(client))["error_message"]

    assert serve(guess) == []


def test_who_shows_no_key_in_time_is_sent_away(monkeypatch):
    monkeypatch.setattr(private_api, "VERIFY_SECONDS", 0.1)

    async def wait(port, server):
        with connect(port) as silent, connect(port) as known:
            known.sendall(VERIFY)
            assert await receive(known) == VERIFIED
            assert "goodbye" in (await read(silent))["error_message"]
            assert await receive(silent) == b""
            server.deliver([Output(ORGANISERS, OutputKind.EVENT, b"{}\n")])
            assert await receive(known) == b"{}\n"

    serve(wait)


def test_the_key_is_compared_in_constant_time(monkeypatch):
    compared = []
    monkeypatch.setattr(private_api.hmac, "compare_digest", lambda *words: compared.append(words) or True)

    async def show(port, server):
        with connect(port) as client:
            client.sendall('{"msg_type":"verify","private_key":"schlüssel"}'.encode())
            assert await receive(client) == VERIFIED

    serve(show)
    assert compared == [("schlüssel".encode(), KEY.encode())]


def test_who_is_one_too_many_is_told_so(monkeypatch):
    monkeypatch.setattr(private_api, "MOST_ORGANISERS", 1)

    async def crowd(port, server):
        with connect(port) as first:
            first.sendall(VERIFY)
            await receive(first)
            with connect(port) as second:
                assert "1 clients are connected" in (await read(second))["error"]

    serve(crowd)
