"""Drawn values turn into light, colours, mounting and lens as closed forms say."""

import math

import numpy as np
import pytest

from donkeysim.core.device import open_device
from donkeysim.core.rotation import make_rotation
from donkeysim.render.kernels.effects import EFFECT
from donkeysim.render.kernels.layout import AXES_WIDTH, LENS, LENS_WIDTH, LIGHT, LIGHT_WIDTH, POSE_WIDTH
from donkeysim.render.kernels.recolour import LOOK
from donkeysim.render.kernels.vary import FOV_MOST, LUMA, vary_camera, vary_looks
from donkeysim.render.tables import CameraTables
from donkeysim.render.variation import make_variation, vary_cameras
from donkeysim.render.warp import compute_fisheye, compute_focal
from donkeysim.world.kernels.draw import make_drawn
from donkeysim.world.randomization import RandomizationSpec, find_column
from donkeysim.world.ranges import FogRanges
from donkeysim.world.scene import CLASS_CAR, CLASS_GROUND, CLASS_ROAD, CLASS_SKY
from donkeysim.world.specs import CameraSpec

LIGHTS = np.zeros((1, LIGHT_WIDTH), np.float32)
LIGHTS[0] = (1.0, 0.9, 0.8, 0.3, 0.4, 0.5, 200.0, 210.0, 220.0, 0.01, 0.6, 0.0, 0.8, 0.04, 0.0)
SPEC = RandomizationSpec(fog=FogRanges(density=(0.0, 1.0)))


@pytest.fixture(scope="module")
def device():
    return open_device("cpu", 1)


@pytest.fixture
def vary(device):
    """Return the rows of one car with these values, others at rest."""

    def write(is_bare=False, **values):
        lights = LIGHTS.copy()
        lights[0, LIGHT.bare] = is_bare
        drawn, variation = make_drawn(1), make_variation(SPEC, lights)
        drawn.fresh[0] = drawn.serial[0] = 1
        for name, value in values.items():
            drawn.value[0, find_column(name.replace("__", "."))] = value
        device.run(vary_looks, 1, 1, np.zeros(1, np.int32), lights, drawn, variation.rows)
        return variation.rows

    return write


def read_matrix(rows, kind):
    look = rows.look[0, kind]
    return look[LOOK.matrix : LOOK.matrix + 9].reshape(3, 3), look[LOOK.offset : LOOK.offset + 3]


def test_a_road_that_is_but_painted_on_the_ground_looks_as_the_ground_does(vary):
    values = {"ground__hue": 0.7, "ground__patches": 0.4, "road__hue": -0.7, "road__patches": 0.2}
    own, bare = vary(**values).look[0], vary(is_bare=True, **values).look[0]
    assert not np.array_equal(own[CLASS_ROAD], own[CLASS_GROUND])
    assert np.array_equal(bare[CLASS_ROAD], bare[CLASS_GROUND])
    assert np.array_equal(bare[CLASS_GROUND], own[CLASS_GROUND])


def test_values_at_rest_leave_every_row_as_it_is(vary):
    rows, plain = vary(), make_variation(SPEC, LIGHTS).rows
    for name in ("light", "mount", "lens", "effect", "quality"):
        assert np.array_equal(getattr(rows, name), getattr(plain, name)), name
    assert not rows.look[0, :, LOOK.is_on].any()
    assert rows.serial[0] == 1


def test_a_car_that_has_not_just_drawn_is_left_alone(device):
    drawn, variation = make_drawn(1), make_variation(SPEC, LIGHTS)
    drawn.value[0, find_column("sun.strength")] = 0.5
    device.run(vary_looks, 1, 1, np.zeros(1, np.int32), LIGHTS, drawn, variation.rows)
    assert np.array_equal(variation.rows.light, LIGHTS)


def test_light_is_scaled_tinted_and_turned(vary):
    light = vary(sun__strength=0.5, sun__tint_green=2.0, fog__tint_blue=3.0, sun__azimuth=math.pi / 2).light[0]
    assert light[LIGHT.sun : LIGHT.sun + 3] == pytest.approx([0.5, 0.9, 0.4])
    assert light[LIGHT.ambient : LIGHT.ambient + 3] == pytest.approx([0.3, 0.8, 0.5])
    assert light[LIGHT.haze : LIGHT.haze + 3] == pytest.approx([200.0, 210.0, 255.0])
    assert light[LIGHT.direction : LIGHT.direction + 3] == pytest.approx([0.0, 0.6, 0.8], abs=1e-6)
    assert vary(sun__height=0.0).light[0, LIGHT.direction : LIGHT.direction + 3] == pytest.approx(
        [1.0, 0.0, 0.0], abs=1e-6
    )


