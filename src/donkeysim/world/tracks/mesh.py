"""Small solids from which everything on a track is put together, and what their triangles refer to by number.

Boxes, lofts, solids of revolution and quads are `Mesh` with triangles counter-clockwise seen from outside; frames are
the caller's. Textures, materials and models of one scene are gathered in its `Assets` while it is built; equal ones are
kept once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from PIL import Image

from donkeysim.core.frames import Vector
from donkeysim.core.types import ByteArray, FloatArray, LongArray
from donkeysim.world.scene import CLASS_PROP, SHADE_TEXTURE, Material, Mesh

Shade = tuple[float, float, float]

WHITE: Shade = (1.0, 1.0, 1.0)

Size = tuple[float, float, float]
Part = tuple[float, float, float, float]
"""Left, top, right, bottom of a part of a picture, as shares of it."""

WHOLE: Part = (0.0, 0.0, 0.999, 0.999)


@dataclass
class Assets:
    """What meshes refer to by index. One per scene under construction."""

    textures: list[ByteArray] = field(default_factory=list)
    materials: list[Material] = field(default_factory=list)
    models: list[Mesh] = field(default_factory=list)
    named: list[tuple[str, str]] = field(default_factory=lambda: [("terrain", "terrain")])
    """What can be hit: its label, and what `hit` says."""
    class_maps: list[ByteArray] = field(default_factory=list)
    _texture_index: dict[Hashable, int] = field(default_factory=dict)

    def copy(self) -> Assets:
        """Return assets that begin with these."""
        return Assets(**{name: copy(value) for name, value in vars(self).items()})

    def add_texture(self, texture: ByteArray) -> int:
        """Add a texture; return its index."""
        self.textures.append(texture)
        return len(self.textures) - 1

    def ensure_texture(self, key: Hashable, make: Callable[[], ByteArray]) -> int:
        """Return the index of a texture, making it at its first use."""
        if key not in self._texture_index:
            self._texture_index[key] = self.add_texture(make())
        return self._texture_index[key]

    def ensure_material(self, material: Material) -> int:
        """Return the index of a material, adding it at its first use."""
        if material not in self.materials:
            self.materials.append(material)
        return self.materials.index(material)

    def add_class_map(self, class_map: ByteArray) -> int:
        """Add what places of a picture are, CLASS_*, shape [height, width]; return its index."""
        self.class_maps.append(class_map)
        return len(self.class_maps) - 1

    def ensure_named(self, label: str, hit: str = "") -> int:
        """Return the index of what can be hit, adding it at its first use.

        Args:
            label: What it is called.
            hit: What `hit` says; empty: the same.
        """
        pair = (label, hit or label)
        if pair not in self.named:
            self.named.append(pair)
        return self.named.index(pair)

    def add_model(self, mesh: Mesh) -> int:
        """Add a mesh with a frame of its own; return its index."""
        self.models.append(mesh)
        return len(self.models) - 1

    def ensure_plain(self, colour: Shade, segment: int = CLASS_PROP, flags: int = 0) -> int:
        """Return a material of one colour."""
        return self.ensure_material(Material(flags, colour, -1, segment))

    def ensure_textured(
        self,
        make: Callable[..., ByteArray],
        *about: Hashable,
        segment: int = CLASS_PROP,
        flags: int = 0,
        tint: Shade = WHITE,
    ) -> int:
        """Return a material that shows the texture `make(*about)`, tinted; a process makes it once for all scenes."""
        texture = self.ensure_texture((make, about), lambda: _make_once(make, *about))
        return self.ensure_material(Material(flags | SHADE_TEXTURE, tint, texture, segment))


@lru_cache(maxsize=128)
def _make_once(make: Callable[..., ByteArray], *about: Hashable) -> ByteArray:
    return fit_texture(make(*about))


def fit_texture(picture: ByteArray, most: int = 8192) -> ByteArray:
    """Return a picture with sides that are powers of two, up to `most`, as textures have, shape [height, width, 4]."""
    height, width = (min(most, 1 << max(2, round(math.log2(side)))) for side in picture.shape[:2])
    if picture.shape[:2] == (height, width):
        return picture
    return np.array(Image.fromarray(picture).resize((width, height), Image.Resampling.LANCZOS))


def make_mesh(vertex: FloatArray, uv: FloatArray, triangle: LongArray, material: int) -> Mesh:
    """Return a mesh of one material, without its triangles of no area."""
    corner = vertex[triangle]
    area = np.linalg.norm(np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]), axis=1)
    kept = triangle[area > 1e-9]
    return Mesh(
        vertex.astype(np.float32), uv.astype(np.float32), kept.astype(np.int32), np.full(len(kept), material, np.int32)
    )


def make_quad(corners: Sequence[Vector], material: int, uv: Sequence[tuple[float, float]] | None = None) -> Mesh:
    """Return a four-cornered face, corners counter-clockwise seen from its front, from the picture's lower left."""
    place = np.array(uv if uv is not None else ((0.0, 1.0), (1.0, 1.0), (1.0, 0.0), (0.0, 0.0)))
    return make_mesh(np.array(corners, float), place, np.array([(0, 1, 2), (0, 2, 3)]), material)


def make_box(size: Size, centre: Vector, material: int) -> Mesh:
    """Return a box with edges along the axes."""
    half = 0.5 * np.array(size)
    ring = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)], float)
    sections = [np.column_stack((np.full(4, side), ring)) * half + centre for side in (-1.0, 1.0)]
    return make_loft(sections, material)


