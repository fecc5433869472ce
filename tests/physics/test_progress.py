"""A car knows where it is on its path, and laps are counted where and when they are driven."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.scenes import Bench, make_circle_path, make_ground, make_scene

RADIUS = 4.0


def make_ring(cars=1):
    """A circle through the origin with its start line there."""
    return Bench(make_scene(path=make_circle_path(RADIUS), line=((0.0, 0.5), (0.0, -0.5))), cars_per_world=cars)


def carry(bench, angles, car=0):
    """Move a car along the circle without teleporting: by velocity, one step for each angle [rad] from the start."""
    state = bench.state
    for angle in angles:
        target = np.array([RADIUS * np.sin(angle), RADIUS - RADIUS * np.cos(angle), bench.rest_height])
        state.velocity[car] = (target - state.position[car]) * 480.0
        state.angular_velocity[car] = 0.0
        state.wheel_speed[car] = 0.0
        bench.engine.step(state, bench.control, 1)


def round_trip(begin, end, count=400):
    return np.linspace(begin, end, count) * 2.0 * np.pi


def test_the_first_crossing_begins_lap_one_and_a_whole_round_the_next():
    bench = make_ring()
    bench.place(0, -0.3, 0.0)
    assert bench.state.lap[0] == 0
    carry(bench, round_trip(-0.01, 0.02, 40))
    assert bench.state.lap[0] == 1
    first = int(bench.state.crossing_step[0])
    carry(bench, round_trip(0.02, 1.02))
    assert bench.state.lap[0] == 2
    assert 350 < bench.state.crossing_step[0] - first < 450
    assert bench.state.crossing_line[0] == 0


def test_going_back_and_forth_over_the_line_is_no_lap():
    bench = make_ring()
    bench.place(0, -0.3, 0.0)
    for _ in range(3):
        carry(bench, round_trip(-0.01, 0.02, 40))
        carry(bench, round_trip(0.02, -0.01, 40))
    assert bench.state.lap[0] == 1


def test_a_lap_driven_backwards_does_not_count():
    bench = make_ring()
    bench.place(0, 0.3, 0.0)
    carry(bench, round_trip(0.01, -2.02, 900))
    assert bench.state.lap[0] == 0


def test_being_placed_across_the_line_is_no_crossing():
    bench = make_ring()
    bench.place(0, -0.3, 0.0)
    bench.drive(0.05)
    bench.place(0, 0.3, 0.0)
    bench.drive(0.05)
    bench.place(0, -0.3, 0.0, at_rest=False)
    bench.drive(0.05)
    assert bench.state.lap[0] == 0
    assert bench.state.crossing_step[0] == -1


def test_a_crossing_is_known_to_the_step():
    bench = Bench(make_scene(line=((0.5, 0.5), (0.5, -0.5))))
    bench.place(0, 0.0, 0.0, velocity=2.0)
    before = 0
    while bench.state.position[0, 0] < 0.5:
        before = int(bench.state.step_index[0])
        bench.engine.step(bench.state, bench.control, 1)
    alone = int(bench.state.crossing_step[0])
    assert alone == before + 1
    again = Bench(make_scene(line=((0.5, 0.5), (0.5, -0.5))))
    again.place(0, 0.0, 0.0, velocity=2.0)
    again.engine.step(again.state, again.control, 480)
    assert again.state.crossing_step[0] == alone


def test_passing_beside_the_line_is_no_crossing():
    bench = make_ring()
    bench.place(0, -0.3, -0.6, velocity=2.0)
    bench.drive(0.5)
    assert bench.state.position[0, 0] > 0.0
    assert bench.state.lap[0] == 0


@pytest.mark.parametrize(("begin", "end"), [(0.0, 0.6), (0.6, 0.1)])
def test_the_node_follows_forwards_and_backwards(begin, end):
    bench = make_ring()
    angle = 2.0 * np.pi * begin
    bench.place(0, RADIUS * np.sin(angle), RADIUS - RADIUS * np.cos(angle))
    carry(bench, round_trip(begin, end + 0.003))
    assert abs(bench.state.node_index[0] - round(100 * end)) <= 1


def test_the_node_is_right_at_once_after_a_teleport_of_any_of_several_cars():
    bench = make_ring(4)
    for car, share in enumerate((0.105, 0.355, 0.605, 0.855)):
        angle = 2.0 * np.pi * share
        bench.place(car, RADIUS * np.sin(angle), RADIUS - RADIUS * np.cos(angle), 2.0 * np.pi * share)
        assert bench.state.node_index[car] == int(100 * share)
    bench.drive(0.1)
    assert bench.state.node_index.tolist() == [10, 35, 60, 85]


def test_the_node_keeps_up_with_the_fastest_car():
    bench = make_ring()
    bench.place(0, 0.0, 0.0)
    carry(bench, round_trip(0.0, 0.905, 60))
    bench.engine.step(bench.state, bench.control, 4)
    assert 86 <= bench.state.node_index[0] <= 96


def test_cte_is_positive_to_the_left():
    bench = Bench()
    for side in (0.2, -0.3):
        bench.place(0, 5.0, side)
        assert bench.state.cte[0] == pytest.approx(side)


def test_progress_grows_with_the_way_driven():
    bench = Bench()
    bench.place(0, 3.0, 0.1)
    first = float(bench.state.progress[0])
    bench.place(0, 7.5, -0.1)
    assert bench.state.progress[0] - first == pytest.approx(4.5)


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
