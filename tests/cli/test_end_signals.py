"""What ends the simulator ends it, also where the event loop takes no signals, as on Windows."""

import asyncio
import os
import signal

import pytest

from donkeysim.cli import donkey_sim


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="nothing stands in for Ctrl-Break")
def test_ctrl_break_ends_the_simulator_where_the_loop_takes_no_signals(monkeypatch):
    before = [(number, signal.getsignal(number)) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)]
    monkeypatch.setattr(signal, "SIGBREAK", signal.SIGUSR1, raising=False)

    def refuse(_number, _callback):
        raise NotImplementedError

    async def wait_for_the_end():
        loop, ended = asyncio.get_running_loop(), asyncio.Event()
        monkeypatch.setattr(loop, "add_signal_handler", refuse)
        donkey_sim._end_at_signals(ended.set)
        os.kill(os.getpid(), signal.SIGUSR1)
        await asyncio.wait_for(ended.wait(), 5)

    try:
        asyncio.run(wait_for_the_end())
    finally:
        for number, handler in before:
            signal.signal(number, handler)
