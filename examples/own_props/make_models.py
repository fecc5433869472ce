"""Make the models of yard.toml: a drum, a skittle, a parcel and a ribbon, each a .glb file with its texture inside.

Run it from anywhere: `python examples/own_props/make_models.py`. A modelling program writes the same: Blender by File >
Export > glTF 2.0, format glTF Binary (.glb), with +Y up.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import trimesh
from PIL import Image, ImageDraw, ImageFont
from trimesh.visual.material import PBRMaterial

HERE = Path(__file__).parent
SECTIONS = 20
"""Of what is round."""

Colour = tuple[int, int, int, int]


def turn_profile(profile: Sequence[tuple[float, float]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return vertices, texture coordinates and triangles of a solid of revolution about z.

    Args:
        profile: Radius and height of each ring, upwards [m].
    """
    rings = np.array(profile)
    angle = np.linspace(0.0, 2.0 * np.pi, SECTIONS + 1)
    vertex = np.stack(
        [np.outer(rings[:, 0], np.cos(angle)), np.outer(rings[:, 0], np.sin(angle)), np.tile(rings[:, 1:], len(angle))],
        axis=-1,
    )
    v, u = np.meshgrid(rings[:, 1] / rings[-1, 1], angle / (2.0 * np.pi), indexing="ij")
    first = (np.arange(len(rings) - 1)[:, None] * len(angle) + np.arange(SECTIONS)).ravel()
    above = first + len(angle)
    triangle = np.concatenate((np.stack((first, first + 1, above), 1), np.stack((first + 1, above + 1, above), 1)))
    return vertex.reshape(-1, 3), np.stack((u, v), -1).reshape(-1, 2), triangle


def write(name: str, vertex: np.ndarray, uv: np.ndarray, triangle: np.ndarray, picture: Image.Image) -> None:
    """Write a model; z is up here, y in the file."""
    paint = PBRMaterial(
        baseColorTexture=picture,
        doubleSided=picture.mode == "RGBA",
        alphaMode="MASK" if picture.mode == "RGBA" else None,
    )
    x, y, z = vertex.T
    visual = trimesh.visual.TextureVisuals(uv, paint)
    mesh = trimesh.Trimesh(np.column_stack((x, z, -y)), triangle, visual=visual, process=False)
    trimesh.Scene({name: mesh}).export(HERE / f"{name}.glb")


def print_label(size: tuple[int, int], ground: str, ink: str, text: str, times: int = 1) -> Image.Image:
    """Return a picture with a text on it, several times side by side."""
    picture = Image.new("RGB", size, ground)
    draw = ImageDraw.Draw(picture)
    font = ImageFont.load_default(size=size[1] // 4)
    for number in range(times):
        middle = ((number + 0.5) * size[0] / times, 0.5 * size[1])
        draw.text(middle, text, fill=ink, font=font, anchor="mm")
    return picture


def make_drum() -> None:
    """Write an oil drum of 0.24 m with hoops, its lid a little lower than its rim."""
    side = [(0.08, 0.0), (0.08, 0.078), (0.084, 0.082), (0.08, 0.086), (0.08, 0.154), (0.084, 0.158), (0.08, 0.162)]
    rim = [(0.08, 0.24), (0.074, 0.24), (0.073, 0.2399), (0.0, 0.24)]
    picture = print_label((256, 128), "#1d6fa5", "#f4f1e4", "OIL", 3)
    ImageDraw.Draw(picture).rectangle((0, 0, 256, 4), fill="#123f5e")
    write("drum", *turn_profile([*side, *rim]), picture)


def make_skittle() -> None:
    """Write a skittle of 0.3 m, white with two red rings round its neck."""
    profile = [(0.044, 0.0), (0.051, 0.05), (0.053, 0.1), (0.044, 0.15), (0.025, 0.2), (0.022, 0.22), (0.028, 0.25)]
    picture = Image.new("RGB", (64, 256), "#f6f3ea")
    draw = ImageDraw.Draw(picture)
    for top in (66, 88):
        draw.rectangle((0, top, 64, top + 10), fill="#c3202a")
    write("skittle", *turn_profile([*profile, (0.027, 0.275), (0.016, 0.293), (0.0, 0.3)]), picture)


def make_parcel() -> None:
    """Write a parcel of 0.30 x 0.20 x 0.18 m, taped and labelled."""
    box = trimesh.creation.box((0.30, 0.20, 0.18))
    corner = box.vertices[box.faces].reshape(-1, 3)
    normal = np.repeat(box.face_normals, 3, axis=0)
    right = np.where(
        np.abs(normal[:, 0]) > 0.5, normal[:, 0] * corner[:, 1] / 0.20, -normal[:, 1] * corner[:, 0] / 0.30
    )
    across = np.where(np.abs(normal[:, 2]) > 0.5, corner[:, 0] / 0.30, right)
    along = np.where(np.abs(normal[:, 2]) > 0.5, corner[:, 1] / 0.20, corner[:, 2] / 0.18)
    picture = print_label((256, 128), "#b98a55", "#3a2a18", "FRAGILE")
    ImageDraw.Draw(picture).rectangle((0, 8, 256, 26), fill="#d9c08f")
    write("parcel", corner, np.column_stack((across, along)) + 0.5, np.arange(len(corner)).reshape(-1, 3), picture)


def make_ribbon() -> None:
    """Write a ribbon of 1.2 x 0.5 m to drive through: strips of cloth with gaps between them, under a rail."""
    vertex = np.array([(0.0, -0.6, 0.0), (0.0, 0.6, 0.0), (0.0, 0.6, 0.5), (0.0, -0.6, 0.5)])
    picture = Image.new("RGBA", (256, 128), (0, 0, 0, 0))
    draw = ImageDraw.Draw(picture)
    draw.rectangle((0, 0, 256, 14), fill="#d8dadd")
    colours: tuple[Colour, ...] = ((226, 54, 54, 255), (250, 214, 60, 255), (46, 120, 200, 255))
    for number in range(16):
        draw.rectangle((16 * number + 2, 14, 16 * number + 12, 127 - 9 * (number % 2)), fill=colours[number % 3])
    uv = np.array([(0.0, 0.0), (0.998, 0.0), (0.998, 0.998), (0.0, 0.998)])
    write("ribbon", vertex, uv, np.array([(0, 1, 2), (0, 2, 3)]), picture)


if __name__ == "__main__":
    for make in (make_drum, make_skittle, make_parcel, make_ribbon):
        make()
