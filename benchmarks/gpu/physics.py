"""Physics only: car steps of a twentieth of a second, driving, and with a tenth of the cars against a wall."""

from collections.abc import Iterator

from benchmarks.gpu.driving import Traffic
from benchmarks.gpu.plan import Plan
from benchmarks.gpu.timing import measure_frames
from benchmarks.measure import Figure
from donkeysim.core.device import Device

CASES = (("generated_track", 0, 8e6), ("canyon_road", 0, 8e6), ("canyon_road", 10, 2e6))
"""Scene, which part of the cars leans (each 10th; 0: none), and what is asked for [car steps/s]."""


def measure_physics(plan: Plan) -> Iterator[Figure]:
    """Measure all cases with all numbers of cars."""
    device = plan.open()
    for scene, leaning, least in CASES:
        for count in plan.counts:
            yield measure_case(plan, device, count, scene, leaning, least)
    device.close()


def measure_case(plan: Plan, device: Device, count: int, scene: str, leaning: int, least: float) -> Figure:
    """Return the figure of so many cars."""
    traffic = Traffic(device, scene, count, leaning)
    traffic.warm_up(plan.frames)
    pair = measure_frames(plan, device, device.capture(traffic.step).launch, count)
    doing = f"each {leaning}th against a wall" if leaning else "driving"
    memory = traffic.batch.measure_memory().total / 2**20
    missed = traffic.batch.report().contacts
    note = f"{traffic.find_touching():.1%} touch something; {memory:,.0f} MB; missed: {missed}"
    what = f"physics, {scene}, {doing}, {count:,} cars"
    return Figure("gpu", what, *pair, "car steps/s", plan.ask(count, least), f"{device.name}; {note}")
