"""A real lens shows things where OpenCV's models say, in pictures, distances and classes."""

import math
from dataclasses import replace

import cv2
import numpy as np
import pytest

from donkeysim.core.errors import SpecError
from donkeysim.envs.conf import read_conf
from donkeysim.envs.track_settings import read_settings
from donkeysim.render.warp import UNSEEN, bend_rays, list_rays, open_warp, unbend_rays
from donkeysim.sim import commands
from donkeysim.sim.simulator import Simulator
from donkeysim.world.camera_file import list_cameras, load_camera
from donkeysim.world.lens import LensSpec
from donkeysim.world.scene import CLASS_SKY
from donkeysim.world.specs import CameraSpec, SceneSpec, WorldSpec


def project(camera, points):
    """Return where OpenCV says points before the camera are in its picture [pixel]."""
    lens, scale = camera.lens, camera.height / camera.lens.size[1]
    matrix = np.array([[lens.focal[0], 0.0, lens.centre[0]], [0.0, lens.focal[1], lens.centre[1]], [0.0, 0.0, 1.0]])
    function = cv2.fisheye.projectPoints if lens.model == "equidistant" else cv2.projectPoints
    places, _ = function(points.reshape(-1, 1, 3), np.zeros(3), np.zeros(3), matrix, np.array(lens.coefficients))
    return (places.reshape(-1, 2) + 0.5) * scale - 0.5


@pytest.mark.parametrize("name", list_cameras())
def test_rays_of_pixels_are_projected_to_these_pixels(name):
    camera = load_camera(name)
    ray_x, ray_y = list_rays(camera)
    assert np.isfinite(ray_x).all()
    places = project(camera, np.stack([ray_x, ray_y, np.ones_like(ray_x)], axis=-1))
    column, row = np.meshgrid(np.arange(160), np.arange(120))
    assert np.abs(places - np.stack([column.ravel(), row.ravel()], axis=-1)).max() < 1e-6


def test_rays_come_back_from_where_a_lens_bends_them():
    lens = LensSpec("plumb_bob", (640, 480), (320.0, 320.0), (320.0, 240.0), (-0.28, 0.06, 0.002, -0.001, 0.004))
    x, y = np.meshgrid(np.linspace(-1.2, 1.2, 9), np.linspace(-0.9, 0.9, 7))
    assert np.allclose(unbend_rays(lens, *bend_rays(lens, x, y)), (x, y), atol=1e-9)


def test_what_no_ray_reaches_is_black_far_and_sky(simulator):
    """A polynomial that turns back at r = 0.58: the corners are no picture of anything."""
    lens = LensSpec("plumb_bob", (64, 48), (40.0, 40.0), (31.5, 23.5), (-1.0, 0.0, 0.0, 0.0, 0.0))
    camera = CameraSpec(width=64, height=48, fov=lens.fov, lens=lens, depth=True, segment=True)
    assert (open_warp(camera).source[0, 0] == UNSEEN).all()
    frame = simulator.renderer.render_group(simulator.renderer.make_group([0], [camera]), simulator.state)
    assert not frame.colour[0, 0, 0].any()
    assert frame.depth[0, 47, 63] == np.inf
    assert frame.segment[0, 47, 63] == CLASS_SKY
    assert frame.colour[0, 24, 32].any()


@pytest.fixture(scope="module")
def simulator():
    made = Simulator(WorldSpec(SceneSpec("generated_track"), camera="pi_v2"))
    made.apply(commands.Join([0], []))
    made.step()
    yield made
    made.close()


def test_a_car_s_camera_is_the_one_that_was_asked_for(simulator):
    camera = simulator.get_camera(0)
    assert camera.lens == load_camera("pi_v2").lens
    assert camera.position == CameraSpec().position
    assert math.degrees(camera.fov) == pytest.approx(51.1, abs=0.05)


def test_a_file_takes_the_rest_from_the_car(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("fov = 1.2\nrotation = [0.0, 0.3, 0.0]\n", encoding="utf-8")
    base = CameraSpec(width=40, height=30)
    assert load_camera(str(path), base) == replace(base, fov=1.2, rotation=(0.0, 0.3, 0.0))


LENS = "[lens]\nsize = [2, 2]\ncentre = [1, 1]\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("foo = 1", "foo"),
        (LENS + "model = 'bulb'\nfocal = [1, 1]\ncoefficients = []", "lens model"),
        (LENS + "model = 'equidistant'\nfocal = [1, 1]\ncoefficients = [1]", "takes 4"),
        (LENS + "model = 'equidistant'\nfocal = [0, 1]\ncoefficients = [1, 1, 1, 1]", "above 0"),
        ("width = 0", "camera size"),
        ("format = 7", "format"),
    ],
)
def test_broken_files_are_told_with_their_name(tmp_path, text, expected):
    path = tmp_path / "broken.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError, match=expected) as caught:
        load_camera(str(path))
    assert "broken.toml" in str(caught.value)


def test_an_unknown_name_is_told_with_the_presets():
    with pytest.raises(SpecError, match="pi_v1"):
        load_camera("pi_v9")


def test_environments_take_a_camera_by_its_name():
    assert read_conf({"camera": "pi_v2"}).experiment.camera == "pi_v2"
    settings = read_settings({"camera": "wide"}, ["generated_track"])
    assert (settings.camera, settings.experiment.camera) == (None, "wide")
    assert settings.experiment.specify_world().camera == "wide"
