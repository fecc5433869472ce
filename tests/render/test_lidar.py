"""The lidar against Open3D's rays on equivalent meshes, and what it promises about rows, range and noise."""

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.render.ray_judge import find_open3d
from tests.render.reference import rotate

from donkeysim.core.workers import Workers
from donkeysim.render.lidar import LidarScanner
from donkeysim.world.scene import COLLIDER_BOX, COLLIDER_CYLINDER, Colliders, Props
from donkeysim.world.specs import LidarSpec, SceneSpec, load_car
from donkeysim.world.state import Layout, make_state
from donkeysim.world.tracks import load_scene

CAR = replace(load_car("original"), chassis_centre=(0.01, 0.0, 0.03), chassis_size=(0.3, 0.2, 0.16))
QUIET = LidarSpec(noise=0.0)


@pytest.fixture(scope="module")
def flat():
    scene = load_scene(SceneSpec("flat"))
    return replace(scene, props=make_props(0), car_models={})


def make_colliders(kind, centre, half_size, yaw):
    count = len(kind)
    return Colliders(
        kind=np.array(kind, np.uint8),
        centre=np.array(centre, float).reshape(count, 3),
        half_size=np.array(half_size, float).reshape(count, 3),
        yaw=np.array(yaw, float),
        friction=np.ones(count),
        name=np.zeros(count, np.int32),
    )


def make_props(count, radius_base=0.06, radius_top=0.02, height=0.15):
    return Props(
        position=np.zeros((count, 3)),
        yaw=np.zeros(count),
        mass=np.ones(count),
        radius_base=np.full(count, radius_base),
        radius_top=np.full(count, radius_top),
        height=np.full(count, height),
        centre_of_mass=np.full(count, 0.05),
        friction=np.ones(count),
        model=np.zeros(count, np.int32),
        name=np.zeros(count, np.int32),
    )


def make_hills(ground, rng):
    height = 0.1 * rng.normal(size=(30, 40))
    return replace(ground, height=height, height_cell=0.2, height_origin=(-4.0, -3.0))


def make_world(scene, cars_per_world=1, world_count=1):
    prop_count = len(scene.props.mass)
    scanner = LidarScanner(
        Layout([scene], np.zeros(world_count, np.int32), CAR, world_count, cars_per_world, prop_count)
    )
    state = make_state(world_count, cars_per_world, prop_count)
    state.present[:] = 1
    return scanner, state


def turn_about(axis, angle):
    axis = np.array(axis) / np.linalg.norm(axis)
    return np.concatenate([[math.cos(angle / 2)], math.sin(angle / 2) * axis])


def make_rays(position, orientation, lidar):
    """Directions by the definition, one rotation at a time, shape [levels, rays, 3]; and the origin."""
    body = rotate(orientation)
    tilt = rotate(turn_about((0, 1, 0), lidar.pitch))
    rays = [
        [
            body
            @ tilt
            @ rotate(turn_about((0, 0, 1), -ray * lidar.sweep_increment))
            @ rotate(turn_about((0, 1, 0), lidar.angle_down + level * lidar.angle_delta))
            @ np.array([1.0, 0.0, 0.0])
            for ray in range(lidar.ray_count)
        ]
        for level in range(lidar.level_count)
    ]
    return position + body @ np.array(lidar.position), np.array(rays)


def cast_with_open3d(meshes, origin, rays):
    o3d = find_open3d()
    scene = o3d.t.geometry.RaycastingScene()
    for mesh in meshes:
        scene.add_triangles(mesh.vertices.astype(np.float32), mesh.faces.astype(np.uint32))
    table = np.concatenate([np.broadcast_to(origin, rays.shape), rays], axis=-1).astype(np.float32)
    return scene.cast_rays(o3d.core.Tensor(table))["t_hit"].numpy()


def make_frustum_mesh(base, top, height, sections=720):
    import trimesh

    angle = 2 * np.pi * np.arange(sections) / sections
    ring = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(sections)])
    low, high = ring * [base, base, 0], ring * [top, top, 0] + [0, 0, height]
    vertex = np.concatenate([low, high, [[0, 0, 0], [0, 0, height]]])
    i, j = np.arange(sections), (np.arange(sections) + 1) % sections
    bottom, lid = np.full(sections, 2 * sections), np.full(sections, 2 * sections + 1)
    face = np.concatenate(
        [
            np.column_stack([i, j, i + sections]),
            np.column_stack([j, j + sections, i + sections]),
            np.column_stack([j, i, bottom]),
            np.column_stack([i + sections, j + sections, lid]),
        ]
    )
    return trimesh.Trimesh(vertex, face, process=False)


