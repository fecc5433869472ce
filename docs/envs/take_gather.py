"""Take the pictures of docs/envs/gpu_pictures.md: scenes as the renderer and a batch draw them, and how they differ.

Run it from anywhere: `python docs/envs/take_gather.py`. Writes a JPEG file into the folder `gpu` beside this one.
"""

from pathlib import Path

import numpy as np
from PIL import Image

from donkeysim.core.device import open_device
from donkeysim.render.gather import GatherRenderer
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import CameraSpec, SceneSpec, WorldSpec

HERE = Path(__file__).parent
SCENES = ("generated_track", "canyon_road", "pallet_hall", "reading_room")
ALONG, AHEAD = 2.6, 0.7
LOUDER = 8


def take(scene: str) -> np.ndarray:
    """Return three pictures of a car that follows another, side by side: renderer, batch, and their difference."""
    simulator = Simulator(WorldSpec(SceneSpec(scene), cars_per_world=2))
    for slot in range(2):
        simulator.put_on_path(simulator.add_car(0), ALONG + AHEAD * slot)
    simulator.step()
    renderer, cameras = simulator.renderer, [CameraSpec()]
    drawn = renderer.render_group(renderer.make_group([0], cameras), simulator.state).colour[0]
    stages = GatherRenderer(renderer.tables, open_device("cpu", 1), (2, renderer.props_per_world))
    group = stages.make_group([0], cameras)
    stages.render(group, simulator.state)
    apart = np.abs(group.colour[0].astype(int) - drawn)
    print(f"{scene}: mean difference {apart.mean():.2f} grey levels")
    return np.hstack([drawn, group.colour[0], np.minimum(LOUDER * apart, 255).astype(np.uint8)])


if __name__ == "__main__":
    sheet = np.vstack([take(scene) for scene in SCENES])
    Image.fromarray(sheet.repeat(2, axis=0).repeat(2, axis=1)).save(HERE / "gpu" / "pictures.jpg", quality=84)
