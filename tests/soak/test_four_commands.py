"""The four commands of the README in a fresh environment, driven through the control page by a program.

Makes a virtual environment and installs this repository into it as its users do; with FOUR_COMMANDS_PYTHON, an
interpreter that has donkeysim with the extra `learn`, that one is used instead. LAPS changes how many are recorded.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from donkeysim.tub.reader import TubReader
from e2e.car_process import CarProcess
from soak.page_person import PagePerson

pytestmark = pytest.mark.soak

ROOT = Path(__file__).parents[2]
LAP_COUNT = int(os.environ.get("LAPS", "10"))
SOURCES = ("src", "pyproject.toml", "README.md", "LICENSE", "constraints.txt")


def report(step, **figures):
    print("\n" + json.dumps({"case": "four_commands", "step": step, **figures}), flush=True)


def run(step, folder, *words):
    """Run one command and return what it printed."""
    begin = time.monotonic()
    done = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0, done.stdout
    report(step, seconds=round(time.monotonic() - begin, 1))
    return done.stdout


@pytest.fixture(autouse=True)
def _ctrl_c():
    """Let SIGINT reach the programs started here, also when a shell started the tests in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def python(tmp_path, monkeypatch):
    """The interpreter of an environment with the package and the extra `learn`."""
    chosen = os.environ.get("FOUR_COMMANDS_PYTHON")
    if chosen:
        return Path(chosen)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    source = tmp_path / "source"  # building writes beside the sources
    source.mkdir()
    for name in SOURCES:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, source / name)
    run("make the environment", tmp_path, sys.executable, "-m", "venv", "fresh")
    python = tmp_path / "fresh" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    install = ("-m", "pip", "install", "--quiet", "--constraint", "constraints.txt", ".[learn]")
    run("install", source, python, *install)
    return python


def find_url(car):
    return car.wait_for(r"You can now go to (http://\S+) to drive your car", 120)[1]


@pytest.mark.timeout(3600)
def test_recorded_laps_become_a_pilot_that_drives_three_laps(tmp_path, python):
    donkey = shutil.which("donkey", path=python.parent)
    run("donkey createcar --path mysim", tmp_path, donkey, "createcar", "--path", "mysim")
    folder = tmp_path / "mysim"

    with CarProcess(folder, python=python) as car, PagePerson(find_url(car)) as person:
        person.wait_until_ready()
        taught = person.drive(LAP_COUNT)
        assert car.end(signal.SIGINT) == 0, car.text
    record_count = len(TubReader(folder / "data"))
    report("python manage.py drive", **describe(taught), records=record_count)
    assert not taught.hits
    assert record_count > 200 * LAP_COUNT

    train = ("train", "--tub", "./data", "--model", "models/mypilot.h5")
    lines = run("donkey train --tub ./data --model models/mypilot.h5", folder, donkey, *train).splitlines()
    report("training said", last_lines=[re.sub(r"\s+", " ", line) for line in lines[-8:]])

    with CarProcess(folder, "--model", "models/mypilot.h5", python=python) as car, PagePerson(find_url(car)) as person:
        person.wait_until_ready()
        car.wait_for("finished loading in")
        tested = person.let_pilot_drive(3)
        assert car.end(signal.SIGINT) == 0, car.text
    report("python manage.py drive --model models/mypilot.h5", **describe(tested))
    assert tested.off_road == 0
    assert not tested.hits
    assert tested.missed < 0.02 * len(tested.frames)


def describe(seen):
    """Return the figures of a drive."""
    return {
        "laps": seen.lap_count,
        "lap_times": seen.lap_times,
        "cte_greatest_m": round(seen.cte, 3),
        "readings": len(seen.frames),
        "readings_missed": seen.missed,
        "off_road": seen.off_road,
        "hits": sorted(seen.hits),
        "seconds": round(seen.seconds, 1),
    }
