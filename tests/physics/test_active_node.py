"""The original's active node and cte: one node ahead at most in a twentieth of a second, never back, endless lines."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from tests.scenes import Bench, Ring, make_ground, make_path, make_scene

from donkeysim.core.frames import cte_to_units
from donkeysim.world.state import NODE_UNKNOWN

WAVESHARE = [
    (-0.96249, 0.00011), (-0.96252, 0.0), (-0.9622, -0.03805), (-0.95832, -0.14114), (-0.95488, -0.29903),
    (-0.95031, -0.51364), (-0.91947, -0.7558), (-0.81565, -1.01631), (-0.61274, -1.26363), (-0.33769, -1.44852),
    (0.00754, -1.53221), (0.39644, -1.45949), (0.73249, -1.21011), (0.94222, -0.83846), (1.00857, -0.41051),
    (1.01197, 0.03135), (1.00976, 0.49162), (0.90852, 0.94619), (0.62681, 1.33905), (0.18582, 1.54716),
    (-0.2981, 1.49569), (-0.71674, 1.20337), (-0.91355, 0.73838), (-0.94804, 0.24458),
]  # fmt: skip
"""Nodes of the original's waveshare [m], read from it in February 2026 by Gonglz/DonkeyCar-RL-Racing (GitHub, MIT)."""

PROBES = [(0.2, 1.597), (0.25, 1.998), (0.3, 2.396), (0.325, 2.596), (0.35, 2.796), (0.4, 3.197)]
"""How far beside that path a car was set [m], and the |cte| that the original told then [U]; from the same source."""

FRAME = 24
"""Physics steps."""


def place_on_ice(points, **options):
    """A bench on this path, closed, of nodes with or without heights, where nothing slows a car."""
    nodes = np.array(points)
    path = make_path(nodes[:, :2], closed=True)
    if nodes.shape[1] == 3:
        path = replace(path, position=nodes)
    return Bench(make_scene(make_ground(friction=0.0), path), **options)


def carry(bench, x, y, car=0):
    """Put the car somewhere as a teleport does, and let a twentieth of a second pass."""
    turn = tuple(bench.state.orientation[car])
    bench.throw(car, x, y, bench.rest_height, turn)
    bench.engine.step(bench.state, bench.control, FRAME)
    return float(bench.state.active_offset[car]), int(bench.state.active_node[car])


class Original:
    """The rule once more, as it is described: in U, x to the right, y up, z ahead, + = right of the path."""

    def __init__(self, nodes, index):
        self.nodes, self.index = [np.array((-8.0 * y, 8.0 * z, 8.0 * x)) for x, y, z in nodes], index

    def tell(self, x, y, z):
        begin, end = self.nodes[self.index], self.nodes[(self.index + 1) % len(self.nodes)]
        point = np.array((-8.0 * y, begin[1], 8.0 * x))
        direction = (end - begin) / np.linalg.norm(end - begin)
        away = point - begin - ((point - begin) @ direction) * direction
        is_left = np.cross(direction, away)[1] < 0.0
        if np.linalg.norm(point - end) < np.linalg.norm(point - begin):
            self.index = (self.index + 1) % len(self.nodes)
        return np.linalg.norm(away) * (-1.0 if is_left else 1.0)


@pytest.mark.parametrize("slope", [0.0, 0.3])
def test_a_drive_at_random_is_told_as_the_rule_says(slope):
    angle = np.linspace(0.0, 2.0 * np.pi, 30, endpoint=False)
    height = 0.0736 + slope * np.cos(angle)
    nodes = np.column_stack((3.0 * np.cos(angle), 2.0 * np.sin(angle), height))
    bench = place_on_ice(nodes)
    draw = np.random.default_rng(1)
    original = Original(nodes, 0)
    bench.state.active_node[0] = 0
    for frame in range(120):
        turn = 0.09 * frame + draw.normal(0.0, 0.1)
        place = (2.9 + draw.normal(0.0, 0.3)) * np.cos(turn), (2.1 + draw.normal(0.0, 0.3)) * np.sin(turn)
        offset, node = carry(bench, *place)
        moved = bench.state.position[0]
        assert cte_to_units(offset) == pytest.approx(original.tell(*moved), abs=1e-9)
        assert node == original.index


