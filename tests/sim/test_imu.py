"""Noise of the inertial unit."""

import msgspec
import numpy as np
import pytest

from donkeysim.drivers.path_follower import PathFollower
from donkeysim.sim.observe import add_noise, observe_telemetry
from donkeysim.world.specs import ImuSpec
from driving import CAR, Course, load_track

ACCEL, GYRO = (1.0, 2.0, 3.0), (0.1, 0.2, 0.3)


def test_readings_stay_as_they_are_by_default():
    assert add_noise(ACCEL, GYRO, ImuSpec(), key=1, slot=0, step=24) == (ACCEL, GYRO)


def test_noise_has_its_deviation_on_every_axis():
    imu = ImuSpec(accel_noise=0.5, gyro_noise=0.02)
    rows = np.array([sum(add_noise(ACCEL, GYRO, imu, key=1, slot=0, step=step), ()) for step in range(4000)])
    assert rows.mean(axis=0) == pytest.approx(np.array(ACCEL + GYRO), abs=0.03)
    assert rows.std(axis=0) == pytest.approx(np.repeat([0.5, 0.02], 3), rel=0.05)
    assert np.abs(np.corrcoef(rows.T) - np.eye(6)).max() < 0.06


def test_noise_depends_on_key_slot_and_step_only():
    imu = ImuSpec(accel_noise=0.5, gyro_noise=0.02)
    first = add_noise(ACCEL, GYRO, imu, key=1, slot=0, step=24)
    assert add_noise(ACCEL, GYRO, imu, key=1, slot=0, step=24) == first
    for other in (
        {"key": 2, "slot": 0, "step": 24},
        {"key": 1, "slot": 1, "step": 24},
        {"key": 1, "slot": 0, "step": 25},
    ):
        assert add_noise(ACCEL, GYRO, imu, **other) != first


def test_telemetry_carries_the_noise_in_acceleration_and_rates_only():
    course = Course(load_track("flat"))
    course.drive(PathFollower(course.scene, CAR, "steady"), seconds=1.0)

    def observe(imu):
        telemetry = observe_telemetry(course.ledger, course.scene, 0, car_names={}, frame=0, imu=imu, key=3)
        return msgspec.structs.asdict(telemetry)

    plain, noisy = observe(ImuSpec()), observe(ImuSpec(accel_noise=0.5, gyro_noise=0.02))
    changed = {name for name in plain if plain[name] != noisy[name]}
    assert changed == {f"{kind}_{axis}" for kind in ("accel", "gyro") for axis in "xyz"}
