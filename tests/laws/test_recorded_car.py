"""The cars drive as recordings of the original show; the whole table: `python -m benchmarks fidelity`."""

import numpy as np
import pytest
from benchmarks.fidelity.car import CURVATURE, measure_corner, measure_january_2022, measure_laps, measure_straight
from tests.scenes import Bench

from donkeysim.world.specs import list_cars, load_car

U = 1.0 / 8.0
FRAME = 0.05


@pytest.mark.parametrize("measure", [measure_corner, measure_straight, measure_laps, measure_january_2022])
def test_recorded_figures_are_met(measure):
    rows = list(measure())
    assert len(rows) >= 3
    assert not [row for row in rows if not row.is_met]


def slalom(speed, car=None):
    """Steer to and fro for 62 frames; return steering, positions [U] and the speeds [U/s] of all frames."""
    bench = Bench(car=car)
    bench.place(0, 0.0, 0.0, velocity=speed * U)
    steer = np.sin(2.0 * np.pi * np.arange(62) / 31.0)
    place = [bench.state.position[0, :2] / U]
    for turn in steer:
        bench.drive(FRAME, steer=turn, throttle=0.2)
        place.append(bench.state.position[0, :2] / U)
    place = np.array(place)
    return steer, place, np.linalg.norm(np.diff(place, axis=0), axis=1) / FRAME


def follow_bicycle(steer, speeds):
    """Positions of a point that at once follows the recorded curvature times the steering, at these speeds [U]."""
    heading, place = 0.0, [np.zeros(2)]
    for turn, speed in zip(steer, speeds, strict=True):
        step = speed * FRAME
        middle = heading + 0.5 * CURVATURE * turn * step
        place.append(place[-1] + step * np.array([np.cos(middle), np.sin(middle)]))
        heading += CURVATURE * turn * step
    return np.array(place)


@pytest.mark.parametrize("speed", [8.0, 11.0, 12.5])
def test_a_slalom_is_that_of_a_bare_bicycle(speed):
    steer, place, speeds = slalom(speed)
    away = np.linalg.norm(place - follow_bicycle(steer, speeds), axis=1)
    assert np.ptp(place[:, 1]) > 5.0
    assert away.max() < 0.05 * np.linalg.norm(place[-1])


def test_the_car_of_2021_runs_wide_where_the_bicycle_does_not():
    steer, place, speeds = slalom(12.5, load_car("original-2021"))
    away = np.linalg.norm(place - follow_bicycle(steer, speeds), axis=1)
    assert away.max() > 0.05 * np.linalg.norm(place[-1])


@pytest.mark.parametrize("name", list_cars())
@pytest.mark.parametrize("speed", [8.0, 12.0, 16.0, 20.0])
@pytest.mark.parametrize(("steer", "yaw_rate"), [(0.0, 0.0), (0.0, 0.2), (0.02, 0.0)])
def test_throttle_minus_one_on_a_straight_spins_no_car(name, speed, steer, yaw_rate):
    bench = Bench(car=load_car(name))
    bench.place(0, 0.0, 0.0, velocity=speed * U)
    bench.state.angular_velocity[0, 2] = yaw_rate
    while bench.state.velocity[0, 0] > 0.05:
        bench.drive(FRAME, steer=steer, throttle=-1.0)
        w, _, _, z = bench.state.orientation[0]
        assert abs(np.degrees(2.0 * np.arctan2(z, w))) < 15.0
    assert abs(bench.state.position[0, 1]) < 0.1 * bench.state.position[0, 0]


def test_full_throttle_with_full_lock_slides_but_does_not_roll_over():
    for name in list_cars():
        bench = Bench(car=load_car(name))
        for _ in range(100):
            bench.drive(FRAME, steer=1.0, throttle=1.0)
            assert bench.up() > 0.95, name
        assert np.isfinite(bench.state.position).all()
