"""Pilots, tracks and starts make a matrix of drives, the same ones whoever drives them."""

import json
import math
from dataclasses import replace
from statistics import NormalDist

import pytest

from donkeysim.cli import donkey
from donkeysim.cluster import matrix
from donkeysim.cluster.executor import Executor
from donkeysim.cluster.matrix import Cell, MatrixSpec, drive_cell, drive_matrix, estimate_mean, sum_up
from donkeysim.core.errors import SpecError
from donkeysim.learn.evaluate import Conditions
from donkeysim.learn.pilot import BUILT_IN_PILOT

SPEC = MatrixSpec((str(BUILT_IN_PILOT),), ("generated_track",), seeds=2, laps=1)


@pytest.fixture(scope="module")
def cells():
    return list(drive_matrix(SPEC, Conditions(), Executor(workers=0)))


def test_every_start_is_driven_once(cells):
    assert [(cell.number, cell.seed, cell.laps) for cell in cells] == [(0, 0, 1), (1, 1, 1)]
    assert cells[0].lap_time != cells[1].lap_time
    assert all(cell.is_passed and not cell.hits for cell in cells)


def test_a_drive_depends_on_no_other(cells):
    assert drive_cell(SPEC, Conditions(), 1) == cells[1]


def make(number, spec, *, lap_time=10.0, cte=0.1, is_passed=True):
    model, track, seed = spec.drives[number]
    laps = 0 if math.isnan(lap_time) else 1
    return Cell(number, model, track, seed, is_passed, "", laps, lap_time, cte, 1.0, 0, 0)


def test_each_pilot_on_each_track_is_summed_up():
    spec = MatrixSpec(("a", "b"), ("x", "y"), seeds=4, laps=1)
    drives = [
        make(number, spec, cte=0.1 + 0.01 * (number % 4), is_passed=number != 5) for number in range(len(spec.drives))
    ]
    drives[15] = replace(drives[15], laps=0, lap_time=math.nan)
    rows = sum_up(spec, reversed(drives))
    assert [(row.model, row.track, row.count, row.passed) for row in rows] == [
        ("a", "x", 4, 4),
        ("a", "y", 4, 3),
        ("b", "x", 4, 4),
        ("b", "y", 4, 4),
    ]
    # Wilson's interval of 3 of 4: centre and half width by the closed form.
    z = NormalDist().inv_cdf(0.975)
    centre, half = (0.75 + z * z / 8) / (1 + z * z / 4), z * math.sqrt(0.75 * 0.25 / 4 + z * z / 64) / (1 + z * z / 4)
    assert (rows[1].share.low, rows[1].share.high) == pytest.approx((centre - half, centre + half))
    assert rows[0].cte.mean == pytest.approx(0.115)
    assert rows[0].cte.high - rows[0].cte.mean == pytest.approx(3.18245 * 0.0129099 / 2.0, rel=1e-4)
    assert rows[3].lap_time.mean == 10.0


def test_one_value_has_no_interval_and_none_no_mean():
    assert estimate_mean([2.0]).mean == 2.0
    assert math.isnan(estimate_mean([2.0]).low)
    assert math.isnan(estimate_mean([]).mean)


def test_the_command_prints_and_writes_the_matrix(tmp_path, monkeypatch, capsys, cells):
    monkeypatch.chdir(tmp_path)
    words = ["--model", "built-in", "--tracks", "generated_track"]
    assert donkey.run(["evaluate", *words, "--seeds", "2", "--laps", "1"]) == 0
    said = capsys.readouterr().out
    assert "built-in" in said
    assert "2 of 2" in said
    assert "±" in said
    written = json.loads((tmp_path / "evaluation.json").read_text())
    assert [drive["lap_time"] for drive in written["drives"]] == [cell.lap_time for cell in cells]
    assert written["pairs"][0]["passed"] == 2


def stop_after(count, drives):
    yield from drives[:count]
    raise KeyboardInterrupt


def test_ctrl_c_writes_the_drives_that_were_done(tmp_path, monkeypatch, capsys, cells):
    monkeypatch.chdir(tmp_path)
    for done in (1, 0):
        monkeypatch.setattr(matrix, "drive_matrix", lambda *_, done=done: stop_after(done, cells))
        assert donkey.run(["evaluate", "--tracks", "generated_track", "--seeds", "2", "--laps", "1"]) == 130
    assert "Stopped by Ctrl-C after 1 of 2 drives, which are reported." in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["evaluation.json"]
    written = json.loads((tmp_path / "evaluation.json").read_text())
    assert [drive["number"] for drive in written["drives"]] == [0]
    assert written["pairs"][0]["count"] == 1


def test_what_is_not_possible_is_said_before_anybody_drives(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SpecError, match="1 laps from 0 starts are not valid"):
        MatrixSpec(("a",), ("x",), seeds=0, laps=1)
    assert donkey.run(["evaluate", "--model", str(BUILT_IN_PILOT), "nowhere.onnx", "--tracks", "waveshare"]) != 0
    assert "nowhere.onnx" in capsys.readouterr().err
    assert donkey.run(["evaluate", "--seeds", "2", "--workers", "0", "--address", "auto"]) != 0
    assert "so no --address" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
