"""Pictures by stages of one index are those of the renderer, but for mip levels, whatever else is drawn with them."""

from dataclasses import replace

import numpy as np
import pytest
from tests.render.twins import Difference, compare, count_holes, draw, gather, open_gather, place_cars, spread_cars

from donkeysim.core.device import open_device
from donkeysim.core.errors import ShapeError, SpecError
from donkeysim.render.gather import GatherRenderer
from donkeysim.world.camera_file import load_camera
from donkeysim.world.randomization import read_randomization
from donkeysim.world.specs import BodySpec, CameraSpec, SceneSpec

pytestmark = pytest.mark.device

SMALL = CameraSpec(width=64, height=48, depth=True, segment=True)


@pytest.fixture(scope="module")
def simulator():
    """Two worlds of a track with props, with two cars each that have names and stand one behind the other."""
    made = place_cars("generated_track", worlds=2, cars_per_world=2)
    for car in range(4):
        made.configure_car(car, BodySpec(style="car01", colour=(255, 40, 10 * car), name=f"Car {car}", font_size=40))
    yield made
    made.close()


def check(difference: Difference, mean=1.5, off=0.02):
    assert difference.mean <= mean
    assert difference.off <= off
    assert difference.classes is None or difference.classes <= 0.01
    assert difference.depth is None or difference.depth <= 1e-4
    assert difference.elsewhere <= 0.005


@pytest.mark.parametrize("scene", ["generated_track", "reading_room"])
def test_pictures_distances_and_classes_are_those_of_the_renderer(scene):
    simulator = spread_cars(scene, 4)
    cameras = [SMALL] * 4
    group = gather(simulator, cameras)
    check(compare(group, draw(simulator, cameras)))
    assert count_holes(group) == 0
    assert not group.missed.any()
    simulator.close()


CAMERAS = {
    "cars": SMALL,
    "fast": CameraSpec(width=64, height=48, quality="fast"),
    "fisheye": CameraSpec(width=64, height=48, fisheye=(0.5, 0.3), depth=True, segment=True),
    "grey": CameraSpec(width=64, height=48, grey=True),
    "odd": CameraSpec(width=51, height=37, depth=True, segment=True),
    "band": CameraSpec(width=64, height=48, crop_top=20, crop_bottom=5, depth=True, segment=True),
    "warped band": CameraSpec(width=64, height=48, fisheye=(0.5, 0.3), crop_top=20, crop_bottom=5),
    "wide": CameraSpec(width=64, height=48, fov=2.4),
    "lens": load_camera("wide", SMALL),
    "lens, fisheye, band": load_camera("pi_v2", replace(SMALL, fisheye=(0.3, 0.2), crop_top=15, crop_bottom=8)),
    "into the ground": CameraSpec(width=64, height=48, rotation=(0.3, 1.2, 0.0)),
    "from inside": CameraSpec(width=64, height=48, position=(0.0, 0.0, 0.03)),
}


@pytest.mark.parametrize("camera", CAMERAS.values(), ids=CAMERAS)
def test_every_kind_of_camera_shows_what_the_renderer_shows(simulator, camera):
    group = gather(simulator, [camera] * 4)
    check(compare(group, draw(simulator, [camera] * 4)), mean=2.0, off=0.03)
    assert group.colour.std() > 5.0


def test_a_camera_shows_the_same_alone_and_among_others_on_any_number_of_threads(simulator):
    cameras = [CameraSpec(width=64, height=48, depth=True, segment=True, fisheye=(0.2 * k, 0.0)) for k in range(4)]
    together = gather(simulator, cameras)
    for threads, at_once in ((1, 1), (3, 3), (2, 4)):
        other = gather(simulator, cameras, threads=threads, at_once=at_once)
        assert np.array_equal(other.colour, together.colour)
        assert np.array_equal(other.depth, together.depth)
    for car in (1, 3):
        alone = gather(simulator, [cameras[car]], cars=[car])
        assert np.array_equal(alone.colour[0], together.colour[car])
        assert np.array_equal(alone.segment[0], together.segment[car])


