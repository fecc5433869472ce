"""Updates as learning tells them, without any learning."""

import numpy as np

from donkeysim.rl.progress import Check, Update


def make_update(number, *, checks=(), ended=((0.0, 3.6, 0.5),), picture=None, **changes):
    """Return the update with this number, 1 and up; `changes` are further fields."""
    fields = {
        "seconds": 2.0 * number,
        "time_limit": 600.0,
        "steps": 4096 * number,
        "rate": 2500.0,
        "reward": 0.01 * number,
        "speed": 1.5,
        "ends": 12.0 / number,
        "laps": number // 3,
        "losses": {"policy": -0.01, "value": 1.5},
        "action": (0.25, -0.5),
    }
    picture = np.full((30, 40), 200, np.uint8) if picture is None else picture
    ended_at = np.array(ended, dtype=np.float64).reshape(-1, 3)
    return Update(**{**fields, **changes}, ended_at=ended_at, picture=picture, checks=tuple(checks))


def make_check(*, laps=10.0, departures=0, speed=1.9, scene="oval"):
    return Check(
        scene=scene,
        laps=laps,
        wanted_laps=10,
        departures=departures,
        cars=16,
        speed=speed,
        wanted_speed=1.8,
        chatter=0.04,
    )
