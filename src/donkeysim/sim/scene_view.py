"""Pictures of a place without cars: a map from above, and what a driver sees along the path."""

import dataclasses
import math

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from donkeysim.core.types import ByteArray, FloatArray
from donkeysim.sim.simulator import Simulator
from donkeysim.world.scene import Scene
from donkeysim.world.specs import CameraSpec, CarSpec, SceneSpec, WorldSpec

MAP_FOV = math.radians(24.0)
"""Vertical; small, so that what stands leans little."""

# Half a road's width, so that nothing of the road touches the picture's edge.
BORDER = 0.6
"""Around the road on a map [m], and the same again for every 20 m of it."""

INK, PAPER = (20, 26, 30), (250, 250, 248)


class SceneView:
    """Draws one place."""

    def __init__(self, scene: Scene) -> None:
        """Make what draws it; its kernels are compiled at the first picture."""
        self.scene = scene
        self._simulator = Simulator(WorldSpec(SceneSpec(scene.name)), scene=scene)

    @property
    def car(self) -> CarSpec:
        """The kind of car whose camera looks along the path."""
        return self._simulator.car_spec

    def draw_map(self, longest: int = 1200) -> ByteArray:
        """Return the place from above, x to the right and y up, with its start, direction and a scale.

        Args:
            longest: Of the picture's sides [pixel]; the other one suits the place. Its shape: [height, width, 3].
        """
        low, high = self.find_box()
        across, deep = high - low
        width, height = (longest, longest * deep / across) if across >= deep else (longest * across / deep, longest)
        camera = CameraSpec(width=_even(width), height=_even(height), fov=MAP_FOV, supersample=2)
        middle, ground = 0.5 * (low + high), float(self.scene.path.position[:, 2].mean())
        up = 0.5 * float(deep) / math.tan(0.5 * MAP_FOV)
        eye = (float(middle[0]), float(middle[1]), ground + up)
        picture = self._simulator.view(0, eye, (0.0, 0.5 * math.pi, 0.5 * math.pi), camera).copy()
        return _mark_map(picture, self.scene, low, high)

    def find_box(self) -> tuple[FloatArray, FloatArray]:
        """Return least and greatest x, y of what a map shows [m], shape [2] each."""
        path = self.scene.path
        reach = float(max(path.width_left.max(), path.width_right.max()))
        low, high = path.position[:, :2].min(axis=0) - reach, path.position[:, :2].max(axis=0) + reach
        border = BORDER * (1.0 + float((high - low).max()) / 20.0)
        return low - border, high + border

    def look_along(self, share: float, width: int = 320, height: int = 240) -> ByteArray:
        """Return what a car's camera sees at a place of the path, shape [height, width, 3].

        Args:
            share: Of the path, 0 to 1.
            width: [pixel]
            height: [pixel]
        """
        path, car = self.scene.path, self._simulator.car_spec.camera
        index = min(int(share * len(path.position)), len(path.position) - 1)
        yaw, slope = path.frame.look(index)
        x, _, z = car.position
        forward, raised = x * math.cos(slope) - z * math.sin(slope), x * math.sin(slope) + z * math.cos(slope)
        eye = path.position[index] + (forward * math.cos(yaw), forward * math.sin(yaw), raised)
        camera = dataclasses.replace(car, width=width, height=height, supersample=2)
        return self._simulator.view(0, tuple(eye.tolist()), (0.0, car.rotation[1] - slope, yaw), camera).copy()


def _even(pixels: float) -> int:
    return max(64, 2 * round(0.5 * float(pixels)))


def _mark_map(picture: ByteArray, scene: Scene, low: FloatArray, high: FloatArray) -> ByteArray:
    """Return the map with an arrow where the path begins and a scale."""
    image = Image.fromarray(picture)
    pen, (width, height) = ImageDraw.Draw(image), image.size
    per_metre = width / float(high[0] - low[0])
    unit = max(10.0, 0.016 * max(width, height))

    def place(point: FloatArray) -> FloatArray:
        return np.column_stack(((point[:, 0] - low[0]) * per_metre, height - (point[:, 1] - low[1]) * per_metre))

    begin = scene.path.position[:2, :2]
    ahead = (begin[1] - begin[0]) / np.hypot(*(begin[1] - begin[0]))
    side, size = np.array((-ahead[1], ahead[0])), unit / per_metre
    arrow = begin[0] + np.array(
        [ahead * 1.3 * size, (side - ahead) * size, -ahead * 0.5 * size, (-side - ahead) * size]
    )
    pen.polygon([tuple(corner) for corner in place(arrow).tolist()], fill=(214, 40, 32), outline=PAPER, width=2)
    length = _choose_scale(0.25 * float(high[0] - low[0]))
    thick = max(3.0, 0.22 * unit)
    corners = [
        (x, y) for y in (height - 1.4 * unit, 3.2 * unit) for x in (1.4 * unit, width - 1.4 * unit - length * per_metre)
    ]
    x, y = max(corners, key=lambda corner: _measure_room(corner, length * per_metre, place(scene.path.position[:, :2])))
    pen.rectangle((x - 2, y - thick - 2, x + length * per_metre + 2, y + 2), fill=PAPER)
    pen.rectangle((x, y - thick, x + length * per_metre, y), fill=INK)
    font = ImageFont.load_default(1.3 * unit)
    pen.text((x, y - 1.5 * thick), f"{length:g} m", INK, font, anchor="ls", stroke_width=3, stroke_fill=PAPER)
    return np.asarray(image)


def _measure_room(corner: tuple[float, float], length: float, node: FloatArray) -> float:
    """Return how far the path stays away from a bar that begins at a corner, up to its own length [pixel]."""
    beside = np.maximum(np.abs(node[:, 0] - corner[0] - 0.5 * length) - 0.5 * length, 0.0)
    return min(float(np.hypot(beside, node[:, 1] - corner[1]).min()), 0.5 * length)


def _choose_scale(most: float) -> float:
    """Return 1, 2 or 5 times a power of ten, up to `most` [m]."""
    power = 10.0 ** math.floor(math.log10(most))
    return max(factor * power for factor in (1.0, 2.0, 5.0) if factor * power <= most)
