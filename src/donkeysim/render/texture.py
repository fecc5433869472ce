"""Textures as mip pyramids in one pool of texels, so that kernels fetch any texture with one gather."""

import math
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from donkeysim.core.errors import SceneError, ShapeError
from donkeysim.core.memory import SharedPages, remember, share_pages
from donkeysim.core.types import ByteArray, Float32Array, FloatArray, IntArray, WordArray
from donkeysim.core.workers import work_through
from donkeysim.world.scene import Scene

LEVEL_LIMIT = 14
"""Mip levels a texture may have; its longer side is at most 2 ** (LEVEL_LIMIT - 1) texels."""

SKY_FACE_LIMIT = 512
"""Longest side of the faces that a sky panorama is turned into [texel]."""

# Texels are taken across an edge, too, and from farther away the smaller the mip level is.
SKY_MARGIN = 1.0 / 32.0
"""Share of a sky face's side that lies beyond its quarter turn, at each edge."""

COARSEST_HOLED = 4
"""Shorter side of the last mip level of a picture with holes [texel]: one texel could only be there or not."""

SPARE = 3 << 20
"""Room for texels that are added later: the faces of a sky and many name plates."""

SKY_AXES = (
    ((1, 0, 0), (0, -1, 0), (0, 0, -1)),
    ((0, 1, 0), (1, 0, 0), (0, 0, -1)),
    ((-1, 0, 0), (0, 1, 0), (0, 0, -1)),
    ((0, -1, 0), (-1, 0, 0), (0, 0, -1)),
    ((0, 0, 1), (0, -1, 0), (1, 0, 0)),
    ((0, 0, -1), (0, -1, 0), (-1, 0, 0)),
)
"""Of each face of a sky: where its middle lies, and which way its pictures' columns and rows run."""

_BAND_ROWS = 256
_SKY_ROWS = 32
"""Rows of all faces of a sky that are worked on at a time: what that takes stays in the cache."""
_MEAN_STEPS = 8

_SKY_FACES: dict[int, list[ByteArray]] = {}
"""Faces of living panoramas by their `id`; sampling them takes longer than all else a renderer does at its start."""

_HOLED_LEVELS: dict[int, list[WordArray]] = {}
"""Mip levels of living pictures with holes by their `id`: those of leaves take as long as those of a whole ground."""

_SMALLER_LEVELS: dict[int, list[WordArray]] = {}
"""Mip levels of other living pictures by their `id`, but for the first, which is the picture: a third of its memory."""

