"""The batch on a device: physics, pictures and whole steps on a GPU; where there is none, a little of it on the CPU.

`python -m benchmarks.gpu [PART ...] [--device cuda:1] [--seconds S]` measures some parts only, each in a few minutes.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from benchmarks.gpu.environment import measure_first_steps, measure_steps
from benchmarks.gpu.others import measure_others
from benchmarks.gpu.physics import measure_physics
from benchmarks.gpu.pictures import measure_pictures
from benchmarks.gpu.plan import Plan, choose_plan
from benchmarks.measure import Figure

PARTS: dict[str, Callable[[Plan], Iterable[Figure]]] = {
    "physics": measure_physics,
    "pictures": measure_pictures,
    "steps": measure_steps,
    "first_steps": measure_first_steps,
    "others": measure_others,
}


def run() -> Iterator[Figure]:
    """Measure all of it on this machine's GPU, or a little on its cores."""
    return measure(choose_plan())


def measure(plan: Plan, parts: Sequence[str] = ()) -> Iterator[Figure]:
    """Measure what a plan says of some parts, or of all, in one run with its peers; tell each at once."""
    for part in parts or PARTS:
        yield from PARTS[part](plan)
