"""Our own places: their figures, in the original's units U = 1/8 m, and what any place promises."""

import itertools

import numpy as np
import pytest
from shapely import LinearRing, Point, Polygon, STRtree, affinity, box

from donkeysim.drivers.path_follower import PathFollower
from donkeysim.physics.vehicle import compute_rest_height
from donkeysim.world.scene import COLLIDER_CYLINDER
from donkeysim.world.specs import SceneSpec, load_car
from donkeysim.world.tracks import list_scenes, load_scene
from donkeysim.world.tracks.catalogue import group_scenes
from driving import CAR, Course

U = 8.0
CAR_LENGTH, CAR_WIDTH = 0.28, 0.215
"""Over the tyres [m]."""

LEAST_RADIUS = 0.598
"""Tightest turn of any path [m]: pallet_hall has one of 4.8 U."""

FIGURES = {
    "pallet_hall": (242.0, None, 122),
    "city_lot": (987.0, (154.0, 401.0), 470),
    "kart_track": (494.0, (123.6, 32.8), 110),
    "reading_room": (66.4, (24.6, 15.8), 24),
    "harbour_town": (102.3, None, 307),
    "maker_hall": (302.0, (72.7, 44.2), 139),
    "canyon_road": (516.2, (123.0, 121.3), 250),
    "mountain_pass": (432.0, None, 216),
    "hill_circuit": (560.0, None, 280),
    "carpet_hall": (172.0, None, 86),
}
"""Length [U], box along the original's x and z [U] where it is known, and nodes."""

RECORDED = ("canyon_road",)
"""Built on recorded nodes, which lie unevenly; the first car stands beside the path. See `test_canyon_road`."""

COUNTER_CLOCKWISE = ("reading_room", "hill_circuit")


@pytest.fixture(scope="module", params=FIGURES)
def scene(request):
    return load_scene(SceneSpec(request.param))


@pytest.fixture(scope="module")
def road(scene):
    """The drivable polygon from nodes and widths, refined between the nodes."""
    return make_road(scene.path)


def make_road(path):
    from donkeysim.drivers.driving_line import refine_line

    factor = 1 if len(path.position) > 200 else 8
    node = refine_line(path.position[:, :2], factor, closed=True)
    ahead = np.roll(node, -1, axis=0) - np.roll(node, 1, axis=0)
    normal = np.column_stack((-ahead[:, 1], ahead[:, 0])) / np.linalg.norm(ahead, axis=1)[:, None]
    at, where, period = np.arange(len(node)) / factor, np.arange(len(path.position)), float(len(path.position))
    left = np.interp(at, where, path.width_left, period=period)
    right = np.interp(at, where, path.width_right, period=period)
    edges = [node + normal * left[:, None], node - normal * right[:, None]]
    outer, inner = sorted(edges, key=lambda edge: -Polygon(edge).area)
    return Polygon(outer, [inner])


def find_turns(path):
    """Turn from each side of the path to the next [rad], + = left."""
    step = np.roll(path.position[:, :2], -1, axis=0) - path.position[:, :2]
    heading = np.arctan2(step[:, 1], step[:, 0])
    return np.angle(np.exp(1j * (np.roll(heading, -1) - heading)))


def measure_steps(path):
    return np.linalg.norm(np.roll(path.position[:, :2], -1, axis=0) - path.position[:, :2], axis=1)


def outline_colliders(scene):
    """What stands, seen from above."""
    colliders = scene.colliders
    for kind, centre, half, yaw in zip(
        colliders.kind, colliders.centre, colliders.half_size, colliders.yaw, strict=True
    ):
        if kind == COLLIDER_CYLINDER:
            yield Point(centre[:2]).buffer(half[0])
        else:
            block = box(-half[0], -half[1], half[0], half[1])
            yield affinity.translate(affinity.rotate(block, yaw, (0, 0), use_radians=True), *centre[:2])


def outline_car(position, yaw):
    block = box(-0.5 * CAR_LENGTH, -0.5 * CAR_WIDTH, 0.5 * CAR_LENGTH, 0.5 * CAR_WIDTH)
    return affinity.translate(affinity.rotate(block, yaw, (0, 0), use_radians=True), *position[:2])


def test_each_of_our_own_places_in_the_menu_has_its_figures():
    assert set(FIGURES) == set(group_scenes(list_scenes())["ours"])


def test_tracks_of_one_s_own_come_first():
    groups = group_scenes((*list_scenes(), "my_track"))
    assert list(groups) == ["yours", "original", "ours"]
    assert groups["yours"] == ("my_track",)


def test_nodes_length_and_box_are_as_designed(scene):
    length, extent, node_count = FIGURES[scene.name]
    assert len(scene.path.position) == node_count
    assert scene.path.closed
    polygon = measure_steps(scene.path).sum() * U
    assert polygon == pytest.approx(length, rel=0.012)
    if extent is not None:
        y, x = np.ptp(scene.path.position[:, 1::-1], axis=0) * U
        assert (y, x) == pytest.approx(extent, rel=0.02)