# Copying texels was nearly all that a further renderer took. Most programs have one only, which would gain nothing.
_FILLED: dict[int, list[tuple[SharedPages | None, IntArray, IntArray]]] = {}
"""Of living scenes by their `id`: what `TexelPool` has when it is filled, without texels after the first renderer."""


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
    _count: int = 0
    _room: WordArray = field(default_factory=lambda: np.zeros(0, np.uint32))
    _next_room: tuple[WordArray, int] | None = None
    _last_room: WordArray | None = None
    _moving: threading.Lock = field(default_factory=threading.Lock)

    def add(self, pictures: list[ByteArray]) -> int:
        """Add textures, shape [height, width, 4] each, sRGB and alpha; return the index of the first."""
        first, self._count = self._count, self._count + len(pictures)
        if self._count <= len(self.size_log):
            return first  # see `fill`
        bases, sizes = [self.level_base], [self.size_log]
        cursor = len(self.texel)
        texel = self._make_room(cursor + sum(count_texels(picture) for picture in pictures))
        for picture in pictures:
            base = np.zeros((1, LEVEL_LIMIT), np.int32)
            count = 0
            for level in make_mip_levels(picture):
                texel[cursor : cursor + level.size] = level.ravel()
                base[0, count:] = cursor
                cursor += level.size
                count += 1
            bases.append(base)
            height, width = picture.shape[:2]
            sizes.append(np.array([[int(math.log2(width)), int(math.log2(height)), count - 1]], np.int32))
        self.texel = texel
        self.level_base = np.concatenate(bases)
        self.size_log = np.concatenate(sizes)
        return first

    def fill(self, scenes: Sequence[Scene]) -> None:
        """Take the texels of renderers that had the same single scene before; adding them anew then does nothing."""
        filled = _FILLED.get(id(scenes[0])) if len(scenes) == 1 else None
        if filled and (pages := filled[-1][0]) is not None:
            _, self.level_base, self.size_log = filled[-1]
            self._room = pages.open()
            self.texel = self._room[: pages.count]

    def share(self, scenes: Sequence[Scene]) -> None:
        """Let further renderers of a single scene, all of which has been added, have its texels without a copy."""
        filled = remember(_FILLED, scenes[0], list[tuple[SharedPages | None, IntArray, IntArray]])
        if len(scenes) == 1 and len(filled) < 2:
            pages = share_pages(self.texel, len(self.texel) + SPARE) if filled else None
            filled.append((pages, self.level_base, self.size_log))
            self.fill(scenes)

    def replace(self, texture: int, picture: ByteArray) -> None:
        """Write a picture of the same size, with holes as the other, in the place of a texture."""
        with self._moving:
            rooms = [self.texel] if self._next_room is None else [self.texel, self._next_room[0]]
            for first, level in zip(self.level_base[texture].tolist(), make_mip_levels(picture), strict=False):
                for room in rooms:
                    room[first : first + level.size] = level.ravel()

    def reserve(self) -> None:
        """Make room for further textures where little is left; may be called on any thread, the copy takes a while."""
        self._last_room = None
        known = self.texel
        if len(known) + SPARE // 2 > len(self._room):
            with self._moving:
                room, copied = self._next_room or (_allocate_texels(len(known) + SPARE), 0)
                room[copied : len(known)] = known[copied:]
                self._next_room = room, len(known)

    def _make_room(self, count: int) -> WordArray:
        """Return the texels there are and room for more, `count` in all; small additions need no copy of all."""
        if count > len(self._room):
            room, copied = self._next_room or (self._room, 0)
            if count > len(room):
                room, copied = _allocate_texels(count), 0
            room[copied : len(self.texel)] = self.texel[copied:]
            # Even giving back so much memory takes milliseconds: whoever reserves next does it.
            self._last_room, self._room, self._next_room = self._room, room, None
        return self._room[:count]

    def measure(self, texture: IntArray) -> Float32Array:
        """Return width and height [texel] of textures, shape [texture_count, 2]."""
        return (1 << self.size_log[texture, :2]).astype(np.float32)

    def average_triangles(self, uv: FloatArray, texture: IntArray) -> Float32Array:
        """Return mean colours of parts of textures, holes aside, RGB 0 to 255, shape [triangle_count, 3].

        Args:
            uv: Texture coordinates of triangles' corners, shape [triangle_count, 3, 2].
            texture: Of each triangle.
        """
        total, weight = np.zeros((len(uv), 3)), np.zeros((len(uv), 1))
        steps = [(i + 1 / 3, j + 1 / 3) for i in range(_MEAN_STEPS) for j in range(_MEAN_STEPS - i)]
        for i, j in steps:
            a, b = i / _MEAN_STEPS, j / _MEAN_STEPS
            place = uv[:, 0] * (1 - a - b) + uv[:, 1] * a + uv[:, 2] * b
            size = 1 << self.size_log[texture, :2].astype(np.int64)
            at = np.floor(place * size).astype(np.int64) & (size - 1)
            word = self.texel[self.level_base[texture, 0] + at[:, 1] * size[:, 0] + at[:, 0]]
            there = (word >> 31)[:, None]
            total += there * np.stack([word & 255, (word >> 8) & 255, (word >> 16) & 255], axis=1)
            weight += there
        return (total / np.maximum(weight, 1)).astype(np.float32)


