"""What a record holds in addition to its picture, under the name that a pilot asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from donkeysim.core.errors import SpecError

IMU_CHANNELS = ("imu/acl_x", "imu/acl_y", "imu/acl_z", "imu/gyr_x", "imu/gyr_y", "imu/gyr_z")
SIMULATED_IMU_CHANNELS = (
    *("accel/accel_x", "accel/accel_y", "accel/accel_z"),
    *("gyro/gyro_x", "gyro/gyro_y", "gyro/gyro_z"),
)
"""The same readings under the names that a simulated car records, in the order of `IMU_CHANNELS`."""


def read_channel(values: Mapping[str, Any], channel: str) -> Any:
    """Return what a record holds for a channel; an IMU's reading is also found under its simulated car's name.

    Raises:
        SpecError: The record has neither.
    """
    if channel in values:
        return values[channel]
    if channel in IMU_CHANNELS:
        simulated = SIMULATED_IMU_CHANNELS[IMU_CHANNELS.index(channel)]
        if simulated in values:
            return values[simulated]
        raise SpecError(
            f"the records have neither {channel!r} nor {simulated!r}; record with SIM_RECORD_GYROACCEL = True."
        )
    raise SpecError(f"the records have no {channel!r}, which this type of pilot reads beside the picture.")
