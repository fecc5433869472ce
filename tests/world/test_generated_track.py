"""generated_track against the original's figures, in its units U = 1/8 m, and against its own promises."""

import itertools

import numpy as np
import pytest
from shapely import LinearRing, LineString, Point, Polygon

from donkeysim.core.frames import position_to_units
from donkeysim.drivers.driving_line import refine_line
from donkeysim.physics.vehicle import compute_rest_height
from donkeysim.sim.simulator import Simulator
from donkeysim.world.scene import CLASS_CAR, CLASS_GROUND, CLASS_PROP, COLLIDER_CYLINDER
from donkeysim.world.specs import SceneSpec, WorldSpec, load_car
from donkeysim.world.tracks import load_scene
from donkeysim.world.tracks.art import read_picture
from donkeysim.world.tracks.catalogue import find_track
from donkeysim.world.tracks.paths.path_csv import read_points

U = 8.0
CAR_LENGTH, CAR_WIDTH = 0.28, 0.215
"""Over the tyres [m]."""

RECORDED = find_track(SceneSpec("generated_track")).parent / "lines" / "generated_track.csv"

NODES_IN_UNITS = {0: (49.6885, 47.948), 12: (49.6885, 71.948), 21: (63.273, 74.960), 61: (87.642, 6.931)}
"""The original's x and z of some nodes [U]."""


@pytest.fixture(scope="module")
def scene():
    return load_scene(SceneSpec("generated_track"))


@pytest.fixture(scope="module")
def old():
    return load_scene(SceneSpec("generated_track", look="2020"))


@pytest.fixture(scope="module")
def meadow():
    return load_scene(SceneSpec("generated_track", look="meadow"))


@pytest.fixture(scope="module")
def flat():
    return load_scene(SceneSpec("flat"))


def measure_steps(path):
    """Vectors from each node to the next, closed, in the plane [m]."""
    return np.roll(path.position[:, :2], -1, axis=0) - path.position[:, :2]


def make_road(path):
    """The drivable polygon from nodes and widths."""
    left = find_left(path)
    outer = path.middle + left * path.width_left[:, None]
    inner = path.middle - left * path.width_right[:, None]
    return Polygon(outer, [inner])


def find_left(path):
    """Unit vectors to the left of the road's middle line at the nodes."""
    middle = refine_line(path.middle, 20, closed=True)
    ahead = np.roll(middle, -1, axis=0)[::20] - np.roll(middle, 1, axis=0)[::20]
    ahead /= np.linalg.norm(ahead, axis=1)[:, None]
    return np.column_stack((-ahead[:, 1], ahead[:, 0]))


def read_surface(ground, point):
    """Surface index under points x, y, shape [n, 2]; 0 outside the map."""
    column = np.floor((point[:, 0] - ground.surface_origin[0]) / ground.surface_cell).astype(int)
    row = np.floor((point[:, 1] - ground.surface_origin[1]) / ground.surface_cell).astype(int)
    rows, columns = ground.surface.shape
    inside = (row >= 0) & (row < rows) & (column >= 0) & (column < columns)
    return np.where(inside, ground.surface[np.clip(row, 0, rows - 1), np.clip(column, 0, columns - 1)], 0)


def test_node_count_is_the_originals(scene):
    assert len(scene.path.position) == 108
    assert scene.path.closed


def test_nodes_are_the_recorded_ones(scene):
    recorded = read_points(RECORDED.read_text(encoding="utf-8"), str(RECORDED)).position
    assert scene.path.position[:, :2] == pytest.approx(recorded, abs=1e-9)
    for node, place in NODES_IN_UNITS.items():
        x, _, z = position_to_units(tuple(scene.path.position[node]))
        assert (x, z) == pytest.approx(place, abs=0.003)


