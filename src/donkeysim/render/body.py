"""Bodies and wheels as they fit a car: all are drawn for the chassis of the preset `original`.

On them its name, a small texture with holes around the letters.
"""

import functools
import unicodedata
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple, cast

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from donkeysim.core.types import ByteArray, Float32Array, FloatArray, IntArray
from donkeysim.render.geometry import PreparedMesh, prepare_mesh
from donkeysim.render.texture import TexelPool
from donkeysim.world.scene import Mesh, Scene
from donkeysim.world.specs import CarSpec, load_car

DRAWN_FOR = "original"
"""The preset whose wheels the meshes of bodies stand on."""

LINE_LIMIT = 6
"""Lines of a plate at most."""

LETTER_LIMIT = 40
"""Letters of a line at most."""

LETTER_PIXELS = 40
"""Size of the font that plates are drawn with [texel]."""

LETTER_HEIGHT = 0.0011
"""Height of a line for each point of `font_size` [m]; a plate of size 100 has lines as high as half a car."""

_MARGIN = 6


class Stance(NamedTuple):
    """How the wheels of a resting car stand, seen from its body.

    Attributes:
        centre: Amid the four wheels' centres, body frame [m], shape [3].
        size: Wheelbase, track width and radius of the wheels [m], shape [3].
    """

    centre: FloatArray
    size: FloatArray


def fit_models(scene: Scene, car: CarSpec) -> tuple[Mesh, ...]:
    """Return the models of a scene with bodies and wheels that fit a car; those of the others as they are.

    A body is made longer as the wheelbase is, wider as the track and higher as the wheels, so that wheels stay where
    its fenders are; a wheel is made larger all around.
    """
    drawn, worn = _measure_drawn(), measure_stance(car)
    factor = worn.size / drawn.size
    if np.allclose(worn.centre, drawn.centre, atol=1e-9) and np.allclose(worn.size, drawn.size, atol=1e-9):
        return scene.models
    models = list(scene.models)
    for body in {model.body for model in scene.car_models.values()}:
        models[body] = _move(models[body], (models[body].vertex - drawn.centre) * factor + worn.centre)
    for wheel in {model.wheel for model in scene.car_models.values()}:
        models[wheel] = _move(models[wheel], models[wheel].vertex * factor[2])
    return tuple(models)


def measure_stance(car: CarSpec) -> Stance:
    """Return how a car stands on its wheels when it rests on level ground."""
    wheel = np.array(car.wheel_position)
    wheel[:, 2] -= car.suspension_target * car.suspension_travel
    front, rear = wheel[:2].mean(axis=0), wheel[2:].mean(axis=0)
    track = np.abs(wheel[[0, 2], 1] - wheel[[1, 3], 1]).mean()
    return Stance(0.5 * (front + rear), np.array((front[0] - rear[0], track, car.wheel_radius)))


@lru_cache(maxsize=1)
def _measure_drawn() -> Stance:
    return measure_stance(load_car(DRAWN_FOR))


def _move(mesh: Mesh, vertex: FloatArray) -> Mesh:
    return replace(mesh, vertex=vertex.astype(np.float32))


def clean_text(name: str) -> list[str]:
    """Return the lines that a plate shows: without control characters, cut to what fits."""
    lines = []
    for line in name.replace("\r\n", "\n").replace("\r", "\n").split("\n")[:LINE_LIMIT]:
        shown = "".join(letter for letter in line if unicodedata.category(letter)[0] != "C")
        lines.append(shown[:LETTER_LIMIT].rstrip())
    while lines and not lines[-1]:
        lines.pop()
    return lines


def draw_plate(name: str) -> ByteArray | None:
    """Return a plate's texture, sides powers of two, shape [height, width, 4]; None when there is nothing to show."""
    lines = clean_text(name)
    if not any(line.strip() for line in lines):
        return None
    font = ImageFont.load_default(LETTER_PIXELS)
    text = "\n".join(lines)
    ruler = ImageDraw.Draw(Image.new("L", (1, 1)))
    left, top, right, bottom = ruler.multiline_textbbox((0, 0), text, font=font, align="center", stroke_width=3)
    size = (int(right - left) + 2 * _MARGIN, int(bottom - top) + 2 * _MARGIN)
    picture = Image.new("RGBA", size, (20, 20, 24, 0))
    ImageDraw.Draw(picture).multiline_text(
        (_MARGIN - left, _MARGIN - top),
        text,
        font=font,
        fill=(255, 255, 255, 255),
        align="center",
        stroke_width=3,
        stroke_fill=(20, 20, 24, 255),
    )
    wide = min(1024, 1 << (size[0] - 1).bit_length())
    high = min(256, 1 << (size[1] - 1).bit_length())
    return cast(ByteArray, np.asarray(picture.resize((wide, high), Image.Resampling.LANCZOS)).copy())


def measure_plate(name: str, font_size: int) -> tuple[float, float]:
    """Return width and height of a plate [m]."""
    lines = clean_text(name)
    ruler = ImageDraw.Draw(Image.new("L", (1, 1)))
    font = ImageFont.load_default(LETTER_PIXELS)
    left, top, right, bottom = ruler.multiline_textbbox((0, 0), "\n".join(lines), font=font, stroke_width=3)
    metre = LETTER_HEIGHT * font_size / LETTER_PIXELS
    return (right - left + 2 * _MARGIN) * metre, (bottom - top + 2 * _MARGIN) * metre


class Plate(NamedTuple):
    """A name plate, ready for the tables of any renderer."""

    picture: ByteArray
    mesh: PreparedMesh


@functools.lru_cache(maxsize=128)
def prepare_plate(name: str, font_size: int) -> Plate | None:
    """Return a name plate, None when there is nothing to show; takes milliseconds the first time, on any thread."""
    picture = draw_plate(name)
    if picture is None:
        return None
    pool = TexelPool()
    texture = np.array([pool.add([picture])], np.int32)
    return Plate(picture, prepare_mesh(make_plate_mesh(*measure_plate(name, font_size)), texture, pool))


def make_plate_mesh(width: float, height: float) -> Mesh:
    """Return a plate standing on its origin, facing +x, u growing along +y; its material is number 0."""
    half = 0.5 * width
    vertex: Float32Array = np.array([(0, -half, 0), (0, half, 0), (0, half, height), (0, -half, height)], np.float32)
    uv: Float32Array = np.array([(0, 1), (1, 1), (1, 0), (0, 0)], np.float32)
    triangle: IntArray = np.array([(0, 1, 2), (0, 2, 3)], np.int32)
    return Mesh(vertex=vertex, uv=uv, triangle=triangle, material=np.zeros(2, np.int32))
