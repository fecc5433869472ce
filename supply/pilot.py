"""Make the pilot that lies in the package: python -m supply.pilot [--out FILE].

It needs the extra `learn` and a few minutes.
"""

import argparse

from donkeysim.cli.console import console
from donkeysim.learn.built_in import train_built_in
from donkeysim.learn.pilot import BUILT_IN_PILOT


def main() -> None:
    """Train it and say how good it is."""
    from rich.progress import Progress

    parser = argparse.ArgumentParser(prog="python -m supply.pilot", description=__doc__)
    parser.add_argument(
        "--out", default=str(BUILT_IN_PILOT), help="the .onnx file to write (default: the one in the package)"
    )
    parser.add_argument("--records", type=int, default=20_000, help="number of records to learn from (default 20000)")
    parser.add_argument("--epochs", type=int, default=16, help="passes over all records (default 16)")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with Progress(console=console, disable=not console.is_interactive) as progress:
        tasks = {stage: progress.add_task(stage) for stage in ("driving", "learning")}
        error = train_built_in(
            arguments.out,
            arguments.records,
            arguments.epochs,
            arguments.seed,
            lambda stage, done, total: progress.update(tasks[stage], completed=done, total=total),
        )
    console.print(f"wrote {arguments.out}; error in angle on unseen drives {error:.3f}", soft_wrap=True)


if __name__ == "__main__":
    main()
