"""The package's modules as syntax trees, read once for all tests of a worker that look through them."""

import ast
import functools
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "donkeysim"


@functools.cache
def read_tree(path: Path) -> ast.Module:
    """Return a module's syntax tree; nobody may change it."""
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def list_nodes(path: Path) -> tuple[ast.AST, ...]:
    """Return all nodes of a module's syntax tree."""
    return tuple(ast.walk(read_tree(path)))


def name_decorators(function: ast.FunctionDef) -> set[str]:
    """Return the names of a function's decorators, called or not."""
    plain = [one.func if isinstance(one, ast.Call) else one for one in function.decorator_list]
    return {one.id for one in plain if isinstance(one, ast.Name)}
