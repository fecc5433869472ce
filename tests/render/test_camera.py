"""Every field of a camera does what it says; pictures do not depend on the company they are rendered in."""

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.render.scenery import make_mesh, make_scene

from donkeysim.core.errors import ShapeError
from donkeysim.core.workers import Workers
from donkeysim.render.camera import Renderer
from donkeysim.world.scene import CLASS_CAR, CLASS_GROUND, CLASS_SKY
from donkeysim.world.specs import BodySpec, CameraSpec, load_car
from donkeysim.world.state import Layout, make_state

PLAIN = CameraSpec()


def make_world(workers=1, cars=4, **options):
    scene = make_scene(**options)
    prop_count = len(scene.props.model)
    renderer = Renderer(
        Layout([scene], np.zeros(1, np.int32), load_car("original"), 1, cars, prop_count), Workers(workers)
    )
    state = make_state(1, cars, prop_count)
    state.present[:] = 1
    for car in range(cars):
        turn = 0.3 * car
        state.position[car] = (0.9 * car, 0.3 * (-1) ** car * (car > 0), 0.065)
        state.orientation[car] = (math.cos(turn / 2), 0.0, 0.0, math.sin(turn / 2))
    state.prop_position[:] = scene.props.position
    return renderer, state


@pytest.fixture(scope="module")
def world():
    return make_world()


def render(world, camera=PLAIN, car=0, **options):
    renderer, state = world
    frame = renderer.render_group(renderer.make_group([car], [replace(camera, **options)]), state)
    return frame if options else frame.colour[0].copy()


@pytest.mark.parametrize(("width", "height"), [(16, 16), (160, 120), (97, 33), (512, 512), (18, 200)])
def test_a_picture_has_the_size_asked_for(world, width, height):
    picture = render(world, CameraSpec(width=width, height=height))
    assert picture.shape == (height, width, 3)
    assert picture.std() > 5


@pytest.mark.parametrize("width", [157, 158, 159])
def test_odd_widths_show_the_middle_of_the_even_ones(world, width):
    wide, narrow = render(world), render(world, CameraSpec(width=width))
    margin = (160 - width) // 2
    if (160 - width) % 2 == 0:
        assert np.abs(wide[:, margin : margin + width].astype(int) - narrow).mean() < 1.0
    else:
        assert np.abs(narrow.astype(int).mean() - wide.mean()) < 2.0


def test_grey_puts_the_cut_off_luma_in_all_channels(world):
    colour = render(world).astype(np.int64)
    luma = (2126 * colour[..., 0] + 7152 * colour[..., 1] + 722 * colour[..., 2]) // 10000
    grey = render(world, CameraSpec(grey=True))
    assert (grey == luma[..., None]).all()


def test_no_fisheye_is_the_plain_picture_and_fisheye_magnifies_the_middle(world):
    plain = render(world)
    assert (render(world, CameraSpec(fisheye=(0.0, 0.0))) == plain).all()
    slight = render(world, CameraSpec(fisheye=(1e-6, 1e-6)))
    assert np.abs(slight.astype(int) - plain).max() <= 1
    warped = render(world, CameraSpec(fisheye=(0.0, 1.0)))
    kept = plain[0].astype(int), warped[0].astype(int)
    assert np.abs(kept[0] - kept[1]).mean() < np.abs(plain[60].astype(int) - warped[60]).mean() + 1e-9


def test_supersampling_is_the_mean_of_a_picture_twice_as_large(world):
    large = render(world, CameraSpec(width=320, height=240)).astype(float)
    mean = large.reshape(120, 2, 160, 2, 3).mean(axis=(1, 3))
    difference = np.abs(render(world, CameraSpec(supersample=2)) - mean).max(axis=2)
    # But at edges, which are softened where a pixel has one sample.
    assert (difference <= 0.5).mean() > 0.85
    assert difference.mean() < 1.0


