"""A token bucket gives its rate over any length of time, saves no more than its size and lends."""

import pytest

from donkeysim.core.clock import ManualClock, TokenBucket


def test_work_is_done_at_the_rate_that_tokens_come_in():
    clock = ManualClock()
    bucket, done = TokenBucket(100.0, 20.0, clock), 0
    while clock.now < 10.0:
        if bucket.seconds_left():
            clock.advance(bucket.seconds_left() + 1e-9)
        else:
            bucket.take(5)
            done += 5
    assert done == pytest.approx(1000 + 20, abs=10)


def test_a_long_pause_saves_no_more_than_the_bucket_holds():
    clock = ManualClock()
    bucket = TokenBucket(100.0, 20.0, clock)
    clock.advance(1000.0)
    bucket.take(20)
    assert bucket.seconds_left() == 0.0
    bucket.take(5)
    assert bucket.seconds_left() == pytest.approx(0.05)


def test_another_rate_counts_from_now_on():
    clock = ManualClock()
    bucket = TokenBucket(100.0, 20.0, clock)
    bucket.take(30)
    bucket.rate = 10.0
    assert bucket.seconds_left() == pytest.approx(1.0)
