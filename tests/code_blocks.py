"""The code blocks of README and guide, and the few of them that no program here runs.

A block's language says what is done with it. `sh`: each line is typed. `console`: each line after `$` is typed, the
others are shown. `python`: a program, or settings of myconfig.py. `toml`, `json`: read by what reads them in the
program. `text`: shown only. conventions/test_code_blocks.py reads what can be read at once,
soak/test_every_code_block.py types and runs the rest.
"""

import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LANGUAGES = {"sh", "console", "python", "toml", "json", "text"}

NOT_RUN = {
    ("README.md", "make test"): "the tests themselves",
    ("README.md", "make check"): "runs beside the tests",
    ("README.md", "make audit"): "asks a service on the internet",
    ("README.md", "make pins"): "writes into the checkout; tests/supply compares what it wrote",
    ("README.md", ".venv/bin/python -m pip install --no-deps --require-hashes -r requirements/dev.txt"): "as make test",
    (
        "README.md",
        ".venv/bin/python -m pip install --no-deps --require-hashes -r requirements/torch.txt",
    ): "GPU, 2.7 GB",
    ("README.md", ".venv/bin/python -m pip install --no-deps --no-build-isolation -e ."): "as make test",
    ("README.md", ".venv/bin/python -m pytest -n auto"): "the tests themselves",
    (
        "docs/envs/donkey_env.md",
        'gymnasium.make("donkey-generated-track-v0", conf={"host": "192.168.1.20", "port": 9091})',
    ): ("needs another machine, and the original's simulator"),
    ("docs/envs/learning.md", "make rllib"): "an environment of its own: soak/test_rllib.py",
    ("docs/envs/learning.md", "from ray.rllib.algorithms.ppo import PPOConfig"): "a part of the example",
    ("docs/envs/gpu.md", "make gpu"): "needs a GPU; tests/gpu run tiny on the CPU",
    ("docs/guide/README.md", "python manage.py drive --js"): "needs a joystick; tests/drive has a drawn one",
    ("docs/guide/joystick.md", "python manage.py drive --js"): "needs a joystick; tests/drive has a drawn one",
    (
        "docs/guide/joystick.md",
        "from donkeycar.parts.controller import Joystick, JoystickController",
    ): "no program; conventions/test_code_blocks.py reads it as the car does",
    ("docs/guide/createjs.md", "donkey createjs"): "needs a joystick and a hand; tests/cli has drawn ones",
    ("docs/guide/createjs.md", "def init_trigger_maps(self):"): "a piece of what createjs writes",
    (
        "docs/guide/calibrate.md",
        "donkey calibrate --views views --floor floor --tub data --square 29.8 --ahead 55 --out mycar",
    ): "needs pictures of a real board: soak/test_calibrate.py draws some",
    (
        "docs/guide/calibrate.md",
        "donkey_sim --camera mycar_camera.toml --car mycar_car.toml",
    ): "needs the files that the line above writes",
    ("docs/guide/class.md", 'pip install ".[learn]"'): "run in docs/guide/README.md",
    (
        "docs/guide/class.md",
        "donkey race host --track generated_track --rules virtual_race_league --host 0.0.0.0 --wait 120 --out class",
    ): "needs a class: soak/test_race_evening.py",
    (
        "docs/guide/class.md",
        "donkey drive --simulator 192.168.0.10:9091 --model models/mypilot.h5",
    ): "needs another machine: soak/test_join_simulator.py",
    ("docs/guide/container.md", "docker build --tag donkeysim ."): "needs containers: soak/test_container.py",
    (
        "docs/guide/container.md",
        "docker run --rm --publish 9091:9091 --publish 9093:9093 donkeysim",
    ): "needs containers: soak/test_container.py",
    (
        "docs/guide/container.md",
        "RACE_HOST=race.example.org RACE_TRACK=mini_monaco docker compose up --build",
    ): "needs containers: soak/test_container.py",
    ("docs/guide/demo.md", "donkey demo"): "run in docs/guide/README.md",
    ("docs/guide/drive.md", "class SlowInCurves:"): "run by e2e/test_guide_drive.py",
    ("docs/guide/donkey_sim.md", "import json, socket"): "run by e2e/test_guide.py",
    (
        "docs/guide/race.md",
        "python3 -m venv .venv && . .venv/bin/activate && pip install .",
    ): "run by soak/test_race_evening.py",
    ("docs/guide/race-host.md", "donkey race engineer show"): "needs a race that runs: soak/test_race_evening.py",
    ("docs/guide/race-host.md", "donkey race engineer pause"): "needs a race that runs: tests/serve",
    (
        "docs/guide/race-host.md",
        'donkey race engineer penalise Anna=5 --why "rude"',
    ): "needs a race that runs: tests/serve",
    ("docs/guide/replay.md", "donkey replay run.dlog"): "a log of a killed program: tests/record",
    ("docs/guide/replay.md", "donkey replay alley.dlog"): "a track that was changed since: tests/record",
    ("docs/pilots.md", "TENSORFLOW_PYTHON=tf/bin/python python -m benchmarks training"): "minutes, and TensorFlow",
    (
        "docs/pilots.md",
        "FOUR_COMMANDS_PYTHON=.venv/bin/python python -m pytest -m soak -s tests/soak/test_four_commands.py",
    ): "a soak of its own",
    (
        "docs/tubs.md",
        "DONKEYCAR_PYTHON=judge/bin/python python -m pytest -m soak -s tests/soak/test_kill_nine.py",
    ): "a soak of its own, which needs the original",
    (
        "docs/watching.md",
        "donkey drive --simulator 127.0.0.1:9091 --track generated_track",
    ): "needs a simulator that runs: soak/test_join_simulator.py",
}
"""Why a command, or a block that begins with this line, is not run."""


