"""Bodies with the same paint are told apart at 3 m, where a car is about ten pixels of a default picture."""

import itertools
import math

import numpy as np
import pytest

from donkeysim.sim.simulator import Simulator
from donkeysim.world.scene import CLASS_CAR
from donkeysim.world.specs import BODY_STYLES, BodySpec, CameraSpec, WorldSpec

LEAST_DIFFERENCE = 12.5
"""Of the pixels that either of two bodies covers, mean over pixels and channels [grey level]; it was 9 once."""

PLACES = [(-0.08, 0.02), (0.05, -0.04), (0.0, 0.0), (0.09, 0.045)]
"""Little shifts along and across [m], so that no figure hangs on one pixel."""


@pytest.fixture(scope="module")
def pair():
    simulator = Simulator(WorldSpec(cars_per_world=2))
    watcher = simulator.add_car()
    simulator.add_car()
    simulator.configure_camera(watcher, CameraSpec(segment=True))
    return simulator


def look(simulator, style, paint, yaw):
    """Return the pictures around a car 3 m ahead at every place, and which of their pixels it covers."""
    watcher, shown = simulator.list_cars()
    x, y = simulator.scene.start.position[0, :2].tolist()
    simulator.place_car(watcher, (x, y, 0.0736), (1.0, 0.0, 0.0, 0.0))
    simulator.configure_car(shown, BodySpec(style=style, colour=paint))
    pictures, covered = [], []
    for along, across in PLACES:
        eye = x + simulator.car_spec.camera.position[0]
        turned = (math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2))
        simulator.place_car(shown, (eye + 3.0 + along, y + across, 0.0736), turned)
        simulator.render([watcher])
        pictures.append(simulator.get_picture(watcher)[36:56, 70:90].astype(float))
        covered.append(simulator.get_segments(watcher)[36:56, 70:90] == CLASS_CAR)
    return np.array(pictures), np.array(covered)


@pytest.mark.parametrize("paint", [(220, 40, 30), (235, 235, 235), (25, 25, 28), (40, 90, 200)])
def test_no_two_bodies_look_alike_from_any_side(pair, paint):
    for yaw in np.arange(8) * math.pi / 4:
        seen = {style: look(pair, style, paint, yaw) for style in BODY_STYLES}
        for one, other in itertools.combinations(BODY_STYLES, 2):
            (ours, here), (theirs, there) = seen[one], seen[other]
            assert 5 <= here.sum(axis=(1, 2)).min() <= here.sum(axis=(1, 2)).max() <= 25
            difference = np.abs(ours - theirs)[here | there].mean()
            assert difference >= LEAST_DIFFERENCE, (one, other, math.degrees(yaw))
