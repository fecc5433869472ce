"""What a kernel takes and returns stands in its signature: Numba does not ask, readers and other back ends do."""

import ast

from sources import PACKAGE, list_nodes, name_decorators

ROOMS = ("core", "physics", "render", "sim", "envs")
"""Whose kernels' signatures are annotated; a room joins when its own are."""
ENTRIES = {"kernel", "index_kernel"}
"""Decorators of what host code or a device calls; kernels that only kernels call are typed by their callers."""


def list_entries():
    """Return every function that such a decorator makes callable from the host."""
    for path in sorted(path for room in ROOMS for path in (PACKAGE / room).rglob("*.py")):
        for node in list_nodes(path):
            if isinstance(node, ast.FunctionDef) and name_decorators(node) & ENTRIES:
                yield f"{path.stem}.{node.name}", node


def list_unannotated(entry):
    """Return what of a function's signature has no annotation."""
    arguments = [*entry.args.posonlyargs, *entry.args.args, *entry.args.kwonlyargs]
    bare = [argument.arg for argument in arguments if argument.annotation is None]
    return bare + ["*"] * (entry.args.vararg is not None) + ["return"] * (entry.returns is None)


def test_signatures_of_kernels_are_annotated():
    entries = list(list_entries())
    assert {"world.step_one_world", "rng.draw_uniform", "ledger.write_one_row"} <= {name for name, _ in entries}
    assert {name: bare for name, entry in entries if (bare := list_unannotated(entry))} == {}


def test_what_is_not_annotated_is_noticed():
    (entry,) = ast.parse("def add(one: float, two, *more): pass").body
    assert list_unannotated(entry) == ["two", "*", "return"]
