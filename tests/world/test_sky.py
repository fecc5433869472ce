"""The original's sky: its colours by elevation, a sharp horizon, and what lies under it."""

from __future__ import annotations

import numpy as np

from donkeysim.world.tracks.terrain.sky import HEIGHT, make_clear_sky


def test_clear_sky_has_the_original_s_colours():
    sky = make_clear_sky((132, 152, 214))

    def look_up(elevation):
        return sky[int((0.5 - elevation / 180.0) * (HEIGHT - 1) + 0.5), :, :3].astype(int)

    for elevation, colour in ((90.0, (82, 104, 140)), (30.0, (102, 128, 168)), (10.0, (148, 179, 218))):
        assert np.abs(look_up(elevation) - colour).max() <= 2
    assert (look_up(0.2) == (230, 255, 255)).all()
    assert (look_up(-0.2) == (132, 152, 214)).all()
