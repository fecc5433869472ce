"""The ground under a point: height, slope, ceiling, surface, friction."""

import dataclasses

import numpy as np
import pytest
from tests.backends import on_every_back_end
from tests.scenes import make_ground, make_scene

from donkeysim.physics.engine import make_terrain
from donkeysim.physics.kernels import ground

HEIGHT = np.array([[0.0, 1.0, 4.0], [2.0, 3.0, 8.0]])
"""At x = 10, 12, 14 (columns) and y = -5, -3 (rows)."""
HILLS = make_ground(height=HEIGHT, origin=(10.0, -5.0), cell=2.0)
PATCHES = dataclasses.replace(
    make_ground(),
    surface_origin=(0.0, 0.0),
    surface_cell=1.0,
    surface=np.array([[0, 1], [2, 1]], np.uint8),
    friction=np.array([0.9, 0.5, 0.1]),
    drivable=np.array([1, 0, 0], np.uint8),
)
TERRAIN = make_terrain([make_scene(ground=one) for one in (make_ground(0.7), HILLS, PATCHES)])
LEVEL, HILLY, PATCHED = range(3)


@on_every_back_end
def test_at_the_corners_of_the_grid_the_ground_has_their_heights(build):
    sample = build(ground.sample_height)
    for (row, column), height in np.ndenumerate(HEIGHT):
        assert sample(TERRAIN, HILLY, 10.0 + 2.0 * column, -5.0 + 2.0 * row)[0] == height


@on_every_back_end
@pytest.mark.parametrize(("x", "y"), [(11.0, -4.0), (10.3, -3.1), (13.9, -4.9)])
def test_slopes_are_those_of_the_heights(build, x, y):
    sample, step = build(ground.sample_height), 1e-6
    _, along_x, along_y = sample(TERRAIN, HILLY, x, y)
    measured = [
        (sample(TERRAIN, HILLY, x + dx, y + dy)[0] - sample(TERRAIN, HILLY, x - dx, y - dy)[0]) / (2.0 * step)
        for dx, dy in ((step, 0.0), (0.0, step))
    ]
    assert (along_x, along_y) == pytest.approx(measured, rel=1e-6)


@on_every_back_end
@pytest.mark.parametrize(
    ("x", "y", "height"), [(0.0, -5.0, 0.0), (99.0, -3.0, 8.0), (12.0, 50.0, 3.0), (-9.0, -99.0, 0.0)]
)
def test_beyond_the_grid_the_border_goes_on_level(build, x, y, height):
    sampled, along_x, along_y = build(ground.sample_height)(TERRAIN, HILLY, x, y)
    assert sampled == height
    assert 0.0 in (along_x, along_y)
    assert along_x == 0.0 or 10.0 < x < 14.0
    assert along_y == 0.0 or -5.0 < y < -3.0


@on_every_back_end
def test_no_ground_nearby_reaches_above_the_ceiling(build):
    sample, ceiling = build(ground.sample_height), build(ground.sample_ceiling)
    for x in np.linspace(8.0, 16.0, 9):
        for y in np.linspace(-7.0, -1.0, 7):
            highest = max(sample(TERRAIN, HILLY, x + d, y + e)[0] for d in (-0.2, 0.2) for e in (-0.2, 0.2))
            assert ceiling(TERRAIN, HILLY, x, y) >= highest
    assert ceiling(TERRAIN, LEVEL, 3.0, 4.0) == 0.0


@on_every_back_end
@pytest.mark.parametrize(
    ("x", "y", "friction"), [(0.5, 0.5, 0.9), (1.5, 0.5, 0.5), (0.5, 1.5, 0.1), (-0.5, 0.5, 0.9), (0.5, 2.5, 0.9)]
)
def test_a_surface_has_its_friction_and_beyond_them_the_first_goes_on(build, x, y, friction):
    assert build(ground.find_friction)(TERRAIN, PATCHED, x, y) == friction
    assert TERRAIN.friction[build(ground.find_surface)(TERRAIN, PATCHED, x, y)] == friction
    assert build(ground.find_friction)(TERRAIN, LEVEL, x, y) == 0.7


@on_every_back_end
def test_depth_is_measured_across_the_ground(build):
    height, along_x, along_y = build(ground.sample_height)(TERRAIN, HILLY, 11.0, -4.0)
    depth, normal = build(ground.measure_depth)(TERRAIN, HILLY, (11.0, -4.0, height - 0.1))
    assert np.linalg.norm(normal) == pytest.approx(1.0)
    assert np.cross(normal, (-along_x, -along_y, 1.0)) == pytest.approx((0.0, 0.0, 0.0), abs=1e-12)
    assert depth == pytest.approx(0.1 * normal[2])
