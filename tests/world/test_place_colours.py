"""What the camera sees of the original's places: colours by class along a lap, and the row of the horizon."""

import tomllib
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from donkeysim.core.rotation import yaw_to_quaternion
from donkeysim.sim.simulator import Simulator
from donkeysim.world.scene import CLASS_GROUND, CLASS_LINE, CLASS_PROP, CLASS_ROAD, CLASS_SKY
from donkeysim.world.specs import CameraSpec, SceneSpec, WorldSpec

TABLE = tomllib.loads((Path(__file__).parent / "looks.toml").read_text(encoding="utf-8"))
LOOKS = TABLE.get("look", [])
CLASSES = {"sky": CLASS_SKY, "ground": CLASS_GROUND, "road": CLASS_ROAD, "line": CLASS_LINE, "prop": CLASS_PROP}

VIEWS = 40
WITHIN = 12.0
"""Levels that the median of each channel may be off."""

HORIZON = 44
"""Row at which the original's camera sees the horizon on level ground."""

LEVEL = ("generated_road", "generated_track")
"""Places whose bare horizon is in sight everywhere between what stands there."""


@lru_cache(maxsize=2)
def see(scene, look):
    """Return pictures and classes of views along a lap, shapes [VIEWS, 120, 160, 3] and [VIEWS, 120, 160]."""
    simulator = Simulator(WorldSpec(scene=SceneSpec(scene, look=look), cars_per_world=1))
    car = simulator.add_car(0)
    simulator.configure_camera(car, CameraSpec(segment=True))
    frame = simulator.scene.path.frame
    pictures, classes = [], []
    for view in range(VIEWS):
        node = len(frame.position) * view // VIEWS
        simulator.move_car(car, tuple(frame.position[node].tolist()), yaw_to_quaternion(frame.look(node)[0]))
        simulator.render([car])
        pictures.append(simulator.get_picture(car).copy())
        classes.append(simulator.get_segments(car).copy())
    simulator.close()
    return np.array(pictures), np.array(classes)


def name_look(entry):
    return f"{entry['scene']}-{entry.get('name', '')}-{entry['class']}-{entry['rows'][0]}"


@pytest.mark.parametrize("entry", LOOKS, ids=name_look)
def test_colours_along_a_lap_are_the_originals(entry):
    pictures, classes = see(entry["scene"], entry.get("name", ""))
    rows = slice(*entry["rows"])
    seen = pictures[:, rows][classes[:, rows] == CLASSES[entry["class"]]]
    assert len(seen) > 400, "there is some of it in sight"
    assert np.abs(np.median(seen, axis=0) - entry["colour"]).max() <= WITHIN, np.median(seen, axis=0)


@pytest.mark.parametrize("scene", LEVEL)
def test_the_horizon_lies_where_the_originals_does(scene):
    _, classes = see(scene, "")
    sky = classes == CLASS_SKY
    lowest = np.array([np.nonzero(view.any(axis=1))[0].max() + 1 for view in sky])
    assert np.abs(lowest - HORIZON).max() <= 1
