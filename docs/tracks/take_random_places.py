"""Take the picture of docs/tracks/random_place.md: random places as cars see them, plain and with the preset `real`.

Run it from anywhere: `python docs/tracks/take_random_places.py`. Writes a JPEG file beside this one.
"""

from pathlib import Path

import numpy as np
from PIL import Image

from donkeysim.core.types import ByteArray
from donkeysim.envs.track_env import TrackVectorEnv
from donkeysim.world.specs import RoadSpec, SceneSpec

COLUMNS, ROWS = 6, 3
STEPS = 6
"""Straight on, so that cars are on their way."""


def take(first: int, randomization: str | None) -> ByteArray:
    """Return pictures of places, rows of them."""
    scenes = [SceneSpec("random_place", road=RoadSpec(seed=seed)) for seed in range(first, first + COLUMNS * ROWS)]
    env = TrackVectorEnv(len(scenes), scenes, observe="camera", randomization=randomization)
    seen, _ = env.reset(seed=3)
    for _ in range(STEPS):
        seen = env.step(np.tile([[0.0, 0.5]], (len(scenes), 1)))[0]
    env.close()
    return np.vstack([np.hstack(list(seen[row * COLUMNS : (row + 1) * COLUMNS])) for row in range(ROWS)])


if __name__ == "__main__":
    sheet = np.vstack([take(1, None), take(1 + COLUMNS * ROWS, "real")])
    Image.fromarray(sheet).save(Path(__file__).with_name("random_places.jpg"), quality=86)
