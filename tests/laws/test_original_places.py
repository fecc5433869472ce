"""The eleven places of the original, figure by figure beside the facts of its own scene files."""

import pytest
from benchmarks.places import KNOWN
from benchmarks.places.facts import compare, read_facts

from donkeysim.core.errors import SpecError

FOLDER = KNOWN[0].parent


def test_there_are_facts_of_all_eleven_places():
    assert len(KNOWN) == 11


@pytest.mark.parametrize("path", KNOWN, ids=lambda path: path.stem)
def test_a_place_is_what_its_facts_say(path):
    rows = compare(read_facts(path))
    assert not [row for row in rows if not row.holds]


def test_a_node_moved_by_two_centimetres_is_found(tmp_path):
    text = (FOLDER / "generated_track.json").read_text(encoding="utf-8")
    facts = read_facts(FOLDER / "generated_track.json")
    x, y, z = facts.path.nodes[40]
    assert text.count(f"[{x},{y},{z}]") == 1
    moved = tmp_path / "generated_track.json"
    moved.write_text(text.replace(f"[{x},{y},{z}]", f"[{x + 0.16},{y},{z}]"), encoding="utf-8")
    (row,) = [row for row in compare(read_facts(moved)) if row.what.startswith("farthest node")]
    assert not row.holds
    assert row.what == "farthest node, 40 [U]"


def test_a_file_of_something_else_gets_one_sentence(tmp_path):
    (tmp_path / "x.json").write_text('{"scene": "warren"}', encoding="utf-8")
    with pytest.raises(SpecError, match=r"x\.json is not a file of facts: .*missing required field"):
        read_facts(tmp_path / "x.json")
    with pytest.raises(SpecError, match=r"cannot read .*y\.json"):
        read_facts(tmp_path / "y.json")
