"""`donkey tracks` lists, shows and writes tracks, and says what is wrong with broken ones."""

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from donkeysim.cli.console import console
from donkeysim.cli.donkey import run
from donkeysim.world.tracks.catalogue import FORMER_LAYOUTS, ORIGINAL_SCENES, VARIABLE, group_scenes, list_scenes


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """An empty folder to work in, and no folders of tracks."""
    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.setattr(console, "_width", 150)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_new_track_is_listed_shown_and_drawn(place, capsys):
    assert run(["tracks", "new", "mine", "--out", "place"]) == 0
    assert "donkey_sim --scene place" in capsys.readouterr().out
    assert run(["tracks", "list", "--tracks", "place"]) == 0
    listed = capsys.readouterr().out
    assert "mine" in listed
    assert "generated_track" in listed
    assert "(not in menus)" in listed
    assert run(["tracks", "show", "mine", "--tracks", "place", "--size", "400"]) == 0
    shown = capsys.readouterr().out
    for figure in ("14.27 m, closed, counter-clockwise", "1.00 m wide", "level", "12 x tree", "5 x cone", "22 cars"):
        assert figure in shown
    with Image.open(place / "mine.png") as picture:
        assert max(picture.size) == 400
        assert len(np.unique(np.asarray(picture.convert("L")))) > 20


def test_broken_tracks_are_named_with_their_sentences(place, capsys):
    (place / "bad.toml").write_text('format = 1\nname = "bad"\n[path]\nfile = "bat.csv"\n', encoding="utf-8")
    (place / "bat.csv").write_text("0,0\n1,x\n", encoding="utf-8")
    assert run(["tracks", "list", "--tracks", "."]) == 1
    listed = capsys.readouterr().out
    assert "bat.csv, line 2: y_m is 'x'" in listed
    assert "generated_track" in listed


def test_files_of_cameras_and_of_ranges_beside_a_track_are_no_broken_tracks(place, capsys):
    (place / "camera.toml").write_text("format = 1\nposition = [0.0, 0.0, 0.1]\n", encoding="utf-8")
    (place / "ranges.toml").write_text("[road]\ntint = [0.7, 1.3]\n", encoding="utf-8")
    assert run(["tracks", "list", "--tracks", "."]) == 0
    assert "broken" not in capsys.readouterr().out
    sentences = []
    list_scenes((str(place),), lambda error: sentences.append(str(error)))
    assert sentences == []
    (place / "torn.toml").write_text("format = ", encoding="utf-8")
    list_scenes((str(place),), lambda error: sentences.append(str(error)))
    assert len(sentences) == 1


def test_lists_say_whose_design_places_are_and_break_no_name(place, monkeypatch, capsys):
    monkeypatch.setattr(console, "_width", 80)
    name = "a_track_whose_name_is_rather_long"
    assert run(["tracks", "new", name, "--out", "place"]) == 0
    capsys.readouterr()
    assert run(["tracks", "list", "--tracks", "place"]) == 0
    lines = capsys.readouterr().out.splitlines()
    at = [lines.index(heading) for heading in ("The original's places", "Our own places", "Yours")]
    groups = [{line.split()[0] for line in lines[begin + 1 : end]} for begin, end in pairwise([*at, None])]
    assert groups[0] == {*ORIGINAL_SCENES, *FORMER_LAYOUTS}
    assert groups[1] == {*group_scenes(list_scenes())["ours"], "flat", "random_place"}
    assert groups[2] == {name}
    assert str(place / "place" / f"{name}.toml") in lines[-1]


def test_the_readme_and_the_gallery_count_the_originals_places_alike():
    root = Path(__file__).parents[2]
    gallery = (root / "docs" / "tracks" / "gallery.md").read_text(encoding="utf-8")
    originals, ours = gallery.partition("## The original's places")[2].split("## Our own places")
    listed = [re.findall(r"^\| \[(\w+)\]", part, re.MULTILINE) for part in (originals, ours)]
    assert {*listed[0]} == {*ORIGINAL_SCENES}
    assert {*listed[1]} == {*group_scenes(list_scenes())["ours"]}
    assert "The original's eleven places" in (root / "README.md").read_text(encoding="utf-8")
    assert len(listed[0]) == 11


def test_help_writes_names_as_they_are(capsys):
    with pytest.raises(SystemExit):
        run(["tracks", "export", "--help"])
    assert "Write a track and its cars as glTF, for" in " ".join(capsys.readouterr().out.split())


def test_tracks_alone_lists(capsys):
    assert run(["tracks"]) == 0
    assert "generated_track" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["show", "generated_trak"], "did you mean 'generated_track'?"),
        (["show", "gone.toml"], "no track file 'gone.toml'"),
        (["show", "flat", "--size", "5"], "--size is 5; a picture has 64 to 4096"),
        (["show", "flat", "--out", "x.gifx"], "a picture's name ends in .png"),
        (["list", "--tracks", "gone"], "no folder 'gone'"),
        (["new", "a b"], "cannot be called 'a b'"),
        (["new", "x", "--from", "gone.svg"], "no file 'gone.svg'"),
    ],
)
def test_a_mistake_gets_one_sentence(words, sentence, capsys):
    assert run(["tracks", *words]) == 1
    told = capsys.readouterr().err
    assert sentence in told
    assert told.count("\n") == 1