def test_edges_of_things_are_softened_and_all_else_is_as_it_was():
    wall = make_mesh(
        [(2, 0.31, -1), (2, -5, -1), (2, -5, 1), (2, 0.31, 1)], np.zeros((4, 2)), [(0, 1, 2), (0, 2, 3)], [3, 3]
    )
    world = make_world(cars=1, props=(), fog=0.0, static=wall, sky=False)
    level = CameraSpec(rotation=(0.0, 0.0, 0.0), position=(0.5, 0.0, 0.3))
    rows = render(world, level).astype(int)[40:80, :, 0]
    sharp = render(world, replace(level, quality="fast")).astype(int)[40:80, :, 0]
    sky, dark = sharp[0, 0], sharp[0, -1]
    assert sky - dark > 100
    edge = int(np.flatnonzero(sharp[0] == dark)[0])
    expected = np.where(np.arange(160) < edge, sky, dark)
    expected[edge - 1], expected[edge] = (7 * sky + dark + 4) // 8, (7 * dark + sky + 4) // 8
    assert (sharp == np.where(np.arange(160) < edge, sky, dark)).all()
    assert (rows[:, :140] == expected[:140]).all()


@pytest.mark.parametrize("supersample", [1, 2])
def test_depth_and_classes_are_warped_as_the_picture_is(world, supersample):
    options = {"depth": True, "segment": True}
    plain = render(world, CameraSpec(supersample=supersample), **options)
    slight = render(world, CameraSpec(supersample=supersample, fisheye=(1e-6, 1e-6)), **options)
    assert (slight.depth == plain.depth).mean() > 0.999
    assert (slight.segment == plain.segment).mean() > 0.999
    strong = render(world, CameraSpec(supersample=supersample, fisheye=(0.3, 0.3)), **options)
    assert (strong.segment != plain.segment).mean() > 0.02
    # Sky is bluer than all else here: where classes say sky, the warped picture shows it.
    colour, sky = strong.colour[0].astype(int), strong.segment[0] == CLASS_SKY
    blue = colour[..., 2] - colour[..., 1]
    assert blue[sky].mean() > 30
    assert np.median(blue[~sky]) < 10
    assert (np.isinf(strong.depth[0]) == sky).all()


def test_fast_is_the_same_place_with_coarser_texels(world):
    fast, default = render(world, CameraSpec(quality="fast")).astype(int), render(world).astype(int)
    assert 0 < np.abs(fast - default).mean() < 8


def test_pitch_moves_the_horizon_and_yaw_turns_left(world):
    level = render(world, CameraSpec(rotation=(0.0, 0.0, 0.0)), segment=True).segment[0].copy()
    assert abs(int((level == CLASS_SKY).sum(axis=0).max()) - 60) <= 1
    down = render(world, CameraSpec(rotation=(0.0, math.radians(90), 0.0)), segment=True).segment[0]
    assert not (down == CLASS_SKY).any()
    assert (down == CLASS_GROUND).any()


def test_other_cars_are_seen_with_their_colour(world):
    renderer = world[0]
    renderer.set_body(1, BodySpec(colour=(20, 30, 240)))
    frame = render(world, CameraSpec(supersample=1), depth=True, segment=True)
    seen = frame.colour[0][frame.segment[0] == CLASS_CAR].astype(int)
    assert ((seen[:, 2] > 150) & (seen[:, 0] < 80)).sum() > 20
    renderer.set_body(1, BodySpec())


@pytest.mark.parametrize(
    "name", ["Ada", "two\nlines", "\u202e\x00<b>\ud7ff", "漢字 العربية 🏎️", "x" * 5000, "\n\n\n", "   "]
)
def test_any_name_makes_a_plate_or_none(name):
    world = make_world(cars=2)
    bare = render(world)
    world[0].set_body(1, BodySpec(name=name, font_size=100))
    named = render(world)
    assert (named != bare).any() == bool(name.strip())


