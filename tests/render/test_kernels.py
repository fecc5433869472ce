"""Single kernels of pictures and lidars against closed forms, on every back end."""

import math

import numpy as np
import pytest
from back_ends import BACK_ENDS

from donkeysim.render.kernels.bend import find_source
from donkeysim.render.kernels.effects import draw_noise, make_byte, weigh_blur
from donkeysim.render.kernels.finish import average_down, average_up
from donkeysim.render.kernels.footprint import choose_level, lay_out_level, locate_texel, measure_footprint
from donkeysim.render.kernels.layout import (
    BASIS_WIDTH,
    LANES,
    LENS,
    LENS_WIDTH,
    LIGHT,
    LIGHT_WIDTH,
    POSE_WIDTH,
    VIEW_WIDTH,
)
from donkeysim.render.kernels.outline import clip_near, measure_edge, measure_triangles, sees_sphere, transform_vertices
from donkeysim.render.kernels.poses import set_basis, set_pose
from donkeysim.render.kernels.raster import trace_rows
from donkeysim.render.kernels.rays import meet_box, meet_frustum, meet_ground
from donkeysim.render.kernels.seen import set_view
from donkeysim.render.kernels.shade import blend_texels, clear_view, pack_colour
from donkeysim.render.kernels.shadow import cover_box, find_slope, soften
from donkeysim.render.kernels.spans import list_ends
from donkeysim.render.kernels.vector import make_rows

F = np.float32
WIDTH, HEIGHT, FOCAL = 64, 48, 40.0


@pytest.fixture(params=BACK_ENDS.values(), ids=BACK_ENDS)
def run(request):
    """Turn a kernel into something that may be called."""
    return request.param


def make_view(run, eye=(0.0, 0.0, 0.0)):
    """A camera that looks along x, with y to its left and z up."""
    view, light, lens = (np.zeros(width, np.float32) for width in (VIEW_WIDTH, LIGHT_WIDTH, LENS_WIDTH))
    light[LIGHT.direction + 2], lens[LENS.focal], lens[LENS.far] = 1.0, FOCAL, 100.0
    axes = np.array([0, -1, 0, 0, 0, -1, 1, 0, 0], np.float32)
    run(set_view)(view, np.array(eye, np.float32), axes, lens, light, (WIDTH, HEIGHT, 0, HEIGHT, 1))
    return view


def make_basis(run, position=(0.0, 0.0, 0.0), quaternion=(1.0, 0.0, 0.0, 0.0), eye=(0.0, 0.0, 0.0)):
    pose, basis = np.zeros(POSE_WIDTH, np.float32), np.zeros(BASIS_WIDTH, np.float32)
    run(set_pose)(np.array(position), np.array(quaternion), pose)
    view = make_view(run, eye)
    run(set_basis)(basis, view, pose)
    return basis, view


# -- where things are seen


def test_a_quaternions_rows_turn_x_to_y_in_a_quarter_turn(run):
    half = math.sqrt(0.5)
    rows = np.array(run(make_rows)(np.array([half, 0.0, 0.0, half])))
    assert rows @ [1, 0, 0] == pytest.approx([0, 1, 0])
    assert rows @ [0, 1, 0] == pytest.approx([-1, 0, 0])
    assert rows @ [0, 0, 1] == pytest.approx([0, 0, 1])


def test_vertices_go_where_a_pinhole_camera_shows_them(run):
    basis, view = make_basis(run, position=(2.0, 0.5, -0.25), eye=(-1.0, 0.5, 0.0))
    x, y, z = np.array([0.5, 1.0, 0.0]), np.array([0.2, -0.3, 0.0]), np.array([0.1, 0.4, -0.2])
    vertex = tuple(np.concatenate([row, np.zeros(LANES)]).astype(np.float32) for row in (x, y, z))
    target = tuple(np.zeros(3 + LANES, np.float32) for _ in range(5))
    code = np.zeros(3 + LANES, np.int32)
    run(transform_vertices)(3, basis, view, F(0.04), vertex, target, code)
    away = x + 3.0
    assert target[2][:3] == pytest.approx(away, rel=1e-5)
    # Pixel indices plus one, of pixels whose middles lie at halves.
    assert target[0][:3] == pytest.approx(WIDTH / 2 + 0.5 - FOCAL * y / away, rel=1e-5)
    assert target[1][:3] == pytest.approx(HEIGHT / 2 + 0.5 - FOCAL * (z - 0.25) / away, rel=1e-5)


