"""The shortest and the racing line of a road."""

import numpy as np
import pytest
from scipy.optimize import minimize

from donkeysim.core.errors import ShapeError
from donkeysim.world.tracks.paths.line import _measure_bending, compute_racing_line, compute_shortest_line


def make_circle(node_count, radius):
    angle = 2.0 * np.pi * np.arange(node_count) / node_count
    return radius * np.column_stack([np.cos(angle), np.sin(angle)])


def make_stadium(straight, radius, spacing=0.05):
    """Counter-clockwise, beginning in the middle of the lower straight."""
    length = 2.0 * straight + 2.0 * np.pi * radius
    arc = np.arange(0.0, length, length / round(length / spacing)) + 0.5 * straight
    arc = np.mod(arc, length)
    points = []
    for s in arc:
        if s < straight:
            points.append((s - 0.5 * straight, -radius))
        elif s < straight + np.pi * radius:
            angle = (s - straight) / radius - 0.5 * np.pi
            points.append((0.5 * straight + radius * np.cos(angle), radius * np.sin(angle)))
        elif s < 2.0 * straight + np.pi * radius:
            points.append((0.5 * straight - (s - straight - np.pi * radius), radius))
        else:
            angle = (s - 2.0 * straight - np.pi * radius) / radius + 0.5 * np.pi
            points.append((-0.5 * straight + radius * np.cos(angle), radius * np.sin(angle)))
    return np.array(points)


def make_wavy_road(seed):
    """A closed road with bends to both sides and changing widths."""
    rng = np.random.default_rng(seed)
    angle = 2.0 * np.pi * np.arange(160) / 160
    radius = 4.0 + sum(
        rng.uniform(0.0, 0.5 / k) * np.cos(k * angle + rng.uniform(0.0, 2.0 * np.pi)) for k in range(2, 6)
    )
    node = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return node, 0.3 + 0.2 * np.sin(3.0 * angle), 0.3 + 0.1 * np.cos(2.0 * angle)


def measure_length(line, closed=True):
    side = np.diff(line, axis=0, append=line[:1] if closed else line[-1:])
    return float(np.hypot(*side.T).sum())


def find_shortest_by_descent(node, left, right):
    """Minimise the polygon's length over the offsets along the normals: a convex problem."""
    tangent = np.roll(node, -1, axis=0) - node
    tangent /= np.hypot(*tangent.T)[:, None]
    tangent = tangent + np.roll(tangent, 1, axis=0)
    tangent /= np.hypot(*tangent.T)[:, None]
    normal = np.column_stack([-tangent[:, 1], tangent[:, 0]])

    def evaluate(offset):
        line = node + offset[:, None] * normal
        side = np.roll(line, -1, axis=0) - line
        unit = side / np.hypot(*side.T)[:, None]
        return np.hypot(*side.T).sum(), np.einsum("ij,ij->i", np.roll(unit, 1, axis=0) - unit, normal)

    result = minimize(
        evaluate,
        np.zeros(len(node)),
        jac=True,
        method="L-BFGS-B",
        bounds=np.column_stack([-right, left]),
        options={"maxiter": 5000, "maxfun": 20000, "ftol": 1e-14, "gtol": 1e-10},
    )
    return node + result.x[:, None] * normal


@pytest.mark.parametrize("turn", [1, -1])
def test_the_shortest_line_of_a_ring_is_its_inner_edge(turn):
    node = make_circle(200, 2.0)[::turn]
    width = (np.full(200, 0.5), np.full(200, 0.7))
    line = compute_shortest_line(node, width[0], width[1], closed=True)
    inner = 1.5 if turn == 1 else 1.3
    assert np.allclose(np.hypot(*line.T), inner, atol=1e-12)
    assert np.allclose(line[0], node[0] * inner / 2.0, atol=1e-12)


def test_the_shortest_line_of_a_stadium_follows_its_inner_edge():
    node = make_stadium(3.0, 1.0)
    width = np.full(len(node), 0.4)
    line = compute_shortest_line(node, width, width, closed=True)
    assert measure_length(line) == pytest.approx(2.0 * 3.0 + 2.0 * np.pi * 0.6, rel=2e-3)
    assert np.abs(line[:, 1]).max() <= 0.6 + 1e-3


