"""`donkey demo`: what it leaves, and that it never praises a pilot that left the road."""

from donkeysim.cli.donkey import run
from donkeysim.tub.reader import TubReader


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


def test_the_demo_does_not_touch_a_folder_that_holds_something(tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("mine")
    assert run(["demo", "--out", str(tmp_path)]) == 1
    assert "is not empty" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
