"""The original's sky: its colours by elevation, a sharp horizon, and what lies under it."""

from __future__ import annotations

import math

import numpy as np

from donkeysim.world.tracks.terrain.sky import HEIGHT, make_clear_sky


def test_clear_sky_has_the_original_s_colours():
    sky = make_clear_sky(1.0, math.radians(50.0), (132, 152, 214))

    def look_up(elevation):
        return sky[int((0.5 - elevation / 180.0) * (HEIGHT - 1) + 0.5), :, :3].astype(int)

    for elevation, colour in ((90.0, (82, 104, 140)), (30.0, (102, 128, 168)), (10.0, (148, 179, 218))):
        assert np.abs(look_up(elevation).mean(axis=0) - colour).max() < 12.0
    assert (look_up(0.2).max(axis=0) >= (240, 255, 255)).all()
    assert (look_up(-0.2) == (132, 152, 214)).all()


def test_clear_sky_is_darkest_a_right_angle_from_the_sun():
    sky = make_clear_sky(0.0, math.radians(30.0), (105, 99, 95)).astype(int)
    row = sky[HEIGHT // 2 - 60, :, 0]
    assert row[len(row) // 4] < row[0] - 20
    assert row[len(row) // 4] < row[len(row) // 2] - 20
