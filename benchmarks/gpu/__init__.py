"""The batch on a device: physics, pictures and whole steps on a GPU; where there is none, a little of it on the CPU."""

from __future__ import annotations

from benchmarks.gpu.environment import measure_first_steps, measure_steps
from benchmarks.gpu.others import measure_others
from benchmarks.gpu.physics import measure_physics
from benchmarks.gpu.pictures import measure_pictures
from benchmarks.gpu.plan import Plan, choose_plan
from benchmarks.measure import Figure


def run() -> list[Figure]:
    """Measure all of it on this machine's GPU, or a little on its cores."""
    return measure(choose_plan())


def measure(plan: Plan) -> list[Figure]:
    """Measure what a plan says, in one run with what it is compared with."""
    return [
        *measure_physics(plan),
        *measure_pictures(plan),
        *measure_steps(plan),
        *measure_first_steps(plan),
        *measure_others(plan),
    ]
