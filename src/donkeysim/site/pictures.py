"""Textures of a place as pages get them: as the pictures of its model, a tenth of the bytes of their texels.

A texture with holes has a picture of its own without alpha: browsers spoil the colours of texels that are hardly seen.
Its alpha travels beside it, as it decides what is there and what is not.
"""

import dataclasses
import io
import json
import struct
from typing import NamedTuple

import numpy as np
from PIL import Image

from donkeysim.core.types import ByteArray, WordArray
from donkeysim.render.tables import PictureTables
from donkeysim.render.texture import SKY_AXES
from donkeysim.site.place_file import Texture
from donkeysim.watch.place_model import encode_webp
from donkeysim.world.scene import Scene

SMALL = 64 * 64
"""A texture of so few texels travels as it is: WebP would spoil more than it saves."""


SKY = "picture sky"
"""The section of a panorama: it is in the model, too, but comes before it."""

WHITE = 1
"""Textures of a renderer that come before those of its first scene: a white texel."""


class PackedScene(NamedTuple):
    """A place with the textures that pages have.

    Attributes:
        scene: The place.
        colours: Pictures of textures with holes, by the textures' numbers.
    """

    scene: Scene
    colours: dict[int, bytes]


def pack_scene(scene: Scene) -> PackedScene:
    """Return a place with its textures as pages unpack them."""
    textures, colours = list(scene.textures), {}
    for index, texture in enumerate(textures):
        if texture.shape[0] * texture.shape[1] <= SMALL:
            continue
        alpha = texture[..., 3:]
        if alpha.min() == 255:
            textures[index] = _decode(encode_webp(texture))
        else:
            colours[index] = encode_webp(_fill_holes(texture))
            textures[index] = np.concatenate((_decode(colours[index])[..., :3], alpha), axis=2)
    return PackedScene(dataclasses.replace(scene, textures=tuple(textures)), colours)


def list_textures(packed: PackedScene, tables: PictureTables, texel_at: int) -> list[Texture]:
    """Return all textures of a place's tables that do not travel as they are.

    Args:
        packed: The place.
        tables: Of a renderer of that place only, whose cars wear no names.
        texel_at: Address of its texels.
    """
    scene, listed = packed.scene, []
    count, sky = len(scene.textures), scene.light.sky_texture
    for index, (wide, high, last) in enumerate(tables.size_log.tolist()[WHITE:]):
        face = index - count if sky >= 0 and count <= index < count + len(SKY_AXES) else None
        if (1 << wide + high) <= SMALL and face is None:
            continue
        source = index if face is None else sky
        levels = (texel_at + 4 * tables.level_base[WHITE + index, : last + 1].astype(np.int64)).tolist()
        holed = face is None and source in packed.colours
        picture = SKY if face is not None else f"picture {source}" if holed else f"texture {source}"
        listed.append(Texture(levels, 1 << wide, 1 << high, picture, f"alpha {source}" if holed else None, face))
    return listed


def list_levels(tables: PictureTables, row: int) -> list[WordArray]:
    """Return the texels of all mip levels of a texture, from the largest to the smallest, each of shape [count]."""
    wide, high, last = tables.size_log[row].tolist()
    sizes = [(1 << max(wide - level, 0)) * (1 << max(high - level, 0)) for level in range(last + 1)]
    return [tables.texel[base : base + size] for base, size in zip(tables.level_base[row], sizes, strict=False)]


def pick_alpha(tables: PictureTables, index: int) -> bytes:
    """Return the alpha of all levels of a scene's texture, from the largest to the smallest, a byte each."""
    return (np.concatenate(list_levels(tables, WHITE + index)) >> 24).astype(np.uint8).tobytes()


def list_model_pictures(model: bytes) -> set[str]:
    """Return the names of the pictures in a GLB file."""
    (length,) = struct.unpack_from("<I", model, 12)
    return {image["name"] for image in json.loads(model[20 : 20 + length])["images"]}


def _fill_holes(texture: ByteArray) -> ByteArray:
    """Return a texture without alpha, its holes of the mean colour of what is around them."""
    filled, holes = texture.copy(), texture[..., 3] < 128
    if not holes.all():
        filled[holes, :3] = texture[~holes][:, :3].mean(axis=0)
    filled[..., 3] = 255
    return filled


def _decode(file: bytes) -> ByteArray:
    picture: ByteArray = np.array(Image.open(io.BytesIO(file)).convert("RGBA"))
    return picture
