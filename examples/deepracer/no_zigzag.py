"""Pays for the middle of the road, less while the wheels are turned far."""

TURNED_FAR = 12.0  # degrees


def reward_function(params):
    reward = max(1e-3, 1.0 - 2.0 * params["distance_from_center"] / params["track_width"])
    if abs(params["steering_angle"]) > TURNED_FAR:
        reward *= 0.6
    return float(reward)
