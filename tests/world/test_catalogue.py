"""Where tracks of one's own are found: by path, in folders given, in the folders of DONKEYSIM_TRACKS."""

import os

import pytest

from donkeysim.core.errors import SceneError
from donkeysim.world.specs import SceneSpec
from donkeysim.world.tracks.catalogue import (
    VARIABLE,
    expand_tracks,
    find_track,
    find_tracks,
    list_scenes,
    share_folders,
    shorten_scene_name,
)

TRACK = (
    'format = 1\nname = "{}"\n[path]\npoints = [[0, 0], [4, 0], [2, 3]]\n[road]\nwidth_left = 0.3\nwidth_right = 0.3'
)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Make folders with tracks; the environment has none to begin with."""
    monkeypatch.delenv(VARIABLE, raising=False)

    def make(folder, *names):
        (tmp_path / folder).mkdir(exist_ok=True)
        for name in names:
            (tmp_path / folder / f"{name}.toml").write_text(TRACK.format(name), encoding="utf-8")
        return str(tmp_path / folder)

    return make


def test_folders_of_the_variable_are_looked_through_by_everybody(place, monkeypatch):
    monkeypatch.setenv(VARIABLE, os.pathsep.join([place("a", "ring"), "", place("b", "oval", "ring")]))
    assert {"ring", "oval"} <= set(list_scenes())
    assert find_track(SceneSpec("ring")).parent.name == "a"


def test_a_folder_given_wins_over_the_variable_and_both_over_the_package(place, monkeypatch):
    monkeypatch.setenv(VARIABLE, place("a", "ring", "generated_track"))
    assert find_track(SceneSpec("generated_track")).parent.name == "a"
    assert find_tracks([place("b", "ring"), place("c", "ring")])["ring"].parent.name == "b"


def test_folders_are_shared_with_what_this_process_starts(place, monkeypatch):
    monkeypatch.setenv(VARIABLE, place("a", "ring"))
    share_folders([place("b", "ring")])
    assert find_tracks()["ring"].parent.name == "b"
    assert len(os.environ[VARIABLE].split(os.pathsep)) == 2


def test_a_folder_whose_track_hides_a_built_in_one_says_so(place, monkeypatch, caplog):
    monkeypatch.setenv(VARIABLE, "")
    share_folders([place("a", "ring")])
    assert not caplog.text
    share_folders([place("b", "warren")])
    assert "is driven instead of the built-in warren" in caplog.text


def test_a_folder_that_is_missing_is_named_with_where_it_was_given(place, monkeypatch):
    with pytest.raises(SceneError, match="no folder 'gone' to look for tracks in"):
        share_folders(["gone"])
    assert VARIABLE not in os.environ
    monkeypatch.setenv(VARIABLE, "gone")
    with pytest.raises(SceneError, match="no folder 'gone' of DONKEYSIM_TRACKS"):
        list_scenes()


def test_a_folder_stands_for_all_of_its_tracks(place):
    folder = place("a", "ring", "oval")
    names = expand_tracks(["flat", folder])
    assert [shorten_scene_name(name) for name in names] == ["flat", "oval", "ring"]
    with pytest.raises(SceneError, match=r"has no track, that is, no \.toml"):
        expand_tracks([place("b")])


def test_a_pattern_that_no_shell_expanded_stands_for_what_fits_it(place):
    folder = place("a", "ring", "oval", "other")
    names = expand_tracks([f"{folder}/o*.toml", "flat"])
    assert [shorten_scene_name(name) for name in names] == ["other", "oval", "flat"]
    assert expand_tracks([f"{folder}/x*.toml"]) == [f"{folder}/x*.toml"]


def test_a_file_that_is_missing_names_the_nearest_beside_it(place):
    folder = place("a", "ring")
    with pytest.raises(SceneError, match=r"no track file .*rinq\.toml'; did you mean .*ring\.toml'\?"):
        find_track(SceneSpec(f"{folder}/rinq.toml"))
    with pytest.raises(SceneError, match="give the path of an existing one"):
        find_track(SceneSpec(f"{folder}/quite_another.svg"))


@pytest.mark.parametrize("name", ["place/ring.toml", "ring.CSV", "a b/ring.svg"])
def test_others_are_told_no_folders(name):
    assert shorten_scene_name(name) == "ring"
