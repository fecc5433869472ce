"""Textures as mip pyramids in one pool of texels, so that kernels fetch any texture with one gather."""

from __future__ import annotations

import math
import weakref
from dataclasses import dataclass, field

import numpy as np

from donkeysim.core.errors import SceneError, ShapeError
from donkeysim.core.types import ByteArray, Float32Array, FloatArray, IntArray, WordArray

LEVEL_LIMIT = 14
"""Mip levels a texture may have; its longer side is at most 2 ** (LEVEL_LIMIT - 1) texels."""

SKY_FACE_LIMIT = 512
"""Longest side of the faces that a sky panorama is turned into [texel]."""

SKY_MARGIN = 1.0 / 32.0
"""Share of a sky face's side that lies beyond its quarter turn, at each edge."""

_MEAN_STEPS = 8

_SKY_FACES: dict[int, list[ByteArray]] = {}
"""Faces of living panoramas by their `id`; sampling them takes longer than all else a renderer does at its start."""


@dataclass
class TexelPool:
    """All textures of a renderer, one after another; grows when a texture is added.

    Attributes:
        texel: RGBA packed as R | G << 8 | B << 16 | A << 24, shape [texel_count].
        level_base: First texel of each mip level, shape [texture_count, LEVEL_LIMIT].
        size_log: Logarithm of width and height to base 2, and the last level, shape [texture_count, 3].
    """

    texel: WordArray = field(default_factory=lambda: np.zeros(0, np.uint32))
    level_base: IntArray = field(default_factory=lambda: np.zeros((0, LEVEL_LIMIT), np.int32))
    size_log: IntArray = field(default_factory=lambda: np.zeros((0, 3), np.int32))

    def add(self, pictures: list[ByteArray]) -> int:
        """Add textures, shape [height, width, 4] each, sRGB and alpha; return the index of the first."""
        first = len(self.size_log)
        chunks, bases, sizes = [self.texel], [self.level_base], [self.size_log]
        cursor = len(self.texel)
        for picture in pictures:
            levels = make_mip_levels(picture)
            base = np.zeros((1, LEVEL_LIMIT), np.int32)
            for index in range(LEVEL_LIMIT):
                if index < len(levels):
                    base[0, index] = cursor
                    cursor += levels[index].size
                    chunks.append(levels[index].ravel())
                else:
                    base[0, index] = base[0, len(levels) - 1]
            bases.append(base)
            height, width = picture.shape[:2]
            sizes.append(np.array([[int(math.log2(width)), int(math.log2(height)), len(levels) - 1]], np.int32))
        self.texel = np.concatenate(chunks)
        self.level_base = np.concatenate(bases)
        self.size_log = np.concatenate(sizes)
        return first

    def measure(self, texture: IntArray) -> Float32Array:
        """Return width and height [texel] of textures, shape [texture_count, 2]."""
        return (1 << self.size_log[texture, :2]).astype(np.float32)

    def average_triangles(self, uv: FloatArray, texture: IntArray) -> Float32Array:
        """Return mean colours of parts of textures, RGB 0 to 255, shape [triangle_count, 3].

        Args:
            uv: Texture coordinates of triangles' corners, shape [triangle_count, 3, 2].
            texture: Of each triangle.
        """
        total = np.zeros((len(uv), 3))
        steps = [(i + 1 / 3, j + 1 / 3) for i in range(_MEAN_STEPS) for j in range(_MEAN_STEPS - i)]
        for i, j in steps:
            a, b = i / _MEAN_STEPS, j / _MEAN_STEPS
            place = uv[:, 0] * (1 - a - b) + uv[:, 1] * a + uv[:, 2] * b
            size = 1 << self.size_log[texture, :2].astype(np.int64)
            at = np.floor(place * size).astype(np.int64) & (size - 1)
            word = self.texel[self.level_base[texture, 0] + at[:, 1] * size[:, 0] + at[:, 0]]
            total += np.stack([word & 255, (word >> 8) & 255, (word >> 16) & 255], axis=1)
        return (total / len(steps)).astype(np.float32)


def make_mip_levels(picture: ByteArray) -> list[WordArray]:
    """Return a texture's mip levels, each half as wide and high as the one before, down to one texel.

    Colours are averaged weighted by alpha, so that holes do not bleed into what surrounds them.

    Raises:
        ShapeError: Not [height, width, 4] with sides that are powers of two within the limit.
    """
    sides = picture.shape[:2]
    allowed = [1 << exponent for exponent in range(LEVEL_LIMIT)]
    if picture.ndim != 3 or picture.shape[2] != 4 or any(side not in allowed for side in sides):
        raise ShapeError(
            f"a texture has the shape {picture.shape}; it takes [height, width, 4] with sides that are powers of two "
            f"up to {allowed[-1]}."
        )
    levels = [_pack(picture)]
    current = picture.astype(np.float32)
    halve = _average if picture[..., 3].min() == 255 else _halve
    while current.shape[0] > 1 or current.shape[1] > 1:
        current = halve(current)
        levels.append(_pack(np.rint(current).astype(np.uint8)))
    return levels