def test_larger_letters_make_a_larger_plate():
    world = make_world(cars=2)
    bare = render(world)
    changed = []
    for size in (10, 50, 100):
        world[0].set_body(1, BodySpec(name="Name", font_size=size))
        changed.append(int((render(world) != bare).any(axis=2).sum()))
    assert changed[0] < changed[1] < changed[2]


def test_pictures_do_not_depend_on_batch_order_or_threads():
    alone, threaded = make_world(), make_world(workers=3)
    singles = [render(alone, car=car) for car in range(4)]
    order = [2, 0, 3, 1, 2]
    frame = threaded[0].render_group(threaded[0].make_group(order, [PLAIN] * 5), threaded[1])
    for row, car in enumerate(order):
        assert (frame.colour[row] == singles[car]).all()


def test_a_mirrored_scene_gives_a_mirrored_picture():
    left = make_world(cars=1, props=((1.0, 0.4),), sun=(0.0, 0.0, 1.0))
    right = make_world(cars=1, props=((1.0, -0.4),), sun=(0.0, 0.0, 1.0))
    for _, state in (left, right):
        state.position[0, 1] = 0.0
    camera = CameraSpec(rotation=(0.0, 0.6, 0.0))
    half = slice(60, 120)
    a, b = render(left, camera)[half].astype(int), render(right, camera)[half, ::-1].astype(int)
    cone = (a[..., 0] > 150) & (a[..., 2] < 90)
    mirrored = (b[..., 0] > 150) & (b[..., 2] < 90)
    assert (cone != mirrored).sum() <= 0.1 * max(cone.sum(), 1) + 4


def test_the_ground_under_a_car_is_darker():
    renderer, state = make_world(cars=1)
    view = CameraSpec(width=64, height=64, fov=0.3)
    with_car = renderer.render_view(state, 0, (0.0, 0.0, 3.0), (0.0, math.pi / 2, 0.0), view).astype(int)
    state.present[0] = 0
    without = renderer.render_view(state, 0, (0.0, 0.0, 3.0), (0.0, math.pi / 2, 0.0), view).astype(int)
    assert (without - with_car).max() > 40


def test_nothing_is_left_bare_whichever_way_one_looks(world):
    generator = np.random.default_rng(3)
    for _ in range(20):
        roll, pitch, yaw = generator.uniform(-math.pi, math.pi, 3)
        camera = CameraSpec(rotation=(roll, pitch, yaw), fov=generator.uniform(0.3, 2.6))
        frame = render(world, camera, depth=True, segment=True)
        assert (np.isinf(frame.depth[0]) == (frame.segment[0] == CLASS_SKY)).all()


def test_cameras_of_different_sizes_are_no_group(world):
    with pytest.raises(ShapeError, match="same width, height, crops, quality, supersample, depth and segment"):
        world[0].make_group([0, 1], [PLAIN, CameraSpec(width=80)])


def look_at_ground(world, quality, height):
    renderer, state = world
    eye, down = (-3.0, 0.1, height), (0.0, math.radians(60.0 if height < 1.0 else 90.0), 0.3)
    camera = CameraSpec(quality=quality)
    return renderer.render_view(state, 0, eye, down, camera)[40:70].astype(float)


def test_smooth_pictures_show_no_steps_between_texels_from_near(world):
    plain, smooth = look_at_ground(world, "default", 0.05), look_at_ground(world, "smooth", 0.05)
    steepest = [np.abs(np.diff(picture, axis=1)).max() for picture in (plain, smooth)]
    assert steepest[0] > 15.0
    assert steepest[1] < 0.5 * steepest[0]
    assert smooth.mean(axis=(0, 1)) == pytest.approx(plain.mean(axis=(0, 1)), abs=1.5)


def test_smooth_pictures_are_the_default_ones_where_texels_are_smaller_than_pixels(world):
    assert np.array_equal(look_at_ground(world, "default", 12.0), look_at_ground(world, "smooth", 12.0))
