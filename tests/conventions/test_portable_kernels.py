"""Kernels keep to what compilers for GPUs take as well; the long test compiles those that a device runs."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "donkeysim"
KERNELS = sorted(PACKAGE.rglob("kernels/**/*.py"))
STATES = [PACKAGE / "world" / "state.py"]
SCALARS = {"sqrt", "exp", "floor", "ceil"}
"""NumPy's functions of which numba-cuda has none of a number; `math` has them, and `round_down` is a floor."""
METHODS = {"index", "count"}
"""A named tuple's field of such a name is taken for a tuple's method."""


@pytest.mark.parametrize("path", [*KERNELS, *STATES], ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_kernel_can_be_compiled_for_a_gpu(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    names = [
        f"{call.value.id}.{call.attr}"
        for call in calls
        if isinstance(call, ast.Attribute) and isinstance(call.value, ast.Name)
    ]
    assert [name for name in names if name in {f"np.{scalar}" for scalar in SCALARS}] == []
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    fields = [part.target.id for one in classes for part in one.body if isinstance(part, ast.AnnAssign)]
    assert [field for field in fields if field in METHODS] == []
