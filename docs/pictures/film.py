"""Make README's moving picture, `drive.webp`: `python docs/pictures/film.py` from the root of a checkout.

A chase view of one of three cars that drive by themselves, with its own camera's picture in the corner, in three
places, one after another; the same bytes from the same seed. `--frames FOLDER` also writes some of the
frames as PNG files, to look at.
"""

import argparse
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image

from donkeysim.core.types import ByteArray
from donkeysim.drivers.path_follower import PathFollower
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import BodySpec, CameraSpec, SceneSpec, WorldSpec

TARGET = Path(__file__).parent / "drive.webp"
BODIES = (BodySpec(colour=(220, 60, 40)), BodySpec("car01", (250, 190, 30)), BodySpec("f1", (40, 110, 220)))
LEADS = (0.0, 1.3, 2.6)
"""How far ahead of the watched car each one begins [m]."""

SCENES = (("generated_track", 4.0), ("warren", 4.0), ("harbour_town", 4.0))
"""Where, and how far along the path the film begins [m]."""

SECONDS_BEFORE, SECONDS_SHOWN = 1.5, 4.0
FRAME_RATE = 10
VIEW = CameraSpec(width=560, height=315, fov=math.radians(60.0), supersample=2)
FOLLOWING = 0.25
"""By which share the chase camera turns to where the car points, each 1/20 s."""

BACK, UP, DOWN = 0.8, 0.42, math.radians(15.0)
"""Of the chase camera behind and above the car [m], and how far it looks down."""

MARGIN, BORDER = 8, 2
"""Of the car's own picture from the edges, and its frame [pixels]."""

QUALITY = 44


def main() -> None:
    """Make the film, and say how large it is."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--frames", type=Path, help="folder for some of the frames as PNG files")
    options = parser.parse_args()
    frames = [Image.fromarray(frame) for scene in SCENES for frame in film_scene(*scene)]
    frames[0].save(
        TARGET, save_all=True, append_images=frames[1:], duration=1000 // FRAME_RATE, loop=0, quality=QUALITY, method=6
    )
    print(f"{TARGET.name}: {len(frames)} frames, {TARGET.stat().st_size / 1e6:.2f} MB")
    if options.frames is not None:
        options.frames.mkdir(parents=True, exist_ok=True)
        with Image.open(TARGET) as film:
            for index in range(0, len(frames), len(frames) // 6):
                film.seek(index)
                film.convert("RGB").save(options.frames / f"{index:03d}.png")


def film_scene(name: str, begin: float) -> Iterator[ByteArray]:
    """Yield the frames of a drive in a scene, shape [height, width, 3]."""
    simulator = Simulator(WorldSpec(SceneSpec(name), cars_per_world=len(BODIES), seed=1))
    cars = [simulator.add_car(body=body) for body in BODIES]
    follower = PathFollower(simulator.scene, simulator.car_spec, "fast")
    for car, lead in zip(cars, LEADS, strict=True):
        simulator.put_on_path(car, begin + lead)
    watched, yaw = cars[0], float(simulator.ledger.yaw[cars[0]])
    first = round(SECONDS_BEFORE * 20)
    for step in range(first + round(SECONDS_SHOWN * 20)):
        for car in cars:
            simulator.drive_car(car, *follower.drive(simulator.ledger, car))
        simulator.step()
        yaw += FOLLOWING * math.remainder(float(simulator.ledger.yaw[watched]) - yaw, math.tau)
        if step >= first and step % (20 // FRAME_RATE) == 0:
            yield draw_frame(simulator, watched, yaw)
    simulator.close()


def draw_frame(simulator: Simulator, car: int, yaw: float) -> ByteArray:
    """Return the chase view with the car's own picture in its upper right corner."""
    x, y, z = simulator.ledger.position[car].tolist()
    position = (x - BACK * math.cos(yaw), y - BACK * math.sin(yaw), z + UP)
    frame: ByteArray = simulator.view(0, position, (0.0, DOWN, yaw), VIEW).copy()
    simulator.render([car])
    own = np.pad(simulator.get_picture(car), ((BORDER, BORDER), (BORDER, BORDER), (0, 0)), constant_values=255)
    height, width, _ = own.shape
    frame[MARGIN : MARGIN + height, -MARGIN - width : -MARGIN] = own
    return frame


if __name__ == "__main__":
    main()
