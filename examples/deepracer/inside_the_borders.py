"""Pays as long as all wheels are on the road, with a little room to its edge."""


def reward_function(params):
    room = 0.5 * params["track_width"] - params["distance_from_center"]
    if params["all_wheels_on_track"] and room >= 0.05:
        return 1.0
    return 1e-3