@pytest.mark.parametrize(
    ("centre", "radius", "is_seen"),
    [
        ((3.0, 0.0, 0.0), 0.1, True),
        ((-3.0, 0.0, 0.0), 0.1, False),
        ((-0.5, 0.0, 0.0), 0.6, True),
        ((150.0, 0.0, 0.0), 1.0, False),
        ((10.0, 8.0, 0.0), 0.1, True),
        ((10.0, 8.5, 0.0), 0.1, False),
        ((10.0, 8.5, 0.0), 0.8, True),
        ((10.0, 0.0, -6.3), 0.1, False),
    ],
)
def test_spheres_are_left_out_when_they_lie_outside_the_picture(run, centre, radius, is_seen):
    basis, view = make_basis(run)
    sphere = np.array([*centre, radius], np.float32)
    assert bool(run(sees_sphere)(sphere, basis, view, F(0.04), F(100.0))) == is_seen


def test_an_edge_is_the_same_whichever_end_comes_first(run):
    measure = run(measure_edge)
    for xa, ya, xb, yb in np.random.default_rng(0).uniform(-20, 80, (50, 4)).astype(np.float32):
        column, slope = map(float, measure(xa, ya, xb, yb))
        assert (column, slope) == measure(xb, yb, xa, ya)
        # Rows are counted from one.
        assert column + slope * (ya - 1) == pytest.approx(xa, abs=1e-2 * (1 + abs(slope)))
        assert column + slope * (yb - 1) == pytest.approx(xb, abs=1e-2 * (1 + abs(slope)))


def test_a_level_edge_has_no_slope(run):
    assert run(measure_edge)(F(3), F(7), F(9), F(7))[1] == 0.0


@pytest.mark.parametrize(("away", "corners"), [((1.0, 1.0, 0.2), 4), ((0.2, 1.0, 0.2), 3), ((1.0, 2.0, 3.0), 3)])
def test_a_triangle_is_cut_where_its_edges_cross_the_near_plane(run, away, corners):
    near = 0.5
    vertex = tuple(np.zeros(16, np.float32) for _ in range(5))
    screen_x, screen_y, w, flat_x, flat_y = vertex
    w[:3], flat_x[:3], flat_y[:3] = away, (10.0, 30.0, 20.0), (5.0, 6.0, 40.0)
    screen_x[:3], screen_y[:3] = flat_x[:3] / w[:3], flat_y[:3] / w[:3]
    assert run(clip_near)((0, 1, 2), F(near), vertex, 3) == corners
    expected = []
    for first, second in ((2, 0), (0, 1), (1, 2)):
        if (away[first] >= near) != (away[second] >= near):
            share = (near - away[first]) / (away[second] - away[first])
            flat = [row[first] + share * (row[second] - row[first]) for row in (flat_x, flat_y)]
            expected.append((flat[0] / near, flat[1] / near))
        if away[second] >= near:
            expected.append((screen_x[second], screen_y[second]))
    assert np.column_stack([screen_x, screen_y])[3 : 3 + corners] == pytest.approx(np.array(expected), rel=1e-5)


