"""Drawn views of a car without a simulator: plain colours, one for each view."""

import contextlib

import numpy as np

from donkeysim.core.errors import SceneError
from donkeysim.core.image import encode_jpeg

COLOURS = {"chase": (200, 60, 40), "seat": (40, 90, 200)}


class StandInViews:
    """Called as `OpenViews`; `asked` lists what viewers wanted, `is_blind`: nothing can be drawn now."""

    def __init__(self):
        self.asked = []
        self.viewer_count = 0
        self.is_blind = False

    @contextlib.asynccontextmanager
    async def __call__(self):
        self.viewer_count += 1
        try:
            yield self
        finally:
            self.viewer_count -= 1

    async def take(self, view, width, height):
        self.asked.append((view, width, height))
        if self.is_blind:
            raise SceneError("the car is in no scene now.")
        return encode_jpeg(np.full((height, width, 3), COLOURS[view], np.uint8))

    async def take_moment(self):
        raise SceneError("this stand-in knows pictures only.")

    write_place = take_moment
