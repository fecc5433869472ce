"""Pays for driving near the middle of the road, in three bands."""


def reward_function(params):
    half_width = 0.5 * params["track_width"]
    share = params["distance_from_center"] / half_width
    if share < 0.2:
        return 1.0
    if share < 0.5:
        return 0.5
    if share < 1.0:
        return 0.1
    return 1e-3
