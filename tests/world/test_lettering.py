"""Texts of track files on banners, boards and signs."""

import numpy as np
import pytest

from donkeysim.world.tracks.structures.panels import make_banner, make_bridge_board, make_sign


def measure_ink(texture, ground):
    """First and last column with letters, and their first and last row, within the frame."""
    inked = np.abs(texture[10:-10, 12:-12, :3].astype(int) - ground).max(axis=2) > 60
    columns, rows = np.flatnonzero(inked.any(axis=0)) + 12, np.flatnonzero(inked.any(axis=1)) + 10
    return columns[[0, -1]], rows[[0, -1]]


@pytest.mark.parametrize("text", ["A", "HALL 7", "a sign with a rather long text upon it"])
def test_a_text_stands_in_the_middle_and_keeps_within_its_board(text):
    for texture, ground in ((make_sign(text), (28, 58, 92)), (make_bridge_board(text, (20, 60, 140)), (20, 60, 140))):
        assert texture.shape[1:] == (512, 4)
        assert texture[..., 3].min() == 255
        (left, right), (top, bottom) = measure_ink(texture, ground)
        assert left + right == pytest.approx(511, abs=12)
        assert right - left <= 496
        assert 0.5 * (top + bottom) == pytest.approx(0.5 * len(texture), abs=0.12 * len(texture))


def test_a_longer_text_has_smaller_letters():
    high = [np.ptp(measure_ink(make_sign(text), (28, 58, 92))[1]) for text in ("HALL", "HALL " * 6)]
    assert high[1] < 0.6 * high[0]


def test_letters_stand_out_from_a_light_and_from_a_dark_board():
    light, dark = make_bridge_board("GO", (240, 240, 240)), make_bridge_board("GO", (10, 20, 60))
    assert light[20:44, 230:280, :3].min() < 60
    assert dark[20:44, 230:280, :3].max() > 220


def test_a_banner_has_chequered_ends_whatever_it_says():
    one, other = make_banner("GO"), make_banner("STOP HERE")
    assert np.array_equal(one[:, :96], other[:, :96])
    assert not np.array_equal(one[:, 96:-96], other[:, 96:-96])
    assert {tuple(one[row, 8, :3].tolist()) for row in (8, 24)} == {(18, 18, 20), (240, 240, 236)}