def test_length_and_box_are_the_originals(scene):
    steps = np.linalg.norm(measure_steps(scene.path), axis=1) * U
    extent = np.ptp(scene.path.position[:, :2], axis=0) * U
    assert steps.sum() == pytest.approx(214.9, rel=0.01)
    assert extent == pytest.approx([82.0, 39.0], rel=0.01)


def test_nodes_lie_two_units_apart_but_for_the_last_step(scene):
    steps = np.linalg.norm(measure_steps(scene.path), axis=1) * U
    assert steps[:-1] == pytest.approx(np.full(107, 2.0), abs=2e-3)
    assert steps[-1] == pytest.approx(0.90, abs=0.005)


def test_start_is_the_originals(scene):
    x, y, z = position_to_units(tuple(scene.start.position[0]))
    assert (x, z) == pytest.approx((6.2116 * U, 5.9797 * U))
    assert y == pytest.approx(scene.start.position[0, 2] * U), "the ground lies at 0"
    assert scene.ground.height == pytest.approx(np.zeros((1, 1)))
    assert scene.start.yaw[0] == 0.0


def test_a_client_is_told_the_recorded_start_and_path():
    simulator = Simulator(WorldSpec(SceneSpec("generated_track")))
    simulator.add_car()
    seen = simulator.observe_telemetry(0)
    simulator.close()
    assert seen.totalNodes == 108
    assert (seen.pos_x, seen.pos_z) == pytest.approx((6.2116, 5.9797), abs=1e-4)
    assert seen.yaw == pytest.approx(0.0, abs=1e-3)
    assert seen.cte == pytest.approx(0.0, abs=0.04)
    assert seen.activeNode == 0, "the nearest, 0.0138 m ahead"


def test_loop_turns_clockwise_once(scene):
    angle = np.arctan2(*measure_steps(scene.path).T[::-1])
    turns = np.angle(np.exp(1j * (np.roll(angle, -1) - angle)))
    assert turns.sum() == pytest.approx(-2.0 * np.pi)
    assert not LinearRing(scene.path.position[:, :2]).is_ccw


def test_path_has_no_corner(scene):
    angle = np.arctan2(*measure_steps(scene.path).T[::-1])
    turns = np.angle(np.exp(1j * (np.roll(angle, -1) - angle)))
    sharpest = 0.25 / (7.4 / U)
    assert np.abs(turns).max() < 1.1 * sharpest


def test_turns_follow_the_originals_script(scene):
    angle = np.unwrap(np.arctan2(*measure_steps(scene.path).T[::-1]))
    turned = np.degrees(np.diff(angle))
    right = turned < -0.5
    groups = [list(run) for _, run in itertools.groupby(range(len(turned)), key=lambda i: (right[i], turned[i] > 0.5))]
    sums = [turned[run].sum() for run in groups if abs(turned[run].sum()) > 1.0]
    assert sums == pytest.approx([-139.5, -70.0, 75.0, -135.0, -88.0, -3.0, -14.9], abs=0.2)
    assert right[:11].sum() == 0
    assert turned[11:20] == pytest.approx(np.full(9, -15.5), abs=0.1)


def test_the_roads_edges_pass_the_nodes_within_a_centimetre(scene):
    """Also at the last step, short and askew, that the road's middle rounds."""
    away = np.linalg.norm(scene.path.middle - scene.path.position[:, :2], axis=1)
    assert away.max() < 0.01
    assert np.sort(away)[-3] < 0.003
    assert make_road(scene.path).is_valid


def test_road_spans_the_originals_cte(scene):
    assert scene.path.width_left * U == pytest.approx(np.full(108, 7.0))
    assert scene.path.width_right * U == pytest.approx(np.full(108, 3.0))


def test_road_does_not_cross_itself(scene):
    assert make_road(scene.path).is_valid


