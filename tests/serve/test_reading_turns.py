"""Turns at reading: at once while nobody waits, else in rotation and within a share of the event loop's time."""

import asyncio
import time

import pytest

from donkeysim.serve.reading_turns import SHARE, ReadingTurns, Turn


class Reading:
    """Somebody with portions to read, each of which takes so long."""

    def __init__(self, turns, portions, seconds, order, name):
        self.turns, self.left, self.seconds, self.order, self.name = turns, portions, seconds, order, name
        self.is_held = False

    def read_some(self):
        if self.is_held:
            return Turn.HELD
        began = time.perf_counter()
        while time.perf_counter() < began + self.seconds:
            pass
        self.order.append(self.name)
        self.turns.charge(time.perf_counter() - began)
        self.left -= 1
        return Turn.MORE if self.left > 0 else Turn.DONE


def read(portions, seconds, hold=(), wait=10.0, is_shared=lambda: True):
    """Let readers read; return in which order, how long it took and how often the loop went round."""

    async def run():
        turns, order = ReadingTurns(time.perf_counter, is_shared), []
        readers = [Reading(turns, count, seconds, order, name) for name, count in enumerate(portions)]
        for name in hold:
            readers[name].is_held = True
        began = time.perf_counter()
        rounds = 0
        for reader in readers:
            turns.ask(reader)
        while any(reader.left for reader in readers) and time.perf_counter() < began + wait:
            await asyncio.sleep(0)
            rounds += 1
            if time.perf_counter() > began + 0.05:
                for reader in readers:
                    reader.is_held = False
        return order, time.perf_counter() - began, rounds

    return asyncio.run(run())


def test_a_single_portion_is_read_at_once():
    async def ask():
        turns, order = ReadingTurns(time.perf_counter), []
        turns.ask(Reading(turns, 1, 0.0, order, "only"))
        return order

    assert asyncio.run(ask()) == ["only"]


def test_each_turn_stands_back_first():
    async def ask():
        order = []
        turns = ReadingTurns(time.perf_counter, stand_back=lambda: order.append("stood back"))
        turns.ask(Reading(turns, 2, 0.0, order, "read"))
        await asyncio.sleep(0.01)
        return order

    assert asyncio.run(ask()) == ["stood back", "read"] * 2


def test_everybody_reads_in_rotation_however_much_one_has():
    order, _, _ = read([100, 3, 3], 0.0)
    assert [name for name in order[:9] if name == 1] == [1, 1, 1]
    assert len(order) == 106


def test_reading_keeps_within_its_share_and_the_loop_stays_responsive():
    order, seconds, rounds = read([60, 60], 0.001)
    assert len(order) == 120
    assert seconds >= 0.7 * 0.120 / SHARE, "120 ms of reading are spread over 600 ms"
    assert rounds > 120 / 3, "a stretch of reading is two or three portions long"


def test_who_is_held_reads_later_and_holds_up_nobody():
    order, _, _ = read([2, 2], 0.0, hold=[0])
    assert order == [1, 1, 0, 0]


def test_where_nobody_needs_the_rest_reading_takes_all_the_time():
    order, seconds, _ = read([60, 60], 0.001, is_shared=lambda: False)
    assert len(order) == 120
    assert seconds < 0.5 * 0.120 / SHARE


def test_an_error_in_reading_one_client_ends_that_client_only(caplog):
    class Broken:
        is_ended = False

        def read_some(self):
            raise ValueError

        def abort(self):
            self.is_ended = True

    async def run():
        turns, order, broken = ReadingTurns(time.perf_counter), [], Broken()
        others = [Reading(turns, 3, 0.0, order, name) for name in "ab"]
        for reader in (others[0], broken, others[1]):
            turns.ask(reader)
        deadline = time.perf_counter() + 5.0
        while any(other.left for other in others) and time.perf_counter() < deadline:
            await asyncio.sleep(0)
        return order, broken.is_ended

    order, is_ended = asyncio.run(run())
    assert sorted(order) == ["a", "a", "a", "b", "b", "b"]
    assert is_ended
    assert "disconnected" in caplog.text


@pytest.mark.parametrize("count", [1, 2, 50])
def test_all_is_read_in_the_end(count):
    assert len(read([4] * count, 0.0001)[0]) == 4 * count
