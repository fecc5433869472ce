"""Take the pictures that docs/envs/randomization.md shows: twelve draws of one place, for each preset.

Run it from anywhere: `python docs/envs/take.py`. Writes JPEG files beside this one.
"""

from pathlib import Path

import numpy as np
from PIL import Image

from donkeysim.sim.simulator import Simulator
from donkeysim.world.randomization import list_presets, read_randomization
from donkeysim.world.specs import WorldSpec

HERE = Path(__file__).parent
COLUMNS, ROWS, SCALE = 4, 3, 2
ALONG = 2.6


def take(preset: str) -> Image.Image:
    """Return the camera's pictures of as many cars at one place, each with its own draws."""
    spec = WorldSpec(world_count=COLUMNS * ROWS, seed=1, randomization=read_randomization(preset))
    simulator = Simulator(spec)
    for world in range(spec.world_count):
        simulator.put_on_path(simulator.add_car(world), ALONG)
    simulator.render()
    pictures = [simulator.get_picture(car) for car in range(spec.world_count)]
    sheet = np.vstack([np.hstack(pictures[row * COLUMNS : (row + 1) * COLUMNS]) for row in range(ROWS)])
    return Image.fromarray(sheet.repeat(SCALE, axis=0).repeat(SCALE, axis=1))


if __name__ == "__main__":
    for name in list_presets():
        take(name).save(HERE / f"randomization_{name}.jpg", quality=84)
