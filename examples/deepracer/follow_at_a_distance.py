"""Pays for keeping two car lengths behind a car that drives ahead the same way."""

import math

GAP = 0.8  # metres


def reward_function(params):
    reward = 0.3 if params["all_wheels_on_track"] else 1e-3
    for (x, y), heading, speed in zip(
        params["objects_location"], params["objects_heading"], params["objects_speed"], strict=True
    ):
        gap = math.hypot(x - params["x"], y - params["y"])
        turn = abs((heading - params["heading"] + 180.0) % 360.0 - 180.0)
        if speed > 0.1 and turn < 60.0:
            reward += max(0.0, 1.0 - abs(gap - GAP) / GAP)
    return float(reward)
