"""A clock that stands still while its process is stopped."""

import pytest

from donkeysim.core.clock import AwakeClock, ManualClock


def test_it_goes_as_the_other_clock_while_it_is_read_often_enough():
    time = ManualClock(7.0)
    clock = AwakeClock(time)
    begun = clock()
    for _ in range(100):
        time.advance(1.0)
        clock()
    assert clock() - begun == pytest.approx(100.0)


def test_a_minute_in_which_nobody_could_read_it_counts_for_a_moment_only():
    time = ManualClock()
    clock = AwakeClock(time)
    begun = clock()
    time.advance(60.0)
    assert 0.0 < clock() - begun <= AwakeClock.LONGEST_SILENCE
    before = clock()
    time.advance(1.0)
    assert clock() - before == pytest.approx(1.0)
