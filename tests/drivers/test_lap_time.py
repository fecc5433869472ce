"""The quasi-steady-state lap against closed forms."""

import math
from dataclasses import replace

import numpy as np
import pytest

from donkeysim.drivers.driving_line import measure_room, plan_fastest, plan_path, refine_line
from donkeysim.drivers.lap_time import GripUse, make_powertrain, plan_speed, sample_friction
from donkeysim.world.scene import Ground
from driving import CAR, load_track

FREE = replace(CAR, drag=0.0, wheel_damping=0.0, wheel_inertia=0.0)


def make_circle(radius, count=400):
    angle = 2.0 * math.pi * np.arange(count) / count
    return radius * np.column_stack([np.cos(angle), np.sin(angle)])


def test_a_circle_is_driven_at_the_grip_limit():
    plan = plan_speed(make_circle(2.0), FREE, np.ones(400))
    speed = math.sqrt(CAR.gravity * CAR.grip_gain * 2.0)
    assert plan.speed == pytest.approx(np.full(400, speed), rel=1e-3)
    assert plan.lap_time == pytest.approx(2.0 * math.pi * 2.0 / speed, rel=1e-3)
    assert plan.curvature == pytest.approx(np.full(400, 0.5), rel=1e-3)


def test_half_the_friction_takes_the_root_of_two_longer():
    line = make_circle(2.0)
    ratio = plan_speed(line, FREE, np.full(400, 0.5)).lap_time / plan_speed(line, FREE, np.ones(400)).lap_time
    assert ratio == pytest.approx(math.sqrt(2.0), rel=1e-3)


def test_a_car_from_a_bend_onto_a_straight_gains_what_grip_allows():
    line = np.column_stack([np.linspace(0.0, 4.0, 401), np.zeros(401)])
    strong = replace(FREE, torque_max=100.0, brake_torque=100.0)
    friction = np.ones(401)
    friction[0] = friction[-1] = 1e-3
    bent = plan_speed(line, strong, friction, speed_limit=50.0, closed=False)
    assert np.all(np.abs(bent.acceleration[1:-2]) <= CAR.gravity * (1.0 + 1e-6))
    slow = plan_speed(line, strong, np.ones(401), speed_limit=1.0, closed=False)
    assert np.allclose(slow.speed, 1.0)


def test_the_weight_pulls_back_uphill_and_pushes_downhill():
    line = np.column_stack([np.linspace(0.0, 4.0, 401), np.zeros(401)])
    friction, climb = np.ones(401), 0.025 * line[:, 0]
    friction[0] = friction[-1] = 1e-8
    weak = replace(FREE, torque_max=0.5, brake_torque=0.5)
    train = make_powertrain(weak)
    for slope in (1.0, 0.0, -1.0):
        plan = plan_speed(line, weak, friction, closed=False, height=slope * climb)
        weight = 0.025 * slope * CAR.gravity
        motor = train.force_most * train.factor(float(plan.speed[100])) / train.mass
        assert plan.acceleration[100] == pytest.approx(motor - weight, rel=0.02)
        assert plan.acceleration[360] == pytest.approx(-train.brake_most / train.mass - weight, rel=0.02)


def test_no_crest_is_driven_so_fast_that_the_car_takes_off():
    line = np.column_stack([np.linspace(0.0, 8.0, 801), np.zeros(801)])
    hill = 0.3 * np.exp(-((line[:, 0] - 4.0) ** 2))
    plan = plan_speed(line, FREE, np.ones(801), speed_limit=20.0, closed=False, height=hill)
    assert plan.speed[400] == pytest.approx(math.sqrt(CAR.gravity / 0.6), rel=0.1)


def test_no_point_asks_for_more_than_the_friction_circle():
    track = load_track()
    plan = plan_fastest(track.path, track.ground, CAR, GripUse(), margin=0.1)
    train = make_powertrain(CAR)
    side = plan.speed**2 * plan.curvature
    tyre = plan.acceleration + train.drag * plan.speed / train.mass
    assert np.hypot(side, tyre).max() < 1.03 * CAR.gravity
    power = (train.mass + train.spin_mass) * plan.acceleration + train.loss * plan.speed
    assert np.all(power <= 1.02 * np.array([train.force_most * train.factor(v) for v in plan.speed]))


def test_the_racing_line_is_quicker_than_the_path_and_on_the_road():
    track = load_track()
    fast = plan_fastest(track.path, track.ground, CAR, GripUse(), margin=0.1)
    path = plan_path(track.path, track.ground, CAR, GripUse(), speed_limit=50.0)
    left, right = measure_room(track.path, fast)
    assert fast.lap_time < 0.85 * path.lap_time
    assert min(left.min(), right.min()) > 0.07


def test_using_less_grip_takes_longer():
    track = load_track()
    times = [
        plan_fastest(track.path, track.ground, CAR, use, margin=0.1).lap_time
        for use in (GripUse(), GripUse(1.0, 0.5), GripUse(1.0, 0.5, 1.0), GripUse(0.7, 0.5, 1.0))
    ]
    assert times == sorted(times)
    assert len(set(times)) == 4


def test_the_motor_follows_its_curve():
    train = make_powertrain(CAR)
    rows = [(speed * CAR.torque_speed, factor) for speed, factor, _ in CAR.torque_curve]
    assert [train.factor(speed) for speed, _ in rows] == pytest.approx([factor for _, factor in rows])
    assert train.factor(99.0) == rows[-1][1]
    slope = (train.factor(rows[1][0] + 1e-6) - train.factor(rows[1][0] - 1e-6)) / 2e-6
    assert slope == pytest.approx(CAR.torque_curve[1][2] / CAR.torque_speed, rel=1e-3)


def test_friction_is_read_from_the_surface_under_each_point():
    ground = Ground(
        height_origin=(0.0, 0.0),
        height_cell=1.0,
        height=np.zeros((1, 1)),
        surface_origin=(-1.0, -1.0),
        surface_cell=1.0,
        surface=np.array([[1, 0], [2, 1]], np.uint8),
        friction=np.array([0.8, 1.0, 0.3]),
        drivable=np.array([0, 1, 1], np.uint8),
    )
    points = np.array([[-0.5, -0.5], [0.5, -0.5], [-0.5, 0.5], [0.5, 0.5], [9.0, 0.0]])
    assert sample_friction(ground, points).tolist() == [1.0, 0.8, 0.3, 1.0, 0.8]


def test_a_refined_line_passes_its_nodes():
    node = make_circle(2.0, 40)
    line = refine_line(node, 5, closed=True)
    assert np.allclose(line[::5], node)
    assert np.allclose(np.hypot(*line.T), 2.0, atol=1e-4)
