"""The car of a drive: what its answers to commands tell, and a preset's car that answers alike."""

import math

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from donkeysim.calibration.response import RATE
from donkeysim.calibration.wizard import write_car
from donkeysim.mapping import car as module
from donkeysim.mapping.car import DriveCommands, fit_steering, match_car
from donkeysim.world.randomization import read_randomization
from donkeysim.world.specs import load_car


def drive_by(steering, late, speed=0.05):
    """Poses of a car that answers so many pictures later, drives straight on at 0.1, and turns in 0.5 m at most."""
    draws = np.random.default_rng(4)
    curvature = -(np.interp(np.arange(len(steering)) - late, np.arange(len(steering)), steering) - 0.1) / 0.5
    yaw = np.r_[0.0, np.cumsum(curvature * speed)][:-1]
    steps = speed * np.column_stack([np.cos(yaw), np.sin(yaw)])
    place = np.vstack([np.zeros(2), np.cumsum(steps, axis=0)])[:-1]
    return np.column_stack([place + draws.normal(0.0, 0.001, place.shape), yaw + draws.normal(0.0, 0.002, len(yaw))])


@pytest.mark.parametrize("late", [0.0, 3.6])
def test_how_a_car_answers_to_its_steering_is_told_by_where_it_went(late):
    steering = np.clip(gaussian_filter(np.random.default_rng(3).normal(size=600), 4.0) * 3.0, -1.0, 1.0)
    found = fit_steering(drive_by(steering, late), steering)
    assert found.late == pytest.approx(late, abs=0.5)
    assert found.straight == pytest.approx(0.1, abs=0.02)
    assert found.radius == pytest.approx(0.5, rel=0.08)
    assert found.correlation > 0.95


def test_steering_of_another_drive_is_not_believed():
    steering = np.clip(gaussian_filter(np.random.default_rng(3).normal(size=600), 4.0) * 3.0, -1.0, 1.0)
    assert fit_steering(drive_by(steering, 2.0), -steering) is None
    assert fit_steering(drive_by(steering, 2.0), np.roll(steering, 300)) is None
    assert fit_steering(drive_by(steering, 2.0), np.zeros(600)) is None


def drive_simulated(folder, gain, torque, late, throttle=0.5):
    """Commands of a driver with calm hands, and where a car of these scales came by them, so many steps late."""
    throttle = np.broadcast_to(throttle, 900) if np.isscalar(throttle) else throttle
    noise = gaussian_filter(np.random.default_rng(5).normal(size=len(throttle)), 12.0)
    write_car(folder / "real.toml", "original", gain, torque)
    driven = DriveCommands(np.clip(0.3 + noise * 3.0, -1.0, 1.0), throttle, RATE)
    return driven, module._replay(folder / "real.toml", driven._replace(steering=np.roll(driven.steering, late)))


@pytest.mark.parametrize(("gain", "torque", "late"), [(0.2, 0.4, 0), (0.5, 0.15, 3)])
def test_a_car_is_matched_in_steering_motor_and_delay(tmp_path, gain, torque, late):
    driven, poses = drive_simulated(tmp_path, gain, torque, late)
    match = match_car(tmp_path / "mine", "original", poses, driven, fit_steering(poses, driven.steering))
    car = load_car(str(match.car_file))
    assert car.steer_gain == pytest.approx(gain, rel=0.1)
    assert car.steer_limit == max(car.steer_gain, load_car("original").steer_limit)
    assert match.torque_max == pytest.approx(torque, rel=0.15)
    assert car.torque_max == pytest.approx(match.torque_max, rel=1e-5)
    again = module._replay(match.car_file, driven)
    assert module._find_speed(again, RATE) == pytest.approx(match.speed, rel=0.15)
    assert match.late == pytest.approx(late / RATE, abs=0.02)
    if late:
        least, most = read_randomization(str(match.delay_file)).delay.action
        assert least == most == pytest.approx(match.late, abs=1e-3)
    else:
        assert match.delay_file is None


def test_a_drive_at_another_rate_is_the_same_drive(tmp_path):
    driven, poses = drive_simulated(tmp_path, 0.3, 0.4, 2)
    seldom = DriveCommands(driven.steering[::2], driven.throttle[::2], RATE / 2)
    matches = [
        match_car(tmp_path / "mine", "original", poses[:: 20 // int(drive.rate)], drive, steering)
        for drive in (driven, seldom)
        if (steering := fit_steering(poses[:: 20 // int(drive.rate)], drive.steering))
    ]
    assert matches[1].speed == pytest.approx(matches[0].speed, rel=0.02)
    assert matches[1].torque_max == pytest.approx(matches[0].torque_max, rel=0.1)
    assert matches[1].late == pytest.approx(matches[0].late, abs=0.04)


def test_a_speed_that_no_motor_makes_leaves_the_presets(tmp_path):
    driven, poses = drive_simulated(tmp_path, 0.3, 0.4, 0)
    steering = fit_steering(poses, driven.steering)
    match = match_car(tmp_path / "mine", "original", poses * (100.0, 100.0, 1.0), driven, steering)
    assert match.torque_max is None
    assert load_car(str(match.car_file)).torque_max == load_car("original").torque_max


def test_a_drive_that_gets_faster_is_matched_by_what_is_driven_again(tmp_path, monkeypatch):
    """Careful at first, then twice the throttle: what is not driven again does not count."""
    monkeypatch.setattr(module, "REPLAYED", 60.0)
    driven, poses = drive_simulated(tmp_path, 0.3, 0.4, 0, throttle=np.r_[np.full(1200, 0.3), np.full(1700, 0.6)])
    match = match_car(tmp_path / "mine", "original", poses, driven, fit_steering(poses, driven.steering))
    assert match.torque_max == pytest.approx(0.4, rel=0.15)


@pytest.mark.parametrize(("count", "step"), [(625, 0.052), (300, 0.0335), (900, 0.0499)])
def test_records_at_any_rate_are_driven_again(tmp_path, count, step):
    steering = np.clip(0.3 + gaussian_filter(np.random.default_rng(5).normal(size=count), 12.0) * 3.0, -1.0, 1.0)
    poses = drive_by(steering, 2.0)
    driven = DriveCommands(steering, np.full(count, 0.3), 1.0 / step)
    match = match_car(tmp_path / "mine", "original", poses, driven, fit_steering(poses, steering))
    assert load_car(str(match.car_file)).steer_gain == pytest.approx(math.atan2(0.2, 0.5), rel=0.1)
    assert match.speed == pytest.approx(0.05 / step, rel=0.02)


def test_a_car_that_was_not_driven_has_no_delay(tmp_path):
    driven, poses = drive_simulated(tmp_path, 0.3, 0.4, 0)
    still = driven._replace(throttle=np.zeros_like(driven.throttle))
    match = match_car(tmp_path / "mine", "original", poses, still, fit_steering(poses, driven.steering))
    assert (match.torque_max, match.late, match.delay_file) == (None, 0.0, None)
