"""`donkey demo`: what it leaves, and that it never praises a pilot that left the road."""

import os
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from donkeysim.cli.commands import demo
from donkeysim.cli.donkey import run
from donkeysim.tub.reader import TubReader


@pytest.mark.soak
def test_a_pilot_that_learnt_too_little_is_not_praised(tmp_path, capsys):
    folder = tmp_path / "demo"
    assert run(["demo", "--quick", "--records", "40", "--out", str(folder)]) == 1
    said = capsys.readouterr().out
    lines = said.splitlines()
    assert "All 3 laps driven" not in said
    assert "generated_track: left the road after 0 of 3 laps" in said or "generated_track: stood still after 0" in said
    assert "0 of 3 laps, on the road" in lines[-2]
    assert lines[-1] == f"report: {folder / 'report.html'}"
    assert "failed" in (folder / "report.html").read_text(encoding="utf-8")
    assert len(TubReader(folder / "data")) == 40
    assert (folder / "models" / "mypilot.h5").is_file()
    assert (folder / "manage.py").is_file()
    assert lines[0].startswith("Recorded 40 records")  # no empty line where no bar can be shown


def replace_stages(monkeypatch, is_passed):
    for stage in ("_sample", "_train"):
        monkeypatch.setattr(demo, stage, lambda *_: True)
    monkeypatch.setattr(demo, "_evaluate", lambda *_: SimpleNamespace(is_passed=is_passed))
    monkeypatch.setattr(demo, "_tell", lambda *_: None)


def test_a_demo_that_broke_off_is_begun_anew_by_the_next_one(tmp_path, capsys):
    folder = tmp_path / "demo"
    words = ["demo", "--records", "0", "--out", str(folder)]  # which cannot be driven
    assert run(words) == 1
    assert "begin" not in capsys.readouterr().out
    (folder / "models" / "mypilot.h5").write_text("half a pilot")
    (folder / "notes.txt").write_text("mine")
    assert run(words) == 1
    assert f"The demo in {folder} did not end well; beginning anew there." in capsys.readouterr().out
    assert not (folder / "models" / "mypilot.h5").exists()
    assert (folder / "manage.py").is_file()
    assert (folder / "notes.txt").read_text() == "mine"


def test_a_demo_whose_pilot_failed_is_begun_anew_and_one_that_ended_well_is_not(tmp_path, capsys, monkeypatch):
    words = ["demo", "--out", str(tmp_path / "demo")]
    for is_passed, code, said in ((False, 1, ""), (True, 0, "did not end well"), (True, 1, "is not empty")):
        replace_stages(monkeypatch, is_passed)
        assert run(words) == code
        assert said in "".join(capsys.readouterr())


def test_the_demo_leaves_a_folder_alone_in_which_another_one_is_at_work(tmp_path, capsys):
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        (tmp_path / ".unfinished-demo").write_text(str(other.pid))
        (tmp_path / "data").mkdir()
        assert run(["demo", "--out", str(tmp_path)]) == 1
        assert f"a demo is running in {tmp_path} (process {other.pid})" in capsys.readouterr().err
        assert (tmp_path / "data").is_dir()
        other.communicate(b"\n")


def test_a_later_process_of_the_same_number_is_no_demo_at_work(tmp_path):
    mark = tmp_path / ".unfinished-demo"
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        for text, age, expected in (
            (other.pid, 0, True),
            (other.pid, 3600, False),
            (1 << 30, 0, False),
            ("", 0, False),
        ):
            mark.write_text(str(text))
            os.utime(mark, (time.time() - age,) * 2)
            assert demo._is_at_work(mark) == expected
        other.communicate(b"\n")


def test_the_demo_does_not_touch_a_folder_that_holds_something(tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("mine")
    assert run(["demo", "--out", str(tmp_path)]) == 1
    assert "is not empty" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
