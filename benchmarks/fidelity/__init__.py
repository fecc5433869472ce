"""How near the simulator comes to recordings of the original: car, places, look."""

from collections.abc import Sequence

from benchmarks.fidelity.car import measure_car
from benchmarks.fidelity.look import measure_look
from benchmarks.fidelity.places import measure_places
from benchmarks.fidelity.row import Row, print_rows
from benchmarks.measure import Figure


def run() -> list[Figure]:
    """Measure everything; a figure's goal is the original's."""
    rows = [*measure_car(), *measure_places(), *measure_look()]
    return [
        Figure("fidelity", row.name, row.ours, row.ours, row.unit, row.original, f"allowed ±{row.allowed:.4g}")
        for row in rows
    ]


def print_figures(figures: Sequence[Figure]) -> None:
    """Print the table of docs/fidelity.md."""
    print_rows([Row(f.what, f.goal or 0.0, f.value, f.unit, float(f.note.split("±")[1])) for f in figures])
