"""What docs/stability.md promises is there: whoever takes a name away must say so there."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROMISE = (ROOT / "docs/stability.md").read_text(encoding="utf-8")
NAMES = re.findall(r"^\| `(donkeysim[\w.]+)` \|", PROMISE, re.MULTILINE)


def find_source(name):
    """Return the file of a module or package."""
    path = ROOT / "src" / Path(*name.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


def list_defined(file):
    """Return what a module defines at its top."""
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def test_the_promise_covers_what_programs_are_built_of():
    assert len(NAMES) >= 26
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_promised_name_is_there(name):
    home, _, last = name.rpartition(".")
    assert find_source(name) or last in list_defined(find_source(home))
