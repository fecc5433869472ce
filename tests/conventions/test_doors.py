"""What changes is private to three rooms: others read the ledger and make commands."""

import ast

import pytest

from donkeysim.world.state import State
from sources import PACKAGE, list_nodes

ROOMS = {"sim", "physics", "render"}
OTHERS = [path for path in sorted(PACKAGE.rglob("*.py")) if path.relative_to(PACKAGE).parts[0] not in ROOMS]
PRIVATE = {"State", "make_state"}
SIM_LINES = 3150
"""Of what were two rooms with 3,310: one on threads, one on devices."""


def list_touched(nodes):
    """Return what of `State` a file names: its fields after an attribute `state`, and its makers."""
    touched = set()
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr in State._fields:
            owner = node.value
            if isinstance(owner, ast.Attribute) and owner.attr == "state":
                touched.add(f".state.{node.attr}")
        elif isinstance(node, ast.ImportFrom) and node.module == "donkeysim.world.state":
            touched |= {alias.name for alias in node.names} & PRIVATE
    return touched


def test_only_sim_physics_and_render_know_the_state():
    assert len(OTHERS) > 300
    touched = {str(path): list_touched(list_nodes(path)) for path in OTHERS if path != PACKAGE / "world" / "state.py"}
    assert {path: names for path, names in touched.items() if names} == {}, "read the ledger and make commands"


@pytest.mark.parametrize(
    ("text", "touched"),
    [
        ("speed = simulator.state.velocity[0]", {".state.velocity"}),
        ("simulator.state.hit[0] = 2", {".state.hit"}),
        ("from donkeysim.world.state import HIT_NONE, State", {"State"}),
        ("ledger.velocity, state.name, self.state.label", set()),
    ],
)
def test_reading_writing_and_importing_are_found(text, touched):
    assert list_touched(ast.walk(ast.parse(text))) == touched


def test_sim_stays_small():
    lines = sum(path.read_text(encoding="utf-8").count("\n") for path in (PACKAGE / "sim").rglob("*.py"))
    assert lines <= SIM_LINES
