"""Solids that props share: cases with pictures, limbs, boards, sheets. Base at z = 0, front along +x."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from donkeysim.core.frames import Vector
from donkeysim.core.types import FloatArray
from donkeysim.world.scene import Mesh
from donkeysim.world.tracks.mesh import make_loft, make_mesh, make_quad, merge_meshes

Part = tuple[float, float, float, float]
"""Left, top, right, bottom of a part of a picture, as shares of it."""

WHOLE: Part = (0.0, 0.0, 0.999, 0.999)


def make_case(
    size: Vector, foot: Vector, material: int, *, sides: Sequence[Part] = (WHOLE,), top: Part | None = WHOLE
) -> Mesh:
    """Return a box on its base without the face it stands on.

    Args:
        size: Length (x), width (y), height (z) [m].
        foot: Middle of its base [m].
        material: Of all faces.
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


def make_limb(points: Sequence[Vector], widths: Sequence[float], material: int, sides: int = 4) -> Mesh:
    """Return a tapered tube through points, open at its ends.

    Args:
        points: Middles of its rings, more or less one above the other [m].
        widths: Diameter at each [m].
        material: Of all triangles.
        sides: Of each ring.
    """
    angle = (np.arange(sides) + 0.5) * (2.0 * np.pi / sides)
    ring = np.stack((np.cos(angle), np.sin(angle), np.zeros(sides)), axis=1)
    sections = [np.array(point) + 0.5 * width * ring for point, width in zip(points, widths, strict=True)]
    return make_loft(sections, material, capped=False)


def make_legs(corners: Sequence[tuple[float, float]], height: float, width: float, material: int) -> Mesh:
    """Return upright square legs, open above and below."""
    return merge_meshes([make_case((width, width, height), (x, y, 0.0), material, top=None) for x, y in corners])


def make_board(width: float, height: float, middle: Vector, front: int, back: int, part: Part = WHOLE) -> Mesh:
    """Return an upright board facing +x with a picture before and another material behind."""
    x, y, z = middle
    left, high, right, low = part
    corners = [(x, y - 0.5 * width, z - 0.5 * height), (x, y + 0.5 * width, z - 0.5 * height)]
    corners += [(x, y + 0.5 * width, z + 0.5 * height), (x, y - 0.5 * width, z + 0.5 * height)]
    uv = ((left, low), (right, low), (right, high), (left, high))
    return merge_meshes([make_quad(corners, front, uv), make_quad(corners[::-1], back, uv[::-1])])


def make_sheet(grid: FloatArray, material: int, *, turned: bool = False) -> Mesh:
    """Return a surface through a grid of points that shows its picture once.

    Args:
        grid: [m], shape [rows, columns, 3]; row 0 is the picture's top, column 0 its left edge.
        material: Of all triangles; two-sided unless only its front can be seen.
        turned: Whether its front is on the other side.
    """
    rows, columns = grid.shape[:2]
    v, u = np.meshgrid(np.linspace(0.0, 0.999, rows), np.linspace(0.0, 0.999, columns), indexing="ij")
    base = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    below = base + columns
    triangle = np.concatenate((np.stack((below, below + 1, base + 1), 1), np.stack((below, base + 1, base), 1)))
    return make_mesh(
        grid.reshape(-1, 3), np.stack((u, v), -1).reshape(-1, 2), triangle[:, ::-1] if turned else triangle, material
    )
