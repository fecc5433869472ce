"""Projection and depth agree with Open3D's rays on the same meshes."""

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.render.reference import View, cast, keep_facing, place_meshes

from donkeysim.sim.simulator import Simulator
from donkeysim.world.camera_file import load_camera
from donkeysim.world.scene import SHADE_CUTOUT
from donkeysim.world.specs import BODY_STYLES, BodySpec, CameraSpec, WorldSpec

CAMERAS = {
    "original": CameraSpec(),
    "wide": CameraSpec(width=320, height=120, fov=math.radians(120)),
    "narrow": CameraSpec(width=97, height=203, fov=math.radians(25), rotation=(0.2, 0.05, -0.4)),
    "near the ground": CameraSpec(position=(0.1, 0.0, -0.03), rotation=(0.0, 0.0, 0.3)),
    "lens": load_camera("pi_v2", CameraSpec(width=320, height=240)),
    "fisheye": load_camera("wide", CameraSpec(width=320, height=240)),
    "straight down": CameraSpec(rotation=(0.0, math.radians(90), 0.0), position=(0.2, 0.0, 0.3)),
}


@pytest.fixture(scope="module")
def race():
    simulator = Simulator(WorldSpec(cars_per_world=len(BODY_STYLES)))
    for index, style in enumerate(BODY_STYLES):
        car = simulator.add_car(body=BodySpec(style=style))
        simulator.drive_car(car, 0.2 * (index - 2), 0.3 + 0.05 * index, 0.0)
    for _ in range(20):
        simulator.step()
    return simulator


def find_disagreement(simulator, car, camera):
    """Return the share of pixels whose depth is not between the least and greatest of its neighbourhood's rays.

    A ray that meets leaves ends there or goes on through their holes, at most to the first thing without holes.
    """
    group = simulator.renderer.make_group([car], [replace(camera, depth=True)])
    depth = simulator.renderer.render_group(group, simulator.state).depth[0].astype(float)
    view = View.of_car(simulator, car, camera)
    soup = keep_facing(place_meshes(simulator), view, simulator.scene.materials)
    holed = np.array([bool(material.flags & SHADE_CUTOUT) for material in simulator.scene.materials])
    least = gather(cast(soup, view, 1)[0], np.min)
    greatest = gather(cast(soup.select(~holed[soup.material]), view, 1)[0], np.max)
    agrees = (depth >= least * 0.999) & (depth <= greatest * 1.001)
    return 1.0 - agrees.mean()


def gather(rays, how):
    """Return the least or greatest distance of each pixel's neighbourhood; beyond the far plane there is nothing."""
    padded = np.pad(np.where(rays > 100.0, np.inf, rays), 1, mode="edge")
    return how([padded[r : r + rays.shape[0], c : c + rays.shape[1]] for r in range(3) for c in range(3)], axis=0)


@pytest.mark.parametrize("name", CAMERAS)
def test_depth_agrees_with_rays_on_999_of_1000_pixels(race, name):
    shares = [find_disagreement(race, car, CAMERAS[name]) for car in race.list_cars()]
    # A lens shows the nearest sample of a pinhole's picture: up to half a pixel beside the ray, past thin leaves.
    assert np.mean(shares) <= (1e-3 if CAMERAS[name].lens is None else 4e-3), shares


def test_depth_agrees_from_any_pose_around_the_lap(race):
    generator = np.random.default_rng(5)
    path = race.scene.path.position
    moment = race.snapshot()
    shares = []
    for _ in range(25):
        x, y, z = path[generator.integers(len(path))] + generator.normal(0, 0.3, 3)
        roll, pitch = generator.normal(0, 0.25, 2)
        yaw = generator.uniform(-3, 3)
        turned = np.array((math.cos(yaw / 2), math.sin(roll / 2), math.sin(pitch / 2), math.sin(yaw / 2)))
        turned /= np.linalg.norm(turned)
        race.place_car(0, (x, y, abs(z) + 0.05), tuple(turned.tolist()))
        shares.append(find_disagreement(race, 0, CameraSpec()))
    race.restore(moment)
    assert np.mean(shares) <= 1e-3, shares


def test_pixels_of_the_level_ground_lie_on_it(race):
    camera = CameraSpec(width=320, height=240)
    group = race.renderer.make_group([0], [replace(camera, depth=True)])
    depth = race.renderer.render_group(group, race.state).depth[0].astype(float)
    view = View.of_car(race, 0, camera)
    rows, columns = np.nonzero(np.isfinite(depth) & (depth < 3.0))
    points = view.eye + depth[rows, columns, None] * view.make_rays(1)[rows, columns]
    ground = race.scene.ground.height[0, 0]
    on_ground = np.abs(points[:, 2] - ground) < 0.002
    assert on_ground.mean() > 0.7
    assert points[:, 2].min() > ground - 0.002
