"""What changes is private to four rooms: others read the ledger and make commands."""

import ast
from pathlib import Path

import pytest

from donkeysim.world.state import State

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "donkeysim"
ROOMS = {"sim", "gpu", "physics", "render"}
OTHERS = [path for path in sorted(PACKAGE.rglob("*.py")) if path.relative_to(PACKAGE).parts[0] not in ROOMS]
PRIVATE = {"State", "make_state"}
SIM_LINES = 2600


def list_touched(tree):
    """Return what of `State` a file names: its fields after an attribute `state`, and its makers."""
    touched = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in State._fields:
            owner = node.value
            if isinstance(owner, ast.Attribute) and owner.attr == "state":
                touched.add(f".state.{node.attr}")
        elif isinstance(node, ast.ImportFrom) and node.module == "donkeysim.world.state":
            touched |= {alias.name for alias in node.names} & PRIVATE
    return touched


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_sim_gpu_physics_and_render_know_the_state(path):
    if path == PACKAGE / "world" / "state.py":
        return
    assert not list_touched(ast.parse(path.read_text(encoding="utf-8"))), "read the ledger and make commands"


def test_reading_writing_and_importing_are_found():
    assert list_touched(ast.parse("speed = simulator.state.velocity[0]")) == {".state.velocity"}
    assert list_touched(ast.parse("simulator.state.hit[0] = 2")) == {".state.hit"}
    assert list_touched(ast.parse("from donkeysim.world.state import HIT_NONE, State")) == {"State"}
    assert list_touched(ast.parse("ledger.velocity, state.name, self.state.label")) == set()


def test_sim_stays_small():
    lines = sum(path.read_text(encoding="utf-8").count("\n") for path in (PACKAGE / "sim").rglob("*.py"))
    assert lines <= SIM_LINES