def test_surface_map_is_the_road(scene):
    road = make_road(scene.path)
    ground = scene.ground
    assert ground.surface.sum() * ground.surface_cell**2 == pytest.approx(road.area, rel=0.005)
    sides = [(1.0, scene.path.width_left), (-1.0, scene.path.width_right)]
    left, middle = find_left(scene.path), scene.path.middle
    for side, width in sides:
        edge = side * width[:, None] * left
        step = side * 0.02 * left
        assert np.all(read_surface(ground, middle + edge - step) == 1)
        assert np.all(read_surface(ground, middle + edge + step) == 0)


def test_road_grips_more_than_grass(scene):
    assert scene.ground.friction[1] == 1.0
    assert scene.ground.friction[0] < scene.ground.friction[1]
    assert list(scene.ground.drivable) == [0, 1]


@pytest.mark.parametrize("name", ["generated_track", "flat"])
def test_cars_start_at_their_rest_height(name):
    scene = load_scene(SceneSpec(name))
    ground = scene.ground.height[0, 0]
    rest = compute_rest_height(load_car("original"))
    assert scene.start.position[:, 2] - ground == pytest.approx(np.full(len(scene.start.position), rest), abs=1e-9)
    assert scene.path.position[:, 2] - ground == pytest.approx(np.full(len(scene.path.position), rest), abs=1e-9)


def test_second_car_starts_in_the_left_lane(scene):
    offset = (scene.start.position[1] - scene.start.position[0]) * U
    assert offset == pytest.approx([0.0, 4.5, 0.0])
    behind = (scene.start.position[2] - scene.start.position[0]) * U
    assert behind == pytest.approx([-5.0, 0.0, 0.0], abs=0.001), "five units straight behind"


def car_outline(position, yaw):
    corners = np.array([(1, 1), (-1, 1), (-1, -1), (1, -1)]) * (0.5 * CAR_LENGTH, 0.5 * CAR_WIDTH)
    turn = np.array([(np.cos(yaw), np.sin(yaw)), (-np.sin(yaw), np.cos(yaw))])
    return Polygon(position[:2] + corners @ turn)


def test_64_clients_and_a_pace_car_stand_on_the_road_without_overlap(scene):
    road = make_road(scene.path).buffer(0.002)
    cars = [car_outline(p, y) for p, y in zip(scene.start.position, scene.start.yaw, strict=True)]
    assert len(cars) > 64
    assert all(road.contains(car) for car in cars)
    assert all(a.distance(b) > 0.03 for a, b in itertools.combinations(cars, 2))


def test_cars_start_behind_the_line(scene):
    left, right = scene.start.line[0]
    across = right - left
    forward = np.array([-across[1], across[0]]) / np.linalg.norm(across)
    for position, yaw in zip(scene.start.position[:8], scene.start.yaw[:8], strict=True):
        assert np.dot(forward, (np.cos(yaw), np.sin(yaw))) > 0.9
        assert np.dot(position[:2] - left, forward) < -0.5 * CAR_LENGTH
    last = scene.start.position[-1, :2]
    assert np.linalg.norm(last - scene.start.position[0, :2]) > 1.0


def test_start_line_lies_across_the_road(scene):
    assert scene.start.line.shape == (1, 2, 2)
    ends = scene.start.line[0] * U
    assert np.linalg.norm(ends[0] - ends[1]) == pytest.approx(10.181, abs=0.001)
    assert ends[:, 0] == pytest.approx(np.full(2, 49.55), abs=0.001)
    assert ends[0, 1] > ends[1, 1]


def test_shortest_line_begins_at_the_start_line_and_stays_on_the_road(scene):
    line = scene.path.shortest
    left, right = scene.start.line[0]
    assert Point(line[0]).distance(LineString((left, right))) < 0.005
    steps = np.linalg.norm(np.roll(line, -1, axis=0) - line, axis=1)
    assert steps.sum() < 0.95 * 214.9 / U
    assert make_road(scene.path).buffer(0.02).contains(LinearRing(line))


def test_nothing_stands_on_the_road(scene):
    road = make_road(scene.path)
    things = np.concatenate((scene.colliders.centre[:, :2], scene.props.position[:, :2]))
    radius = np.concatenate((scene.colliders.half_size[:, 0], scene.props.radius_base))
    for point, size in zip(things, radius, strict=True):
        assert road.distance(Point(point)) > size - 0.001


