"""Circuits in the racetrack database's format, scaled to the car's world, can be driven."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from donkeysim.sim.path_follower import PathFollower
from donkeysim.world.specs import SceneSpec
from donkeysim.world.tracks import load_scene
from driving import CAR, Course

CIRCUITS = sorted(path.stem for path in Path("examples/tracks").glob("*.csv"))


@pytest.mark.parametrize("name", CIRCUITS)
def test_the_pace_car_laps_a_circuit_without_a_hit_on_its_path(name):
    scene = load_scene(SceneSpec(f"examples/tracks/{name}.toml"))
    seen = Course(scene).drive(PathFollower(scene, CAR, "steady"), laps=1, seconds=300.0)
    assert len(seen.laps) == 1
    assert not seen.hits
    assert not seen.off_road
    node = scene.path.position[:, :2]
    away = np.linalg.norm(np.array(seen.trace)[::10, None, :2] - node[None], axis=2).min(axis=1)
    assert away.max() < 0.5 * scene.path.width_left.min()