def test_it_is_driven_in_its_direction(scene):
    turned = find_turns(scene.path).sum()
    assert turned == pytest.approx(2.0 * np.pi if scene.name in COUNTER_CLOCKWISE else -2.0 * np.pi)
    assert LinearRing(scene.path.position[:, :2]).is_ccw == (scene.name in COUNTER_CLOCKWISE)


def test_path_is_continuous_and_without_a_corner(scene):
    steps = measure_steps(scene.path)
    assert steps == pytest.approx(np.full(len(steps), steps.mean()), rel=0.45 if scene.name in RECORDED else 0.06)
    assert np.abs(find_turns(scene.path)).max() < 1.1 * steps.max() / LEAST_RADIUS
    climb = np.diff(scene.path.position[:, 2], append=scene.path.position[0, 2])
    assert np.abs(climb / steps).max() < (0.31 if scene.name in RECORDED else 0.25)


def test_road_is_wide_enough_for_a_car_and_does_not_cross_itself(scene, road):
    assert road.is_valid
    assert min(scene.path.width_left.min(), scene.path.width_right.min()) > 1.5 * CAR_WIDTH


def test_grid_stands_on_the_road_without_overlap(scene, road):
    cars = [outline_car(p, y) for p, y in zip(scene.start.position, scene.start.yaw, strict=True)]
    assert len(cars) >= min(64, 2 * int(measure_steps(scene.path).sum() / 0.54))
    assert all(road.buffer(0.01).contains(car) for car in cars)
    assert all(a.distance(b) > 0.03 for a, b in itertools.combinations(cars, 2))
    assert scene.name in RECORDED or np.linalg.norm(scene.start.position[0] - scene.path.position[0]) < 0.01


def test_cars_start_at_their_rest_height_behind_the_line(scene):
    (left, right), first = scene.start.line[0], scene.start.position[0]
    across = right - left
    forward = np.array([-across[1], across[0]]) / np.linalg.norm(across)
    assert np.dot(forward, (np.cos(scene.start.yaw[0]), np.sin(scene.start.yaw[0]))) > 0.99
    assert np.dot(first[:2] - left, forward) < -0.5 * CAR_LENGTH
    rest = compute_rest_height(load_car("original"))
    assert first[2] - read_height(scene.ground, first) == pytest.approx(rest, abs=1e-6)


def read_height(ground, point):
    from donkeysim.world.tracks.terrain.ground import sample_height

    return float(sample_height(ground, point[None, :2])[0])


def test_checkpoints_lie_across_the_road_in_driving_order(scene):
    middle = scene.start.checkpoint.mean(axis=1)
    assert len(middle) >= 2
    away = np.linalg.norm(middle[:, None] - scene.path.position[None, :, :2], axis=2)
    assert np.all(np.diff(away.argmin(axis=1)) > 0)
    assert away.min(axis=1).max() < 0.6 * measure_steps(scene.path).max()
    spans = np.linalg.norm(scene.start.checkpoint[:, 0] - scene.start.checkpoint[:, 1], axis=1)
    assert np.all(spans >= (scene.path.width_left + scene.path.width_right).min() - 1e-6)


def test_nothing_stands_on_the_road(scene, road):
    inside = road.buffer(-0.005)
    for outline in outline_colliders(scene):
        assert not outline.intersects(inside), outline.centroid
    for point, radius in zip(scene.props.position, scene.props.radius_base, strict=True):
        assert road.distance(Point(point[:2])) > radius


def test_nothing_stands_inside_another_thing(scene):
    outline, name, row = list(outline_colliders(scene)), scene.colliders.name, scene.colliders
    for a, b in STRtree(outline).query(outline, predicate="intersects").T:
        apart = abs(row.centre[a, 2] - row.centre[b, 2]) > row.half_size[a, 2] + row.half_size[b, 2]
        if a < b and scene.hit_names[name[a]] != scene.hit_names[name[b]] and not apart:
            pair = f"{scene.hit_names[name[a]]} and {scene.hit_names[name[b]]} at {outline[b].centroid}"
            assert outline[a].intersection(outline[b]).area < 1e-3, pair


@pytest.mark.parametrize("name", ["reading_room", "harbour_town"])
def test_the_pace_car_laps_in_its_lane_without_a_hit(name):
    scene = load_scene(SceneSpec(name))
    half = min(scene.path.width_left.min(), scene.path.width_right.min())
    course = Course(scene)
    driver = PathFollower(scene, CAR, "steady")
    while course.ledger.lap[0] < 2:
        seen = course.drive(driver, seconds=0.2)
        assert (seen.off_road, seen.hits) == (0, set())
        assert abs(course.ledger.offset[0]) < 0.5 * half
