"""Tracks of one's own in the environments: by path, by name in a folder, and as ids of their own."""

import os
import subprocess
import sys

import gymnasium
import pytest

import donkeysim  # noqa: F401  (tells the ids)
from donkeysim.envs import registration
from donkeysim.world.tracks import catalogue

TRACK = """format = 1
name = "back_yard"
path.points = [[0, 0], [4, 0], [4, 3], [0, 3]]
road.width_left = 0.3
road.width_right = 0.3
ground.texture = "plain"
start.lines = [0.3]
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "back_yard.toml").write_text(TRACK, encoding="utf-8")
    (tmp_path / "odd name.toml").write_text(TRACK.replace("back_yard", "odd name"), encoding="utf-8")
    return tmp_path


def test_the_variable_is_the_catalogues():
    assert registration.VARIABLE == catalogue.VARIABLE


@pytest.mark.parametrize(
    ("name", "key", "settings"),
    [("donkeysim/GeneratedTrack-v0", "track", {"observe": "vector"}), ("donkey-generated-track-v0", "scene", {})],
)
def test_an_environment_drives_on_a_track_file(folder, name, key, settings):
    with gymnasium.make(name, **{key: str(folder / "back_yard.toml")}, **settings) as env:
        env.reset(seed=1)
        assert not env.step(env.action_space.sample())[2]


def test_a_folder_given_is_looked_through(folder):
    with gymnasium.make(
        "donkeysim/GeneratedTrack-v0", track="back_yard", folders=(str(folder),), observe="vector"
    ) as env:
        env.reset(seed=1)
        assert env.unwrapped.fleet.simulator.scene.name == "back_yard"


@pytest.mark.parametrize(("variable", "expected"), [("{folder}", "True"), ("{folder}/gone", "False"), ("", "False")])
def test_tracks_of_the_variable_have_ids_of_their_own(folder, variable, expected):
    code = "import donkeysim, gymnasium; print('donkeysim/BackYard-v0' in gymnasium.registry)"
    told = {**os.environ, catalogue.VARIABLE: variable.format(folder=folder)}
    done = subprocess.run([sys.executable, "-c", code], env=told, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [expected]
