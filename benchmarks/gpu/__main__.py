"""Measures parts of a batch on a device: `python -m benchmarks.gpu [PART ...]`."""

import argparse
from dataclasses import replace
from pathlib import Path

from benchmarks.gpu import PARTS, measure
from benchmarks.gpu.plan import FULL, TINY, choose_plan
from benchmarks.measure import report


def main() -> None:
    """Measure, print and append to out/benchmarks.jsonl."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"which (default: all): {', '.join(PARTS)}")
    parser.add_argument("--device", help="cuda, cuda:1 or cpu (default: a GPU if there is one)")
    parser.add_argument("--cars", type=int, nargs="*", help="numbers of cars (default: 64 to 65,536 on a GPU)")
    parser.add_argument("--seconds", type=float, help="length of a round (default: 10 s on a GPU)")
    given = parser.parse_args()
    if unknown := [part for part in given.parts if part not in PARTS]:
        parser.error(f"unknown part {unknown[0]!r}; valid: {', '.join(PARTS)}.")
    plan = (
        choose_plan() if given.device is None else replace(TINY if given.device == "cpu" else FULL, name=given.device)
    )
    plan = replace(plan, counts=tuple(given.cars or plan.counts), seconds=given.seconds or plan.seconds)
    report(measure(plan, given.parts), Path("out/benchmarks.jsonl"))


if __name__ == "__main__":
    main()
