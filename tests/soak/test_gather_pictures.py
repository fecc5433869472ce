"""Every scene by stages of one index and by the renderer: eight poses, three sizes, and wherever cameras may look."""

import json

import numpy as np
import pytest
from tests.render.twins import compare, count_holes, draw, gather, place_cars, spread_cars

from donkeysim.world.specs import CameraSpec
from donkeysim.world.tracks import list_scenes

pytestmark = [pytest.mark.soak, pytest.mark.timeout(1800)]

SIZES = ((160, 120), (84, 84), (64, 64))
POSES = 8


def report(case, **figures):
    print("\n" + json.dumps({"case": case, **figures}), flush=True)


@pytest.mark.parametrize("scene", list_scenes())
def test_pictures_of_a_scene_are_those_of_the_renderer(scene):
    simulator = spread_cars(scene, POSES)
    for width, height in SIZES:
        cameras = [CameraSpec(width=width, height=height, depth=True, segment=True)] * POSES
        group = gather(simulator, cameras)
        seen = compare(group, draw(simulator, cameras))
        report(
            scene,
            size=f"{width}x{height}",
            mean=round(seen.mean, 3),
            off=round(100.0 * seen.off, 2),
            classes=round(100.0 * seen.classes, 3),
            depth=seen.depth,
            elsewhere=seen.elsewhere,
            records=int(group.scratch.tally[:, 1].max()),
            crowded_tiles=int((group.scratch.tile_size < 0).sum()),
        )
        assert seen.mean <= 1.5
        assert seen.off <= 0.02
        assert seen.classes <= 0.01
        assert seen.depth <= 1e-4
        assert seen.elsewhere <= 0.001
        assert count_holes(group) == 0
        assert not group.missed.any()
    simulator.close()


@pytest.mark.parametrize("scene", list_scenes())
def test_a_field_of_cars_has_room_and_no_holes(scene):
    simulator = place_cars(scene, worlds=2, cars_per_world=8, gap=0.45)
    camera = CameraSpec(depth=True, segment=True)
    group = gather(simulator, [camera] * 16)
    seen = compare(group, draw(simulator, [camera] * 16))
    report(f"{scene}, 8 cars", mean=round(seen.mean, 3), records=int(group.scratch.tally[:, 1].max()))
    assert seen.mean <= 1.5
    assert seen.classes <= 0.01
    assert not group.missed.any()
    simulator.close()


@pytest.mark.parametrize("scene", list_scenes())
def test_cameras_that_look_anywhere_see_no_holes(scene):
    simulator = spread_cars(scene, 64)
    random = np.random.default_rng(7)
    for width, height in ((160, 120), (53, 71)):
        cameras = [
            CameraSpec(
                width=width,
                height=height,
                fov=float(random.uniform(0.6, 2.4)),
                position=tuple(random.uniform((-0.3, -0.3, 0.02), (0.3, 0.3, 0.6)).tolist()),
                rotation=tuple(random.uniform((-0.6, -0.6, -3.1), (0.6, 1.2, 3.1)).tolist()),
                depth=True,
                segment=True,
            )
            for _ in range(64)
        ]
        group = gather(simulator, cameras, at_once=64, record_limit=4096)
        seen = compare(group, draw(simulator, cameras))
        records = int(group.scratch.tally[:, 1].max())
        report(f"{scene}, anywhere", size=f"{width}x{height}", mean=round(seen.mean, 3), records=records)
        assert count_holes(group) == 0
        assert seen.mean <= 2.0
        assert seen.classes <= 0.01
        assert seen.elsewhere <= 0.005
        assert not group.missed.any()
    simulator.close()
