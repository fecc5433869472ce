"""The curve's file holds a line for each update whatever ends the process, and is drawn from them."""

import errno
import json
import math
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from donkeysim.core.errors import DonkeySimError
from donkeysim.rl.curve import CurveFile, plot_curve, read_curve, smooth
from stand_ins.told_learning import make_check, make_update


@pytest.fixture
def path(tmp_path):
    return tmp_path / "out" / "curve.jsonl"


def write(path, *updates, steps=0):
    curve = CurveFile(path, steps)
    for update in updates:
        curve(update)
    curve.close()


def test_every_update_is_a_line_of_numbers(path):
    write(path, make_update(1), make_update(2, speed=np.float32(1.25), laps=np.int64(7)))
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [line["steps"] for line in lines] == [4096, 8192]
    assert (lines[1]["speed"], lines[1]["laps"], lines[1]["losses"]["value"]) == (1.25, 7, 1.5)
    assert {"picture", "ended_at"}.isdisjoint(lines[0])
    assert [point.reward for point in read_curve(path)] == [0.01, 0.02]


def test_a_check_stands_in_the_line_of_the_first_update_that_knows_it(path):
    first, second = (make_check(laps=3.5, departures=2),), (make_check(),)
    write(
        path, make_update(1), make_update(2, checks=first), make_update(3, checks=first), make_update(4, checks=second)
    )
    assert [point.checks for point in read_curve(path)] == [(), first, (), second]


def test_a_figure_that_is_no_number_is_null(path):
    write(path, make_update(1, speed=math.nan, losses={"value": math.inf}))
    assert json.loads(path.read_text(encoding="utf-8"))["speed"] is None
    assert read_curve(path)[0].losses == {"value": None}


@pytest.mark.parametrize("torn", [b'{"seconds":6.0,"ste', b'{"seconds":6.0}\n', b"\0\0\0\0"])
def test_learning_goes_on_behind_the_last_whole_line(path, torn):
    write(path, make_update(1), make_update(2))
    with path.open("ab") as file:
        file.write(torn)
    write(path, make_update(3), steps=8192)
    assert [point.steps for point in read_curve(path)] == [4096, 8192, 12288]
    assert len(path.read_bytes().splitlines()) == 3


def test_what_was_told_after_the_last_checkpoint_is_told_again(path):
    write(path, *map(make_update, (1, 2, 3)))
    write(path, make_update(3, reward=0.5), steps=8192)
    assert [point.reward for point in read_curve(path)] == [0.01, 0.02, 0.5]


def test_learning_from_the_beginning_begins_a_new_curve(path):
    write(path, make_update(1), make_update(2))
    write(path, make_update(1, reward=0.7))
    assert [point.reward for point in read_curve(path)] == [0.7]


def test_a_full_disk_ends_the_curve_and_not_the_learning(path, caplog):
    class FullDisk:
        closed = False

        def write(self, _line):
            raise OSError(errno.ENOSPC, "No space left on device")

        def close(self):
            self.closed = True

    curve = CurveFile(path)
    curve.close()
    curve._file = FullDisk()
    curve(make_update(1))
    curve(make_update(2))
    assert [record.getMessage().count("make room") for record in caplog.records] == [1]


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path):
    (tmp_path / "out").write_text("a file", encoding="utf-8")
    with pytest.raises(DonkeySimError, match=r"cannot write .*curve\.jsonl"):
        CurveFile(tmp_path / "out" / "curve.jsonl")


def test_the_curve_is_drawn_with_its_checks(path, tmp_path):
    write(path, make_update(1), make_update(2, speed=math.nan), make_update(3, checks=(make_check(),)))
    plot_curve(path, tmp_path / "curve.png", "learning generated_track")
    picture = np.asarray(Image.open(tmp_path / "curve.png").convert("RGB"))
    assert picture.shape == (840, 840, 3)
    for colour in ((209, 73, 91), (42, 127, 98)):  # thick lines; a check that was passed
        assert (picture == colour).all(axis=2).any()


def test_without_a_curve_there_is_nothing_to_draw(tmp_path):
    with pytest.raises(DonkeySimError, match="holds no curve"):
        plot_curve(tmp_path / "none.jsonl", Path("none.png"))


def test_the_thick_line_is_the_mean_of_the_last_values():
    assert smooth(np.arange(50.0)).tolist() == [0.0, *(np.arange(1, 50) - 0.5)]