def _allocate_texels(count: int) -> WordArray:
    """Return room for texels and half as many more; what is not used takes no memory."""
    return np.empty(count + max(count // 2, SPARE), np.uint32)


def count_texels(picture: ByteArray) -> int:
    """Return how many texels all mip levels of a picture have."""
    check_picture(picture)
    height, width = picture.shape[:2]
    total = int(height * width)
    holed = has_holes(picture)
    while min(height, width) > COARSEST_HOLED if holed else max(height, width) > 1:
        height, width = max(height // 2, 1), max(width // 2, 1)
        total += height * width
    return total


def has_holes(picture: ByteArray) -> bool:
    """Return whether any texel of a picture, shape [height, width, 4], lets something through."""
    return bool(_pack(picture).min() < 0xFF000000)


def check_picture(picture: ByteArray) -> None:
    """Raise ShapeError unless it is [height, width, 4] with sides that are powers of two within the limit."""
    sides = picture.shape[:2]
    allowed = [1 << exponent for exponent in range(LEVEL_LIMIT)]
    if picture.ndim != 3 or picture.shape[2] != 4 or any(side not in allowed for side in sides):
        raise ShapeError(
            f"a texture has the shape {picture.shape}; it takes [height, width, 4] with sides that are powers of two "
            f"up to {allowed[-1]}."
        )


def make_mip_levels(picture: ByteArray) -> Iterator[WordArray]:
    """Give a texture's mip levels one by one, each half as wide and high as the one before, down to one texel.

    Colours are averaged weighted by alpha, so that holes do not bleed into what surrounds them. The levels are
    remembered: nobody may change the picture afterwards.
    """
    if has_holes(picture):
        yield from remember(_HOLED_LEVELS, picture, lambda: list(_make_holed_levels(picture)))
    else:
        yield _pack(picture)
        yield from remember(_SMALLER_LEVELS, picture, lambda: list(_make_smaller_levels(picture)))


def _make_smaller_levels(picture: ByteArray) -> Iterator[WordArray]:
    """Give the mip levels of a picture without holes, but for the first."""
    # The first levels as whole sums of 2 ** bits texels: a large picture in floats would take much memory.
    total, bits = picture, 0
    while bits < 8 and min(total.shape[:2]) > 1:
        total, bits = _add_neighbours(total), bits + 2
        yield _pack(_divide(total, bits))
    current = total.astype(np.float32) / np.float32(1 << bits)
    while current.shape[0] > 1 or current.shape[1] > 1:
        current = _average(current)
        yield _pack(np.rint(current).astype(np.uint8))


def _add_neighbours(total: np.ndarray) -> np.ndarray:
    """Return the sums of blocks of 2x2, found some rows at a time, by as many threads as there are processors."""
    rows, columns, channels = total.shape
    sums = np.empty((rows // 2, columns // 2, channels), np.uint16)

    def work(top: int) -> None:
        band = total[top : top + _BAND_ROWS]
        pair = np.add(band[0::2], band[1::2], dtype=np.uint16)
        np.add(pair[:, 0::2], pair[:, 1::2], out=sums[top // 2 : top // 2 + len(pair)])

    if rows <= _BAND_ROWS:
        work(0)
        return sums
    work_through(work, range(0, rows, _BAND_ROWS))
    return sums


def _divide(total: np.ndarray, bits: int) -> ByteArray:
    """Return sums of 2 ** bits bytes over their number, halves rounded to the even neighbour."""
    shares = np.empty(total.shape, np.uint8)
    for top in range(0, len(total), _BAND_ROWS):
        band = total[top : top + _BAND_ROWS]
        share = (band >> np.uint16(bits)) & np.uint16(1)
        share += band
        share += np.uint16((1 << bits >> 1) - 1)
        shares[top : top + _BAND_ROWS] = share >> np.uint16(bits)
    return shares


def _make_holed_levels(picture: ByteArray) -> Iterator[WordArray]:
    """Give the mip levels of a picture with holes: on each about as much is left as on the first.

    Averages alone would close fine meshes and make sparse leaves vanish: a texel counts as there when its alpha is one
    half. Holes take the colour of what is around them, which the four texels of a pixel at an edge then show.
    """
    levels = [picture.astype(np.float32)]
    while min(levels[-1].shape[:2]) > COARSEST_HOLED:
        levels.append(_halve(levels[-1]))
    colour = levels[-1][..., :3]
    for index in range(len(levels) - 1, -1, -1):
        level = levels[index]
        down, across = (large // small for large, small in zip(level.shape[:2], colour.shape[:2], strict=True))
        grown = np.repeat(np.repeat(colour, down, axis=0), across, axis=1)
        colour = np.where(level[..., 3:] > 0.0, level[..., :3], grown)
        levels[index] = np.concatenate((colour, level[..., 3:]), axis=2)
    share = float((picture[..., 3] >= 128).mean())
    for level in levels:
        level[..., 3] = picture[..., 3] if level is levels[0] else _keep_share(level[..., 3], share)
        yield _pack(np.rint(level).astype(np.uint8))


def _keep_share(alpha: np.ndarray, share: float) -> np.ndarray:
    """Return alpha of 255 for this share of texels, those with the most, and 0 for the others.

    Among equals a fixed pattern that is spread evenly decides.
    """
    row, column = np.indices(alpha.shape)
    spread = (0.7548776662 * row + 0.5698402910 * column) % 1.0
    order = np.lexsort((spread.ravel(), -alpha.ravel()))
    kept = np.zeros(alpha.size)
    kept[order[: max(1, round(share * alpha.size))]] = 255.0
    return kept.reshape(alpha.shape)


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
    return np.ascontiguousarray(picture).view("<u4")[..., 0].astype(np.uint32, copy=False)


def take_sky_faces(panorama: ByteArray) -> list[ByteArray]:
    """Return what `make_sky_faces` does, made once for as long as the panorama lives: nobody writes a scene's."""
    return remember(_SKY_FACES, panorama, lambda: make_sky_faces(panorama))


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
    words = _pack(panorama)
    faces = [np.empty((side, side, 4), np.uint8) for _ in SKY_AXES]

    def work(first: int) -> None:
        rows = slice(first, first + _SKY_ROWS)
        for face, axes in zip(faces, SKY_AXES, strict=True):
            x, y, z = (a + b * right[rows] + c * down[rows] for a, b, c in zip(*axes, strict=True))
            face[rows] = _sample_panorama(words, x, y, z)

    work_through(work, range(0, side, _SKY_ROWS))
    return faces


def _sample_panorama(words: WordArray, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> ByteArray:
    """Return what a packed panorama shows in some directions, shape [..., 4]."""
    height, width = words.shape
    azimuth = np.arctan2(y, x) / (2.0 * np.pi)
    fall = np.arccos(z / np.sqrt(x * x + y * y + z * z)) / np.pi
    column = azimuth * width - 0.5
    row = np.clip(fall * height - 0.5, 0.0, height - 1.0)
    c0, r0 = np.floor(column).astype(int), np.floor(row).astype(int)
    across, down = (column - c0)[..., None], (row - r0)[..., None]
    r1 = np.minimum(r0 + 1, height - 1)
    left, right = c0 % width, (c0 + 1) % width

    def take(rows: np.ndarray) -> np.ndarray:
        texels = (words[rows, columns].astype("<u4", copy=False) for columns in (left, right))
        near, far = (word[..., None].view(np.uint8) for word in texels)
        mixed: np.ndarray = near * (1 - across) + far * across
        return mixed

    result: ByteArray = np.rint(take(r0) * (1 - down) + take(r1) * down).astype(np.uint8)
    result[..., 3] = 255
    return result


def check_texture_index(index: int, count: int, owner: str) -> None:
    """Raise SceneError when a material or sky names a texture that is not there."""
    if not 0 <= index < count:
        raise SceneError(f"{owner} uses texture {index}, but the scene has textures 0 to {count - 1}.")
