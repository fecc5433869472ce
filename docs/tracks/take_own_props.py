"""Take the picture of the example with props of one's own that format.md shows.

Run it from anywhere: `python docs/tracks/take_own_props.py`. Writes own_props.jpg beside this file.
"""

import math
from pathlib import Path

import numpy as np
from PIL import Image

from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import CameraSpec, SceneSpec, WorldSpec

HERE = Path(__file__).parent
YARD = HERE.parent.parent / "examples" / "own_props" / "yard.toml"
CAMERA = CameraSpec(width=480, height=320, fov=math.radians(60.0), supersample=2)
STEP_RATE, SECONDS = 480, 1.7
VIEWS = (((0.6, -1.4, 0.7), (2.0, 0.4, 0.1)), ((1.5, 0.1, 0.5), (2.6, 0.8, 0.05)))
"""Where the camera stands and what it looks at [m]."""


def main() -> None:
    """Write the picture: the yard at rest, and after a car has driven through the skittles."""
    simulator = Simulator(WorldSpec(scene=SceneSpec(str(YARD)), cars_per_world=1))
    car = simulator.add_car(0)
    height = float(simulator.scene.path.position[0, 2])
    simulator.move_car(car, (1.3, 0.35, height), (math.cos(0.2), 0.0, 0.0, math.sin(0.2)))
    pictures = []
    for eye, aim in VIEWS:
        x, y, z = (there - here for here, there in zip(eye, aim, strict=True))
        rotation = (0.0, math.atan2(-z, math.hypot(x, y)), math.atan2(y, x))
        pictures.append(simulator.view(0, eye, rotation, CAMERA).copy())
        simulator.control.throttle[:] = 0.6
        simulator.step(int(SECONDS * STEP_RATE))
    Image.fromarray(np.hstack(pictures)).save(HERE / "own_props.jpg", quality=86)


if __name__ == "__main__":
    main()
