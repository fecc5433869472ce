"""Pays for turning the wheels towards a point of the road ahead, as pure pursuit would."""

import math

LOOK_AHEAD = 0.8  # metres


def find_target(params):
    points = params["waypoints"]
    number = params["closest_waypoints"][1]
    for _ in points:
        x, y = points[number]
        if math.hypot(x - params["x"], y - params["y"]) >= LOOK_AHEAD:
            break
        number = (number + 1) % len(points)
    return points[number]


def reward_function(params):
    x, y = find_target(params)
    wanted = math.degrees(math.atan2(y - params["y"], x - params["x"])) - params["heading"]
    wanted = (wanted + 180.0) % 360.0 - 180.0
    error = abs(wanted - params["steering_angle"])
    return max(1e-3, 1.0 - error / 60.0) if params["all_wheels_on_track"] else 1e-3
