"""Pays for the share of the lap that each step has made on average, and a bonus for a whole lap."""


def reward_function(params):
    if not params["steps"] or params["is_offtrack"]:
        return 1e-3
    metres = params["progress"] / 100.0 * params["track_length"]
    reward = metres / params["steps"]
    if params["progress"] == 100.0:
        reward += 10.0
    return max(float(reward), 1e-3)