def test_neighbouring_triangles_meet_without_gap_or_overlap(run):
    rng = np.random.default_rng(1)
    covered = np.zeros((HEIGHT, WIDTH), int)
    corner = np.array([(-5, -5), (WIDTH + 9, -3), (WIDTH + 7, HEIGHT + 8), (-6, HEIGHT + 5)], float)
    points = np.array([*corner, rng.uniform((20, 15), (40, 30))], np.float32)
    # Four triangles around a point, all the same way round.
    fan = np.zeros(LANES, np.int32)
    fan[:4] = [a | 4 << 10 | c << 20 for a, c in ((0, 1), (1, 2), (2, 3), (3, 0))]
    vertex = tuple(np.concatenate([points[:, axis], np.zeros(LANES)]).astype(np.float32) for axis in (0, 1))
    box = tuple(np.zeros(LANES, np.int32) for _ in range(4))
    left, right = (tuple(np.zeros(LANES, np.float32) for _ in range(6)) for _ in range(2))
    run(measure_triangles)(4, F(WIDTH), F(HEIGHT), vertex, fan, box, left, right)
    iota = np.arange(HEIGHT + LANES, dtype=np.float32)
    begin, stop = (np.zeros(HEIGHT + LANES, np.int32) for _ in range(2))
    for k in range(4):
        low, high, first, end = (int(rows[k]) for rows in box)
        sides = (tuple(rows[k] for rows in side) for side in (left, right))
        run(trace_rows)(first, end, low, high, *sides, iota, begin, stop)
        for row in range(first, end):
            covered[row, begin[row - first] : stop[row - first]] += 1
    assert (covered == 1).all()


# -- textures


@pytest.mark.parametrize(
    ("major", "minor", "share", "level"),
    [
        (1, 1, 1, 0),
        (2, 2, 1, 1),
        (5.5, 5.5, 1, 2),
        (5.8, 5.8, 1, 3),
        (0.1, 0.1, 1, 0),
        (999, 999, 1, 7),
        (16, 1, 1, 3),
        (8, 4, 1, 2),
        (4, 4, 0.25, 1),
    ],
)
def test_a_mip_level_suits_the_narrow_side_of_a_pixel_and_half_of_its_long_one(run, major, minor, share, level):
    assert run(choose_level)(F(major**2), F(minor**2), F(share), np.int32(7)) == level


@pytest.mark.parametrize("level", range(5))
def test_every_texel_of_a_level_is_found_and_textures_repeat(run, level):
    wide, high = max(16 >> level, 1), max(8 >> level, 1)
    scale_u, scale_v, _, mask_u, mask_v = run(lay_out_level)(np.int32(level), np.int32(4), np.int32(3))
    locate = run(locate_texel)
    for row in range(-high, 2 * high):
        for column in range(-wide, 2 * wide):
            # In texels of the first level, at a texel's middle.
            u, v = F((column + 0.5) * 2**level) * scale_u, F((row + 0.5) * 2**level) * scale_v
            index = locate(*(np.uint32(np.int32(value)) for value in (u, v)), np.uint32(mask_u), np.uint32(mask_v))
            assert index == row % high * wide + column % wide


@pytest.mark.parametrize("level", [0, 1])
def test_texels_that_are_larger_than_pixels_are_blended_by_how_near_they_are(run, level):
    wide, high = 16 >> level, 8 >> level
    scale_u, scale_v, _, mask_u, mask_v = run(lay_out_level)(np.int32(level), np.int32(4), np.int32(3))
    texel = np.random.default_rng(4).integers(0, 1 << 24, wide * high, np.uint32)
    blend = run(blend_texels)
    for u, v in np.random.default_rng(5).uniform(-8.0, 40.0, (40, 2)):
        place = (np.uint32(np.int32(F(u * 2**level) * scale_u)), np.uint32(np.int32(F(v * 2**level) * scale_v)))
        even, odd = blend(*place, np.uint32(mask_u), np.uint32(mask_v), F(256.0 / wide), texel)
        expected = np.zeros(3)
        for column, row in ((0, 0), (0, 1), (1, 0), (1, 1)):
            x, y = math.floor(u - 0.5) + column, math.floor(v - 0.5) + row
            weight = (1.0 - abs(u - 0.5 - x)) * (1.0 - abs(v - 0.5 - y))
            word = int(texel[y % high * wide + x % wide])
            expected += weight * np.array([word & 255, word >> 8 & 255, word >> 16])
        # The fields have few bits below a texel's: 8 across, fewer down on so small a texture.
        assert [even & 0xFFFF, odd & 0xFFFF, even >> 16] == pytest.approx(expected, abs=34.0 if level else 18.0)