def make_ground_mesh(ground, extent=8.0, spacing=0.02):
    """The bilinear field, borders repeated, as fine triangles."""
    import trimesh

    x = np.arange(-extent, extent + spacing, spacing)
    u = np.clip((x - ground.height_origin[0]) / ground.height_cell, 0, ground.height.shape[1] - 1)
    v = np.clip((x - ground.height_origin[1]) / ground.height_cell, 0, ground.height.shape[0] - 1)
    rows = np.array([np.interp(u, np.arange(ground.height.shape[1]), row) for row in ground.height])
    z = np.array([np.interp(v, np.arange(ground.height.shape[0]), column) for column in rows.T]).T
    count = len(x)
    vertex = np.column_stack([np.tile(x, count), np.repeat(x, count), z.ravel()])
    corner = (np.arange(count - 1)[:, None] * count + np.arange(count - 1)).ravel()
    face = np.concatenate(
        [
            np.column_stack([corner, corner + 1, corner + count]),
            np.column_stack([corner + 1, corner + count + 1, corner + count]),
        ]
    )
    return trimesh.Trimesh(vertex, face, process=False)


def place_mesh(mesh, position, quaternion):
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = rotate(quaternion), position
    return mesh.copy().apply_transform(matrix)


def compare(scanner, state, lidar, meshes, tolerance, allowed_share):
    origin, rays = make_rays(state.position[0], state.orientation[0], lidar)
    expected = cast_with_open3d(meshes, origin, rays)
    expected[expected > lidar.max_range] = np.inf
    found = np.full(expected.shape, np.inf)
    for distance, ray, level in scanner.scan(state, 0, lidar, 1):
        found[int(level), int(ray)] = distance
    both = np.isfinite(expected) & np.isfinite(found)
    error = np.where(both, expected, 0.0) - np.where(both, found, 0.0)
    agree = (np.isinf(expected) & np.isinf(found)) | (both & (np.abs(error) < tolerance))
    assert both.mean() > 0.05, "the scan must see something for the comparison to mean anything"
    assert 1.0 - agree.mean() <= allowed_share


@pytest.mark.parametrize("seed", range(3))
def test_rays_meet_boxes_cylinders_cones_and_cars_where_open3d_does(flat, seed):
    import trimesh

    rng = np.random.default_rng(seed)
    kind = [COLLIDER_BOX, COLLIDER_CYLINDER] * 6
    centre = np.column_stack([rng.uniform(-3, 3, (12, 2)), rng.uniform(-0.2, 0.4, 12)])
    centre[np.abs(centre[:, 0]) < 0.6, 0] += 1.5
    half = rng.uniform(0.05, 0.4, (12, 3))
    half[1::2, 1] = half[1::2, 0]
    yaw = rng.uniform(-3, 3, 12)
    scene = replace(flat, colliders=make_colliders(kind, centre, half, yaw), props=make_props(8))
    scanner, state = make_world(scene, cars_per_world=4)
    state.position[0], state.orientation[0] = (0.1, -0.2, 0.3), turn_about(rng.normal(size=3), 0.4)
    state.position[1:] = np.column_stack([rng.uniform(-2, 2, (3, 2)), np.full(3, 0.2)])
    state.position[1:, 0] += np.sign(state.position[1:, 0]) * 0.6
    state.prop_position[:] = np.column_stack(
        [rng.uniform(0.5, 2, (8, 1)), rng.uniform(-2, 2, (8, 1)), np.zeros((8, 1))]
    )
    meshes = [make_ground_mesh(scene.ground, spacing=0.5)]
    for row in range(12):
        turned = turn_about((0, 0, 1), yaw[row])
        if kind[row] == COLLIDER_BOX:
            meshes.append(place_mesh(trimesh.creation.box(2 * half[row]), centre[row], turned))
        else:
            base = centre[row] - [0, 0, half[row, 2]]
            meshes.append(place_mesh(make_frustum_mesh(half[row, 0], half[row, 0], 2 * half[row, 2]), base, turned))
    for row in range(8):
        state.prop_orientation[row] = turn_about(rng.normal(size=3), rng.uniform(0, 1.5))
        meshes.append(
            place_mesh(make_frustum_mesh(0.06, 0.02, 0.15), state.prop_position[row], state.prop_orientation[row])
        )
    for row in range(1, 4):
        state.orientation[row] = turn_about(rng.normal(size=3), 0.5)
        box = trimesh.creation.box(CAR.chassis_size).apply_translation(CAR.chassis_centre)
        meshes.append(place_mesh(box, state.position[row], state.orientation[row]))
    lidar = LidarSpec(noise=0.0, level_count=12, angle_down=math.radians(15), angle_delta=math.radians(-2.5), pitch=0.1)
    compare(scanner, state, lidar, meshes, tolerance=2e-3, allowed_share=2e-3)


