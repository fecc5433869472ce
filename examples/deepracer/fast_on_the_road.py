"""Pays for speed, as long as the car is on the road and has not touched anything."""

WANTED_SPEED = 1.0  # m/s


def reward_function(params):
    if params["is_offtrack"] or params["is_crashed"] or not params["all_wheels_on_track"]:
        return 1e-3
    return min(params["speed"] / WANTED_SPEED, 1.0) ** 2 + 1e-3
