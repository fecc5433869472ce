"""What is wrong with a command's words is said before anything takes time, and nothing is written then."""

import argparse
import json
import subprocess
import sys

import pytest

from donkeysim.cli.donkey import run
from donkeysim.cli.evaluation_matrix import choose_out
from donkeysim.core.errors import DonkeySimError
from donkeysim.core.files import check_place
from tub.drives import write_tub

SAY = """
import json, sys
from donkeysim.cli.donkey import run
codes = [run(words) for words in json.loads(sys.argv[1])]
print(codes, sorted({"torch", "keras"} & set(sys.modules)))
"""

REFUSED = [
    (["rl", "--track", "typo"], "unknown scene 'typo'"),
    (["rl", "--track", "warehouse", "--test", "typo"], "unknown scene 'typo'"),
    (["rl", "--page", "99999"], "port 99999 is not valid"),
    (["rl", "--page", "-1"], "port -1 is not valid"),
    (["rl", "--minutes", "0"], "--minutes 0 is not valid"),
    (["rl", "--from", "nope.h5"], "there is no pilot nope.h5"),
    (["rl", "--from", "nope.png"], "is not a pilot's file"),
    (["rl", "--randomize", "typo"], "typo"),
    (["rl", "--reward", "nope.py"], "nope.py cannot be read as Python"),
    (["rl", "--reward", "file"], "file cannot be read as Python"),
    (["rl", "--car", "typo"], "typo"),
    (["rl", "--out", "file/rl"], "file is no folder"),
    (["train", "--transfer", "nope.h5"], "there is no pilot"),
    (["train", "--transfer", "nope.png"], "is not a pilot's file"),
    (["train", "--transfer", "pilot.onnx"], "a finished graph"),
    (["train", "--transfer", "file/x.h5"], "there is no pilot"),
    (["train", "--model", "file/x.h5"], "file is no folder"),
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    write_tub(tmp_path / "data", 30)
    (tmp_path / "config.py").write_text("")
    (tmp_path / "file").write_text("no Python")
    (tmp_path / "pilot.onnx").write_bytes(b"\x08\x08")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def list_all(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


@pytest.mark.parametrize(("words", "sentence"), REFUSED)
def test_learning_is_refused_in_a_sentence_and_leaves_nothing(folder, capsys, words, sentence):
    before = list_all(folder)
    assert run(words) == 1
    assert sentence in capsys.readouterr().err
    assert list_all(folder) == before


def test_learning_is_refused_before_its_libraries_are_loaded(folder):
    commands = json.dumps([words for words, _ in REFUSED])
    done = subprocess.run([sys.executable, "-c", SAY, commands], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == f"{[1] * len(REFUSED)} []"


@pytest.mark.parametrize(
    "words",
    [
        ("makemovie", "--tub", "data", "--out", "file/a.mp4"),
        ("tubhist", "--tub", "data", "--out", "file/a.png"),
        ("convert", "data", "file/a.parquet"),
        ("sample", "--out", "file/data"),
        ("generate", "file/set"),
        ("cnnactivations", "--image", "a.jpg", "--model", "m.h5", "--out", "file/a"),
        ("replay", "log", "--film", "file/a.mp4"),
        ("calibrate", "--camera", "pi_v2", "--floor", ".", "--out", "file/car"),
    ],
)
def test_a_place_that_takes_nothing_is_refused_before_the_work(folder, capsys, words):
    before = list_all(folder)
    assert run(list(words)) == 1
    assert "file is no folder; choose another place." in capsys.readouterr().err
    assert list_all(folder) == before


def test_a_report_of_another_run_is_never_replaced_silently(folder, capsys):
    arguments = argparse.Namespace(out=None)
    for name in ("m_report.html", "m_report_2.html", "m_report_3.html"):
        path = choose_out(arguments, "m_report.html", "")
        assert path.name == name
        path.write_text("a report")
    assert capsys.readouterr().out == ""
    choose_out(argparse.Namespace(out="m_report.html"), "x.html", "")
    assert "m_report.html will be replaced." in capsys.readouterr().out
    assert run(["makemovie", "--tub", "data"]) == 0
    assert "replaced" not in capsys.readouterr().out
    assert run(["makemovie", "--tub", "data"]) == 0
    assert "tub_movie.mp4 will be replaced." in capsys.readouterr().out


def test_folders_that_are_not_there_yet_are_places(tmp_path):
    check_place(tmp_path / "a/b/c.txt")
    check_place(tmp_path / "c.txt")
    (tmp_path / "file").write_text("")
    with pytest.raises(DonkeySimError, match="is no folder"):
        check_place(tmp_path / "file/c/d.txt")