def test_the_grounds_own_share_of_fog_comes_on_top_of_the_drawn_one(vary):
    assert vary(fog__density=0.1).light[0, [LIGHT.density, LIGHT.ground]] == pytest.approx([0.1, 0.13])


def test_hue_keeps_grey_and_how_bright_colours_look(vary):
    matrix, offset = read_matrix(vary(ground__hue=1.3), CLASS_GROUND)
    assert matrix @ np.ones(3) == pytest.approx(np.ones(3), abs=1e-6)
    assert np.array(LUMA) @ matrix == pytest.approx(LUMA, abs=1e-6)
    assert not offset.any()
    turned, _ = read_matrix(vary(ground__hue=2.0 * math.pi / 3), CLASS_GROUND)
    assert (turned @ (1.0, 0.0, 0.0)).argmax() == 1  # red towards green


def test_saturation_contrast_and_tint_follow_one_another(vary):
    rows = vary(road__saturation=0.0, road__contrast=0.5, road__tint_red=2.0)
    matrix, offset = read_matrix(rows, CLASS_ROAD)
    assert matrix == pytest.approx(np.outer([1.0, 0.5, 0.5], LUMA), abs=1e-6)
    assert offset == pytest.approx([127.5, 63.75, 63.75])
    assert rows.look[0, CLASS_ROAD, LOOK.is_on]
    assert not rows.look[0, CLASS_GROUND, LOOK.is_on]
    assert not rows.look[0, CLASS_CAR].any()


def test_patches_are_told_with_their_size_and_a_shape_of_their_own(vary):
    rows = vary(ground__patches=0.4, ground__patch_size=0.5, road__patches=0.1)
    ground, road = rows.look[0, CLASS_GROUND], rows.look[0, CLASS_ROAD]
    assert ground[[LOOK.is_on, LOOK.patches, LOOK.scale]] == pytest.approx([1.0, 0.4, 2.0])
    assert road[LOOK.scale] == pytest.approx(1.0 / 0.3)
    assert 0.0 <= ground[LOOK.seed] != road[LOOK.seed] < 1 << 24


def test_more_fog_hides_the_sky(vary):
    matrix, offset = read_matrix(vary(fog__density=0.11), CLASS_SKY)
    clear = math.exp(-3.0)
    assert matrix == pytest.approx(clear * np.eye(3), rel=1e-5)
    assert offset == pytest.approx((1.0 - clear) * LIGHTS[0, LIGHT.haze : LIGHT.haze + 3], rel=1e-5)
    assert not vary(fog__density=0.0).look[0, CLASS_SKY, LOOK.is_on]


def test_an_effect_s_gain_is_a_square_root_of_light(vary):
    effect = vary(picture__exposure=2.0, picture__blur=1.5, picture__noise=7.0).effect[0]
    assert effect[[EFFECT.blur, EFFECT.gain, EFFECT.noise]] == pytest.approx([1.5, 2.0, 7.0])


def make_tables(count):
    return CameraTables(
        car=np.zeros(count, np.int32),
        world=np.zeros(count, np.int32),
        mount=np.zeros((count, POSE_WIDTH)),
        eye=np.zeros((count, 3), np.float32),
        axes=np.zeros((count, AXES_WIDTH), np.float32),
        lens=np.zeros((count, LENS_WIDTH), np.float32),
        light=np.zeros((count, LIGHT_WIDTH), np.float32),
        look=np.zeros((count, CLASS_CAR + 1, 16), np.float32),
        source=np.zeros((0, 0, 2), np.float32),
    )


def test_a_camera_is_moved_turned_and_gets_its_lens_and_only_once(vary, device):
    rows = vary(camera__y=0.1, camera__yaw=0.2, camera__fov=2.0, camera__distortion=0.3)
    camera = CameraSpec(width=64, height=48, position=(0.1, 0.0, 0.2), rotation=(0.0, 0.3, 0.1), fov=1.2)
    cameras, tables = vary_cameras([camera], [False]), make_tables(1)
    arguments = (48.0, 48.0, cameras.squeeze, rows, cameras.meant, tables)
    device.run(vary_camera, 1, *arguments)
    expected = np.append((0.1, 0.1, 0.2), make_rotation((0.0, 0.3, 0.1 + 0.2)))
    assert np.array_equal(tables.mount[0], expected)
    assert tables.lens[0, LENS.focal] == np.float32(compute_focal(FOV_MOST, 48))
    fisheye = compute_fisheye((0.3, 0.3), 64, 48)
    assert tables.lens[0, LENS.fisheye : LENS.grey] == pytest.approx(fisheye, rel=1e-6)
    assert np.array_equal(tables.light[0], LIGHTS[0])
    tables.mount[:] = 0.0
    device.run(vary_camera, 1, *arguments)
    assert not tables.mount.any()
    cameras.aim(0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    device.run(vary_camera, 1, *arguments)
    assert tables.mount[0, 1] == 0.1