def test_a_footprint_is_how_far_the_next_pixel_is_on_the_texture(run):
    near, across, down = (0.001, 0.01, 0.2), (0.3, 0.02, 5.0), (0.04, 0.5, 2.0)
    planes = [tuple(F(term) for term in plane) for plane in (near, across, down)]
    measured = run(measure_footprint)(F(10), F(20), *planes)

    def sample(x, y):
        w = 1.0 / (near[0] * x + near[1] * y + near[2])
        return np.array([(plane[0] * x + plane[1] * y + plane[2]) * w for plane in (across, down)])

    step = 1e-4
    expected = [(sample(10 + step, 20) - sample(10 - step, 20)), (sample(10, 20 + step) - sample(10, 20 - step))]
    assert np.array(measured) == pytest.approx(np.concatenate(expected) / (2 * step), rel=1e-3)


def test_runs_end_where_another_triangle_begins(run):
    shown = [4] * 3 + [9] + [7] * 4 + [2] * 19 + [5] * 3
    row = np.array(shown + [8] * LANES, np.uint32)  # behind a row lies what another one left
    ends = np.zeros(len(shown), np.int32)
    count = run(list_ends)(len(shown), row, ends)
    assert ends[:count].tolist() == [3, 4, 8, 27, 30]


# -- colours


@pytest.mark.parametrize(("density", "distance"), [(0.0, 50.0), (0.02, 3.0), (0.02, 30.0), (0.1, 5.0), (1.0, 99.0)])
def test_fog_lets_through_nearly_the_exponential(run, density, distance):
    assert run(clear_view)(F(density / 16.0), F(distance)) == pytest.approx(math.exp(-density * distance), abs=0.02)


def test_a_packed_colour_has_red_in_its_lowest_byte(run):
    assert run(pack_colour)(F(1.9), F(2.0), F(255.0)) == 0xFF0201


def test_bytes_of_words_are_averaged_each_for_itself(run):
    rng = np.random.default_rng(2)
    for a, b in rng.integers(0, 1 << 32, (60, 2), dtype=np.uint32):
        first, second = (np.array([word]).view(np.uint8).astype(int) for word in (a, b))
        up = np.array([run(average_up)(a, b)], np.uint32).view(np.uint8)
        down = np.array([run(average_down)(a, b)], np.uint32).view(np.uint8)
        assert up.tolist() == ((first + second + 1) // 2).tolist()
        assert down.tolist() == ((first + second) // 2).tolist()


def test_a_fisheye_of_no_strength_shows_every_pixel_where_it_is(run):
    for column, row in ((0, 0), (7, 3), (WIDTH - 1, HEIGHT - 1)):
        found = run(find_source)(column, row, WIDTH, HEIGHT, (F(0.0), F(0.0)))
        assert found == pytest.approx((column, row), abs=1e-4)


def test_a_fisheye_magnifies_the_middle(run):
    strength = (F(0.1), F(0.1))
    column, row = run(find_source)(40, 30, WIDTH, HEIGHT, strength)
    x, y = 2 * 40.5 / WIDTH - 1, 2 * 30.5 / HEIGHT - 1
    assert column == pytest.approx((x - 0.2 * (1 - y * y) * x + 1) / 2 * WIDTH - 0.5, abs=1e-4)
    assert row == pytest.approx((y - 0.2 * (1 - x * x) * y + 1) / 2 * HEIGHT - 0.5, abs=1e-4)


@pytest.mark.parametrize(("value", "byte"), [(-3.0, 0), (0.4, 0), (0.6, 1), (254.6, 255), (999.0, 255)])
def test_values_become_the_nearest_byte(run, value, byte):
    assert run(make_byte)(F(value)) == byte


def test_noise_has_mean_0_and_deviation_1(run):
    draw = run(draw_noise)
    values = np.array([draw(np.uint32(5), np.uint32(place)) for place in range(4000)])
    assert values.mean() == pytest.approx(0.0, abs=0.05)
    assert values.std() == pytest.approx(1.0, abs=0.05)


def test_the_weights_of_a_blur_are_those_of_a_gaussian_and_sum_to_one(run):
    weight = np.zeros(17, np.float32)
    taps = run(weigh_blur)(F(2.0), weight)
    assert taps == 6
    assert weight[0] + 2 * weight[1:taps].sum() == pytest.approx(1.0, abs=1e-5)
    assert weight[2] / weight[0] == pytest.approx(math.exp(-0.5), rel=1e-5)


# -- shadows


def test_a_soft_edge_is_half_at_the_edge(run):
    assert [run(soften)(F(x), F(1.0), F(0.1)) for x in (0.0, 1.0, -1.0, 1.2)] == pytest.approx([1.0, 0.5, 0.5, 0.0])


@pytest.mark.parametrize(
    ("x", "y", "share"), [(0, 0, 1), (0.5, 0, 1), (1.0, 0, 1), (1.5, 0, 0), (-0.5, 0, 0), (0.5, 0.5, 0)]
)
def test_a_box_hides_the_sun_as_far_down_the_sun_as_it_is_high(run, x, y, share):
    # The sun stands at 45° over -x: the shadow of a box of height 1 is 1 m longer than the box.
    slope = run(find_slope)(np.array([-0.5, 0.0, 0.5], np.float32), F(1.0), F(0.0))
    assert slope == pytest.approx((1.0, 0.0, 1.0, 0.0, 1.0))
    slope = tuple(F(term) for term in slope)
    assert run(cover_box)(F(x), F(y), F(0.2), F(0.2), F(1.0), F(0.0), slope) == pytest.approx(share, abs=1e-5)


# -- rays of lidars


@pytest.mark.parametrize(
    ("origin", "ray", "distance"),
    [
        ((-3.0, 0.0, 0.0), (1.0, 0.0, 0.0), 2.0),
        ((-3.0, 0.0, 0.0), (-1.0, 0.0, 0.0), math.inf),
        ((-3.0, 2.5, 0.0), (1.0, 0.0, 0.0), math.inf),
        ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), math.inf),
        ((0.5, 0.5, 9.0), (0.0, 0.0, -1.0), 6.0),
    ],
)
def test_a_ray_meets_a_box_from_outside(run, origin, ray, distance):
    assert run(meet_box)(origin, ray, (1.0, 2.0, 3.0)) == pytest.approx(distance)


