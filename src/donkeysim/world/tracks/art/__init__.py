"""What is drawn once and kept in files: pictures of surfaces, and the meshes of props and cars with their materials.

`python -m art`, at the root of the repository, draws all of them; a scene reads those that it shows.
"""

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image

from donkeysim.core.errors import SceneError, describe_unknown
from donkeysim.core.types import ByteArray, Float32Array, IntArray
from donkeysim.world.scene import SHADE_TEXTURE, Material, Mesh
from donkeysim.world.tracks.mesh import Assets, Shade
from donkeysim.world.tracks.tables.checks import is_picture_file

FOLDER = Path(__file__).parent

SIDE_MOST = 8192
"""Most texels along a side of such a picture, as of the ground's own."""


class Skin(NamedTuple):
    """A material of a mesh that is not in a scene yet.

    Attributes:
        flags: SHADE_* bits.
        colour: sRGB 0 to 1; multiplies the picture.
        picture: Name of what it shows; empty: nothing but its colour.
        segment: CLASS_*.
    """

    flags: int
    colour: Shade
    picture: str
    segment: int


SKIN_ROW = np.dtype("i4, f8, f8, f8, U32, i4")
"""A `Skin` in a file: its flags, red, green, blue, picture and segment."""


class MeshForm(NamedTuple):
    """One form of a mesh as its file has it.

    Attributes:
        corner: x, y, z [m], u, v, shape [vertex_count, 5].
        triangle: Its three vertices and its skin, shape [triangle_count, 4].
        skins: In the order in which a scene gathers them.
    """

    corner: Float32Array
    triangle: IntArray
    skins: tuple[Skin, ...]


def read_picture(name: str) -> ByteArray:
    """Return a picture, of the package or from a file, sRGB and alpha, shape [height, width, 4]."""
    with Image.open(find_picture(name)) as picture:
        return np.array(picture.convert("RGBA"))


def require_picture(name: str, key: str) -> None:
    """Refuse a picture that is not there.

    Args:
        name: One of the package's, or a file, as seen from here.
        key: Where a track file names it.

    Raises:
        SceneError: There is no such picture, the file is none, or it is too large.
    """
    if not is_picture_file(name):
        if name not in (known := list_pictures()):
            raise SceneError(describe_unknown("picture", name, known), key)
        return
    try:
        with Image.open(name) as picture:
            width, height = picture.size
    except (OSError, Image.DecompressionBombError) as error:
        raise SceneError(f"the picture {name} cannot be read: {error}.", key) from error
    if max(width, height) > SIDE_MOST:
        raise SceneError(f"the picture {name} is {width}x{height}; its sides may have up to {SIDE_MOST} pixels.", key)


def build_mesh(name: str, form: int, assets: Assets) -> Mesh:
    """Return a mesh in its own frame, its materials gathered.

    Args:
        name: "props/" and a kind, or "cars/" and a body style or "wheel".
        form: From 0.
    """
    corner, triangle, skins = read_form(name, form)
    known = np.array([_gather(skin, assets) for skin in skins], np.int32)
    vertex, uv = np.ascontiguousarray(corner[:, :3]), np.ascontiguousarray(corner[:, 3:])
    return Mesh(vertex, uv, np.ascontiguousarray(triangle[:, :3]), known[triangle[:, 3]])


@lru_cache(maxsize=256)
def read_form(name: str, form: int) -> MeshForm:
    """Return one form of a mesh; nobody writes it."""
    with np.load(find_mesh(name)) as file:
        rows = file[f"skins_{form}"].tolist()
        skins = tuple(Skin(flags, (r, g, b), picture, segment) for flags, r, g, b, picture, segment in rows)
        return MeshForm(file[f"corner_{form}"], file[f"triangle_{form}"], skins)


def find_picture(name: str) -> Path:
    """Return the file of a picture."""
    if is_picture_file(name):
        return Path(name)
    return FOLDER / "pictures" / f"{name}.png"


def list_pictures() -> tuple[str, ...]:
    """Return the names of all pictures."""
    return tuple(sorted(path.stem for path in (FOLDER / "pictures").glob("*.png")))


def find_mesh(name: str) -> Path:
    """Return the file of a mesh."""
    return FOLDER / "meshes" / f"{name}.npz"


def _gather(skin: Skin, assets: Assets) -> int:
    if skin.flags & SHADE_TEXTURE:
        flags = skin.flags & ~SHADE_TEXTURE
        return assets.ensure_textured(read_picture, skin.picture, segment=skin.segment, flags=flags, tint=skin.colour)
    return assets.ensure_material(Material(skin.flags, skin.colour, -1, skin.segment))