@pytest.mark.parametrize("seed", range(2))
def test_rays_meet_hills_where_open3d_does(flat, seed):
    rng = np.random.default_rng(seed)
    scene = replace(flat, ground=make_hills(flat.ground, rng), colliders=make_colliders([], [], [], []))
    scanner, state = make_world(scene)
    state.position[0] = (-0.5, 0.2, 0.6)
    lidar = LidarSpec(
        noise=0.0, level_count=20, angle_down=math.radians(40), angle_delta=math.radians(-3), max_range=3.0
    )
    compare(scanner, state, lidar, [make_ground_mesh(scene.ground)], tolerance=5e-3, allowed_share=2e-3)


def test_a_level_ray_does_not_see_level_ground(flat):
    scanner, state = make_world(flat)
    state.position[0, 2] = 0.1
    assert len(scanner.scan(state, 0, QUIET, 1)) == 0


def test_a_ray_down_sees_the_ground_at_its_height_over_the_sine(flat):
    scanner, state = make_world(replace(flat, colliders=make_colliders([], [], [], [])))
    floor = float(flat.ground.height[0, 0])
    state.position[0] = (3.0, -40.0, floor + 0.2)
    rows = scanner.scan(state, 0, replace(QUIET, angle_down=math.radians(30), position=(0, 0, 0)), 1)
    assert len(rows) == 180
    assert np.allclose(rows[:, 0], 0.4, atol=1e-9)


def test_rays_are_counted_clockwise_from_ahead(flat):
    wall = make_colliders([COLLIDER_BOX], [0.0, -2.0, 0.0], [0.1, 0.5, 5.0], [math.pi / 2])
    scanner, state = make_world(replace(flat, colliders=wall))
    state.position[0, 2] = 0.1
    rows = scanner.scan(state, 0, replace(QUIET, position=(0, 0, 0)), 1)
    right = rows[rows[:, 1] == 45]
    assert right[0, 0] == pytest.approx(1.9)
    assert set(rows[:, 1]) == set(range(38, 53))


def test_levels_come_one_after_another_and_need_not_fill_the_range(flat):
    scanner, state = make_world(flat)
    state.position[0, 2] = 0.2
    lidar = replace(QUIET, level_count=3, angle_down=math.radians(1), angle_delta=math.radians(30))
    rows = scanner.scan(state, 0, lidar, 1)
    assert set(rows[:, 2]) == {1.0, 2.0}
    assert np.all(np.diff(rows[:, 2] * 1000 + rows[:, 1]) > 0)


def test_rays_pitched_past_the_vertical_still_see_everything(flat):
    pole = make_colliders([COLLIDER_CYLINDER], [-1.0, 0.0, 0.0], [0.2, 0.2, 3.0], [0.0])
    scanner, state = make_world(replace(flat, colliders=pole))
    state.position[0, 2] = 0.5
    lidar = replace(QUIET, position=(0, 0, 0), angle_down=math.radians(-160), max_range=2.0)
    rows = scanner.scan(state, 0, lidar, 1)
    assert 0 in rows[:, 1]


def test_a_lidar_does_not_see_its_own_car_nor_an_absent_one(flat):
    scanner, state = make_world(replace(flat, colliders=make_colliders([], [], [], [])), cars_per_world=2)
    state.position[0] = (0.0, 0.0, 0.1)
    state.position[1] = (1.0, 0.0, 0.1)
    lidar = replace(QUIET, position=(0.0, 0.0, 0.02))
    assert len(scanner.scan(state, 0, lidar, 1)) > 0
    state.present[1] = 0
    assert len(scanner.scan(state, 0, lidar, 1)) == 0


