"""The tour runs from top to bottom, as it does for people. Needs a package index, for what runs notebooks."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]

ROOT = Path(__file__).parents[2]
RUNNERS = ("nbclient", "ipykernel")


def list_shown(notebook):
    """Return which cells show which kinds of things."""
    return [
        sorted({kind for output in cell.get("outputs", []) for kind in output.get("data", {"text": None})})
        for cell in notebook["cells"]
    ]


def test_all_cells_run_and_show_what_the_kept_notebook_shows(tmp_path):
    command = [sys.executable, "-m", "pip", "install", "-q", "--target", tmp_path / "site", *RUNNERS]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"{RUNNERS} cannot be installed here: {done.stderr.strip().splitlines()[-1]}")
    path = os.pathsep.join([str(ROOT / "src"), str(tmp_path / "site")])
    command = [sys.executable, ROOT / "notebooks" / "write_tour.py", tmp_path / "tour.ipynb"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path})
    assert done.returncode == 0, done.stderr[-5000:]
    print(done.stdout)
    ours, kept = (
        json.loads(file.read_text(encoding="utf-8"))
        for file in (tmp_path / "tour.ipynb", ROOT / "notebooks" / "tour.ipynb")
    )
    assert list_shown(ours) == list_shown(kept)
