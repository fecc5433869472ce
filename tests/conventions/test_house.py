"""The house stays in order: light imports, sizes, and texts that speak of the project only."""

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT / "src")))
def test_files_and_functions_stay_short(path):
    text = path.read_text(encoding="utf-8")
    docstring = ast.get_docstring(ast.parse(text)) or ""
    assert text.count("\n") <= 400 or "400 lines" in docstring, "over 400 lines: split it, or say why in its docstring"
    most = 80 if "kernels" in path.parts else 40
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.end_lineno - node.lineno + 1
            described = ast.get_docstring(node) or ""
            allowed = most + len(described.splitlines()) + 2
            assert body <= allowed or "lines" in described, f"{node.name} has {body} lines"


def test_texts_name_no_machine():
    folders = ("/" + "work/", "/" + "root/", "/" + "tmp/team")
    for path in TEXTS:
        text = path.read_text(encoding="utf-8")
        assert not any(folder in text for folder in folders), f"{path} names a folder of a machine"
