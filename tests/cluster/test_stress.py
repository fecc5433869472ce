"""A stress test drives pilots under one hard thing at a time, the same for all of them."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from donkeysim.cli import donkey
from donkeysim.cluster import stress
from donkeysim.cluster.stress import (
    COLUMNS,
    NONE,
    StressDrive,
    StressSpec,
    draw_stress,
    estimate_share,
    format_report,
    make_conditions,
    score_run,
    sum_up,
)
from donkeysim.core.errors import SpecError
from donkeysim.learn.evaluate import Conditions
from donkeysim.world.randomization import list_knobs, read_randomization


def test_a_draw_is_further_from_rest_the_greater_the_strength_and_never_at_random_twice():
    for column, values in COLUMNS.items():
        draws = [draw_stress(column, strength, seed=3) for strength in (1, 2, 3)]
        assert draws == [draw_stress(column, strength, seed=3) for strength in (1, 2, 3)]
        for name, (rest, low, high) in values.items():
            table, _, knob = name.partition(".")
            ways = [abs(getattr(getattr(draw, table), knob)[0] - rest) for draw in draws]
            assert ways == pytest.approx([ways[2] / 3, 2 * ways[2] / 3, ways[2]])
            assert ways[2] <= max(abs(low - rest), abs(high - rest)) + 1e-12


def test_the_preset_real_covers_every_column():
    covered = {knob.name.removesuffix("_red") for knob in list_knobs(read_randomization("real"))}
    for column, values in COLUMNS.items():
        if column != "distractors":
            assert set(values) <= covered, column
    assert {"ground.hue", "props.hue", "sky.tint"} <= covered


def test_distractors_stand_about_and_cannot_be_hit():
    scene = make_conditions(Conditions(), "distractors", 2, 0).conf.experiment.scene
    assert (scene.challenges.cones, scene.challenges.trees, scene.challenges.ghosts) == (24, 80, True)
    assert make_conditions(Conditions(), "light", 2, 0).conf.experiment.scene.challenges.cones == 0


def make_run(along, departures=(), is_passed=False):
    columns = {"time": np.arange(len(along)) * 0.05, "along": np.array(along, float), "cte": np.zeros(len(along))}
    path = SimpleNamespace(frame=SimpleNamespace(length=10.0))
    return SimpleNamespace(
        is_passed=is_passed,
        departures=[SimpleNamespace(time=time) for time in departures],
        hits=[],
        wanted_laps=1,
        scene=SimpleNamespace(path=path),
        column=columns.__getitem__,
    )


def test_the_score_is_the_way_up_to_the_first_departure():
    around = [8.0, 9.0, 0.0, 1.0, 2.0, 3.0]  # over the end of the path
    assert score_run(make_run(around, departures=[0.2])) == pytest.approx(0.3)
    assert score_run(make_run(around)) == pytest.approx(0.5)
    assert score_run(make_run(around, is_passed=True)) == 1.0
    assert score_run(make_run([5.0, 4.0, 3.0])) == 0.0


def test_an_interval_is_never_empty_and_stays_within_its_scale():
    certain, split = estimate_share([1.0] * 12), estimate_share([0.0, 1.0] * 6)
    assert (certain.mean, certain.high) == (1.0, 1.0)
    assert 0.7 < certain.low < 0.8
    assert split.low < 0.3 < 0.7 < split.high


def test_pilots_are_summed_up_by_column_and_strength():
    spec = StressSpec(("a.h5", "b<.h5"), ("t",), seeds=1, columns=(NONE, "light"))
    assert len(spec.drives) == 2 * (3 + 3)
    drives = [StressDrive(*drive, 0.25 * drive[2], "", 1.0, 0.1) for drive in spec.drives]
    cells = sum_up(spec, drives)
    assert [(cell.model, cell.column, cell.count) for cell in cells][1] == ("a.h5", "light", 3)
    assert cells[1].by_strength == (0.25, 0.5, 0.75)
    assert cells[1].cte.mean == pytest.approx(0.1)
    page = format_report(spec, cells, "rc10")
    assert "b&lt;" in page
    assert "nothing" in page
    assert "from wherever its drive begins" in page
    assert "share of the length of 1 lap: on t, 1 drive at" in page
    assert "<script" not in page
    with pytest.raises(SpecError, match="did you mean 'light'"):
        StressSpec(("a.h5",), ("t",), columns=("ligth",))


def test_the_command_drives_prints_and_writes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(stress, "evaluate", lambda *_: SimpleNamespace(runs=[stand_in]))
    stand_in = make_run([0.0, 5.0, 9.0])
    stand_in.ending, stand_in.speed_mean = "stood still", 1.0
    assert donkey.run(["evaluate", "--stress", "--seeds", "1", "--out", "s.html"]) == 0
    shown = capsys.readouterr().out
    assert "field of view" in shown
    assert "built-in" in shown
    told = json.loads((tmp_path / "s.json").read_text())
    assert len(told["drives"]) == 3 * len(COLUMNS)
    assert "mounting" in (tmp_path / "s.html").read_text()


def test_ctrl_c_writes_the_columns_that_all_pilots_have_driven(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def drive(count):
        def stop(spec, *_):
            for each in spec.drives[:count]:
                yield StressDrive(*each, 0.5, "", 1.0, 0.1)
            raise KeyboardInterrupt

        return stop

    for count in (4, 0):
        monkeypatch.setattr(stress, "drive_stress", drive(count))
        assert donkey.run(["evaluate", "--stress", "--seeds", "1", "--out", "s.html"]) == 130
    assert "Stopped by Ctrl-C after 4 of" in capsys.readouterr().out
    told = json.loads((tmp_path / "s.json").read_text())
    assert len(told["drives"]) == 4
    assert {cell["column"] for cell in told["cells"]} == {drive["column"] for drive in told["drives"]}
    assert "nothing" in (tmp_path / "s.html").read_text()
