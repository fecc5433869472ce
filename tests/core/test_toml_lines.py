"""Lines of a TOML file: every value is found on the line a person would point at."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from donkeysim.core.toml_lines import map_lines

TEXT = '''# a comment with [brackets] = 1
format = 1
name = "a # b = [c]"
"odd key" = 2
long = """
[not.a.table]
x = 1 \\"""
"""
raw = \'\'\'
kind = "no"\'\'\'
[path]
points = [
    [0.0, 1.0],  # the first
    [2.0, 3.0],
]
segments = [{ straight = 1.0 },

    { turn = 90.0, radius = 2.0 }]
light.sun.height = 3
when = 1979-05-27 07:32:00
[[props]]
kind = "cone"
[[props]]
every = 1.0
kind = "tree"
[props.body]
mass = 1.0
[deep.er]
x = {}
y = []
'''

LINES = {
    ("format",): 2,
    ("odd key",): 4,
    ("long",): 5,
    ("raw",): 9,
    ("path",): 11,
    ("path", "points"): 12,
    ("path", "points", 1): 14,
    ("path", "points", 1, 1): 14,
    ("path", "segments", 0, "straight"): 16,
    ("path", "segments", 1): 18,
    ("path", "segments", 1, "radius"): 18,
    ("path", "light"): 19,
    ("path", "light", "sun", "height"): 19,
    ("path", "when"): 20,
    ("props", 0): 21,
    ("props", 0, "kind"): 22,
    ("props", 1): 23,
    ("props", 1, "kind"): 25,
    ("props", 1, "body"): 26,
    ("props", 1, "body", "mass"): 27,
    ("deep", "er", "y"): 30,
}


@pytest.mark.parametrize("place", LINES)
def test_a_value_is_found_on_its_line(place):
    tomllib.loads(TEXT)
    assert map_lines(TEXT)[place] == LINES[place]


def test_text_inside_strings_and_comments_is_no_key():
    assert not {("not", "a", "table"), ("x",), ("kind",), ("brackets",)} & set(map_lines(TEXT))


KEYS = st.text("abc-_", min_size=1, max_size=3)
VALUES = st.recursive(
    st.sampled_from(["1", "-2.5e3", "true", '"[a] = 1"', "'#'", '"""\n[[x]]\n"""', "[]", "{}", "1979-05-27"]),
    lambda inner: st.lists(inner, max_size=3).map(lambda items: "[\n" + ",\n".join(items) + "]"),
    max_leaves=5,
)


@given(st.lists(st.tuples(KEYS, VALUES), max_size=4, unique_by=lambda pair: pair[0]))
def test_every_key_of_any_document_has_a_line_that_names_it(pairs):
    text = "\n".join(f"{key} = {value}" for key, value in pairs)
    lines, rows = map_lines(text), text.split("\n")
    assert {place[0] for place in lines} == set(tomllib.loads(text))
    for key, _ in pairs:
        assert rows[lines[(key,)] - 1].startswith(f"{key} =")
