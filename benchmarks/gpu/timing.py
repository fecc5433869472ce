"""Rates of what is enqueued on a device."""

import gc
from collections.abc import Callable

from benchmarks.gpu.plan import Plan
from benchmarks.measure import measure_rate
from donkeysim.core.device import Device

AT_ONCE = 10
"""Calls between two waits for the device: launches run ahead of it as they do in use."""


def free_memory() -> None:
    """Give back what the last case held: arrays and graphs refer to one another, so nobody else does it in time."""
    gc.collect()


def measure_frames(plan: Plan, device: Device, frame: Callable[[], object], count: int) -> tuple[float, float]:
    """Return (median, best) cars, or pictures, per second of frames of `count` each, all launches included."""

    def work() -> int:
        for _ in range(AT_ONCE):
            frame()
        device.synchronize()
        return AT_ONCE * count

    seconds = plan.seconds if count == plan.asked or not plan.asked else plan.seconds / 5
    return measure_rate(work, seconds, plan.rounds)
