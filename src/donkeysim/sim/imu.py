"""Noise of an inertial unit: what the original sends without any."""

from __future__ import annotations

from donkeysim.core.frames import Vector
from donkeysim.core.rng import draw_gaussian
from donkeysim.world.specs import ImuSpec

NOISE_STREAM = 1 << 33
"""First of six streams of random numbers: three of acceleration, three of rates."""


def add_noise(accel: Vector, gyro: Vector, imu: ImuSpec, *, key: int, slot: int, step: int) -> tuple[Vector, Vector]:
    """Return readings with independent Gaussian noise on every axis, or as they are where the deviation is 0.

    Args:
        accel: Acceleration, body frame [m/s²].
        gyro: Angular velocity, world frame [rad/s].
        imu: Standard deviations.
        key: World key of `core.rng`; with `slot` and `step` it decides the noise.
        slot: The car's slot in its world.
        step: Physics step of the reading.
    """
    if imu.accel_noise == 0.0 == imu.gyro_noise:
        return accel, gyro
    return (
        _disturb(accel, imu.accel_noise, key, slot, step, NOISE_STREAM),
        _disturb(gyro, imu.gyro_noise, key, slot, step, NOISE_STREAM + 3),
    )


def _disturb(vector: Vector, deviation: float, key: int, slot: int, step: int, stream: int) -> Vector:
    if deviation == 0.0:
        return vector
    x, y, z = (
        value + deviation * float(draw_gaussian(key, slot, step, stream + axis)) for axis, value in enumerate(vector)
    )
    return (x, y, z)
