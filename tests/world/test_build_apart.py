"""A scene that another process built is the one that this process would have built."""

import pickle
import sys

import pytest

from donkeysim.core.errors import SceneError
from donkeysim.world.specs import SceneSpec
from donkeysim.world.tracks import build_apart
from donkeysim.world.tracks.catalogue import load_scene


def test_the_scene_is_the_same_to_the_byte():
    spec = SceneSpec("flat")
    there = build_apart.load_apart(spec)
    here = load_scene(spec)
    assert there is not here
    assert pickle.dumps(there.static) == pickle.dumps(here.static)
    assert [picture.tobytes() for picture in there.textures] == [picture.tobytes() for picture in here.textures]
    assert there.path.position.tobytes() == here.path.position.tobytes()


def test_why_there_is_no_scene_is_told_here(tmp_path):
    track = tmp_path / "mine.toml"
    track.write_text("format = 1\nnonsense = 3\n")
    with pytest.raises(SceneError, match=r"mine\.toml") as there:
        build_apart.load_apart(SceneSpec(str(track)))
    with pytest.raises(SceneError) as here:
        load_scene(SceneSpec(str(track)))
    assert str(there.value) == str(here.value)


@pytest.mark.parametrize("program", ["", "/nowhere/python", "/bin/true"])
def test_where_no_other_process_can_build_this_one_does(monkeypatch, program):
    monkeypatch.setattr(sys, "executable", program)
    assert build_apart.load_apart(SceneSpec("flat")).name == "flat"
