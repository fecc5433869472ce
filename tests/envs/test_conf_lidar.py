"""What `info` tells of the lidar is laid out as the lidar that runs, which may not be the one that `conf` wrote."""

import math

import numpy as np
import pytest

from donkeysim.core.errors import DonkeySimError
from donkeysim.envs.conf import read_conf
from donkeysim.envs.donkey_env import DonkeyEnv
from donkeysim.envs.donkey_vector_env import DonkeyVectorEnv
from donkeysim.envs.sensor_frame import make_distances
from donkeysim.world.telemetry import LidarPoint


@pytest.mark.parametrize(
    ("lidar", "ray_count", "note"),
    [
        ({"deg_per_sweep_inc": 0.1}, 1440, "degPerSweepInc 0.1 was changed to 0.25; it takes 0.25 to 360"),
        ({"num_sweeps_levels": 200}, 20_000 // 180 * 180, "numSweepsLevels 200 was changed to 128"),
        ({"num_sweeps_levels": 112}, 20_000 // 180 * 180, "a scan has at most 20000 rays"),
        ({"deg_per_sweep_inc": -2}, 1440, "degPerSweepInc -2 was changed to 0.25"),
    ],
)
def test_info_has_a_distance_for_each_ray_of_the_lidar_that_runs_and_the_log_tells_what_was_changed(
    lidar, ray_count, note, caplog
):
    env = DonkeyEnv("flat", {"lidar_config": lidar})
    assert [record.message for record in caplog.records if note in record.message], caplog.text
    info = env.reset(seed=1)[1]
    assert info["lidar"].shape == (ray_count,)
    ran = env.simulator.get_lidar(0)
    assert ray_count == int(2.0 * math.pi / ran.sweep_increment + 1e-9) * ran.level_count
    env.close()


def test_a_batch_tells_the_same_rays():
    batch = DonkeyVectorEnv(2, "flat", {"lidar_config": {"deg_per_sweep_inc": 0.1}})
    assert batch.reset(seed=1)[1]["lidar"].shape == (2, 1440)
    batch.close()


def test_levels_are_told_apart_by_the_angle_that_runs_beyond_a_full_turn_too():
    lidar = {"lidar_config": {"deg_ang_delta": 400, "num_sweeps_levels": 3, "deg_per_sweep_inc": 10, "noise": 0.001}}
    env = DonkeyEnv("flat", lidar)
    seen = env.reset(seed=1)[1]["lidar"].reshape(3, 36)
    assert (seen[1:] > 0.0).any(axis=1).all(), "40 and 80 degrees down is the ground"
    env.close()


def test_levels_without_an_angle_between_them_are_told_as_the_first_one():
    conf = read_conf({"lidar_config": {"deg_ang_delta": 360, "num_sweeps_levels": 2, "deg_per_sweep_inc": 90}})
    seen = make_distances([LidarPoint(d=3.0, rx=90.0, ry=0.0)], conf.lidar)
    assert np.array_equal(seen, [-1.0, 3.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0])


@pytest.mark.parametrize("value", ["wide", math.inf, None])
def test_a_lidar_of_no_number_is_refused_with_its_field(value):
    with pytest.raises(DonkeySimError, match=f"degPerSweepInc is '{value}', but must be a finite number"):
        read_conf({"lidar_config": {"deg_per_sweep_inc": value}})
