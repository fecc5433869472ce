"""Run benchmark cases and print their figures: `python -m benchmarks [CASE ...]`."""

import argparse
import importlib
import sys
from pathlib import Path

from benchmarks.compare import compare, print_ratios
from benchmarks.measure import report, write_lines

CASES = (
    "car_steps",
    "roof",
    "physics_steps",
    "batches",
    "fidelity",
    "places",
    "drivers",
    "wire",
    "pictures",
    "batch_pictures",
    "watching",
    "race_watching",
    "startup",
    "first_picture",
    "site_visit",
    "memory",
    "scenes",
    "pilots",
    "training",
    "drive_loop",
    "envs",
    "gpu",
    "action_log",
    "races",
    "randomization",
    "traces",
    "peers",
    "learning",
)

LONG = ("learning", "gpu")
"""Those that take long and are run by name only."""


def main() -> None:
    """Parse the cases, run each, print and append to out/benchmarks.jsonl."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("cases", nargs="*", help=f"which (default, all: all but {', '.join(LONG)}): {', '.join(CASES)}")
    parser.add_argument("--out", type=Path, default=Path("out/benchmarks.jsonl"), help="JSON lines are appended here")
    parser.add_argument("--compare", metavar="COMMIT", help="take all figures by turns here and there, print ratios")
    arguments = parser.parse_args()
    if unknown := [case for case in arguments.cases if case not in (*CASES, "all")]:
        sys.exit(f"unknown case {unknown[0]!r}. Valid: all, {', '.join(CASES)}.")
    usual = [case for case in CASES if case not in LONG]
    cases = arguments.cases if arguments.cases and "all" not in arguments.cases else usual
    if arguments.compare:
        print_ratios(compare(cases, arguments.compare), arguments.compare)
        return
    for case in cases:
        module = importlib.import_module(f"benchmarks.{case}")
        print(f"\n{case}: {(module.__doc__ or '').splitlines()[0]}")
        if print_table := getattr(module, "print_figures", None):
            figures = module.run()
            print_table(figures)
            write_lines(figures, arguments.out)
        else:
            report(module.run(), arguments.out)


if __name__ == "__main__":
    main()
