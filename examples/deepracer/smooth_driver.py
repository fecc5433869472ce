"""Pays for speed and takes for jerky steering; remembers the last step's steering between calls."""

import math


class Memory:
    steering = 0.0


def reward_function(params):
    change = abs(params["steering_angle"] - Memory.steering)
    Memory.steering = 0.0 if params["steps"] < 2 else params["steering_angle"]
    if params["is_reversed"] or params["is_offtrack"]:
        return 1e-3
    return float(math.exp(-change / 10.0) * (0.2 + params["speed"]))
