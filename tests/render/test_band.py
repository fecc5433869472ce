"""A camera that is a band: its rows are those of the whole picture, byte for byte, and nothing else is drawn."""

from dataclasses import replace

import numpy as np
import pytest
from tests.render.test_small_pictures import CARS, open_lap

from donkeysim.core.errors import SpecError
from donkeysim.sim.viewpoint import make_seat_camera
from donkeysim.world.camera_file import load_camera
from donkeysim.world.specs import CameraSpec
from donkeysim.world.tracks.catalogue import list_scenes

CAMERAS = {
    "default": CameraSpec(),
    "fast": CameraSpec(quality="fast"),
    "smooth": CameraSpec(quality="smooth"),
    "grey": CameraSpec(width=80, height=60, grey=True),
    "2x2": CameraSpec(supersample=2),
    "distances and classes": CameraSpec(depth=True, segment=True),
    "fisheye": CameraSpec(fisheye=(0.6, 0.8), depth=True, segment=True),
    "strong fisheye, 2x2": CameraSpec(width=300, fisheye=(1.0, 1.0), supersample=2),
    "lens": load_camera("wide", CameraSpec(width=80, height=60, supersample=2, depth=True, segment=True)),
    "odd and askew": CameraSpec(width=101, height=77, rotation=(0.2, -0.3, 0.4)),
}

BANDS = ((0.0, 0.5), (0.5, 0.0), (0.33, 0.4), (0.0, 0.98), (0.98, 0.0), (0.5, 0.49))
"""Shares of a picture's rows that are cut off at the top and at the bottom."""


def draw(simulator, camera):
    cars = list(range(CARS))
    return simulator.renderer.render_group(simulator.renderer.make_group(cars, [camera] * CARS), simulator.state)


def compare_bands(scene, camera):
    """Fail unless bands of a camera are the rows of its whole picture."""
    simulator = open_lap(scene)
    whole = draw(simulator, camera)
    for top, bottom in BANDS:
        top, bottom = int(top * camera.height), int(bottom * camera.height)
        band = draw(simulator, replace(camera, crop_top=top, crop_bottom=bottom))
        rows = slice(top, camera.height - bottom)
        assert np.array_equal(band.colour, whole.colour[:, rows])
        if camera.depth:
            assert np.array_equal(band.depth, whole.depth[:, rows])
            assert np.array_equal(band.segment, whole.segment[:, rows])


@pytest.mark.parametrize("camera", CAMERAS.values(), ids=CAMERAS)
def test_a_band_has_the_bytes_of_the_whole_picture(camera):
    compare_bands("generated_track", camera)


@pytest.mark.soak
@pytest.mark.parametrize("scene", list_scenes())
def test_a_band_has_the_bytes_of_the_whole_picture_on_every_track(scene):
    for camera in CAMERAS.values():
        compare_bands(scene, camera)


def test_a_band_is_cheaper_by_the_triangles_and_pixels_outside_it():
    simulator = open_lap("generated_track")
    counts = []
    for camera in (CameraSpec(), CameraSpec(crop_top=60)):
        group = simulator.renderer.make_group(list(range(CARS)), [camera] * CARS)
        counts.append(simulator.renderer.count_rendered(group, simulator.state))
    (triangles, pixels), (few_triangles, few_pixels) = counts
    assert few_triangles < 0.6 * triangles
    assert few_pixels <= 0.51 * 160 * 120 < pixels


def test_cars_may_carry_bands_and_whole_pictures_side_by_side():
    simulator = open_lap("generated_track")
    for car, camera in enumerate((CameraSpec(), CameraSpec(crop_top=45), CameraSpec(crop_top=44, crop_bottom=1))):
        simulator.configure_camera(car, camera)
    simulator.render([0, 1, 2])
    shapes = [simulator.get_picture(car).shape for car in range(3)]
    assert shapes == [(120, 160, 3), (75, 160, 3), (75, 160, 3)]
    assert not np.array_equal(simulator.get_picture(1)[1:], simulator.get_picture(2)[:-1])


@pytest.mark.parametrize(("top", "bottom"), [(-1, 0), (0, -1), (120, 0), (60, 60)])
def test_a_band_without_rows_is_refused(top, bottom):
    with pytest.raises(SpecError, match=rf"crop_top {top} and crop_bottom {bottom} are not valid for 120 rows; both"):
        CameraSpec(crop_top=top, crop_bottom=bottom)


def test_a_seat_shows_the_band_in_its_own_shape_and_never_larger_than_asked():
    own = CameraSpec(width=64, height=64, crop_top=21, crop_bottom=11)
    seat = make_seat_camera(own, 640, 360)
    assert (seat.width, seat.row_count) == (640, 320)
    assert (seat.crop_top, seat.crop_bottom, seat.height) == (210, 110, 640)
