"""The event loop stays awake for a quick client's next control, and only for that."""

import asyncio
import time

import pytest

from donkeysim.serve import simulation_thread as module
from donkeysim.serve.simulation_thread import BusyPolling

AWAKE_SECONDS = 0.02


@pytest.fixture(autouse=True)
def longer(monkeypatch):
    """A busy machine needs milliseconds for what otherwise takes a tenth of one."""
    monkeypatch.setattr(module, "AWAKE_SECONDS", AWAKE_SECONDS)


def count_rounds(gap, exchanges, core_count=2):
    """Let a client take so long for each control; return the mean count of the loop's rounds while it does."""

    async def run():
        loop, rounds = asyncio.get_running_loop(), 0
        busy_polling = BusyPolling(time.perf_counter, core_count)
        select = loop._selector.select

        def count(timeout=None):
            nonlocal rounds
            rounds += 1
            return select(timeout)

        loop._selector.select = count
        for _ in range(exchanges):
            busy_polling.note_control()
            busy_polling.note_answer()
            control = loop.create_future()
            loop.call_later(gap, control.set_result, None)
            await control
        return rounds / exchanges

    return asyncio.run(run())


def test_stays_awake_for_a_quick_client():
    assert count_rounds(AWAKE_SECONDS / 4, 20) > 10.0


@pytest.mark.parametrize(("gap", "core_count"), [(2 * AWAKE_SECONDS, 2), (AWAKE_SECONDS / 4, 1)])
def test_sleeps_while_a_client_takes_its_time_or_needs_the_only_core(gap, core_count):
    assert count_rounds(gap, 10, core_count) < 5.0


def test_gives_up_when_a_quick_client_falls_silent():
    async def run():
        busy_polling = BusyPolling(time.perf_counter, 2)
        busy_polling.note_answer()
        busy_polling.note_control()
        busy_polling.note_answer()
        await asyncio.sleep(2 * AWAKE_SECONDS)
        began = time.process_time()
        await asyncio.sleep(0.2)
        return time.process_time() - began

    assert asyncio.run(run()) < 0.05
