"""The house stays in order: light imports, sizes, and texts that speak of the project only."""

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from sources import list_nodes, read_tree

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
KINDS = ("*.md", "*.toml", "*.py")
TEXTS = [path for kind in KINDS for path in ROOT.rglob(kind) if not set(path.parts) & {".venv", "build", "out"}]


def test_importing_the_package_loads_nothing_heavy():
    script = "import sys, donkeysim; print([m for m in ('numpy', 'numba', 'scipy', 'PIL') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_the_program_opens_its_socket_before_heavy_imports():
    script = "import sys, donkeysim.cli.donkey_sim; print([m for m in ('numpy', 'numba', 'scipy') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_every_test_file_has_a_name_of_its_own():
    """Pytest imports them by their bare names."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("*.py") if path.name != "conftest.py")
    assert [name for name, count in names.items() if count > 1] == []


def list_long(path):
    """Return a sentence for the file if it is too long, and for each of its functions that is."""
    lines = path.read_text(encoding="utf-8").count("\n")
    if lines > 400 and "400 lines" not in (ast.get_docstring(read_tree(path)) or ""):
        yield f"{path} has {lines} lines, over 400: split it, or say why in its docstring"
    most = 80 if "kernels" in path.parts else 40
    for node in list_nodes(path):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.end_lineno - node.lineno + 1
            described = ast.get_docstring(node) or ""
            if body > most + len(described.splitlines()) + 2 and "lines" not in described:
                yield f"{path}: {node.name} has {body} lines"


def test_files_and_functions_stay_short():
    assert len(SOURCES) > 400
    assert [sentence for path in SOURCES for sentence in list_long(path)] == []


def test_what_is_long_is_noticed(tmp_path):
    path = tmp_path / "long.py"
    path.write_text("def run():\n" + "    pass\n" * 400)
    assert [sentence.removeprefix(str(path)) for sentence in list_long(path)] == [
        " has 401 lines, over 400: split it, or say why in its docstring",
        ": run has 401 lines",
    ]


def test_texts_name_no_machine():
    folders = ("/" + "work/", "/" + "root/", "/" + "tmp/team")
    for path in TEXTS:
        text = path.read_text(encoding="utf-8")
        assert not any(folder in text for folder in folders), f"{path} names a folder of a machine"


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="only git knows what belongs to the project")
def test_nothing_that_a_command_has_written_lies_in_the_root():
    """A report that `donkey evaluate --real` leaves here would carry the pictures of others with it."""
    names = subprocess.run(["git", "ls-files", ":(glob)*"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert {Path(name).suffix for name in names.split()} <= {"", ".md", ".yaml", ".txt", ".toml"}
