"""Pays for the lane in which the next thing ahead is not, and for distance to it."""


def reward_function(params):
    if not params["all_wheels_on_track"] or params["is_crashed"]:
        return 1e-3
    if not params["objects_location"]:
        return 1.0
    ahead = params["closest_objects"][1]
    driven = params["progress"] / 100.0 * params["track_length"]
    distance = abs(params["objects_distance"][ahead] - driven)
    is_same_side = params["objects_left_of_center"][ahead] == params["is_left_of_center"]
    if distance > 1.5 or not is_same_side:
        return 1.0
    return max(1e-3, 0.5 * distance / 1.5)