CONES = [
    (82.343, 70.137), (45.963, 83.68), (28.552, 11.46), (58.48, 3.249), (82.233, 3.73), (73.767, -23.498),
    (38.195, -18.878), (54.483, 35.79), (39.643, 36.542), (56.046, 71.944), (68.706, 83.68), (82.003, 33.523),
    (74.562, 52.677),
]  # fmt: skip
"""x and z of the original's [U]."""


@pytest.mark.parametrize("look", ["", "2020"])
def test_cones_stand_fast_where_the_originals_do(scene, old, look):
    scene = old if look else scene
    cones = np.array([scene.hit_names[name] == "Line01" for name in scene.colliders.name])
    place = scene.colliders.centre[cones]
    assert np.column_stack((-place[:, 1], place[:, 0])) * U == pytest.approx(np.array(CONES), abs=0.01)
    assert len(scene.props.mass) == 0
    height = 2.0 * U * scene.colliders.half_size[cones, 2]
    assert height == pytest.approx(np.full(13, 3.3 if look else 4.04)), "as recordings of 2020 show them; as drawn"


def test_cones_of_the_meadow_stand_all_around_the_loop(meadow):
    names = [meadow.hit_names[index] for index in meadow.props.name]
    assert names.count("cone") >= 12
    road = make_road(meadow.path)
    assert all(road.distance(Point(p[:2])) < 0.3 for p in meadow.props.position)
    away = np.linalg.norm(meadow.props.position[:, None, :2] - meadow.path.position[None, :, :2], axis=2)
    passed = np.sort(away.argmin(axis=1))
    assert np.diff(np.append(passed, passed[0] + 108)).max() <= 15


def test_cones_can_be_knocked_over_by_a_car(meadow):
    car = load_car("original")
    assert np.all(meadow.props.mass < 0.05 * car.mass)
    assert np.all(meadow.props.radius_top < meadow.props.radius_base)
    assert np.all(meadow.props.centre_of_mass < 0.5 * meadow.props.height)


def test_hit_names_are_the_originals_kind(scene, meadow):
    assert scene.hit_names[0] == "terrain"
    assert {"Line01", "tree"} <= set(scene.hit_names)
    assert {"cone", "tree", "gantry"} <= set(meadow.hit_names)
    assert np.all(scene.colliders.kind == COLLIDER_CYLINDER)


def test_looks_are_rich_enough_to_measure(scene):
    props = sum(len(scene.models[index].triangle) for index in scene.props.model)
    assert len(scene.static.triangle) + props >= 2500
    big = [texture for texture in scene.textures if min(texture.shape[:2]) >= 512]
    assert len(big) >= 3


def test_ground_is_few_triangles(scene):
    ground = [index for index, material in enumerate(scene.materials) if material.segment == CLASS_GROUND]
    assert np.isin(scene.static.material, ground).sum() <= 12
    assert {material.segment for material in scene.materials} == {CLASS_GROUND, CLASS_PROP, CLASS_CAR}


def read_ground(scene, along, offset):
    """Colours of the ground's picture on the first straight, `along` and `offset` from the first car, shape [n, 3]."""
    atlas = scene.textures[scene.materials[scene.static.material[0]].texture]
    corner = scene.static.vertex[:4]
    (x0, y0), (x1, y1) = corner[:, :2].min(axis=0), corner[:, :2].max(axis=0)
    rows, columns = atlas.shape[:2]
    x, y = (scene.start.position[0, axis] + value for axis, value in enumerate((np.asarray(along), offset)))
    row, column = ((y1 - y) / (y1 - y0) * rows).astype(int), ((x - x0) / (x1 - x0) * columns).astype(int)
    return atlas[row, column, :3].astype(int)


