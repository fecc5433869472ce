"""tubhist and makemovie as a person calls them; tubclean ends without a word of Python when it is interrupted."""

import logging
import shutil
import signal
import subprocess
import sys

import pytest
from PIL import Image

from donkeysim.cli.donkey import run
from donkeysim.learn.pilot import BUILT_IN_PILOT
from tub.drives import write_tub


@pytest.fixture
def folder(tmp_path, monkeypatch):
    write_tub(tmp_path / "data", 5)
    write_tub(tmp_path / "more", 5)
    (tmp_path / "config.py").write_text("DRIVE_LOOP_HZ = 10\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_tubhist_saves_a_picture_named_after_the_last_tub(folder, capsys):
    assert run(["tubhist", "--tub", "./data", "./more", "--record", "user/angle"]) == 0
    assert (folder / "more_hist_user_angle.png").stat().st_size > 1000
    assert run(["tubhist", "--tub", "data,more", "--out", "here.png"]) == 0
    assert (folder / "here.png").exists()
    assert "saved here.png" in capsys.readouterr().out


def test_plots_say_nothing_of_matplotlibs_fonts(folder, caplog):
    caplog.set_level(logging.INFO)
    assert run(["tubhist", "--tub", "data", "--out", "here.png"]) == 0
    logging.getLogger("matplotlib.font_manager").info("generated new fontManager")
    assert "fontManager" not in caplog.text


def test_makemovie_films_at_the_rate_of_the_configuration(folder, capsys):
    assert run(["makemovie", "--tub", "data", "--start", "1", "--end", "4", "--scale", "3"]) == 0
    assert "tub_movie.mp4: 3 pictures, 0.3 s" in capsys.readouterr().out


def test_makemovie_skips_counts_and_names_broken_pictures(folder, capsys, caplog):
    pictures = sorted((folder / "data" / "images").iterdir())
    pictures[0].write_bytes(b"no picture")
    pictures[3].unlink()
    assert run(["makemovie", "--tub", "data"]) == 0
    assert "tub_movie.mp4: 3 pictures, 0.3 s" in capsys.readouterr().out
    assert all(pictures[index].name in caplog.text for index in (0, 3))
    assert "2 of 5 pictures are broken and were skipped" in caplog.text


def test_makemovie_makes_no_film_of_nothing_but_broken_pictures(folder, capsys):
    for picture in (folder / "data" / "images").iterdir():
        picture.write_bytes(b"no picture")
    assert run(["makemovie", "--tub", "data"]) == 1
    assert "none of the 5 records has a picture" in capsys.readouterr().err
    assert not (folder / "tub_movie.mp4").exists()


@pytest.mark.parametrize("words", [("makemovie", "--tub", "data"), ("tubhist", "--tub", "data")])
def test_records_that_a_catalog_has_lost_are_counted(folder, caplog, words):
    catalog = folder / "data" / "catalog_0.catalog"
    catalog.write_bytes(b"".join(catalog.read_bytes().splitlines(keepends=True)[:2]))
    assert run(list(words)) == 0
    assert "has lost 3 records: catalog_0.catalog holds 2 of 5." in caplog.text


@pytest.mark.parametrize(
    "words",
    [
        ("makemovie", "--tub", "d*a"),
        ("convert", "./d*a", "copy", "--to", "tub"),
        ("tubhist", "--tub", "d*a"),
        ("tubhist", "--tub", "./data more"),
    ],
)
def test_a_pattern_or_list_that_no_shell_expanded_is_expanded(folder, words):
    assert run(list(words)) == 0


@pytest.mark.parametrize("words", [("makemovie", "--tub", "*o*"), ("convert", "*o*", "copy"), ("tubclean", "*o*")])
def test_a_pattern_of_several_tubs_is_refused_where_one_is_wanted(folder, capsys, words):
    write_tub(folder / "other", 1)
    (folder / "config.py").unlink()
    assert run(list(words)) == 1
    assert "*o* names 2 tubs (more, other); here give one of them." in capsys.readouterr().err


def test_tubplot_draws_what_the_built_in_pilot_says(folder, capsys, monkeypatch):
    monkeypatch.setattr("webbrowser.open", lambda address: pytest.fail(f"--noshow opened {address}"))
    shutil.copy(BUILT_IN_PILOT, folder / "mine.onnx")
    assert run(["tubplot", "--tub", "data,more", "--model", "mine.onnx", "--limit", "7", "--noshow"]) == 0
    assert "saved mine.onnx_pred.png with 7 records" in capsys.readouterr().out
    with Image.open(folder / "mine.onnx_pred.png") as picture:
        assert picture.format == "PNG"
        assert min(picture.size) > 300
        assert len(set(picture.convert("L").tobytes())) > 20  # something is drawn


def test_pilots_of_the_package_are_named_as_in_evaluations_and_nothing_is_written_beside_them(folder, capsys):
    before = sorted(BUILT_IN_PILOT.parent.iterdir())
    assert run(["tubplot", "--tub", "data", "--model", "built-in", "--noshow"]) == 0
    assert "saved built-in_pred.png with 5 records" in capsys.readouterr().out
    assert run(["makemovie", "--tub", "data", "--model", "anywhere"]) == 0
    (picture, *_) = (folder / "data/images").iterdir()
    assert run(["cnnactivations", "--image", str(picture), "--model", "anywhere"]) == 0
    assert sorted(BUILT_IN_PILOT.parent.iterdir()) == before


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["tubhist", "--tub", "nowhere"], "there is no tub"),
        (["makemovie", "--tub", "data", "--salient"], "name one with --model"),
        (["makemovie", "--tub", "data", "--start", "9"], "has 5 records"),
        (["makemovie", "--tub", "data", "--config", "none.py"], "there is no"),
        (["tubplot", "--tub", "data", "--model", "none.onnx"], "there is no pilot"),
        (["tubclean", "nowhere"], "there is no tub"),
        (["tubclean", "data", "--port", "99999"], "port 99999 is not valid"),
    ],
)
def test_mistakes_end_in_one_sentence(folder, capsys, words, sentence):
    assert run(words) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"donkey {words[0]}: ")
    assert sentence in error
    assert error.count("\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to one process there")
def test_tubclean_ends_quietly_when_interrupted(folder):
    command = [sys.executable, "-m", "donkeysim", "tubclean", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert "http://127.0.0.1:" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=10)
    assert (process.returncode, error) == (0, "")
    assert "every change is saved" in out