def test_the_shortest_line_through_a_slalom_runs_straight_from_bend_to_bend():
    x = np.linspace(0.0, 6.0, 121)
    node = np.column_stack([x, 0.3 * np.sin(2.0 * np.pi * x / 3.0)])
    width = np.full(121, 0.4)
    line = compute_shortest_line(node, width, width, closed=False)
    assert measure_length(line, closed=False) == pytest.approx(6.0, abs=1e-9)
    assert np.allclose(line[:, 1], 0.0, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_no_descent_finds_a_shorter_line(seed):
    node, left, right = make_wavy_road(seed)
    line = compute_shortest_line(node, left, right, closed=True)
    other = find_shortest_by_descent(node, left, right)
    assert measure_length(line) <= measure_length(other) * (1.0 + 1e-9)
    assert measure_length(line) == pytest.approx(measure_length(other), rel=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_the_shortest_line_stays_on_every_gate(seed):
    node, left, right = make_wavy_road(seed)
    line = compute_shortest_line(node, left, right, closed=True)
    offset = line - node
    assert np.all(np.hypot(*offset.T) <= np.maximum(left, right) + 1e-9)


def test_the_line_does_not_depend_on_where_the_path_begins():
    node, left, right = make_wavy_road(7)
    line = compute_shortest_line(node, left, right, closed=True)
    moved = compute_shortest_line(np.roll(node, -33, axis=0), np.roll(left, -33), np.roll(right, -33), closed=True)
    assert np.allclose(np.roll(moved, 33, axis=0), line, atol=1e-9)


def test_a_mirrored_road_has_the_mirrored_line():
    node, left, right = make_wavy_road(2)
    mirror = np.array([1.0, -1.0])
    line = compute_shortest_line(node, left, right, closed=True)
    assert np.allclose(compute_shortest_line(node * mirror, right, left, closed=True), line * mirror, atol=1e-9)


def test_a_bend_tighter_than_the_road_does_not_fold_the_line():
    node = make_stadium(2.0, 0.3, spacing=0.02)
    width = np.full(len(node), 0.5)
    line = compute_shortest_line(node, width, width, closed=True)
    step = np.roll(line, -1, axis=0) - line
    along = np.roll(node, -1, axis=0) - node
    assert np.all(np.einsum("ij,ij->i", step, along) > -1e-9)


def test_a_road_of_two_nodes_is_refused():
    with pytest.raises(ShapeError, match="at least 3 nodes"):
        compute_shortest_line(np.zeros((2, 2)), np.ones(2), np.ones(2), closed=True)


def test_the_bending_gradient_is_the_slope_of_its_value():
    node, _, _ = make_wavy_road(1)
    _, gradient = _measure_bending(node, 0.3)
    for row, column in ((0, 0), (17, 1), (159, 0)):
        high, low = node.copy(), node.copy()
        high[row, column] += 1e-6
        low[row, column] -= 1e-6
        slope = (_measure_bending(high, 0.3)[0] - _measure_bending(low, 0.3)[0]) / 2e-6
        assert gradient[row, column] == pytest.approx(slope, rel=1e-5, abs=1e-7)


def test_the_racing_line_of_a_ring_is_its_widest_circle():
    node = make_circle(150, 2.0)
    width = np.full(150, 0.5)
    line = compute_racing_line(node, width, width, margin=0.1)
    assert np.allclose(np.hypot(*line.T), 2.4, atol=2e-3)


def test_the_racing_line_bends_less_than_the_path_and_keeps_its_margin():
    node = make_stadium(3.0, 1.0, spacing=0.1)
    width = np.full(len(node), 0.4)
    line = compute_racing_line(node, width, width, margin=0.1)
    assert _measure_bending(line, 0.0)[0] < 0.8 * _measure_bending(node, 0.0)[0]
    assert np.all(np.hypot(*(line - node).T) <= 0.3 + 1e-9)


def test_a_racing_line_that_minds_its_length_is_shorter():
    node = make_stadium(3.0, 1.0, spacing=0.1)
    width = np.full(len(node), 0.4)
    free = compute_racing_line(node, width, width, margin=0.1)
    short = compute_racing_line(node, width, width, margin=0.1, length_weight=2.0)
    assert measure_length(short) < measure_length(free)