ALONG = np.arange(0.6, 2.4, 0.01)
"""Of the first straight, beyond the start line [m]."""


@pytest.mark.parametrize(
    ("across", "colour"), [(-5.99, (238, 247, 250)), (1.98, (238, 247, 250)), (-1.99, (204, 182, 133))]
)
def test_lines_of_2020_are_solid_and_look_as_recordings_show_them(old, across, colour):
    painted = read_ground(old, ALONG, -across / U + 0.0 * ALONG)
    assert painted.mean(axis=0) == pytest.approx(np.array(colour), abs=12.0)
    assert np.abs(painted - colour).mean(axis=1).max() < 40.0
    sides = np.concatenate([read_ground(old, ALONG, -(across + s) / U + 0.0 * ALONG) for s in (-0.35, 0.35)])
    assert np.abs(sides.mean(axis=0) - colour).max() > 40.0


def test_lines_are_as_wide_as_in_2020(old):
    offset = np.arange(-0.36, 0.86, 0.002)
    grey = np.mean([read_ground(old, x + 0.0 * offset, offset).mean(axis=1) for x in ALONG[::9]], axis=0)
    for middle in (0.74875, -0.2475):
        near = np.abs(offset - middle) < 0.06
        bare, paint = np.median(grey[(np.abs(offset - middle) > 0.04) & near]), grey[near].max()
        width = np.clip((grey[near] - bare) / (paint - bare), 0.0, 1.0).sum() * 0.002
        assert width == pytest.approx(0.044, abs=0.008)


def test_the_road_is_light_and_darker_where_wheels_roll(old):
    middle, left = (np.median(read_ground(old, ALONG, at + 0.0 * ALONG), axis=0) for at in (0.0, 0.5625))
    tracks = np.median([read_ground(old, ALONG, at + 0.0 * ALONG) for at in (-0.085, 0.085)], axis=(0, 1))
    assert middle == pytest.approx(np.array((138, 146, 155)), abs=15.0)
    assert left == pytest.approx(np.array((138, 146, 155)), abs=15.0)
    assert 10.0 < (middle - tracks).mean() < 25.0


def test_gravel_lies_beside_the_road(old):
    for offset, colour in ((-0.6, (103, 108, 88)), (1.15, (127, 129, 122))):
        assert read_ground(old, ALONG, offset + 0.0 * ALONG).mean(axis=0) == pytest.approx(colour, abs=25.0)


def test_hedges_stop_no_car(old):
    hedge = next(i for i, t in enumerate(old.textures) if t.tobytes() == read_picture("low_hedge").tobytes())
    shown = np.isin(old.static.material, [i for i, m in enumerate(old.materials) if m.texture == hedge])
    assert shown.sum() > 200
    leaf = old.static.vertex[old.static.triangle[shown]].reshape(-1, 3)
    away = np.linalg.norm(leaf[::5, None, :2] - old.colliders.centre[None, :, :2], axis=2)
    assert np.median(away.min(axis=1)) > 0.3
    assert {old.hit_names[name] for name in old.colliders.name} == {"Line01", "tree", "bush", "rock"}


def test_what_is_seen_of_hedges_keeps_off_the_road(old):
    road = make_road(old.path)
    low = old.static.vertex[old.static.triangle].reshape(-1, 3)[12:]
    prop = np.repeat([old.materials[m].segment == CLASS_PROP for m in old.static.material], 3)[12:]
    low = np.unique(np.round(low[prop & (low[:, 2] < 0.15)], 3), axis=0)
    cones = old.colliders.centre[[old.hit_names[name] == "Line01" for name in old.colliders.name], :2]
    away = np.linalg.norm(low[:, None, :2] - cones[None], axis=2).min(axis=1)
    assert not any(road.contains(Point(corner[:2])) for corner in low[away > 0.12]), "one cone touches the road"


