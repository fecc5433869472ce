"""In lock-step time waits for everybody who has something to say, and not for the silent."""

from donkeysim.core.clock import ManualClock
from donkeysim.serve.lock_step import MOST_SILENT_SECONDS, LockStep, RequestQueue
from donkeysim.wire.messages import DriveCar, ResetCar

CONTROL = DriveCar(steer=0.0, throttle=0.0, brake=0.0)


def test_nobody_ready_waits_without_end():
    assert LockStep(ManualClock()).seconds_left([RequestQueue(0.0), RequestQueue(0.0)]) is None
    assert LockStep(ManualClock()).seconds_left([]) is None


def test_all_ready_steps_at_once():
    ready = RequestQueue(0.0)
    ready.waiting.append(CONTROL)
    assert LockStep(ManualClock(100.0)).seconds_left([ready, ready]) == 0.0


def test_a_silent_client_is_waited_for_ten_seconds():
    clock = ManualClock(5.0)
    ready, silent = RequestQueue(0.0), RequestQueue(3.0)
    ready.waiting.append(CONTROL)
    assert LockStep(clock).seconds_left([ready, silent]) == 3.0 + MOST_SILENT_SECONDS - 5.0
    clock.advance(10.0)
    assert LockStep(clock).seconds_left([ready, silent]) == 0.0


def test_only_a_control_makes_ready():
    queue = RequestQueue(0.0)
    queue.waiting.append(ResetCar())
    assert not queue.is_ready()
