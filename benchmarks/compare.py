"""Figures of this checkout beside those of another commit, taken by turns on the same machine: `--compare COMMIT`.

A machine's speed changes from minute to minute, by more than most changes gain. So each case is run here and there,
there and here, and a figure's ratio is that of a pair of neighbouring runs; the table shows the middle one of all
pairs, with the least and the greatest. Above 1 is better, whatever the unit.
"""

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]

RATES = ("/s", "x", "%", "Hz")
"""How units end of which more is better; of all others less is."""

Figures = dict[tuple[str, str], tuple[float, str]]
"""Value and unit, by case and what was counted."""


class Ratio(NamedTuple):
    """A figure here and there."""

    case: str
    what: str
    unit: str
    here: float
    there: float
    middle: float
    least: float
    greatest: float


def compare(cases: Sequence[str], commit: str, turns: int = 3) -> list[Ratio]:
    """Run cases by turns and return their ratios; a figure that only one of the two has is left out."""
    pairs = []
    with check_out(commit) as there:
        for case in cases:
            for turn in range(turns):
                trees = (ROOT, there) if turn % 2 == 0 else (there, ROOT)
                taken = {tree: run_case(tree, case) for tree in trees}
                pairs.append((taken[ROOT], taken[there]))
    return pair_up(pairs)


@contextlib.contextmanager
def check_out(commit: str) -> Iterator[Path]:
    """Give a folder with another commit's files as long as the block lasts."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "there"
        said = subprocess.run(
            ["git", "worktree", "add", "--detach", str(tree), commit], cwd=ROOT, capture_output=True, text=True
        )
        if said.returncode:
            sys.exit(f"there is no commit {commit!r} to compare with: {said.stderr.strip()}")
        try:
            yield tree
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(tree)], cwd=ROOT, check=False)


def run_case(tree: Path, case: str) -> Figures:
    """Return what a tree's own benchmark finds with this environment's packages; {} where the case fails or is not."""
    out = tree / "out" / "compared.jsonl"
    out.unlink(missing_ok=True)
    path = os.pathsep.join((str(tree / "src"), str(tree)))
    program = [sys.executable, "-m", "benchmarks", case, "--out", str(out)]
    print(f"{case} in {'this checkout' if tree == ROOT else 'the other commit'} …", file=sys.stderr, flush=True)
    subprocess.run(program, cwd=tree, env=os.environ | {"PYTHONPATH": path}, stdout=subprocess.DEVNULL, check=False)
    return read_figures(out)


def read_figures(path: Path) -> Figures:
    """Return the figures of a file of JSON lines; {} where there is none."""
    if not path.is_file():
        return {}
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {(line["case"], line["what"]): (float(line["value"]), line["unit"]) for line in lines}


def pair_up(pairs: Sequence[tuple[Figures, Figures]]) -> list[Ratio]:
    """Return the ratios of all figures that both have, in the order in which they were taken first."""
    ratios = []
    for key in dict.fromkeys(key for here, there in pairs for key in here if key in there):
        both = [(here[key], there[key]) for here, there in pairs if key in here and key in there]
        unit = both[0][0][1]
        found = sorted(rate(ours, theirs, unit) for (ours, _), (theirs, _) in both)
        middles = [statistics.median(value for value, _ in side) for side in zip(*both, strict=True)]
        ratios.append(Ratio(*key, unit, *middles, statistics.median(found), found[0], found[-1]))
    return ratios


def rate(here: float, there: float, unit: str) -> float:
    """Return how many times better a figure is here."""
    if here == there:
        return 1.0
    if not (here and there):
        return float("nan")
    return here / there if unit.strip().endswith(RATES) else there / here


def print_ratios(ratios: Sequence[Ratio], commit: str) -> None:
    """Print a table."""
    print(f"{'':<58} {'here':>12} {commit[:12]:>12} {'unit':<12} better  (least to greatest)")
    for ratio in ratios:
        values = f"{ratio.here:>12,.6g} {ratio.there:>12,.6g} {ratio.unit:<12}"
        print(f"{ratio.what[:58]:<58} {values} {ratio.middle:>5.2f}x  ({ratio.least:.2f} to {ratio.greatest:.2f})")