def test_the_road_is_warm_in_the_sun_and_as_wide_as_the_originals_lines(scene):
    right = np.median([read_ground(scene, ALONG, at + 0.0 * ALONG) for at in (-0.1, 0.0, 0.1)], axis=(0, 1))
    assert right == pytest.approx(np.array((184, 168, 145)), abs=12.0)
    for across, colour in ((-5.99, (255, 255, 250)), (1.98, (255, 255, 250)), (-1.99, (250, 214, 96))):
        in_the_sun = np.percentile(read_ground(scene, ALONG, -across / U + 0.0 * ALONG), 75, axis=0)
        assert in_the_sun == pytest.approx(np.array(colour), abs=35.0)


def test_leaves_leave_gaps_in_their_shadows(scene):
    along, across = np.meshgrid(np.arange(-4.0, 4.0, 0.02), np.arange(-0.2, 0.7, 0.02))
    grey = read_ground(scene, along.ravel(), across.ravel()).mean(axis=1)
    dark = grey < 115.0
    assert 0.02 < dark.mean() < 0.6


def test_the_meadow_is_as_it_was(meadow):
    for offset in (0.845, -0.345):
        white = read_ground(meadow, [1.25], offset)[0]
        assert white.min() > 150
        assert np.ptp(white) < 40
    yellow = read_ground(meadow, np.arange(0.5, 1.0, 0.01), 0.25 + np.zeros(50))
    dashed = yellow[:, 0] - yellow[:, 2] > 90
    assert 0.3 < dashed.mean() < 0.7
    assert np.median(read_ground(meadow, ALONG, 0.0 * ALONG)) < 110
    assert meadow.light.fog_colour == pytest.approx((190 / 255, 208 / 255, 224 / 255))


@pytest.mark.parametrize("look", ["2020", "meadow"])
def test_a_look_changes_nothing_of_where_one_drives(scene, old, meadow, look):
    other = old if look == "2020" else meadow
    assert other.path.position.tobytes() == scene.path.position.tobytes()
    assert other.ground.surface.tobytes() == scene.ground.surface.tobytes()
    assert other.start.position.tobytes() == scene.start.position.tobytes()


def test_the_far_grass_continues_the_near_picture(scene):
    materials = scene.static.material
    near = scene.textures[scene.materials[materials[0]].texture]
    far_material = next(m for m in materials if m != materials[0])
    far = scene.textures[scene.materials[far_material].texture]
    size = far.shape[0]
    border = near[-1, :, :3].reshape(-1, size, 3).astype(int)
    assert np.abs(border - far[-1, :, :3]).max() <= 2
    border = near[:, 0, :3].reshape(-1, size, 3).astype(int)
    assert np.abs(border - far[:, 0, :3]).max() <= 2
    corner = np.unique(scene.static.triangle[materials == far_material])
    inner = corner[np.abs(scene.static.vertex[corner, 0] - 6.0) < 12.0]
    assert scene.static.uv[inner] % 1.0 == pytest.approx(np.zeros((4, 2)), abs=1e-3)


def test_flat_is_an_endless_straight_plane(flat):
    assert not flat.path.closed
    assert np.ptp(flat.path.position[:, 1]) == pytest.approx(0.0)
    assert np.all(np.diff(flat.path.position[:, 0]) > 0.0)
    assert flat.ground.height.shape == (1, 1)
    assert flat.ground.friction[0] == 1.0
    assert flat.ground.drivable[0] == 1
    assert len(flat.colliders.kind) == len(flat.props.mass) == 0
    assert np.ptp(flat.static.vertex[:, 0]) > 1000.0


def test_same_file_gives_the_same_bytes(scene):
    again = load_scene(SceneSpec("generated_track"))
    assert again.path.position.tobytes() == scene.path.position.tobytes()
    assert again.static.vertex.tobytes() == scene.static.vertex.tobytes()
    assert again.ground.surface.tobytes() == scene.ground.surface.tobytes()
    assert [t.tobytes() for t in again.textures] == [t.tobytes() for t in scene.textures]
