"""Kernels keep to what compilers for GPUs take as well; the long test compiles those that a device runs."""

import ast

import pytest

from sources import PACKAGE, list_nodes

KERNELS = sorted(PACKAGE.rglob("kernels/**/*.py"))
STATES = [PACKAGE / "world" / "state.py"]
SCALARS = {"sqrt", "exp", "floor", "ceil"}
"""NumPy's functions of which numba-cuda has none of a number; `math` has them, and `round_down` is a floor."""
METHODS = {"index", "count"}
"""A named tuple's field of such a name is taken for a tuple's method."""


@pytest.mark.parametrize("path", [*KERNELS, *STATES], ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_kernel_can_be_compiled_for_a_gpu(path):
    nodes = list_nodes(path)
    calls = [node.func for node in nodes if isinstance(node, ast.Call)]
    names = [
        f"{call.value.id}.{call.attr}"
        for call in calls
        if isinstance(call, ast.Attribute) and isinstance(call.value, ast.Name)
    ]
    assert [name for name in names if name in {f"np.{scalar}" for scalar in SCALARS}] == []
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    fields = [part.target.id for one in classes for part in one.body if isinstance(part, ast.AnnAssign)]
    assert [field for field in fields if field in METHODS] == []
