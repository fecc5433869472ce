"""The original's eleven places, figure by figure beside what is known of them.

`python -m benchmarks places`, or `python -m benchmarks.places JSON ...` with files of facts of your own.
"""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.measure import Figure
from benchmarks.places.facts import Comparison, compare, read_facts

KNOWN = sorted((Path(__file__).parent / "known").glob("*.json"))
"""A file of facts for each place, from the original's scene files."""


def run(files: Sequence[Path] = KNOWN) -> list[Figure]:
    """Compare every place; a figure is by how much ours is off."""
    figures = []
    for path in files:
        facts = read_facts(path)
        figures += [_tell(facts.scene, row) for row in compare(facts)]
    return figures


def print_figures(figures: Sequence[Figure]) -> None:
    """Print a table; what is too far off is marked."""
    print("| place | figure | original | here | off by | at most | |\n|---|---|---|---|---:|---:|---|")
    for row in figures:
        scene, what = row.what.split(": ", 1)
        verdict = "" if row.value <= (row.most or 0.0) else "too far off"
        print(f"| {scene} | {what} | {row.note} | {row.value:.3g} | {row.most:g} | {verdict} |")


def _tell(scene: str, row: Comparison) -> Figure:
    note = f"{row.original} | {row.ours}"
    return Figure("places", f"{scene}: {row.what}", row.off, row.off, "", None, note, row.bound)
