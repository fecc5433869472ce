"""Height fields as few triangles."""

import numpy as np
import pytest

from donkeysim.world.tracks.terrain.land import triangulate_field


def make_field(rows, columns, seed):
    random = np.random.default_rng(seed)
    y, x = np.mgrid[0 : rows + 1, 0 : columns + 1] / 16.0
    bumps = [(*random.uniform(0, 4, 2), random.uniform(0.2, 1.0), random.normal()) for _ in range(12)]
    return sum(strength * np.exp(-((x - a) ** 2 + (y - b) ** 2) / width**2) for a, b, width, strength in bumps)


def measure_area(point, triangle):
    a, b, c = (point[triangle[:, corner]].astype(float) for corner in range(3))
    across, up = b - a, c - a
    return 0.5 * (across[:, 1] * up[:, 0] - across[:, 0] * up[:, 1])


@pytest.mark.parametrize("seed", range(4))
def test_the_triangles_cover_the_field_once_and_turn_left(seed):
    height = make_field(48, 64, seed)
    point, triangle = triangulate_field(height, np.full(height.shape, 0.02), 16)
    area = measure_area(point, triangle)
    assert area.min() > 0.0
    assert area.sum() == pytest.approx(48 * 64)


@pytest.mark.parametrize("seed", range(4))
def test_no_side_ends_in_the_middle_of_another(seed):
    """Every side inside the field belongs to two triangles; a gap would leave sides of one."""
    height = make_field(48, 64, seed)
    point, triangle = triangulate_field(height, np.full(height.shape, 0.02), 16)
    sides = np.sort(np.concatenate((triangle[:, :2], triangle[:, 1:], triangle[:, ::2])), axis=1)
    side, count = np.unique(sides, axis=0, return_counts=True)
    lone = point[side[count == 1]]
    on_border = ((lone[:, :, 0] == 0) | (lone[:, :, 0] == 48)).all(1) | (
        (lone[:, :, 1] == 0) | (lone[:, :, 1] == 64)
    ).all(1)
    assert count.max() == 2
    assert on_border.all()


def test_points_lie_within_their_tolerance():
    height = make_field(48, 64, 7)
    point, triangle = triangulate_field(height, np.full(height.shape, 0.01), 16)
    drawn = interpolate(point, triangle, height)
    assert np.abs(drawn - height).max() < 0.03
    assert np.mean(np.abs(drawn - height) <= 0.0101) > 0.97
    assert len(triangle) < 0.6 * 2 * 48 * 64


def test_a_level_field_is_two_triangles_a_block():
    _, triangle = triangulate_field(np.zeros((33, 49)), np.full((33, 49), 0.01), 16)
    assert len(triangle) == 2 * 2 * 3


def interpolate(point, triangle, height):
    """The height of the triangles at every point of the field, by the shares of their corners."""
    drawn = np.full(height.shape, np.nan)
    known = height[tuple(point.astype(int).T)]
    for corners in triangle:
        a, b, c = point[corners].astype(float)
        low, high = np.min((a, b, c), axis=0).astype(int), np.max((a, b, c), axis=0).astype(int)
        at = np.mgrid[low[0] : high[0] + 1, low[1] : high[1] + 1].reshape(2, -1)
        second, third = np.linalg.solve(np.column_stack((b - a, c - a)), at - a[:, None])
        share = np.array((1.0 - second - third, second, third))
        inside = share.min(axis=0) >= -1e-9
        drawn[tuple(at[:, inside])] = known[corners] @ share[:, inside]
    return drawn
