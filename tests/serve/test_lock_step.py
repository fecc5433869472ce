"""In lock-step time waits for everybody who has something to say, and not for the silent."""

from donkeysim.core.clock import ManualClock
from donkeysim.serve.client_queues import MOST_SILENT_SECONDS, ClientQueue, LockStep
from donkeysim.wire.messages import DriveCar, ResetCar

CONTROL = DriveCar(steer=0.0, throttle=0.0, brake=0.0)


def test_nobody_ready_waits_without_end():
    assert LockStep(ManualClock()).seconds_left([ClientQueue(1), ClientQueue(2)]) is None
    assert LockStep(ManualClock()).seconds_left([]) is None


def test_all_ready_steps_at_once():
    ready = ClientQueue(1)
    ready.append(CONTROL, latest_counts=False)
    assert LockStep(ManualClock(100.0)).seconds_left([ready, ready]) == 0.0


def test_a_silent_client_is_waited_for_ten_seconds():
    clock = ManualClock(5.0)
    ready, silent = ClientQueue(1), ClientQueue(2, 3.0)
    ready.append(CONTROL, latest_counts=False)
    assert LockStep(clock).seconds_left([ready, silent]) == 3.0 + MOST_SILENT_SECONDS - 5.0
    clock.advance(10.0)
    assert LockStep(clock).seconds_left([ready, silent]) == 0.0


def test_only_a_control_makes_ready():
    queue = ClientQueue(1)
    queue.append(ResetCar(), latest_counts=False)
    assert not queue.is_ready