def _average(picture: np.ndarray) -> np.ndarray:
    """Return a picture without holes at half its size."""
    if picture.shape[0] > 1:
        picture = 0.5 * (picture[0::2] + picture[1::2])
    if picture.shape[1] > 1:
        picture = 0.5 * (picture[:, 0::2] + picture[:, 1::2])
    return picture


def _halve(picture: np.ndarray) -> np.ndarray:
    """Return a picture at half its size, its colours weighted by alpha."""
    weighted = picture.copy()
    weighted[..., :3] *= weighted[..., 3:]
    plain = picture
    for axis in (0, 1):
        if weighted.shape[axis] > 1:
            weighted = 0.5 * (
                np.take(weighted, range(0, weighted.shape[axis], 2), axis)
                + np.take(weighted, range(1, weighted.shape[axis], 2), axis)
            )
            plain = 0.5 * (
                np.take(plain, range(0, plain.shape[axis], 2), axis)
                + np.take(plain, range(1, plain.shape[axis], 2), axis)
            )
    alpha = weighted[..., 3:]
    colour = np.where(alpha > 0, weighted[..., :3] / np.maximum(alpha, 1e-6), plain[..., :3])
    return np.concatenate([colour, alpha], axis=2)


def _pack(picture: ByteArray) -> WordArray:
    return np.ascontiguousarray(picture).view("<u4")[..., 0].astype(np.uint32)


def take_sky_faces(panorama: ByteArray) -> list[ByteArray]:
    """Return what `make_sky_faces` does, made once for as long as the panorama lives: nobody writes a scene's."""
    key = id(panorama)
    if key not in _SKY_FACES:
        _SKY_FACES[key] = make_sky_faces(panorama)
        weakref.finalize(panorama, _SKY_FACES.pop, key)
    return _SKY_FACES[key]


def make_sky_faces(panorama: ByteArray) -> list[ByteArray]:
    """Return the six faces of a cube around the eye that show a panorama.

    Faces look along +x, +y, -x, -y, +z, -z. On the first four, u grows to the right seen from inside and v downwards;
    on the top and bottom u grows with -y, v with +x and -x. Each face shows a little more than the 90°
    it is for (`SKY_MARGIN`), so that texels taken across its edge are right too.

    Args:
        panorama: u = azimuth over 2π (+ = left of +x), v from zenith to nadir, shape [height, width, 4].
    """
    side = 16
    while side < min(SKY_FACE_LIMIT, panorama.shape[1] // 4):
        side *= 2
    step = ((np.arange(side) + 0.5) / side * 2.0 - 1.0) / (1.0 - 2.0 * SKY_MARGIN)
    right, down = np.meshgrid(step, step)
    one = np.ones_like(right)
    directions = [
        (one, -right, -down),
        (right, one, -down),
        (-one, right, -down),
        (-right, -one, -down),
        (down, -right, one),
        (-down, -right, -one),
    ]
    return [_sample_panorama(panorama, x, y, z) for x, y, z in directions]


def _sample_panorama(panorama: ByteArray, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> ByteArray:
    height, width = panorama.shape[:2]
    azimuth = np.arctan2(y, x) / (2.0 * np.pi)
    fall = np.arccos(z / np.sqrt(x * x + y * y + z * z)) / np.pi
    column = azimuth * width - 0.5
    row = np.clip(fall * height - 0.5, 0.0, height - 1.0)
    c0, r0 = np.floor(column).astype(int), np.floor(row).astype(int)
    fc, fr = (column - c0)[..., None], (row - r0)[..., None]
    r1 = np.minimum(r0 + 1, height - 1)
    texel = panorama.astype(np.float32)
    upper = texel[r0, c0 % width] * (1 - fc) + texel[r0, (c0 + 1) % width] * fc
    lower = texel[r1, c0 % width] * (1 - fc) + texel[r1, (c0 + 1) % width] * fc
    result: ByteArray = np.rint(upper * (1 - fr) + lower * fr).astype(np.uint8)
    result[..., 3] = 255
    return result


def check_texture_index(index: int, count: int, owner: str) -> None:
    """Raise SceneError when a material or sky names a texture that is not there."""
    if not 0 <= index < count:
        raise SceneError(f"{owner} uses texture {index}, but the scene has textures 0 to {count - 1}.")
