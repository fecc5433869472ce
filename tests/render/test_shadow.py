"""Cars and standing props darken the ground down the sun from them, and nothing else of a picture."""

import math

import numpy as np
import pytest
from tests.render.scenery import make_scene

from donkeysim.core.workers import Workers
from donkeysim.render.camera import Renderer
from donkeysim.world.specs import CameraSpec, load_car
from donkeysim.world.state import Layout, make_state

SUN = (0.6, 0.0, 0.8)
"""0.75 m of shadow for each metre of height, towards -x."""

ABOVE = CameraSpec(width=200, height=200, fov=2.0 * math.atan(0.5 / 3.0))
"""From 3 m it shows 1 m x 1 m of ground; with the view of `look_down` x runs upwards and y to the left."""

REST, TOP = 0.065, 0.125
"""Of the car's origin and of the body's top above the ground [m]."""


def make_world(sun=SUN, **options):
    scene = make_scene(sun=sun, props=((0.0, 0.0),), **options)
    renderer = Renderer(Layout([scene], np.zeros(1, np.int32), load_car("original"), 1, 1, 1), Workers(1))
    state = make_state(1, 1, 1)
    state.present[0] = 1
    state.position[0] = (0.0, 0.0, REST)
    state.orientation[0] = (1.0, 0.0, 0.0, 0.0)
    state.prop_position[0] = (50.0, 0.0, 0.0)
    state.prop_orientation[0] = (1.0, 0.0, 0.0, 0.0)
    return renderer, state


def look_down(world):
    renderer, state = world
    return renderer.render_view(state, 0, (0.0, 0.0, 3.0), (0.0, math.pi / 2, 0.0), ABOVE).astype(float).mean(axis=2)


def measure_loss(world):
    """Share of light that car or cone take from the ground, by x and y from their middle; they hide some of it."""
    with_it = look_down(world)
    world[1].present[0] = 0
    world[1].prop_position[0] = (50.0, 0.0, 0.0)
    loss = 1.0 - with_it / look_down(world)
    return lambda x, y: float(loss[round(100 - 200 * x), round(100 - 200 * y)])


def find_ends(loss):
    """How far ahead of the car and behind it the ground is darkened [m]."""
    at = np.arange(0.14, 0.45, 0.005)
    ahead, behind = (np.array([loss(sign * x, 0.0) for x in at]) > 0.3 for sign in (1.0, -1.0))
    return tuple(0.0 if not dark.any() else float(at[dark].max()) for dark in (ahead, behind))


def test_a_car_darkens_the_ground_on_the_side_away_from_the_sun():
    loss = measure_loss(make_world())
    ahead, behind = find_ends(loss)
    assert ahead < 0.17
    assert behind == pytest.approx(0.12 + 0.75 * TOP, abs=0.02)
    assert loss(-0.18, 0.0) == pytest.approx(0.62, abs=0.06)
    assert abs(loss(-0.18, 0.16)) < 0.05


@pytest.mark.parametrize("yaw", [0.5 * math.pi, math.pi, -0.5 * math.pi])
def test_a_shadow_lies_down_the_sun_whichever_way_the_car_is_turned(yaw):
    world = make_world()
    world[1].orientation[0] = (math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2))
    loss = measure_loss(world)
    half = 0.07 if abs(math.sin(yaw)) > 0.5 else 0.12
    assert loss(-half - 0.06, 0.0) > 0.5
    assert loss(half + 0.06, 0.0) < 0.2


def test_a_shadow_of_a_higher_sun_is_shorter():
    ends = [find_ends(measure_loss(make_world(sun)))[1] for sun in ((0.0, 0.0, 1.0), (0.28, 0.0, 0.96), SUN)]
    assert ends[0] < ends[1] < ends[2]


def test_where_there_is_no_sky_there_is_no_shadow_down_the_sun():
    ahead, behind = find_ends(measure_loss(make_world(sky=False)))
    assert ahead == pytest.approx(behind, abs=0.011)


def test_a_standing_cone_throws_a_shadow_that_narrows_and_a_lying_one_none():
    def stand(turn):
        world = make_world()
        world[1].present[0] = 0
        world[1].prop_position[0] = (0.0, 0.0, 0.0)
        world[1].prop_orientation[0] = (math.cos(turn / 2), 0.0, math.sin(turn / 2), 0.0)
        return measure_loss(world)

    standing, lying = stand(0.0), stand(-0.5 * math.pi)
    assert standing(-0.075, 0.0) > 0.4
    assert standing(0.10, 0.0) < 0.05
    width = [sum(standing(-x, y) > 0.3 for y in np.arange(-0.08, 0.08, 0.005)) for x in (0.05, 0.10)]
    assert width[0] > width[1]
    assert lying(-0.10, 0.0) < 0.05


def test_distances_and_classes_know_no_shadow():
    seen = []
    for sun in (SUN, (0.0, 0.6, 0.8)):
        renderer, state = make_world(sun)
        camera = CameraSpec(position=(-0.6, 0.0, 0.4), rotation=(0.0, 0.6, 0.0), depth=True, segment=True)
        seen.append(renderer.render_group(renderer.make_group([0], [camera]), state))
    assert not np.array_equal(seen[0].colour, seen[1].colour)
    assert np.array_equal(seen[0].depth, seen[1].depth)
    assert np.array_equal(seen[0].segment, seen[1].segment)
