"""Paths from drawings: curves, transforms, which of several, and what hostile files get."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from donkeysim.core.errors import SceneError
from donkeysim.world.specs import SceneSpec
from donkeysim.world.tracks import load_scene
from donkeysim.world.tracks.paths.path import build_centre_line
from donkeysim.world.tracks.paths.path_svg import read_drawing, read_strokes
from donkeysim.world.tracks.tables.path import PathTable
from donkeysim.world.tracks.tables.road import RoadTable

NAMESPACE = 'xmlns="http://www.w3.org/2000/svg"'


def draw(content, element=""):
    return read_drawing(f"<svg {NAMESPACE}>{content}</svg>", "lap.svg", element)


def points(data):
    (stroke,) = read_strokes(data, "lap.svg, line 1")
    return np.array(stroke.point)


@pytest.mark.parametrize(
    "data",
    [
        "M 10 0 A 10 10 0 0 1 -10 0 A 10 10 0 0 1 10 0 Z",
        "M10,0a10,10 0 0,1-20,0 10 10 0 0120,0z",
        "m 10 0 a 10 10 0 1 1 -10 -10 A 10 10 30 0 1 10 0 z",
        "M10 0A1 1 0 0 1-10 0 1 1 0 0 1 10 0",
    ],
)
def test_arcs_lie_on_their_circle(data):
    assert np.hypot(*points(data).T) == pytest.approx(np.full(len(points(data)), 10.0), abs=1e-6)
    assert len(points(data)) > 60


@pytest.mark.parametrize(
    ("data", "middle"),
    [
        ("M0 0C0 8 6 8 6 0", (3.0, 6.0)),
        ("M0 0c0 8 6 8 6 0", (3.0, 6.0)),
        ("M0 0Q3 8 6 0", (3.0, 4.0)),
        ("M0 0q3 8 6 0", (3.0, 4.0)),
    ],
)
def test_curves_pass_through_their_middle(data, middle):
    assert points(data)[100] == pytest.approx(middle)
    assert points(data)[-1] == pytest.approx((6.0, 0.0))


def test_short_commands_mirror_the_handle_before():
    assert points("M0 0C0 8 6 8 6 0S12-8 12 0") == pytest.approx(points("M0 0C0 8 6 8 6 0C6-8 12-8 12 0"))
    assert points("M0 0Q3 8 6 0T12 0") == pytest.approx(points("M0 0Q3 8 6 0Q9-8 12 0"))
    assert points("M0 0Q3 8 6 0S9-8 12 0") == pytest.approx(points("M0 0Q3 8 6 0C6 0 9-8 12 0"))
    assert points("M0 0C0 8 6 8 6 0T12 0") == pytest.approx(points("M0 0C0 8 6 8 6 0Q6 0 12 0"))
    assert points("M0 0L6 0T12 0") == pytest.approx(points("M0 0L6 0Q6 0 12 0"))


def test_an_arc_without_size_is_a_line_or_nothing_and_signs_of_radii_do_not_matter():
    assert points("M0 0A0 5 0 0 1 4 4").tolist() == [[0, 0], [4, 4]]
    assert points("M0 0A5 5 0 0 1 0 0L4 4").tolist() == [[0, 0], [4, 4]]
    assert points("M0 0A-5-3 20 1 0 4 4") == pytest.approx(points("M0 0A5 3 20 1 0 4 4"))


def test_lines_may_be_written_in_every_way():
    expected = [(1, 1), (4, 1), (4, 5), (2, 5), (1, 1)]
    for data in ("M1 1H4V5L2 5Z", "m1,1h3v4l-2,0z", "M1 1 4 1 4 5 2 5z", "m1 1 3 0 0 4-2 0z", "M1.0e0 1H+4.V5L2,5 Z "):
        assert points(data) == pytest.approx(np.array(expected)), data


def test_transforms_around_a_path_are_followed_and_y_points_up():
    inner = '<path d="M1 0 L2 0 L2 1"/>'
    nested = f'<g transform="translate(10, 20) rotate(90)"><g transform="scale(2)">{inner}</g></g>'
    assert draw(nested).position == pytest.approx(np.array([(10.0, -22.0), (10.0, -24.0), (8.0, -24.0)]))
    for transform, first in [
        ("matrix(0 1 -1 0 5 6)", (5.0, -7.0)),
        ("rotate(180 1 1)", (1.0, -2.0)),
        ("skewX(45) translate(0 2)", (3.0, -2.0)),
        ("skewY(45)", (1.0, -1.0)),
        ("translate(3)", (4.0, 0.0)),
        ("scale(2 3),translate(1,1)", (4.0, -3.0)),
    ]:
        own = draw(f'<path transform="{transform}" d="M1 0 L2 0 L2 1"/>')
        assert own.position[0] == pytest.approx(first), transform


def test_other_lines_of_a_drawing_are_paths_too():
    assert draw('<polygon points="0,0 4,0 4,3"/>').is_closed
    assert not draw('<polyline points="0 0 4 0 4 3"/>').is_closed
    assert draw('<line x1="1" x2="3" y2="-2"/>').position.tolist() == [[1.0, 0.0], [3.0, 2.0]]


def test_a_line_whose_ends_meet_is_closed():
    assert draw('<path d="M0 0L9 0L9 9L0.05 0"/>').is_closed
    assert not draw('<path d="M0 0L9 0L9 9L1 1"/>').is_closed


TWO = '<path id="outer" d="M0 0H9V9Z"/><g><path id="inner" d="M1 1H8V8Z"/></g><rect id="field" width="9"/>'
UNSEEN = '<defs><path id="arrow" d="M0 0L1 1"/></defs><clipPath><path d="M0 0L1 1"/></clipPath>'


def test_one_of_several_paths_is_chosen_by_its_id():
    assert draw(TWO, "inner").position[0].tolist() == [1.0, -1.0]
    assert draw(UNSEEN + '<path d="M0 0H9V9Z"/>').is_closed
    assert not draw(UNSEEN + '<path d="M0 0H9V9Z"/>', "arrow").is_closed


BROKEN = [
    (TWO, "", r"lap\.svg draws 2 lines: 'outer', 'inner'; choose one in \[path\] by element"),
    (TWO, "iner", r"unknown element 'iner'; did you mean 'inner'\?"),
    (TWO, "field", r"'field' is a <rect>; turn it into a path"),
    ("<rect/>", "", r"draws no line; it needs a <path>"),
    (UNSEEN, "", r"draws no line"),
    ('<path id="a" d="M0 0H9M0 5H9"/>', "", r"line 1: the path 'a' has 2 lines apart"),
    ('<path id="a" d=""/>', "", r"the path 'a' has 0 lines"),
    ('<path d="M0 0 L 9"/>', "", r"needs 2 numbers after 'L', but goes on with ''"),
    ('<path d="M0 0 L 9 x 8"/>', "", r"needs 2 numbers after 'L', but goes on with 'x 8'"),
    ('<path d="M0 0 B 9 8"/>', "", r"needs 2 numbers after 'L', but goes on with 'B 9 8'"),
    ('<path d="9 8"/>', "", r"cannot be read at '9 8'"),
    ('<path d="L9 8"/>', "", r"begins with 'L'; it begins with M"),
    ('<path d="M0 0Z 9 8"/>', "", r"cannot be read at '9 8'"),
    ('<path d="M0 0 L1e300 0"/>', "", r"needs 2 numbers after 'L'"),
    ('<path d="M0 0 Lnan inf"/>', "", r"needs 2 numbers after 'L'"),
    ('<path d="M0 0 A9 9 0 2 1 8 8"/>', "", r"needs 7 numbers after 'A', but goes on with '2 1 8 8'"),
    ('<path transform="spin(9)" d="M0 0L1 1"/>', "", r"transform 'spin\(9\)' is none of SVG's"),
    ('<path transform="scale(1 2 3)" d="M0 0L1 1"/>', "", r"or has other numbers"),
    ('<path transform="scale(1" d="M0 0L1 1"/>', "", r"transform 'scale\(1' cannot be read"),
    ('<path transform="rotate(1e400)" d="M0 0L1 1"/>', "", r"or has other numbers"),
    ('<path transform="scale(1e8) scale(1e8)" d="M0 0L1 1"/>', "", r"a coordinate is beyond 1e\+09"),
    ('<polygon points="0,0 1e400,4 4,3"/>', "", r"a coordinate is beyond 1e\+09"),
    ('<path d="M0 0a 1e-300 1 0 0 1 4 4"/>', "", r"an arc of the path is too small to be one; draw it larger"),
    ("<g>" * 300, "", r"more than 200 deep"),
    ('<path d="' + "h1 " * 5 + "M0 0" + " h1" * 100_001 + '"/>', "", r"begins with 'h'"),
    ('<path d="M0 0' + " h1" * 100_001 + '"/>', "", r"more than 100000 points"),
    ("<path", "", r"lap\.svg, line 1: this is not a drawing in SVG \(not well-formed|\(unclosed token"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "element", "sentence"), BROKEN, ids=[text[:40] for _, _, text in BROKEN])
def test_a_broken_drawing_gets_one_sentence(content, element, sentence):
    with pytest.raises(SceneError, match=sentence) as caught:
        draw(content, element)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
HOSTILE = [
    f'<!DOCTYPE svg [<!ENTITY l0 "ha">{LAUGHS}]><svg {NAMESPACE}><path id="&l9;" d="M0 0L1 1"/></svg>',
    f'<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]><svg {NAMESPACE}><text>&x;</text></svg>',
    f'<!DOCTYPE svg [<!ENTITY % x SYSTEM "http://example.org/x.dtd"> %x;]><svg {NAMESPACE}/>',
]


@pytest.mark.parametrize("content", HOSTILE)
def test_a_drawing_with_entities_is_refused_unread(content):
    with pytest.raises(SceneError, match="declares the entity"):
        read_drawing(content, "lap.svg", "")


def test_a_document_type_as_drawing_programs_write_it_is_no_harm():
    kind = '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">'
    raw = read_drawing(f'<?xml version="1.0"?>{kind}<svg {NAMESPACE}><path d="M0 0L1 1"/></svg>', "lap.svg", "")
    assert len(raw.position) == 2


def test_another_document_is_not_a_drawing():
    with pytest.raises(SceneError, match=r"line 1: the document is a <html>, not a drawing"):
        read_drawing("<html><path/></html>", "lap.svg", "")


@given(st.text("MLHVCSQTAZmlhvcsqtaz0123456789.-+e, ", max_size=60))
def test_any_path_data_is_either_points_or_one_sentence(data):
    try:
        strokes = read_strokes(data, "lap.svg, line 1")
    except SceneError:
        return
    assert all(math.isfinite(value) for stroke in strokes for pair in stroke.point for value in pair)


def test_a_drawn_road_keeps_its_straights_straight(tmp_path):
    half = "L 60 10 A 20 20 0 0 1 60 50 L 20 50 A 20 20 0 0 1 20 10"
    (tmp_path / "oval.svg").write_text(f'<svg {NAMESPACE}><path d="M 20 10 {half} Z"/></svg>', encoding="utf-8")
    table = PathTable(file=str(tmp_path / "oval.svg"), scale=0.1)
    line = build_centre_line(table, RoadTable(0.4, 0.4))
    assert line.length == pytest.approx(8.0 + 4.0 * math.pi, rel=1e-3)
    assert line.locate([2.0])[0][0] == pytest.approx((2.0, 0.0), abs=2e-3)
    assert line.curvature.min() == pytest.approx(-0.5, abs=0.1)
    assert line.curvature.max() < 0.1


def test_a_drawing_is_a_track_by_itself(tmp_path):
    (tmp_path / "yard.svg").write_text(
        f'<svg {NAMESPACE}><path d="M 0 0 C 50 0 50 60 20 60 S -40 0 0 0 Z"/></svg>', encoding="utf-8"
    )
    scene = load_scene(SceneSpec(str(tmp_path / "yard.svg")))
    assert scene.name == "yard"
    assert len(scene.path.position) == 120
    assert len(scene.start.line) == 1
