"""The public CI tries what the project says it runs on."""

import re
import tomllib
from pathlib import Path

import pytest
from supply.wheels import PYTHONS, SYSTEMS

ROOT = Path(__file__).resolve().parents[2]
FLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
MATRICES = [path for path in FLOWS if "matrix:" in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("path", MATRICES, ids=lambda path: path.name)
def test_the_matrix_has_every_system_and_python_whose_wheels_are_asked_for(path):
    text = path.read_text(encoding="utf-8")
    (systems,) = re.findall(r"^ +system: \[(.*)\]$", text, re.MULTILINE)
    for pythons in re.findall(r"^ +python: \[(.*)\]$", text, re.MULTILINE):  # wheels of a release are for all of them
        assert tuple(pythons.replace('"', "").split(", ")) == PYTHONS
    names = {"ubuntu": "Linux", "macos": "macOS", "windows": "Windows"}
    assert [names[system.partition("-")[0]] for system in systems.split(", ")] == [
        system.name.partition(" ")[0] for system in SYSTEMS
    ]


def test_every_python_is_tried():
    assert "python: [" in (ROOT / ".github" / "workflows" / "check.yml").read_text(encoding="utf-8")


def test_the_oldest_python_is_the_one_that_the_package_asks_for():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert settings["project"]["requires-python"] == f">={PYTHONS[0]}"


def test_nothing_may_write_but_the_job_that_publishes():
    for path in FLOWS:
        head, *jobs = re.split(r"^  (?=\w+:\n)", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        assert "permissions:\n  contents: read\n" in head + "".join(jobs)
        assert [job.partition(":")[0] for job in jobs if ": write" in job] in ([], ["publish"])


def test_every_room_that_is_tested_there_exists():
    text = (ROOT / ".ci" / "try_python").read_text(encoding="utf-8")
    rooms = re.findall(r"\btests/(\w+)", text)
    assert len(rooms) > 5
    assert ".ci/try_python" in (ROOT / ".github" / "workflows" / "check.yml").read_text(encoding="utf-8")
    assert [room for room in rooms if not (ROOT / "tests" / room).is_dir()] == []
