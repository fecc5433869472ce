"""Solids that props and cars share: limbs, legs, boards, sheets, prisms, beams. Base at z = 0, front along +x."""

import math
from collections.abc import Sequence

import numpy as np

from donkeysim.core.frames import Vector
from donkeysim.core.types import FloatArray
from donkeysim.world.scene import Mesh
from donkeysim.world.tracks.mesh import WHOLE, Part, make_case, make_loft, make_mesh, make_quad, merge_meshes


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


def make_prism(
    outline: Sequence[tuple[float, float]], width: float, material: int, centre: Vector = (0.0, 0.0, 0.0)
) -> Mesh:
    """Return a side view (x, z), convex, given a width along y."""
    flat = np.array(outline, float)
    sections = [
        np.stack((flat[:, 0], np.full(len(flat), y), flat[:, 1]), 1) + centre for y in (-0.5 * width, 0.5 * width)
    ]
    return make_loft(sections, material)


def make_beam(start: Vector, end: Vector, thickness: float, material: int, sides: int = 4) -> Mesh:
    """Return a straight rod between two points."""
    first, last = np.array(start, float), np.array(end, float)
    axis = (last - first) / np.linalg.norm(last - first)
    across = np.cross(axis, (0.0, 1.0, 0.0) if abs(axis[1]) < 0.9 else (1.0, 0.0, 0.0))
    across /= np.linalg.norm(across)
    other = np.cross(axis, across)
    angle = (np.arange(sides) + 0.5) * (2.0 * math.pi / sides)
    ring = (np.cos(angle)[:, None] * across + np.sin(angle)[:, None] * other) * (
        0.5 * thickness / math.cos(math.pi / sides)
    )
    return make_loft([first + ring, last + ring], material)


def mirror_mesh(mesh: Mesh) -> Mesh:
    """Return a mesh mirrored from left to right (y)."""
    return Mesh(
        mesh.vertex * np.array((1.0, -1.0, 1.0), np.float32), mesh.uv, mesh.triangle[:, ::-1].copy(), mesh.material
    )
