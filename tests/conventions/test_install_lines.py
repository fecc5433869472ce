"""Every line that installs donkeysim says what works today: what `core.errors.INSTALL` says."""

import re
import tomllib
from pathlib import Path

import pytest

from donkeysim.core.errors import INSTALL, describe_install

ROOT = Path(__file__).resolve().parents[2]
PLACES = ("README.md", "SECURITY.md", "docs", "examples", "notebooks", "src")
LINE = re.compile(r'pip install (?:-\S+ )*("?)(donkeysim|\.)(?:\[([\w,-]+)\])?("?)(?![\w./\\-])')
PACKAGE = INSTALL.rsplit(" ", 1)[1]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]


def list_texts():
    """Return the files in which people read how to install; decisions tell what was done then."""
    paths = [path for place in PLACES for path in [ROOT / place, *(ROOT / place).rglob("*")]]
    kinds = {".md", ".py", ".html", ".json", ".txt"}
    texts = [path for path in paths if path.suffix in kinds and path.is_file() and "decisions" not in path.parts]
    return [path for path in texts if path.name != "errors.py"]


def find_mistake(quote, package, extra, end):
    """Return what is wrong with an install line, "" when nothing is."""
    if package != PACKAGE:
        return f"installs {package}, but core.errors.INSTALL says {PACKAGE}"
    if extra and (quote, end) != ('"', '"'):
        return "an extra's brackets stand without double quotes, which some shells do not take"
    return "" if not extra or set(extra.split(",")) <= set(EXTRAS) else f"there is no extra {extra}"


def test_every_install_line_says_what_works_today():
    lines = [(path, match) for path in list_texts() for match in LINE.finditer(path.read_text(encoding="utf-8"))]
    assert len(lines) > 20
    mistakes = [(str(path.relative_to(ROOT)), match[0], find_mistake(*match.groups())) for path, match in lines]
    assert [mistake for mistake in mistakes if mistake[2]] == []


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ('pip install "donkeysim[learn]"', "installs donkeysim"),
        ("pip install .[learn]", "double quotes"),
        ('pip install ".[lern]"', "no extra lern"),
    ],
)
def test_an_install_line_that_fails_is_noticed(line, word, monkeypatch):
    monkeypatch.setitem(globals(), "PACKAGE", ".")
    assert word in find_mistake(*LINE.search(line).groups())


def test_messages_put_the_extra_behind_the_package():
    assert describe_install("learn") == INSTALL.removesuffix(PACKAGE) + f'"{PACKAGE}[learn]"'
    assert describe_install() == INSTALL
