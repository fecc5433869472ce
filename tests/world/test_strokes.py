"""Lines painted through points."""

import numpy as np
import pytest

from donkeysim.world.scene import CLASS_GROUND, CLASS_LINE
from donkeysim.world.tracks.tables.road import Stroke
from donkeysim.world.tracks.terrain.atlas import COVER, paint_stroke
from donkeysim.world.tracks.terrain.atlas_frame import AtlasFrame

FRAME = AtlasFrame((-1.0, -1.0), 0.01, 200, 200, (-1.0, -1.0, 1.0, 1.0))


def paint(*points, closed=False, width=0.1):
    atlas = np.full((200, 200, 4), 100, np.uint8)
    classes = np.full((200, 200), CLASS_GROUND, np.uint8)
    paint_stroke(Stroke(points, width, (200, 200, 200), closed), FRAME, atlas, classes)
    return atlas, classes


def test_a_stroke_is_as_wide_as_it_says_and_ends_where_its_points_do():
    atlas, classes = paint((-0.5, 0.2), (0.5, 0.2))
    is_line = classes == CLASS_LINE
    rows, columns = np.nonzero(is_line)
    assert is_line[:, 100].sum() == pytest.approx(10, abs=1)
    assert 1.0 - 0.01 * (rows.mean() + 0.5) == pytest.approx(0.2, abs=0.006)
    assert (columns.min(), columns.max()) == (pytest.approx(45, abs=1), pytest.approx(154, abs=1))
    assert atlas[80, 100, 0] == pytest.approx(100 + 100 * COVER, abs=1)
    assert atlas[0, 0, 0] == 100
    assert (atlas[..., 3] == 100).all()


def test_a_closed_stroke_returns_to_its_first_point():
    corners = ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5))
    assert paint(*corners, closed=True)[1][100, 100] == CLASS_LINE
    assert paint(*corners)[1][100, 100] == CLASS_GROUND


def test_what_lies_outside_the_picture_is_left_out():
    atlas, classes = paint((-5.0, 0.0), (-3.0, 4.0))
    assert (classes == CLASS_GROUND).all()
    assert (atlas == 100).all()
    across = paint((-3.0, 0.0), (3.0, 0.0))[1]
    assert (across[99:101] == CLASS_LINE).all()


@pytest.mark.parametrize(
    ("points", "closed", "width"),
    [(((0, 0),), False, 0.1), (((0, 0), (1, 0)), True, 0.1), (((0, 0), (1, 0)), False, 0.0)],
)
def test_a_stroke_needs_points_and_a_width(points, closed, width):
    with pytest.raises(ValueError, match="two points or more"):
        Stroke(points, width, (0, 0, 0), closed)