def make_case(
    size: Size, foot: Vector, material: int, *, sides: Sequence[Part] = (WHOLE,), top: Part | None = WHOLE
) -> Mesh:
    """Return a box on its base without the face it stands on.

    Args:
        size: Length (x), width (y), height (z) [m].
        foot: Middle of its base [m].
        sides: Part of the picture on the front (+x), left (+y), back and right side; used by turns.
        top: Part on its top, with the front at its lower edge; None: no top.
    """
    x, y, z = 0.5 * size[0], 0.5 * size[1], size[2]
    ring = ((x, -y), (x, y), (-x, y), (-x, -y))
    faces = []
    for number in range(4):
        (ax, ay), (bx, by) = ring[number], ring[(number + 1) % 4]
        corners = [(ax, ay, 0.0), (bx, by, 0.0), (bx, by, z), (ax, ay, z)]
        faces.append((corners, sides[number % len(sides)]))
    if top is not None:
        faces.append(([(x, -y, z), (x, y, z), (-x, y, z), (-x, -y, z)], top))
    quads = []
    for corners, (left, high, right, low) in faces:
        moved = [(cx + foot[0], cy + foot[1], cz + foot[2]) for cx, cy, cz in corners]
        quads.append(make_quad(moved, material, ((left, low), (right, low), (right, high), (left, high))))
    return merge_meshes(quads)


def make_loft(sections: Sequence[FloatArray], material: int, *, uv_scale: float = 1.0, capped: bool = True) -> Mesh:
    """Return a solid through convex cross sections.

    Args:
        sections: At least two, each shape [n, 3] with the same n, all turning the same way round.
        uv_scale: How often a texture repeats around; along the sections it is laid once.
        capped: Whether its two ends are closed; leave them open where nobody can look.
    """
    rings = np.stack([np.asarray(section, float) for section in sections])
    count, sides = rings.shape[:2]
    rings = np.concatenate((rings, rings[:, :1]), axis=1)
    u = np.broadcast_to(np.arange(sides + 1) / sides * uv_scale, (count, sides + 1))
    v = np.broadcast_to(1.0 - (np.arange(count) / (count - 1))[:, None], (count, sides + 1))
    base = (np.arange(count - 1)[:, None] * (sides + 1) + np.arange(sides)).ravel()
    up = base + sides + 1
    walls = np.concatenate((np.stack((base, base + 1, up + 1), 1), np.stack((base, up + 1, up), 1)))
    fan = np.stack((np.zeros(sides - 2, int), np.arange(1, sides - 1), np.arange(2, sides)), 1)
    caps = np.concatenate((fan[:, ::-1], fan + (count - 1) * (sides + 1)))
    vertex, uv = rings.reshape(-1, 3), np.stack((u, v), axis=-1).reshape(-1, 2)
    triangle = _face_outwards(vertex, np.concatenate((walls, caps)))
    return make_mesh(vertex, uv, triangle if capped else triangle[: len(walls)], material)


def make_revolved(
    profile: Sequence[tuple[float, float]],
    sides: int,
    material: int,
    *,
    uv_scale: float = 1.0,
    wobble: FloatArray | None = None,
    capped: bool = True,
) -> Mesh:
    """Return a solid of revolution about z.

    Args:
        profile: Radius and height of each ring, upwards or with overhangs [m]; a radius of 0 makes a tip.
        sides: Of each ring.
        uv_scale: How often a texture repeats around; along the profile it is laid once, v = 0 at its last ring.
        wobble: Factors on the radius, shape [len(profile), sides]; None: round.
        capped: Whether its ends are closed.
    """
    angle = np.arange(sides) * (2.0 * math.pi / sides)
    factor = np.ones((len(profile), sides)) if wobble is None else wobble
    sections = []
    for index, (radius, height) in enumerate(profile):
        spread = radius * factor[index]
        sections.append(np.stack((spread * np.cos(angle), spread * np.sin(angle), np.full(sides, height)), axis=1))
    return make_loft(sections, material, uv_scale=uv_scale, capped=capped)


def merge_meshes(meshes: Sequence[Mesh]) -> Mesh:
    """Return one mesh with the triangles of all, in order."""
    if not meshes:
        return Mesh(
            np.zeros((0, 3), np.float32),
            np.zeros((0, 2), np.float32),
            np.zeros((0, 3), np.int32),
            np.zeros(0, np.int32),
        )
    first = np.cumsum([0] + [len(mesh.vertex) for mesh in meshes[:-1]])
    return Mesh(
        np.concatenate([mesh.vertex for mesh in meshes]),
        np.concatenate([mesh.uv for mesh in meshes]),
        np.concatenate([mesh.triangle + offset for mesh, offset in zip(meshes, first, strict=True)]).astype(np.int32),
        np.concatenate([mesh.material for mesh in meshes]),
    )


def place_mesh(mesh: Mesh, position: Vector, yaw: float = 0.0, scale: float | Size = 1.0) -> Mesh:
    """Return a mesh scaled, turned about z, then moved."""
    vertex = mesh.vertex * np.asarray(scale, float)
    cosine, sine = math.cos(yaw), math.sin(yaw)
    turned = np.stack(
        (vertex[:, 0] * cosine - vertex[:, 1] * sine, vertex[:, 0] * sine + vertex[:, 1] * cosine, vertex[:, 2]), axis=1
    )
    return Mesh((turned + position).astype(np.float32), mesh.uv, mesh.triangle, mesh.material)


def _face_outwards(vertex: FloatArray, triangle: LongArray) -> LongArray:
    corner = vertex[triangle] - vertex.mean(axis=0)
    volume = np.einsum("ij,ij->", corner[:, 0], np.cross(corner[:, 1], corner[:, 2]))
    return triangle if volume >= 0.0 else triangle[:, ::-1]
