"""Pays for pointing the way the road goes between the two nearest waypoints."""

import math

TOLERATED = 10.0  # degrees


def reward_function(params):
    behind, ahead = (params["waypoints"][number] for number in params["closest_waypoints"])
    road = math.degrees(math.atan2(ahead[1] - behind[1], ahead[0] - behind[0]))
    difference = abs(road - params["heading"])
    if difference > 180.0:
        difference = 360.0 - difference
    reward = 1.0 if params["all_wheels_on_track"] else 1e-3
    return reward * (0.5 if difference > TOLERATED else 1.0)
