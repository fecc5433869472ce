"""The original's environments count laps by the crossings that the original would report; a silent line has none."""

import pytest

from donkeysim.envs.donkey_env import DonkeyEnv
from donkeysim.envs.donkey_vector_env import DonkeyVectorEnv
from gates import GATE, write_track

CONF = {"cam_resolution": (16, 16, 3), "max_cte": 100.0}
STEPS = 275


class Steering:
    """Round the oval by cte."""

    def __init__(self):
        self.last = 0.0

    def drive(self, cte, speed):
        rate, self.last = cte - self.last, cte
        steering = min(max(-0.2 - 0.25 * cte - 2.0 * rate, -1.0), 1.0)
        return steering, 0.2 if speed < 1.3 else 0.05


@pytest.mark.parametrize(("lines", "laps"), [(GATE, 1), (f"{GATE}\nsilent = true", 0)], ids=["told", "silent"])
def test_laps_of_the_originals_environments(tmp_path, lines, laps):
    env = DonkeyEnv(write_track(tmp_path, lines), CONF)
    _, info = env.reset(seed=1)
    steering = Steering()
    for _ in range(STEPS):
        _, _, _, _, info = env.step(steering.drive(info["cte"], info["speed"]))
    assert env.telemetry.lap == 2  # our own rule
    assert info["lap_count"] == laps
    assert (info["last_lap_time"] > 0.0) == bool(laps)
    env.close()


def test_a_batch_counts_as_one_alone(tmp_path):
    batch = DonkeyVectorEnv(1, write_track(tmp_path, f"{GATE}\nsilent = true"), CONF)
    _, info = batch.reset(seed=1)
    steering = Steering()
    for _ in range(STEPS):
        _, _, _, _, info = batch.step([steering.drive(float(info["cte"][0]), float(info["speed"][0]))])
    assert batch.fleet.step.laps[0] == 1
    assert info["lap_count"][0] == 0
    batch.close()


def test_info_says_what_the_original_says_and_the_app_what_it_is(tmp_path):
    cone = '[[props]]\nkind = "tall_cone"\nplaces = [[1.6, -0.75]]\nhit = "Line01"\nfixed = true\n'
    env = DonkeyEnv(write_track(tmp_path, f"{GATE}\n{cone}"), CONF)
    _, info = env.reset(seed=1, options={"s": 0.9, "offset": -0.75})
    for _ in range(60):
        _, _, over, _, info = env.step([0.0, 0.6])
        if over:
            break
    assert info["hit"] == "Line01"
    assert env._moment.touched == "cone"
    env.close()
