"""A short run of the fuzzer of `make soak`, and proof that it would notice."""

import math
from types import SimpleNamespace

import pytest

from donkeysim.wire import fields, framing, reading
from wire.fuzzing import Interview, Maker, run_shard


def test_ten_thousand_made_up_messages_leave_sessions_quick_valid_and_awake():
    tally = run_shard(seed=13, count=10_000)
    assert tally.sent == 10_000
    assert tally.requests > 1000, "many messages are good ones"
    assert tally.errors > 100


def test_the_same_seed_makes_the_same_messages():
    makers = Maker(7), Maker(7)
    first, second = ([maker.make() for _ in range(500)] for maker in makers)
    assert first == second
    assert len(set(first)) > 400


def allow_long_numbers(monkeypatch):
    monkeypatch.setattr(framing, "MOST_DIGITS", 1 << 20)


def take_any_number(monkeypatch):
    monkeypatch.setattr(fields, "math", SimpleNamespace(**{**vars(math), "isfinite": lambda value: True}))


def take_any_colour(monkeypatch):
    monkeypatch.setattr(reading.Form, "_clamp", lambda self, name, value, low, high: value)


def work_without_end(monkeypatch):
    monkeypatch.setattr(framing, "MOST_WORK", 1 << 30)


@pytest.mark.parametrize("spoil", [allow_long_numbers, take_any_number, take_any_colour])
def test_the_fuzzer_finds_what_is_spoilt(spoil, monkeypatch):
    spoil(monkeypatch)
    with pytest.raises((AssertionError, ValueError, OverflowError)):
        run_shard(seed=13, count=10_000)


def test_a_call_that_takes_too_long_is_found(monkeypatch):
    work_without_end(monkeypatch)
    with pytest.raises(AssertionError):
        Interview().tell(b"{" * 8000, wants_answer=False)
