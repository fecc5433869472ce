"""The event loop stands back while a beat begins, and no longer than a few milliseconds."""

import threading
import time

from donkeysim.serve import quiet_start
from donkeysim.serve.quiet_start import QuietStart
from waiting import PATIENCE


def test_nobody_waits_between_beats():
    start = QuietStart()
    began = time.perf_counter()
    start.wait()
    start.end()
    start.wait()
    assert time.perf_counter() - began < quiet_start.MOST_SECONDS


def test_who_waits_goes_on_when_the_start_is_over(monkeypatch):
    monkeypatch.setattr(quiet_start, "MOST_SECONDS", PATIENCE)
    start = QuietStart()
    start.begin()
    waiting = threading.Thread(target=start.wait)
    waiting.start()
    waiting.join(0.02)
    assert waiting.is_alive()
    start.end()
    waiting.join(PATIENCE / 2)
    assert not waiting.is_alive()


def test_a_long_start_is_waited_for_once(monkeypatch):
    monkeypatch.setattr(quiet_start, "MOST_SECONDS", 0.02)
    start = QuietStart()
    start.begin()
    began = time.perf_counter()
    start.wait()
    assert time.perf_counter() - began >= 0.02
    monkeypatch.setattr(quiet_start, "MOST_SECONDS", PATIENCE)
    start.wait()  # in the same beat
    assert time.perf_counter() - began < PATIENCE / 2