def test_a_band_of_rows_is_cut_from_the_whole_picture(simulator):
    whole, band = CAMERAS["fisheye"], CAMERAS["warped band"]
    assert np.array_equal(gather(simulator, [band] * 4).colour, gather(simulator, [whole] * 4).colour[:, 20 : 48 - 5])


def test_grey_pictures_are_the_luma_of_those_in_colour(simulator):
    cameras = [CameraSpec(width=51, height=37)] * 4
    plain = gather(simulator, cameras).colour
    luma = (plain.astype(np.int64) @ (2126, 7152, 722)) // 10000
    grey = gather(simulator, cameras, 1).colour
    assert np.array_equal(grey[..., 0], luma)
    grey_cameras = [CameraSpec(width=51, height=37, grey=True)] * 4
    assert np.array_equal(gather(simulator, grey_cameras).colour, np.repeat(grey, 3, axis=-1))


def test_colours_light_mounts_and_lenses_differ_from_car_to_car_as_the_renderer_varies_them():
    simulator = place_cars("generated_track", worlds=6, randomization=read_randomization("wide"), seed=2)
    assert simulator.renderer.variation is not None
    simulator.renderer.variation.has_effects = simulator.renderer.variation.has_files = False
    cameras = [SMALL] * 6
    check(compare(gather(simulator, cameras), draw(simulator, cameras)), mean=2.0, off=0.03)
    simulator.close()


def test_worlds_of_one_batch_may_be_at_different_places():
    simulator = place_cars("generated_track", worlds=4, more_scenes=(SceneSpec("pallet_hall"),))
    cameras = [SMALL] * 4
    group = gather(simulator, cameras)
    check(compare(group, draw(simulator, cameras)))
    assert np.abs(group.colour[0].astype(int) - group.colour[1]).mean() > 10.0
    simulator.close()


def test_cameras_of_worlds_that_are_not_asked_for_keep_their_pictures(simulator):
    cameras = [SMALL] * 4
    renderer = open_gather(simulator)
    group = renderer.make_group(range(4), cameras)
    for array in (group.colour, group.depth, group.segment, group.missed):
        array[:] = 7
    renderer.render(group, simulator.state, np.array([False, True]))
    for array in (group.colour, group.depth, group.segment, group.missed):
        assert (array[:2] == 7).all()
    every = gather(simulator, cameras)
    assert np.array_equal(group.colour[2:], every.colour[2:])
    assert np.array_equal(group.depth[2:], every.depth[2:])
    assert np.array_equal(group.segment[2:], every.segment[2:])


def test_triangles_without_room_are_counted_and_the_sky_is_kept(simulator):
    group = gather(simulator, [SMALL] * 4, record_limit=40)
    records = gather(simulator, [SMALL] * 4).scratch.tally[:, 1]
    assert (group.missed == records - 40).all()
    assert count_holes(group) == 0


def test_working_memory_is_as_large_as_said_and_small(simulator):
    renderer = open_gather(simulator)
    for width, height, most in ((160, 120, 400_000), (84, 84, 215_000), (64, 64, 160_000)):
        camera = CameraSpec(width=width, height=height)
        group = renderer.make_group([0, 1, 2], [camera] * 3)
        assert sum(array.nbytes for array in group.scratch) == 3 * renderer.measure_memory(camera)
        counts = 1, simulator.renderer.props_per_world
        alone = GatherRenderer(simulator.renderer.tables, open_device("cpu", 1), counts)
        assert alone.measure_memory(camera) <= most


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda renderer: renderer.make_group([0], [CameraSpec(quality="smooth")]), "'smooth'.*default or fast"),
        (lambda renderer: renderer.make_group([0], [CameraSpec(supersample=2)]), "takes 2 samples.*it takes 1"),
    ],
)
def test_what_is_not_drawn_on_a_device_is_refused_with_a_sentence(simulator, make, text):
    with pytest.raises(SpecError, match=text):
        make(open_gather(simulator))


def test_cameras_of_one_group_are_of_one_kind(simulator):
    with pytest.raises(ShapeError, match="2 cars and 2 cameras of 2 kinds"):
        open_gather(simulator).make_group([0, 1], [SMALL, CameraSpec()])
