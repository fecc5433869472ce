"""Stands in for `gym` and gym-donkeycar beside the original's app: the one on the package index is of 2019.

What the app asks of an environment, by the tests' client of the original's wire. SIM_ADDRESS says where the simulator
is; each step's distance from the path and all lap times go to the file DRIVE_LOG, a line each.
"""

import json
import os
from pathlib import Path

import numpy as np

from e2e.gym_client import GymClient


class Environment:
    """One car."""

    def __init__(self):
        host, port = os.environ["SIM_ADDRESS"].split(":")
        self._client = GymClient((host, int(port)))
        self._client.wait_until_loaded()

    def reset(self):
        self._client.reset()
        return np.asarray(self._client.look())

    def step(self, action):
        telemetry = self._client.step(*map(float, action))
        with Path(os.environ["DRIVE_LOG"]).open("a", encoding="utf-8") as log:
            log.write(json.dumps({"cte": telemetry["cte"], "laps": self._client.lap_times}) + "\n")
        picture = np.asarray(self._client.look())
        nothing = dict.fromkeys(("pos", "gyro", "accel", "vel"), (0.0, 0.0, 0.0))
        return picture, 0.0, False, {**nothing, "speed": telemetry["speed"], "cte": telemetry["cte"], "lidar": []}

    def close(self):
        self._client.close()


def make(name, conf):
    return Environment()
