"""`donkey rl` learns, keeps what it learned, and goes on."""

import json

import pytest

from donkeysim.cli import donkey
from donkeysim.cli.commands import rl
from donkeysim.learn.pilot import load_pilot
from donkeysim.learn.rl.curve import read_curve
from donkeysim.learn.rl.session import Session

QUICK = ["--cars", "8", "--laps", "1", "--page", "0"]


def read_summary(folder):
    """The figures that `donkey rl` leaves."""
    return json.loads((folder / "summary.json").read_bytes())


def test_a_run_leaves_a_pilot_and_goes_on_where_it_stopped(tmp_path, monkeypatch, capsys):
    folder, clock = tmp_path / "out", [0.0]
    monkeypatch.setattr(Session, "seconds", property(lambda self: clock[0] - self._begun))

    def advance(self, learner, watches, once=Session._advance):
        once(self, learner, watches)
        clock[0] += 31.0

    monkeypatch.setattr(Session, "_advance", advance)
    monkeypatch.setattr(rl, "BEGUN", 0.0)
    monkeypatch.chdir(tmp_path)
    assert donkey.run(["rl", *QUICK, "--minutes", "1", "--out", str(folder)]) == 1
    first = read_summary(folder)
    assert first["steps"] == 2 * 8 * 32
    assert not first["is_passed"]
    assert load_pilot(folder / "pilot.onnx").kind == load_pilot(folder / "pilot.h5").kind == "memory"
    assert (folder / "report.html").stat().st_size > 10_000
    assert "time is up" in capsys.readouterr().out

    assert donkey.run(["rl", "--resume", str(folder), "--page", "0", "--minutes", "2"]) == 1
    again = read_summary(folder)
    assert again["steps"] > first["steps"]
    assert again["sittings"] == 2
    assert [point.steps for point in read_curve(folder / "curve.jsonl")][-1] == again["steps"]

    assert donkey.run(["rl", *QUICK, "--out", str(folder)]) == 1
    assert "--resume" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--minutes", "0"], "number above 0"),
        (["--teacher", "nobody"], "learned"),
        (["--resume", "nowhere"], "to go on with"),
        (["--track", "nowhere"], "nowhere"),
        (["--from", "nowhere.h5"], "nowhere.h5"),
        (["--randomize", "nothing"], "nothing"),
    ],
)
def test_what_is_not_possible_is_said_in_a_sentence(words, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert donkey.run(["rl", *QUICK, *words]) != 0
    said = capsys.readouterr().err
    assert message in said
    assert "Traceback" not in said


def test_going_on_with_something_else_is_refused(tmp_path, capsys):
    (tmp_path / "task.json").write_text('{"format": 1, "seed": 3}')
    assert donkey.run(["rl", "--resume", str(tmp_path), "--seed", "4"]) != 0
    assert "seed" in capsys.readouterr().err


def test_a_second_run_gets_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    parser = donkey.CommandParser()
    rl.add_arguments(parser)
    names = []
    for _ in range(3):
        _, folder = rl.read_request(parser.parse_args(["--track", "warren"]))
        folder.mkdir()
        names.append(folder.name)
    assert names == ["rl_warren_0", "rl_warren_0_2", "rl_warren_0_3"]
