"""How long it takes to learn to drive from pixels, with each tool: from the command to ten laps by 16 cars, all clean.

LEARNING_TOOLS, LEARNING_SEEDS and LEARNING_MINUTES choose names of `TOOLS`, seeds and the limit of each run, which
`python -m benchmarks` alone leaves out. Each run is appended to out/learning.jsonl with its whole curve;
`python docs/envs/write_learning.py` makes the table and the picture of docs/envs/learning.md from it.
"""

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.measure import Figure
from donkeysim.rl.curve import read_curve

ROOT = Path(__file__).parents[1]
RESULTS = Path("out/learning.jsonl")
SPARE = 60.0
"""So much longer than its limit a program may take to come to an end [s]."""

TOOLS = {
    "donkey-rl": ("python -m donkeysim rl --page 0", ("torch",)),
    "donkey-rl-teacher": ("python -m donkeysim rl --page 0 --teacher", ("torch",)),
    "donkey-rl-expert": ("python -m donkeysim rl --page 0 --teacher expert", ("torch",)),
    "sb3-ppo": ("python examples/sb3_ppo_pixels.py", ("stable-baselines3", "torch")),
    "cleanrl-ppo": ("python examples/cleanrl_ppo_pixels.py", ("gymnasium", "torch")),
    "torchrl-ppo": ("python examples/torchrl_ppo_pixels.py", ("torchrl", "tensordict", "torch")),
    "sb3-sac": ("python examples/sb3_sac_pixels.py", ("stable-baselines3", "torch")),
    "sb3-tqc": ("python examples/sb3_sac_pixels.py --algorithm tqc", ("sb3-contrib", "stable-baselines3", "torch")),
}
"""The command of each, and the packages whose versions matter."""


@dataclass(frozen=True)
class Run:
    """One run of a tool.

    Attributes:
        tool: Name in `TOOLS`.
        command: As one would type it.
        seed: Given to it.
        minutes: The limit.
        passed: Whether it passed its exam within the limit.
        seconds: From the start of the process to the end of the exam that it passed, or the whole time.
        steps: Of all cars together.
        curve: Of each exam: seconds, processor time of all threads [s] (which other programs do not lengthen), steps,
            mean laps when the first car failed, mean speed [m/s], passed.
        versions: Of Python, donkeysim and the tool's packages.
        machine: Processor and cores.
    """

    tool: str
    command: str
    seed: int
    minutes: float
    passed: bool
    seconds: float
    steps: int
    curve: list[dict[str, Any]]
    versions: dict[str, str]
    machine: str


def run() -> list[Figure]:
    """Let every tool learn with every seed, one after the other."""
    tools = os.environ.get("LEARNING_TOOLS", " ".join(TOOLS)).split()
    seeds = [int(seed) for seed in os.environ.get("LEARNING_SEEDS", "0 1 2").split()]
    minutes = float(os.environ.get("LEARNING_MINUTES", "10"))
    if unknown := [tool for tool in tools if tool not in TOOLS]:
        raise SystemExit(f"LEARNING_TOOLS names {unknown[0]!r}. Valid: {', '.join(TOOLS)}.")
    figures = []
    for tool in tools:
        runs = [_learn(tool, seed, minutes) for seed in seeds]
        seconds = [one.seconds for one in runs]
        passed = sum(one.passed for one in runs)
        note = f"{passed} of {len(runs)} seeds passed; {', '.join(f'{one.steps:,}' for one in runs)} steps"
        figures.append(Figure("learning", tool, statistics.median(seconds), min(seconds), "s", note=note))
    return figures


def _learn(tool: str, seed: int, minutes: float) -> Run:
    """Run a tool once, print how it went, and append it to the results."""
    words, packages = TOOLS[tool]
    command = f"{words} --seed {seed} --minutes {minutes:g}"
    with tempfile.TemporaryDirectory() as folder:
        is_ours = tool.startswith("donkey-rl")
        kept = Path(folder, "pilot" if is_ours else "curve.jsonl")
        begun = perf_counter()
        _run_program(command, ["--out" if is_ours else "--curve", str(kept)], 60.0 * minutes + SPARE)
        taken = perf_counter() - begun
        curve = _read_donkey_rl(kept) if is_ours else _read_lines(kept)
    last = curve[-1] if curve else {"seconds": taken, "steps": 0, "passed": False}
    versions = {"python": platform.python_version(), **{name: metadata.version(name) for name in packages}}
    machine = f"{platform.machine()}, {os.cpu_count()} cores"
    seconds = last["seconds"] if last["passed"] else taken
    one = Run(tool, command, seed, minutes, last["passed"], seconds, last["steps"], curve, versions, machine)
    print(f"{tool}, seed {seed}: {'passed' if one.passed else 'not passed'} after {seconds:.1f} s, {one.steps:,} steps")
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(one)) + "\n")
    return one


def _run_program(command: str, options: list[str], limit: float) -> None:
    """Run a program to its end; its last words are printed if it breaks."""
    words = [sys.executable, *command.split()[1:], *options]
    try:
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        print(f"{command} was ended after {limit:.0f} s.")
        return
    if done.returncode and "Traceback" in done.stderr:
        print(f"{command} ended with {done.returncode}:\n{done.stderr[-2000:]}")


def _read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def _read_donkey_rl(folder: Path) -> list[dict[str, Any]]:
    """Return the checks that `donkey rl` leaves in its folder, as the examples write theirs."""
    if not (folder / "summary.json").exists():
        return []
    summary = json.loads((folder / "summary.json").read_bytes())
    points = [point for point in read_curve(folder / "curve.jsonl") if point.checks]
    return [
        {
            "seconds": summary["seconds"] if point is points[-1] and summary["is_passed"] else point.seconds,
            "processor": summary["processor_seconds"],
            "steps": point.steps,
            "laps": point.checks[0].laps,
            "speed": point.checks[0].speed,
            "passed": point is points[-1] and summary["is_passed"],
        }
        for point in points
    ]
