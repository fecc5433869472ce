"""Write notebooks/tour.ipynb from tour.py: run all cells in their order, in an empty folder, and keep what they show.

    pip install ".[learn,cluster]" nbclient ipykernel
    python notebooks/write_tour.py

The notebook is never edited: a test compares its cells with those of tour.py.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).with_name("tour.py")
NOTEBOOK = SOURCE.with_suffix(".ipynb")
SECONDS = 600
"""For one cell, on a busy machine."""


def read_cells(text: str) -> list[tuple[str, str]]:
    """Return kind ("markdown" or "code") and text of each cell of a program whose cells begin with lines of "# %%"."""
    parts = re.split(r"^# %%(.*)\n", text, flags=re.MULTILINE)[1:]
    cells = zip(parts[::2], parts[1::2], strict=True)
    return [("markdown", _uncomment(part)) if "markdown" in head else ("code", part.strip()) for head, part in cells]


def _uncomment(part: str) -> str:
    return "\n".join(line.removeprefix("#").removeprefix(" ") for line in part.strip().splitlines())


def make_notebook(cells: list[tuple[str, str]]) -> dict[str, Any]:
    """Return a notebook that has not run yet."""
    entries = []
    for number, (kind, text) in enumerate(cells, start=1):
        entry: dict[str, Any] = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": text}
        if kind == "code":
            entry |= {"execution_count": None, "outputs": []}
        entries.append(entry)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": entries, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def run_notebook(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a notebook with what its cells show, run by this Python in an empty folder."""
    import nbformat
    from nbclient import NotebookClient

    with tempfile.TemporaryDirectory() as folder:
        node = nbformat.from_dict(notebook)
        client = NotebookClient(node, timeout=SECONDS, kernel_name="python3", resources={"metadata": {"path": folder}})
        client.execute()
    for cell in node.cells:
        cell.metadata.clear()  # when it ran
    node.metadata = nbformat.from_dict(notebook["metadata"])
    nbformat.validate(node)
    return node


def main() -> None:
    """Write the notebook, or another file that is named."""
    begun = time.perf_counter()
    notebook = run_notebook(make_notebook(read_cells(SOURCE.read_text(encoding="utf-8"))))
    target = Path(sys.argv[1]) if sys.argv[1:] else NOTEBOOK
    target.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    seconds, size = time.perf_counter() - begun, target.stat().st_size / 1e6
    print(f"{target.name}: {len(notebook['cells'])} cells in {seconds:.0f} s, {size:.2f} MB")


if __name__ == "__main__":
    main()
