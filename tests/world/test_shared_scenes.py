"""Scenes that somebody in the process holds are not built again."""

import gc
import inspect
import os
import weakref

import pytest

from donkeysim.world.specs import SceneSpec
from donkeysim.world.tracks import builder
from donkeysim.world.tracks.catalogue import find_track, share_scene

FLAT = find_track(SceneSpec("flat"))


@pytest.fixture(autouse=True)
def build_each_time(monkeypatch):
    """Do without what conftest.py keeps for all tests."""
    monkeypatch.setattr(builder, "build_scene", inspect.unwrap(builder.build_scene))


def test_a_scene_is_shared_while_somebody_holds_it(tmp_path):
    path = tmp_path / "flat.toml"
    path.write_bytes(FLAT.read_bytes())
    spec = SceneSpec(str(path))
    first = share_scene(spec)
    assert share_scene(spec) is first
    gone = weakref.ref(first)
    del first
    gc.collect()
    assert gone() is None


def test_a_track_whose_file_has_changed_is_built_anew(tmp_path):
    path = tmp_path / "flat.toml"
    path.write_bytes(FLAT.read_bytes())
    first = share_scene(SceneSpec(str(path)))
    os.utime(path, ns=(1, 1))
    assert share_scene(SceneSpec(str(path))) is not first