@dataclass(frozen=True)
class Block:
    """One fenced block."""

    document: str
    line: int
    language: str
    text: str

    @property
    def place(self) -> str:
        """Where it begins."""
        return f"{self.document}:{self.line}"

    @property
    def first_line(self) -> str:
        """Its first line, without a comment."""
        return strip_comment(self.text.split("\n", 1)[0])

    @property
    def is_settings(self) -> bool:
        """Whether it is for myconfig.py."""
        if self.language != "python" or self.is_listed:
            return False
        body = ast.parse(self.text).body
        targets = [node.targets[0] if isinstance(node, ast.Assign) else None for node in body]
        return all(isinstance(target, ast.Name) and target.id.isupper() for target in targets)

    @property
    def is_listed(self) -> bool:
        """Whether the table says that it is not run."""
        return (self.document, self.first_line) in NOT_RUN

    def list_commands(self) -> list[str]:
        """Return what is typed."""
        if self.language == "sh":
            lines = self.text.splitlines()
        elif self.language == "console":
            lines = [line.removeprefix("$ ") for line in self.text.splitlines() if line.startswith("$ ")]
        else:
            return []
        return [command for command in map(strip_comment, lines) if command]


def strip_comment(line: str) -> str:
    """Return a line without its comment and the space around it."""
    return re.sub(r"(^|\s+)#.*", "", line).strip()


def list_documents() -> list[str]:
    """Return README and docs; decisions tell what was run when, and the guide's translations have its commands."""
    paths = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    names = [path.relative_to(ROOT).as_posix() for path in paths]
    return [name for name in names if "/decisions/" not in name and not re.search(r"\.(zh|ja)\.md$", name)]


@cache
def list_blocks(document: str) -> tuple[Block, ...]:
    """Return the blocks of a document."""
    return find_blocks(document, (ROOT / document).read_text(encoding="utf-8"))


def find_blocks(document: str, text: str) -> tuple[Block, ...]:
    """Return the fenced blocks of a text."""
    fences = re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return tuple(Block(document, text[: match.start()].count("\n") + 1, match[1], match[2]) for match in fences)
