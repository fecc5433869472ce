"""The guide's evening of races, typed as it stands there, from a fresh clone to the table of the league."""

import json
import os
import re
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from code_blocks import list_blocks
from soak.terminal import Terminal
from soak.test_every_code_block import copy_checkout
from waiting import wait_until

pytestmark = pytest.mark.soak

COMMANDS = list_blocks("docs/guide/race.md")[0].list_commands()
PAGE = re.compile(r"Watch it at http://127\.0\.0\.1:9093")
RACERS = {"Anna", "Ben", "Chen", "built-in"}


@pytest.fixture
def terminal(tmp_path):
    """In the folder of a clone, on a machine with this Python and nothing else."""
    copy_checkout(tmp_path / "donkeysim")
    (tmp_path / "notes").mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL", "MAKE"))}
    path = os.pathsep.join([str(Path(sys.base_prefix) / "bin"), "/usr/local/bin", "/usr/bin", "/bin"])
    own = {"HOME": str(tmp_path), "PATH": path, "PYTHONUNBUFFERED": "1"}
    own |= {"PIP_CONSTRAINT": str(tmp_path / "donkeysim" / "constraints.txt")}
    return Terminal(tmp_path / "donkeysim", kept | own, tmp_path / "notes")


def ask(path):
    """Return what the page answers, which may have to wait until kernels are compiled."""
    with urllib.request.urlopen(f"http://127.0.0.1:9093{path}", timeout=300) as answer:
        return answer.read()


def follow_race(running):
    """Watch the page until all four have been seen racing; return how it ended."""
    assert running.wait_for(PAGE, 300.0), running.text
    assert b"<title>" in ask("/")
    seen, end = set(), time.monotonic() + 600.0
    while running.process.poll() is None and time.monotonic() < end:
        try:
            race = json.loads(ask("/race"))
        except OSError:  # it has just ended
            wait_until(lambda: running.process.poll() is not None)
            break
        if race is not None and race["session"] == "race":
            seen |= {line["name"] for line in race["tower"]}
        time.sleep(0.5)
    assert seen == RACERS, running.text
    return running.wait(60.0)


@pytest.mark.timeout(1800)
def test_five_commands_lead_from_a_clone_to_a_race_of_four_and_its_results(terminal):
    install, host, *counting = COMMANDS
    assert len(COMMANDS) <= 5
    installed = terminal.type(install, 900.0)
    assert installed.code == 0, installed.text
    with terminal.start(host, "listens on") as running:
        assert follow_race(running) == 0, running.text
        assert "Traceback" not in running.text
    for name in RACERS:
        assert f"│ {name} " in running.text, running.text
    report = json.loads((terminal.folder / "league" / "evening-1" / "race.json").read_text(encoding="utf-8"))
    assert {placing["name"] for placing in report["result"]["placings"]} == RACERS
    for command in counting:
        answer = terminal.type(command, 900.0)
        assert answer.code == 0, answer.text
        assert "Traceback" not in answer.text
    assert (terminal.folder / "league" / "evening-1" / "race.html").stat().st_size > 10_000
    assert all(name in answer.text for name in RACERS), answer.text
