"""What a kernel takes and returns stands in its signature: Numba does not ask, readers and other back ends do."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "donkeysim"
ROOMS = ("core", "physics", "render", "sim", "envs")
"""Whose kernels' signatures are annotated; a room joins when its own are."""
ENTRIES = ("kernel", "pixel_kernel", "index_kernel", "index_pixel_kernel")
"""Decorators of what host code or a device calls; kernels that only kernels call are typed by their callers."""


def list_entries():
    """Return every function that such a decorator makes callable from the host."""
    for path in sorted(path for room in ROOMS for path in (PACKAGE / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and any(
                isinstance(name, ast.Name) and name.id in ENTRIES for name in node.decorator_list
            ):
                yield pytest.param(node, id=f"{path.stem}.{node.name}")


@pytest.mark.parametrize("entry", list(list_entries()))
def test_a_kernel_s_signature_is_annotated(entry):
    arguments = [*entry.args.posonlyargs, *entry.args.args, *entry.args.kwonlyargs]
    assert entry.args.vararg is None
    assert [argument.arg for argument in arguments if argument.annotation is None] == []
    assert entry.returns is not None


def test_the_house_has_kernels_to_look_at():
    assert {"world.step_one_world", "rng.draw_uniform", "ledger.write_one_row"} <= {
        entry.id for entry in list_entries()
    }
