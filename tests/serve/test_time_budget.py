"""A budget is a share of the time that passes, saved and owed within limits."""

import pytest

from donkeysim.core.clock import ManualClock
from donkeysim.serve.time_budget import TimeBudget


def test_work_gets_its_share_of_the_time():
    clock = ManualClock()
    budget = TimeBudget(0.25, 0.01, clock)
    worked = 0.0
    while clock.now < 10.0:
        if budget.is_left():
            clock.advance(0.002)
            worked += 0.002
            budget.charge(0.002)
        else:
            clock.advance(budget.seconds_to_more() + 1e-6)
    assert worked == pytest.approx(2.5, rel=0.02)


def test_neither_savings_nor_debts_grow_without_limit():
    clock = ManualClock()
    budget = TimeBudget(0.5, 0.01, clock)
    clock.advance(1000.0)
    budget.charge(0.0101)
    assert not budget.is_left(), "a long pause saves no more than a burst"
    budget.charge(1000.0)
    assert budget.seconds_to_more() == pytest.approx(0.02), "one long piece of work is forgiven"
