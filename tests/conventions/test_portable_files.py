"""Every file of the repository can lie on Windows and macOS too, and every file of the package is installed."""

import re
import subprocess
import tomllib
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
LONGEST = 140
"""Characters of a path: Windows allows 260, of which a user's folder takes its part."""


@pytest.fixture(scope="module")
def entries():
    """Return mode and path of everything that git knows here, or all sources where there is no git."""
    said = subprocess.run(["git", "ls-files", "--stage"], cwd=ROOT, capture_output=True, text=True)
    lines = [line.split(None, 3) for line in said.stdout.splitlines()]
    return [(mode, path.strip('"')) for mode, _, _, path in lines] or [
        ("100644", path.relative_to(ROOT).as_posix()) for path in (ROOT / "src").rglob("*") if path.is_file()
    ]


def test_no_two_names_differ_by_case_alone(entries):
    counts = Counter(path.lower() for _, path in entries)
    assert [path for path, count in counts.items() if count > 1] == []


def test_every_name_is_one_that_windows_takes(entries):
    parts = {part for _, path in entries for part in path.split("/")}
    assert [part for part in parts if RESERVED.fullmatch(part) or re.search(r'[<>:"|?*\\]|[. ]$', part)] == []
    assert [path for _, path in entries if len(path) > LONGEST] == []


def test_there_are_no_symbolic_links(entries):
    assert [path for mode, path in entries if mode == "120000"] == []


def test_git_gives_text_the_same_line_ends_on_every_system():
    said = subprocess.run(["git", "ls-files", "--eol"], cwd=ROOT, capture_output=True, text=True).stdout
    texts = [line for line in said.splitlines() if line.startswith("i/lf")]
    assert [line for line in texts if "eol=lf" not in line] == []
    assert "i/crlf" not in said


def test_an_installed_package_has_every_file(entries):
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    package = ROOT / "src" / "donkeysim"
    patterns = settings["tool"]["setuptools"]["package-data"]["donkeysim"]
    installed = {path for pattern in patterns for path in package.glob(pattern)}
    ours = {ROOT / path for _, path in entries if path.startswith("src/donkeysim/")}
    assert len(ours) > 500
    assert {path for path in ours - installed if path.suffix not in (".py", ".pyc", ".nbi", ".nbc")} == set()
