"""Write the table and the picture of docs/envs/learning.md from what `python -m benchmarks learning` has measured.

python docs/envs/write_learning.py                   takes out/learning.jsonl: of each tool and seed the newest run
"""

import json
import statistics
import sys
from pathlib import Path
from typing import Any

PAGE = Path(__file__).with_name("learning.md")
PICTURE = PAGE.parents[1] / "pictures" / "learning.png"
BEGIN, END = "<!-- written by docs/envs/write_learning.py -->\n", "<!-- to here -->\n"

NAMES = {
    "donkey-rl": "`donkey rl`",
    "donkey-rl-teacher": "`donkey rl`, a teacher that learns first",
    "donkey-rl-expert": "`donkey rl`, the path follower as teacher",
    "sb3-ppo": "PPO of Stable-Baselines3",
    "cleanrl-ppo": "PPO in CleanRL's style",
    "torchrl-ppo": "PPO of TorchRL",
    "sb3-sac": "SAC of Stable-Baselines3",
    "sb3-tqc": "TQC of sb3-contrib",
}
"""What readers call the tools of benchmarks/learning.py, in the order of the table."""


def read_runs(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the newest run of each tool and seed, by tool, seeds in order."""
    newest = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        run = json.loads(line)
        newest[run["tool"], run["seed"]] = run
    runs = [newest[key] for key in sorted(newest)]
    return {
        tool: [run for run in runs if run["tool"] == tool] for tool in NAMES if any(tool == key[0] for key in newest)
    }


def write_table(tools: dict[str, list[dict[str, Any]]]) -> str:
    """Return a row for each tool: its command, how long each seed took, and medians of those that passed."""
    lines = [
        "| tool | command, without `--seed` | passed | median | each seed | processor time | steps | speed | with |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for tool, runs in tools.items():
        passed = [run for run in runs if run["passed"]]
        # More than half of the seeds must have passed for the median to be a time.
        times = sorted(run["seconds"] if run["passed"] else float("inf") for run in runs)
        median = statistics.median_high(times)
        each = ", ".join(
            f"{run['seed']}: {run['seconds']:.0f} s"
            if run["passed"]
            else f"{run['seed']}: not in {run['minutes']:g} minutes"
            for run in runs
        )
        cells = [
            NAMES[tool],
            f"`{runs[0]['command'].partition(' --seed')[0]}`",
            f"{len(passed)} of {len(runs)}",
            f"{median:.0f} s" if median < float("inf") else "–",
            each,
            f"{statistics.median_low(run['curve'][-1]['processor'] for run in passed):.0f} s" if passed else "–",
            f"{statistics.median_low(run['steps'] for run in passed or runs):,}",
            f"{statistics.median_low(run['curve'][-1]['speed'] for run in passed):.1f} m/s" if passed else "–",
            ", ".join(f"{name} {version}" for name, version in runs[0]["versions"].items() if name != "python"),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def draw_curves(tools: dict[str, list[dict[str, Any]]], path: Path) -> None:
    """Draw how far cars came before the first of them failed, over time: a line for each run."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4.5), layout="constrained")
    axes = figure.subplots()
    for index, (tool, runs) in enumerate(tools.items()):
        for count, run in enumerate(runs):
            seconds, laps = ([point[name] for point in run["curve"]] for name in ("seconds", "laps"))
            name = NAMES[tool].strip("`") if count == 0 else None
            axes.plot(seconds, laps, color=f"C{index}", label=name, linewidth=1.3, alpha=0.8)
            if run["passed"]:
                axes.plot(seconds[-1:], laps[-1:], "o", color=f"C{index}")
    axes.set(xscale="log", yscale="log", ylim=(0.03, 14.0))
    ticks = [5, 10, 20, 30, 60, 120, 300, 600]
    axes.set_xticks(ticks, [f"{tick} s" if tick < 60 else f"{tick // 60} min" for tick in ticks])
    axes.set_yticks([0.1, 1.0, 10.0], ["0.1", "1", "10"])
    axes.minorticks_off()
    axes.set_xlabel("since the command was given")
    axes.set_ylabel("laps, mean of 16 cars, until the first failed")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=100)


def main() -> int:
    """Rewrite the page between its marks, and the picture."""
    tools = read_runs(Path(sys.argv[1] if len(sys.argv) > 1 else "out/learning.jsonl"))
    places = {f"{run['machine']}, Python {run['versions']['python']}" for runs in tools.values() for run in runs}
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    written = f"\n{write_table(tools)}\nMachine: {'; '.join(sorted(places))}.\n\n"
    PAGE.write_text(before + BEGIN + written + END + rest.partition(END)[2], encoding="utf-8")
    draw_curves(tools, PICTURE)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
