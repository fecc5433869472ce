"""A car knows where it is on its path; laps: `test_laps`."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from tests.scenes import Bench, Ring, make_circle_path, make_ground, make_path, make_scene

from donkeysim.physics.progress import make_course


@pytest.mark.parametrize(("begin", "end"), [(0.0, 0.6), (0.6, 0.1)])
def test_the_node_follows_forwards_and_backwards(begin, end):
    ring = Ring()
    ring.put(begin)
    ring.carry(end + 0.003)
    assert abs(ring.state.node_index[0] - round(100 * end)) <= 1


def test_the_node_is_right_at_once_after_a_teleport_of_any_of_several_cars():
    ring = Ring(cars=4)
    for car, share in enumerate((0.105, 0.355, 0.605, 0.855)):
        ring.put(share, car)
        assert ring.state.node_index[car] == int(100 * share)
    ring.drive(0.1)
    assert ring.state.node_index.tolist() == [10, 35, 60, 85]


def test_the_node_keeps_up_with_the_fastest_car():
    ring = Ring()
    ring.put(0.0)
    ring.carry(0.905, count=60)
    ring.engine.step(ring.state, ring.control, 4)
    assert 86 <= ring.state.node_index[0] <= 96


def test_the_node_gets_past_a_place_where_the_path_steps_back():
    along = [0.0, 0.13, 0.26, 0.39, 0.41, 0.31, 0.33, 0.57, 0.7, 0.83, 0.96]
    bench = Bench(make_scene(make_ground(friction=0.0), make_path(np.column_stack((along, np.zeros(11))))))
    bench.place(0, 0.05, 0.1, velocity=1.0)
    bench.drive(0.85)
    assert bench.state.position[0, 0] > 0.85
    assert bench.state.node_index[0] == 9


def test_cte_is_positive_to_the_left():
    bench = Bench()
    for side in (0.2, -0.3):
        bench.place(0, 5.0, side)
        assert bench.state.cte[0] == pytest.approx(side)


def test_progress_grows_with_the_way_driven():
    bench = Bench()
    bench.place(0, 3.0, 0.1)
    first = float(bench.state.shortest_along[0])
    bench.place(0, 7.5, -0.1)
    assert bench.state.shortest_along[0] - first == pytest.approx(4.5)


def test_the_road_ends_where_its_surface_does():
    ground = replace(
        make_ground(),
        surface_origin=(0.0, 0.0),
        surface_cell=0.5,
        surface=np.array([[1, 1, 0, 1]], np.uint8),
        friction=np.array([1.0, 1.0]),
        drivable=np.array([0, 1], np.uint8),
    )
    bench = Bench(make_scene(ground))
    seen = []
    for x in (-0.1, 0.1, 0.9, 1.2, 1.6, 2.1):
        bench.place(0, x, 0.25)
        seen.append(int(bench.state.on_road[0]))
    assert seen == [0, 1, 1, 0, 1, 0]


def test_each_node_knows_the_nearest_point_of_the_shortest_line_of_equals_the_first():
    angle = 2.0 * np.pi * np.arange(1000) / 1000
    eight = np.column_stack([4.0 * np.sin(angle), 4.0 * np.sin(2.0 * angle)])
    near = np.round(np.repeat(eight, 2, axis=0) * 0.9, 1)  # many points in one place, and two parts that cross
    path = replace(make_path(eight, closed=True), shortest=near)
    apart = ((eight[:, None] - near) ** 2).sum(axis=2)
    assert np.array_equal(make_course([make_scene(path=path)]).node_shortest, np.argmin(apart, axis=1))


def test_a_path_of_thousands_of_nodes_takes_little_memory():
    path = make_circle_path(count=5000)
    tracemalloc.start()
    try:
        make_course([make_scene(path=path)])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20_000_000
