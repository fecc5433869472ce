"""The console shows names and people's words as they are, whatever brackets and colons are in them."""

import io
import json
import shutil
import sys
from pathlib import Path

from rich.table import Table

from donkeysim.car.folder import create_car
from donkeysim.cli import donkey_sim
from donkeysim.cli.console import console, show_progress
from donkeysim.cli.donkey import run
from donkeysim.learn.pilot import BUILT_IN_PILOT
from tub.drives import write_tub

WORDS = "[/b] second try, [v2] better :car: [link=x]"


def test_brackets_and_colons_are_printed_as_they_are(capsys):
    console.print(WORDS, soft_wrap=True)
    assert capsys.readouterr().out == f"{WORDS}\n"


def test_brackets_and_colons_in_tables_are_printed_as_they_are(capsys):
    table = Table(WORDS, title="[/b]", box=None)
    table.add_row(WORDS)
    console.print(table)
    said = capsys.readouterr().out
    assert [line.strip() for line in said.splitlines()] == ["[/b]", WORDS, WORDS]


def test_brackets_in_a_description_do_not_end_a_progress_bar():
    with show_progress(WORDS) as report:
        report(1, 1)


def test_donkey_models_lists_comments_with_brackets(tmp_path, monkeypatch, capsys):
    create_car(tmp_path / "car", say=lambda text: None)
    monkeypatch.chdir(tmp_path / "car")
    (tmp_path / "car/models").mkdir(exist_ok=True)
    entry = {"Number": 0, "Name": "p [red].h5", "Type": "linear", "Tubs": "a [b],c", "Comment": WORDS}
    (tmp_path / "car/models/database.json").write_text(json.dumps([entry]))
    monkeypatch.setattr(console, "_width", 200)
    assert run(["models", "--group"]) == 0
    said = capsys.readouterr().out
    assert "p [red].h5" in said
    assert WORDS in said


def test_donkey_models_lists_a_time_that_cannot_be_as_it_is(tmp_path, monkeypatch, capsys):
    create_car(tmp_path, say=lambda text: None)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models/database.json").write_text(json.dumps([{"Name": "p.h5", "Type": "linear", "Time": 1e30}]))
    assert run(["models"]) == 0
    assert "1e+30" in capsys.readouterr().out


def test_paths_with_brackets_are_printed_as_they_are(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "car [old]"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "config.py").write_text("DRIVE_LOOP_HZ = 10\n")
    write_tub(folder / "data", 5)
    model = Path(shutil.copy(BUILT_IN_PILOT, folder / "p [red].onnx"))
    assert run(["tubhist", "--tub", "data", "--out", str(folder / "h [red].png")]) == 0
    assert run(["tubplot", "--tub", "data", "--model", str(model), "--noshow"]) == 0
    said = capsys.readouterr().out
    for name in ("h [red].png", "p [red].onnx_pred.png"):
        assert f"saved {folder / name}" in said
        assert (folder / name).exists()


def test_a_mistake_names_a_path_with_brackets_as_it_is(tmp_path, capsys):
    assert run(["tubhist", "--tub", str(tmp_path / "[/b] none")]) == 1
    assert str(tmp_path / "[/b] none") in capsys.readouterr().err


def write_western(monkeypatch):
    """Return standard output as Windows opens files and pipes in Europe: letters it lacks are errors."""
    stream = io.TextIOWrapper(io.BytesIO(), "cp1252", write_through=True)
    monkeypatch.setattr(sys, "stdout", stream)
    return stream


def test_a_car_is_made_though_the_output_has_no_letters_for_its_folder(tmp_path, monkeypatch):
    stream = write_western(monkeypatch)
    assert run(["createcar", "--path", str(tmp_path / "Müller 車")]) == 0
    assert (tmp_path / "Müller 車" / "manage.py").is_file()
    assert "Müller \\u8eca" in stream.buffer.getvalue().decode("cp1252")


def test_the_simulator_runs_though_the_output_has_no_letters_for_a_name(monkeypatch):
    stream = write_western(monkeypatch)
    monkeypatch.setattr(donkey_sim, "run", lambda _options: print("Made a car in 車"))
    monkeypatch.setattr(donkey_sim.os, "_exit", lambda _code: None)
    donkey_sim.main([])
    assert stream.buffer.getvalue().decode("cp1252").strip() == "Made a car in \\u8eca"
