"""Take the pictures of docs/tracks/generated_road.md and challenges.md with the project's own renderer.

Run it from anywhere: `python docs/tracks/take_roads.py`. Writes JPEG files beside this one.
"""

import math
from pathlib import Path

import numpy as np
from PIL import Image

from donkeysim.core.types import ByteArray
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import CameraSpec, ChallengeSpec, RoadSpec, SceneSpec, WorldSpec

HERE = Path(__file__).parent
JPEG_QUALITY = 84
VIEW = CameraSpec(width=400, height=300, supersample=2)
MAP = CameraSpec(width=300, height=300, fov=math.radians(60.0), supersample=2)
STYLE_NODES = (90, 333)
CHALLENGES = (
    ("generated_track", ChallengeSpec(cones=20, trees=100, seed=1), (8, 32)),
    ("pallet_hall", ChallengeSpec(cones=20, trees=12, light=True, seed=3), (3, 36)),
    ("harbour_town", ChallengeSpec(cones=20, trees=20, light=True, seed=7), (90, 184)),
)


def look(simulator: Simulator, index: int) -> ByteArray:
    """Return what a driver sees at a node."""
    frame = simulator.scene.path.frame
    yaw, _ = frame.look(index)
    eye = frame.position[index] + np.array((0.07 * math.cos(yaw), 0.07 * math.sin(yaw), 0.14))
    return simulator.view(0, tuple(eye.tolist()), (0.0, math.radians(15.0), yaw), VIEW).copy()


def draw_map(simulator: Simulator) -> ByteArray:
    """Return the whole track from above."""
    node = simulator.scene.path.position
    low, high = node[:, :2].min(axis=0), node[:, :2].max(axis=0)
    middle, height = 0.5 * (low + high), 0.58 * float((high - low).max()) / math.tan(math.radians(30.0))
    pose = ((float(middle[0]), float(middle[1]), height), (0.0, math.radians(90.0), math.radians(90.0)))
    return simulator.view(0, *pose, MAP).copy()


def paste(rows: list[list[ByteArray]], name: str) -> None:
    """Write rows of pictures as one file."""
    picture = np.concatenate([np.concatenate(row, axis=1) for row in rows])
    Image.fromarray(picture).save(HERE / name, quality=JPEG_QUALITY, optimize=True)


def main() -> None:
    """Write both files."""
    rows = []
    for style in range(5):
        simulator = Simulator(WorldSpec(SceneSpec("generated_road", road=RoadSpec(style=style))))
        rows.append([*(look(simulator, index) for index in STYLE_NODES), draw_map(simulator)])
    paste(rows, "generated_road_styles.jpg")
    rows = []
    for name, challenges, nodes in CHALLENGES:
        simulator = Simulator(WorldSpec(SceneSpec(name, challenges=challenges)))
        rows.append([look(simulator, index) for index in nodes])
    paste(rows, "challenges.jpg")


if __name__ == "__main__":
    main()
