"""SECURITY.md is true: the tests it names exist, and nothing that is read is run."""

import ast
import re
from pathlib import Path

import pytest

from sources import PACKAGE, list_nodes

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", TEXT)
PROGRAMS = {
    "car/config.py": {"exec"},  # config.py and myconfig.py
    "car/transform.py": {"importlib.util.spec_from_file_location"},  # transformations of one's own
    "drive/joystick/custom.py": {"exec", "builtins.__import__"},  # my_joystick.py
    "envs/deepracer.py": {"exec"},  # reward functions
    "envs/window.py": {"importlib.import_module"},  # pygame, by a name in the program
    "cli/drive_beside.py": {"runpy.run_path"},  # manage.py
    "cli/commands/drive.py": {"runpy.run_path"},
    "world/tracks/build_apart.py": {"pickle.load"},  # from the process that it has started, over a pipe
}
RUNNING = re.compile(
    r"(builtins\.)?(exec|eval|__import__)|runpy\.\w+|importlib\.import_module|(importlib\.util|util)\.spec_from_file_location"
    r"|(pickle|cPickle|dill|joblib|shelve|marshal|yaml|torch)\.(load|loads|open|Unpickler|unsafe_load|full_load)"
    r"|(keras\.)?(saving|models)\.load_model|os\.(system|popen)"
)


def list_runs(path: Path) -> set[str]:
    """Return the calls in a module that may run what they are given."""
    calls = (node.func for node in list_nodes(path) if isinstance(node, ast.Call))
    return {name for name in map(name_function, calls) if RUNNING.fullmatch(name)}


def name_function(node: ast.expr) -> str:
    """Return what is called as it is written, where it is a name with or without dots."""
    if isinstance(node, ast.Attribute):
        return f"{name_function(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def test_every_row_of_the_tables_names_tests():
    rows = [line for line in TEXT.partition("## Threats")[2].partition("## What is not")[0].splitlines() if "|" in line]
    told = [row for row in rows if row.startswith("| ") and not row.startswith("| threat")]
    assert len(told) > 25
    assert [row for row in told if not re.search(r"`tests/[\w/]+\.py::\w+`[^|]*\|$", row)] == []


@pytest.mark.parametrize(("file", "name"), NAMED, ids=[name for _, name in NAMED])
def test_a_test_that_is_named_exists(file, name):
    assert re.search(rf"^def {name}\(", (ROOT / file).read_text(encoding="utf-8"), flags=re.MULTILINE)


def test_nothing_that_is_read_is_run_but_what_is_a_program():
    found = {str(path.relative_to(PACKAGE)): list_runs(path) for path in PACKAGE.rglob("*.py")}
    assert {name: runs for name, runs in found.items() if runs} == PROGRAMS


def test_a_call_that_runs_what_it_reads_is_noticed(tmp_path):
    (tmp_path / "bad.py").write_text("import pickle, torch\npickle.load(f)\ntorch.load(f)\neval(t)\nnumpy.load(f)\n")
    assert list_runs(tmp_path / "bad.py") == {"pickle.load", "torch.load", "eval"}
