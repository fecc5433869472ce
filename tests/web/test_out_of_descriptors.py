"""When the system has no sockets left, one line says so and what to do, and the loop has time for others."""

import asyncio
import errno
import logging
import os
import socket
import time

from donkeysim.web.serving import log_briefly


class FullSystem(socket.socket):
    """A listening socket of a system that has no room for another."""

    tries = 0
    is_full = True

    def accept(self):
        self.tries += 1
        if self.is_full:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return super().accept()


async def knock(listener, seconds):
    loop = asyncio.get_running_loop()
    log_briefly(loop)
    welcomed = []
    server = await loop.create_server(lambda: _Welcome(welcomed), sock=listener)
    knocking = socket.create_connection(listener.getsockname())
    await asyncio.sleep(seconds)
    listener.is_full = False
    while not welcomed:
        await asyncio.sleep(0.05)
    knocking.close()
    server.close()


class _Welcome(asyncio.Protocol):
    def __init__(self, welcomed):
        self.welcomed = welcomed

    def connection_made(self, transport):
        self.welcomed.append(transport)


def test_a_system_without_room_is_told_of_once_and_clients_come_in_when_there_is_room_again(caplog):
    caplog.set_level(logging.INFO)
    listener = FullSystem()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    listener.setblocking(False)
    begun = time.process_time()
    asyncio.run(knock(listener, 1.5))
    assert time.process_time() - begun < 0.5
    assert listener.tries >= 2
    (record,) = (told for told in caplog.records if "Too many open files" in told.getMessage())
    assert "Too many open files; close" in record.message
    assert record.exc_info is None


def test_other_errors_of_a_loop_are_told_as_ever(caplog):
    async def fail():
        loop = asyncio.get_running_loop()
        log_briefly(loop)
        loop.call_soon(lambda: 1 / 0)
        await asyncio.sleep(0.01)

    asyncio.run(fail())
    assert caplog.records[0].exc_info is not None
