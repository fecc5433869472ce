"""Take the pictures of generated_track and of the car bodies that its page shows, with the project's own renderer.

Run it from anywhere: `python docs/tracks/take.py`. Writes JPEG files beside this one. All scenes: `take_gallery.py`.
"""

import math
from pathlib import Path

import numpy as np
from PIL import Image

from donkeysim.core.rotation import yaw_to_quaternion
from donkeysim.core.types import ByteArray
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import BODY_STYLES, BodySpec, CameraSpec, SceneSpec, WorldSpec

HERE = Path(__file__).parent
JPEG_QUALITY = 86
PAINTS = ((214, 40, 32), (42, 96, 214), (246, 186, 32), (196, 200, 204), (34, 150, 84))
DRIVER = CameraSpec(width=400, height=300, supersample=2)
CHASE = CameraSpec(width=800, height=600, fov=math.radians(70.0), supersample=2)
MAP = CameraSpec(width=800, height=800, fov=math.radians(60.0), supersample=2)
PORTRAIT = CameraSpec(width=320, height=240, fov=math.radians(32.0), supersample=2)


class Photographer:
    """A scene with one car of each body style."""

    def __init__(self, name: str) -> None:
        self.simulator = Simulator(WorldSpec(scene=SceneSpec(name), cars_per_world=len(BODY_STYLES)))
        self.frame = self.simulator.scene.path.frame
        self.node = self.frame.position
        self.cars = [
            self.simulator.add_car(0, BodySpec(style=style, colour=paint))
            for style, paint in zip(BODY_STYLES, PAINTS, strict=True)
        ]

    def aim(self, index: int) -> tuple[np.ndarray, float]:
        """Return a node and the yaw of the path there."""
        index %= len(self.node)
        return self.node[index], self.frame.look(index)[0]

    def place(self, car: int, index: int, side: float) -> None:
        """Put a car at a node, `side` metres to its left."""
        node, yaw = self.aim(index)
        position = (node[0] - side * math.sin(yaw), node[1] + side * math.cos(yaw), node[2])
        self.simulator.move_car(car, position, yaw_to_quaternion(yaw))

    def look(self, index: int, back: float, up: float, down: float, camera: CameraSpec) -> ByteArray:
        """Return the view along the path from `back` metres behind a node and `up` metres above it."""
        node, yaw = self.aim(index)
        eye = (node[0] - back * math.cos(yaw), node[1] - back * math.sin(yaw), node[2] + up)
        return self.simulator.view(0, eye, (0.0, math.radians(down), yaw), camera).copy()

    def map(self) -> ByteArray:
        """Return the whole track from above, +x to the right."""
        low, high = self.node[:, :2].min(axis=0), self.node[:, :2].max(axis=0)
        middle = 0.5 * (low + high)
        height = (0.5 * float((high - low).max()) + 1.6) / math.tan(0.5 * MAP.fov)
        return self.simulator.view(0, (middle[0], middle[1], height), (0.0, 0.5 * math.pi, 0.5 * math.pi), MAP).copy()


def save(picture: ByteArray, name: str) -> None:
    """Write a JPEG file beside this script."""
    Image.fromarray(picture).save(HERE / name, quality=JPEG_QUALITY)


def take_scene(name: str) -> None:
    """Write the driver's view at four places, the chase view and the map of a scene."""
    photographer = Photographer(name)
    count = len(photographer.node)
    for slot, car in enumerate(photographer.cars[1:]):
        photographer.place(car, 3 + 2 * slot, 0.5 if slot % 2 else 0.0)
    photographer.place(photographer.cars[0], count - 1, 0.0)
    save(photographer.look(count - 1, 0.75, 0.36, 17.0, CHASE), f"{name}_chase.jpg")
    save(photographer.map(), f"{name}_map.jpg")
    views = [
        photographer.look(index, -0.07, 0.156, 15.5, DRIVER) for index in (1, count // 4, count // 2, 3 * count // 4)
    ]
    save(np.vstack((np.hstack(views[:2]), np.hstack(views[2:]))), f"{name}_driver.jpg")


def take_bodies() -> None:
    """Write the five body styles from ahead and from behind."""
    photographer = Photographer("generated_track")
    rows = []
    for turn in (0.75, 0.75 + math.pi):
        row = []
        for chosen in photographer.cars:
            for car in photographer.cars:
                photographer.place(car, 100 if car == chosen else 40 + 3 * car, 0.0)
            node, yaw = photographer.aim(100)
            bearing = yaw + turn
            eye = (node[0] + 0.62 * math.cos(bearing), node[1] + 0.62 * math.sin(bearing), node[2] + 0.26)
            aim = (0.0, math.radians(20.0), bearing + math.pi)
            row.append(photographer.simulator.view(0, eye, aim, PORTRAIT).copy())
        rows.append(np.hstack(row))
    save(np.vstack(rows), "bodies.jpg")


def take_camera() -> None:
    """Write what a client gets at six places of a lap, the default picture twice as large."""
    photographer = Photographer("generated_track")
    for slot, car in enumerate(photographer.cars[1:]):
        photographer.simulator.move_car(car, (60.0, 60.0 + slot, 1.0), (1.0, 0.0, 0.0, 0.0))
    views, car = [], photographer.cars[0]
    for index in range(6):
        photographer.place(car, 4 + index * len(photographer.node) // 6, 0.0)
        photographer.simulator.render([car])
        views.append(photographer.simulator.get_picture(car).repeat(2, axis=0).repeat(2, axis=1))
    picture = np.vstack((np.hstack(views[:3]), np.hstack(views[3:])))
    Image.fromarray(picture).save(HERE / "generated_track_camera.png", optimize=True)


def main() -> None:
    """Take all pictures."""
    take_scene("generated_track")
    take_camera()
    take_bodies()


if __name__ == "__main__":
    main()