@pytest.mark.parametrize(
    ("origin", "ray", "distance"),
    [
        ((-3.0, 0.0, 0.5), (1.0, 0.0, 0.0), 2.25),
        ((0.6, 0.0, 5.0), (0.0, 0.0, -1.0), 4.2),
        ((0.2, 0.0, 5.0), (0.0, 0.0, -1.0), 4.0),
        ((0.2, 0.0, -5.0), (0.0, 0.0, 1.0), 5.0),
        ((0.0, 0.0, 0.5), (1.0, 0.0, 0.0), math.inf),
        ((-3.0, 0.0, 1.5), (1.0, 0.0, 0.0), math.inf),
    ],
)
def test_a_ray_meets_a_frustum_from_outside(run, origin, ray, distance):
    # 1 m wide at its base and half a metre at its top, 1 m high.
    assert run(meet_frustum)(origin, ray, (1.0, 0.5, 1.0)) == pytest.approx(distance)


def test_a_ray_meets_a_sloping_ground_inside_and_beyond_its_grid(run):
    rows, columns, cell = 5, 6, 0.5
    height = np.tile(0.2 * cell * np.arange(columns), (rows, 1))
    ground = ((0.0, 0.0, cell, 0.0, float(height.max())), height.ravel(), rows, columns)
    down = (0.0, 0.0, -1.0)
    assert run(meet_ground)((1.3, 0.7, 2.0), down, 9.0, ground) == pytest.approx(2.0 - 0.26)
    assert run(meet_ground)((-4.0, 0.7, 2.0), down, 9.0, ground) == pytest.approx(2.0)
    assert run(meet_ground)((1.3, 0.7, 2.0), down, 1.0, ground) == math.inf
    ahead = (1.0 / math.sqrt(2.0), 0.0, -1.0 / math.sqrt(2.0))
    # x = t / sqrt(2), z = 1 - x = 0.2 x
    assert run(meet_ground)((0.0, 1.0, 1.0), ahead, 9.0, ground) == pytest.approx(math.sqrt(2.0) / 1.2)
