"""Small pictures look like large ones that were shrunk, and those of one channel like those of three."""

import functools

import numpy as np
import pytest

from donkeysim.envs.track_env import TrackVectorEnv
from donkeysim.sim import commands
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import BodySpec, CameraSpec, SceneSpec, WorldSpec
from donkeysim.world.tracks.catalogue import list_scenes

CARS = 8
LUMA = np.array([0.2126, 0.7152, 0.0722])


@functools.cache
def open_lap(scene):
    """Cars that stand along a whole lap, each alone."""
    simulator = Simulator(WorldSpec(SceneSpec(scene), world_count=CARS))
    rows = simulator.apply(commands.Join(list(range(CARS)), []))
    along = np.arange(CARS) / CARS * simulator.ledger.path_length
    simulator.apply(commands.PutOnPath(rows, along, np.full(CARS, 0.05), np.full(CARS, 0.1)))
    simulator.step()
    return simulator


def draw(simulator, one_channel=False, **camera):
    """Return the pictures of all cars."""
    cars, renderer = list(range(CARS)), simulator.renderer
    group = renderer.make_group(cars, [CameraSpec(**camera)] * CARS, one_channel=one_channel)
    return renderer.render_group(group, simulator.state).colour.astype(float)


def shrink(pictures, factor):
    """Return means over squares of pixels."""
    count, rows, columns, channels = pictures.shape
    return pictures.reshape(count, rows // factor, factor, columns // factor, factor, channels).mean(axis=(2, 4))


def differ(one, other):
    return np.abs(one - other).mean()


def compare_sizes(scene, most):
    """Fail unless 80x60 pictures are near 160x120 ones shrunk: whole and a band; in colour, grey and one channel.

    Args:
        scene: Its name.
        most: Mean difference [grey level].
    """
    simulator = open_lap(scene)
    for crop in (0, 24):
        large = shrink(draw(simulator, crop_top=2 * crop), 2)
        small = {"width": 80, "height": 60, "crop_top": crop}
        assert differ(draw(simulator, **small), large) < most
        grey = (large @ LUMA)[..., None]
        assert differ(draw(simulator, grey=True, **small)[..., :1], grey) < most
        assert differ(draw(simulator, grey=True, one_channel=True, **small), grey) < most


def test_a_small_picture_looks_like_a_large_one_shrunk():
    compare_sizes("generated_track", 5.0)


@pytest.mark.soak
@pytest.mark.parametrize("scene", list_scenes())
def test_a_small_picture_looks_like_a_large_one_shrunk_on_every_track(scene):
    compare_sizes(scene, 5.0)


def test_small_pictures_of_one_channel_are_as_near_to_the_means_of_large_ones_as_those_of_three():
    simulator = open_lap("generated_track")
    mean = (shrink(draw(simulator, width=384, height=384, supersample=2), 6) @ LUMA)[..., None]
    small = {"width": 64, "height": 64, "grey": True}
    one, three = draw(simulator, one_channel=True, **small), draw(simulator, **small)[..., :1]
    assert differ(one, mean) < differ(three, mean) + 0.5
    assert abs((one - mean).mean()) < 1.0


@pytest.mark.parametrize("size", [{"width": 160, "height": 120}, {"width": 61, "height": 48, "quality": "fast"}])
def test_large_or_fast_pictures_of_one_channel_have_the_luma_of_all(size):
    simulator = open_lap("generated_track")
    one, three = draw(simulator, grey=True, one_channel=True, **size), draw(simulator, grey=True, **size)
    assert np.array_equal(one, three[..., :1])


def test_a_small_grey_picture_is_the_same_alone_as_in_a_batch_on_two_threads():
    settings = {"observe": "grey", "camera": CameraSpec(width=64, height=48, crop_top=16), "starts_at_random": True}
    batches = [TrackVectorEnv(count, threads=threads, **settings) for count, threads in ((1, 1), (5, 2))]
    alone, many = (batch.reset(seed=3)[0] for batch in batches)
    for _ in range(3):
        alone, many = (batch.step(np.zeros((batch.num_envs, 2)))[0] for batch in batches)
    assert alone.shape == (1, 32, 64, 1)
    assert np.array_equal(alone[0], many[0])
    for batch in batches:
        batch.close()


def test_a_name_plate_is_seen_in_small_grey_pictures_however_late_it_comes():
    simulator = Simulator(WorldSpec(cars_per_world=2))
    simulator.apply(commands.Join([0, 0], []))
    simulator.apply(commands.PutOnPath([0, 1], np.array([1.0, 1.6]), np.zeros(2), np.zeros(2)))
    group = simulator.renderer.make_group([0], [CameraSpec(width=64, height=64, grey=True)], one_channel=True)
    plain = simulator.renderer.render_group(group, simulator.state).colour.copy()
    simulator.renderer.set_body(1, BodySpec(name="ABC"))
    assert (simulator.renderer.render_group(group, simulator.state).colour != plain).sum() > 20