def test_what_the_original_told_of_cars_beside_its_waveshare():
    bench = place_on_ice(WAVESHARE)
    points = np.array(WAVESHARE)
    for node in range(2, 24):
        begin, end = points[node], points[(node + 1) % 24]
        left = np.array((begin - end)[::-1]) * (1.0, -1.0) / math.dist(begin, end)
        for away, told in PROBES:
            for side in (1.0, -1.0):
                bench.state.active_node[0] = node
                bench.throw(0, *(0.5 * (begin + end) + side * away * left), bench.rest_height)
                assert cte_to_units(bench.state.active_offset[0]) == pytest.approx(-side * told, abs=0.01)


def test_a_new_car_has_the_nearest_node_in_space():
    """Two stretches one above the other: the height says which."""
    circle = [(math.cos(a), math.sin(a)) for a in np.linspace(0.0, 4.0 * np.pi, 40, endpoint=False)]
    nodes = [(3.0 * x, 3.0 * y, 0.0736 if index < 20 else 2.0) for index, (x, y) in enumerate(circle)]
    bench = place_on_ice(nodes)
    for height, expected in ((0.1, 5), (2.1, 25)):
        bench.state.active_node[0] = NODE_UNKNOWN
        bench.throw(0, 0.0, 3.05, height)
        assert bench.state.active_node[0] == expected


def test_driven_on_it_agrees_with_our_own_measure():
    ring = Ring()
    ring.put(0.0)
    for share in np.arange(0.0, 2.3, 0.004):  # over the seam twice
        x, y = ring.locate(share, ring.radius + 0.2 * math.sin(30.0 * share))
        offset, node = carry(ring, x, y)
        assert offset == pytest.approx(ring.state.cte[0], abs=0.01)
        assert (node - ring.state.node_index[0]) % 100 in (0, 1)


def test_driving_backwards_lets_it_stay_and_cte_grow():
    ring = Ring()
    ring.put(0.5)
    ring.state.active_node[0] = 50
    told = [carry(ring, *ring.locate(0.5 - 0.01 * frame)) for frame in range(20)]
    assert {node for _, node in told} <= {50, 51}
    offsets = [abs(offset) for offset, _ in told[1:]]
    assert all(a < b for a, b in itertools.pairwise(offsets))
    assert offsets[-1] > 1.0
    assert abs(ring.state.cte[0]) < 0.05  # what is ours


def test_a_teleport_leaves_it_behind_and_it_follows_by_one_a_frame():
    ring = Ring()
    ring.put(0.1)
    ring.state.active_node[0] = 10
    ring.put(0.3)
    assert ring.state.active_node[0] == 10
    assert abs(ring.state.active_offset[0]) > 1.0
    nodes = [carry(ring, *ring.locate(0.3))[1] for _ in range(25)]
    assert nodes[:19] == list(range(11, 30))
    assert nodes[-1] in (29, 30)
    assert abs(ring.state.active_offset[0]) < 0.05


def test_the_last_node_is_followed_by_the_first_also_on_an_open_road():
    points = [(0.5 * x, 0.0) for x in range(11)]
    bench = Bench(make_scene(make_ground(friction=0.0), make_path(points)))
    bench.state.active_node[0] = 10
    offset, node = carry(bench, 0.1, 0.4)
    assert node == 0
    assert offset == pytest.approx(-0.4)  # the line runs back from the end to the beginning
    assert carry(bench, 0.1, 0.4)[0] == pytest.approx(0.4)


@pytest.mark.parametrize("frame", [4, 8, 12, 24, 48])
def test_frames_of_any_length_let_it_go_on_as_often(frame):
    ring = Ring()
    ring.put(0.1)
    ring.state.active_node[0] = 10
    ring.put(0.3)
    for _ in range(240 // frame):
        ring.engine.step(ring.state, ring.control, frame)
    assert ring.state.active_node[0] == 20


def test_a_car_that_is_put_back_is_looked_for():
    ring = Ring()
    ring.put(0.25)
    ring.state.active_node[0] = 3
    ring.throw(0, 1e6, 0.0, 1e6)
    ring.engine.step(ring.state, ring.control, FRAME)
    assert ring.state.active_node[0] in (24, 25, 26)
