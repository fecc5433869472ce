"""Make a release of what is checked out: version, changelog, a trial build, a commit and a tag."""

import re
import subprocess
import sys
import time
from pathlib import Path

from packaging.version import InvalidVersion, Version

from supply.build import build_all
from supply.pins import ROOT

HEADING = "## Unreleased\n"

PLACES = {Path("pyproject.toml"): 'version = "{}"', Path("src/donkeysim/__init__.py"): '__version__ = "{}"'}
"""Where the version stands, and how."""


def make_release() -> int:
    """Make the release whose version is the last word of the command line."""
    try:
        texts = {path: (ROOT / path).read_text(encoding="utf-8") for path in (*PLACES, Path("CHANGELOG.md"))}
        version = check_version(sys.argv[-1], read_version(texts[Path("pyproject.toml")]))
        if run_git("status", "--porcelain"):
            raise ValueError("there are changes that are not committed: commit them, or put them away.")
        changed = {path: raise_version(text, path, version) for path, text in texts.items()}
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    for path, text in changed.items():
        (ROOT / path).write_text(text, encoding="utf-8", newline="\n")
    build_all()
    run_git("commit", "--quiet", "--all", "--message", f"Version {version}")
    run_git("tag", "--annotate", f"v{version}", "--message", f"Version {version}")
    print(f"Version {version} is committed and tagged. To publish it: git push --follow-tags")
    return 0


def read_version(settings: str) -> str:
    """Return the version that pyproject.toml names."""
    found = re.search(r'^version = "(.*)"$', settings, re.MULTILINE)
    assert found is not None
    return found[1]


def check_version(given: str, current: str) -> str:
    """Return a version that may follow the current one.

    Raises:
        ValueError: It is none, or not a later one.
    """
    try:
        version = Version(given)
    except InvalidVersion:
        raise ValueError(f"{given!r} is no version: say for example {raise_minor(current)}.") from None
    if len(version.release) != 3 or version <= Version(current):
        raise ValueError(f"version {given} cannot follow {current}: say for example {raise_minor(current)}.")
    return str(version)


def raise_minor(current: str) -> str:
    """Return the next version with something new in it."""
    version = Version(current)
    return f"{version.major}.{version.minor + 1}.0"


def raise_version(text: str, path: Path, version: str, day: str | None = None) -> str:
    """Return a file's text with the new version; the changelog gets a heading with the day.

    Raises:
        ValueError: Nothing new is written in the changelog.
    """
    if path in PLACES:
        line = PLACES[path]
        return re.sub(f"^{line.format('.*')}$", line.format(version), text, count=1, flags=re.MULTILINE)
    _, heading, rest = text.partition(HEADING)
    if not heading or not rest.partition("\n## ")[0].strip():
        raise ValueError("CHANGELOG.md has nothing under `## Unreleased`: write what is new there first.")
    dated = f"{HEADING}\n## {version} ({day or time.strftime('%Y-%m-%d')})\n"
    return text.replace(HEADING, dated, 1)


def run_git(*words: str) -> str:
    """Run git here and return what it printed."""
    return subprocess.run(["git", *words], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
