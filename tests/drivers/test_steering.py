"""The model behind the steering."""

import math

import numpy as np
import pytest

from donkeysim.drivers.lap_time import plan_speed
from donkeysim.drivers.steering import SPEEDS, Motion, Regulator, make_bicycle, make_gains, plan_attitude
from driving import CAR


def make_ring(radius=2.0, speed=0.5, count=200):
    angle = 2.0 * math.pi * np.arange(count) / count
    line = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    return plan_speed(line, CAR, np.ones(count), speed_limit=speed)


def test_a_slow_circle_needs_the_bicycle_angle():
    attitude = plan_attitude(make_ring(), CAR, np.ones(200))
    base = make_bicycle(CAR).base
    assert attitude.angle == pytest.approx(np.full(200, base / 2.0), rel=0.05)
    assert attitude.yaw_rate == pytest.approx(np.full(200, 0.25), rel=1e-3)


def test_a_quick_circle_is_driven_with_the_nose_inwards():
    slow, quick = make_ring(), make_ring(speed=2.0)
    drift = [
        np.angle(np.exp(1j * (plan.heading - plan_attitude(plan, CAR, np.ones(200)).yaw))).mean()
        for plan in (slow, quick)
    ]
    assert drift[1] < drift[0] - 0.03


def test_the_bicycle_has_the_wheelbase_of_the_car():
    bicycle = make_bicycle(CAR)
    assert bicycle.base == pytest.approx(0.20025)
    assert bicycle.front < bicycle.rear


def test_every_gain_steers_back():
    gains = np.array(make_gains(make_bicycle(CAR)))
    assert gains.shape == (len(SPEEDS), 4)
    assert np.all(gains[:, :3] > 0.0)


def test_a_car_left_of_its_line_steers_right():
    plan = make_ring(speed=1.0)
    regulator = Regulator(plan, CAR, np.ones(200))
    attitude = plan_attitude(plan, CAR, np.ones(200))
    on_line = Motion(0.0, 0.0, 1.0, float(attitude.yaw[0]), float(attitude.yaw_rate[0]))
    exact = regulator.find_angle(on_line, 0, 0, 0.6)
    assert exact == pytest.approx(float(attitude.angle[0]), abs=1e-3)
    assert regulator.find_angle(on_line._replace(offset=0.05), 0, 0, 0.6) < exact
    assert regulator.find_angle(on_line._replace(course=0.05), 0, 0, 0.6) < exact
