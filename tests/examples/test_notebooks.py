"""The tour is what its source says, has run from top to bottom, and shows what it should."""

import json
import re
import runpy
from collections import Counter
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOK = FOLDER / "tour.ipynb"
MOST_BYTES = 1_000_000


@pytest.fixture(scope="module")
def cells():
    return json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]


@pytest.fixture(scope="module")
def outputs(cells):
    return [output for cell in cells for output in cell.get("outputs", [])]


def test_its_cells_are_those_of_its_source(cells):
    program = runpy.run_path(str(FOLDER / "write_tour.py"))
    source = program["read_cells"]((FOLDER / "tour.py").read_text(encoding="utf-8"))
    assert [(cell["cell_type"], "".join(cell["source"])) for cell in cells] == source, "run notebooks/write_tour.py"


def test_every_cell_ran_once_in_its_order_and_without_an_error(cells, outputs):
    counts = [cell["execution_count"] for cell in cells if cell["cell_type"] == "code"]
    assert counts == [*range(1, len(counts) + 1)]
    assert len(counts) > 10
    kinds = Counter(output["output_type"] for output in outputs)
    assert set(kinds) == {"stream", "execute_result", "display_data"}
    text = "".join("".join(output.get("text", "")) for output in outputs)
    for word in ("1 of 1", "It drives: all checks passed", "Best: trial"):
        assert word in text
    assert "Traceback" not in text


def test_its_pictures_are_in_place_and_small(outputs):
    pictures = [output for output in outputs if any(kind.startswith("image/") for kind in output.get("data", {}))]
    assert len(pictures) >= 7
    assert NOTEBOOK.stat().st_size < MOST_BYTES


def test_it_names_no_folder_of_a_machine(outputs):
    text = json.dumps([{**output, "data": None} for output in outputs])
    assert re.findall(r"(?<![\w.])/(?:tmp|root|home|work|usr|Users|opt)/", text) == []


def test_its_links_lead_somewhere(cells):
    links = re.findall(r"\]\(([^)]+)\)", "".join("".join(cell["source"]) for cell in cells if cell["id"]))
    links = [link for link in links if link.startswith("../")]
    assert len(links) > 15
    assert [link for link in links if not (FOLDER / link).exists()] == []
