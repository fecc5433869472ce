"""Readings are found under each name that cars record them by."""

import pytest

from donkeysim.core.errors import SpecError
from donkeysim.tub.reader import read_channel


def test_an_imu_reading_is_found_under_the_simulated_cars_name_too():
    assert read_channel({"imu/gyr_z": 1.0, "gyro/gyro_z": 2.0}, "imu/gyr_z") == 1.0
    assert read_channel({"gyro/gyro_z": 2.0}, "imu/gyr_z") == 2.0
    with pytest.raises(SpecError, match="SIM_RECORD_GYROACCEL"):
        read_channel({}, "imu/gyr_z")
    with pytest.raises(SpecError, match="behavior/one_hot_state_array"):
        read_channel({}, "behavior/one_hot_state_array")