def test_a_lidar_sees_the_cars_of_its_own_world_only(flat):
    scanner, state = make_world(flat, cars_per_world=2, world_count=2)
    state.position[:, 2] = 0.1
    state.position[:, 0] = (0.0, 1.0, 0.0, 2.0)
    lidar = replace(QUIET, position=(0.0, 0.0, 0.02))
    near, far = (scanner.scan(state, car, lidar, 1)[0, 0] for car in (0, 2))
    assert far - near == pytest.approx(1.0)


def test_noise_spreads_the_distance_by_its_standard_deviation(flat):
    scanner, state = make_world(flat)
    state.position[0, 2] = 0.2
    lidar = LidarSpec(noise=0.05, level_count=20, angle_down=math.radians(30), angle_delta=0.0, position=(0, 0, 0))
    error = scanner.scan(state, 0, lidar, 7)[:, 0] - scanner.scan(state, 0, replace(lidar, noise=0.0), 7)[:, 0]
    assert len(error) == 3600
    assert error.mean() == pytest.approx(0.0, abs=0.004)
    assert error.std() == pytest.approx(0.05, rel=0.05)


def test_noise_never_makes_a_distance_negative(flat):
    scanner, state = make_world(flat)
    state.position[0, 2] = 0.05
    rows = scanner.scan(state, 0, LidarSpec(noise=1.0, angle_down=1.0, position=(0, 0, 0)), 7)
    assert rows[:, 0].min() == 0.0


def test_noise_depends_on_key_slot_and_step_only(flat):
    lidar = LidarSpec(noise=0.05, angle_down=0.5)
    scanner, state = make_world(flat, cars_per_world=2, world_count=2)
    state.position[:, 2] = 0.1
    state.present[1] = state.present[3] = 0
    first = scanner.scan(state, 0, lidar, 5)
    assert np.array_equal(scanner.scan(state, 0, lidar, 5), first)
    assert np.array_equal(scanner.scan(state, 2, lidar, 5), first)
    assert not np.array_equal(scanner.scan(state, 1, lidar, 5), first)
    assert not np.array_equal(scanner.scan(state, 0, lidar, 6), first)
    state.step_index[0] = 24
    assert not np.array_equal(scanner.scan(state, 0, lidar, 5), first)


@pytest.mark.parametrize("worker_count", [1, 3])
def test_many_cars_at_once_see_what_each_of_them_sees_alone(flat, worker_count):
    rng = np.random.default_rng(4)
    other = replace(
        flat,
        ground=make_hills(flat.ground, rng),
        colliders=make_colliders([COLLIDER_CYLINDER], [0.6, 0.3, 0.5], [0.2, 0.2, 0.5], [0.0]),
        props=make_props(3),
    )
    worlds, cars_per_world = 40, 2
    scene_of = np.arange(worlds, dtype=np.int32) % 2
    scanner = LidarScanner(Layout([flat, other], scene_of, CAR, worlds, cars_per_world, 3))
    state = make_state(worlds, cars_per_world, 3)
    count = worlds * cars_per_world
    state.present[:] = rng.random(count) < 0.8
    state.position[:] = np.column_stack([rng.uniform(-1, 1, (count, 2)), np.full(count, 0.3)])
    state.orientation[:] = [turn_about(rng.normal(size=3), 0.5) for _ in range(count)]
    state.prop_position[:] = rng.uniform(-1, 1, state.prop_position.shape)
    state.prop_orientation[:, 0] = 1.0
    state.step_index[:] = rng.integers(0, 99, worlds)
    lidar = LidarSpec(noise=0.02, level_count=3, angle_down=0.4, angle_delta=0.3, pitch=0.1)
    cars = rng.permutation(count)[:60]
    keys = 7 + cars // cars_per_world
    batch = scanner.scan_cars(state, cars, lidar, keys, Workers(worker_count))
    assert np.isfinite(batch).any(axis=(1, 2)).mean() > 0.9
    for car, key, distance in zip(cars.tolist(), keys.tolist(), batch, strict=True):
        level, ray = np.nonzero(np.isfinite(distance))
        rows = np.column_stack([distance[level, ray], ray, level])
        assert np.array_equal(scanner.scan(state, car, lidar, key), rows)


@pytest.mark.parametrize(("degrees", "count"), [(2.0, 180), (1.0, 360), (7.0, 51), (360.0, 1)])
def test_a_level_holds_as_many_rays_as_a_turn_holds_increments(degrees, count):
    assert LidarSpec(sweep_increment=math.radians(degrees)).ray_count == count
