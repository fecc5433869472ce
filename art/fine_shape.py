"""Solids with rounded edges for the fine cars: boxes, slabs, panels, tubes, lathed and lofted parts.

Edges get one chamfer; whoever shades the triangles lets it look round (`watch.place_model.FINE_CREASE`). Pictures are
not laid on these meshes.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from donkeysim.core.frames import Vector
from donkeysim.core.types import FloatArray, IntArray, LongArray
from donkeysim.world.scene import Mesh

Outline = Sequence[tuple[float, float]]

GRID = 2.0**-15
"""Corners of a finished mesh are multiples of it [m]: files stay small, and neighbours share their corners."""

AXES = {"x": (1, 2, 0), "y": (2, 0, 1), "z": (0, 1, 2)}
"""For each direction that a solid is lathed along: which of its own coordinates become x, y and z."""


def make_solid(vertex: FloatArray, triangle: LongArray, material: int | IntArray) -> Mesh:
    """Return a mesh whose triangles face away from its middle, all of one material or each of its own."""
    corner = vertex[triangle] - vertex.mean(axis=0)
    volume = np.einsum("ij,ij->", corner[:, 0], np.cross(corner[:, 1], corner[:, 2]))
    kept = triangle if volume >= 0.0 else triangle[:, ::-1]
    materials = np.broadcast_to(np.asarray(material, np.int32), len(kept)).copy()
    return Mesh(vertex.astype(np.float32), np.zeros((len(vertex), 2), np.float32), kept.astype(np.int32), materials)


def make_skin(
    rings: FloatArray,
    material: int | IntArray,
    *,
    is_ring: bool = True,
    ends: tuple[int | None, int | None] | None = None,
    is_hollow: bool = False,
) -> Mesh:
    """Return a surface through rings of points.

    Args:
        rings: [m], shape [rings, points, 3].
        material: Of all, or of each cell between two rings and two points.
        is_ring: Whether the last point of a ring is joined to the first one.
        ends: Materials of the lids on the first and the last ring, None: open there; left out: as the ring beside it.
        is_hollow: Whether it is seen from within.
    """
    count, sides = rings.shape[:2]
    cells = sides if is_ring else sides - 1
    base = (np.arange(count - 1)[:, None] * sides + np.arange(cells)).ravel()
    beside = (np.arange(count - 1)[:, None] * sides + (np.arange(cells) + 1) % sides).ravel()
    up, over = base + sides, beside + sides
    triangle = [np.stack((base, beside, over), 1), np.stack((base, over, up), 1)]
    kinds = np.broadcast_to(np.asarray(material, np.int32), (count - 1, cells))
    materials = [kinds.ravel(), kinds.ravel()]
    vertex = [rings.reshape(-1, 3)]
    lids = ends if ends is not None else (int(kinds[0, 0]), int(kinds[-1, 0])) if is_ring else (None, None)
    index = np.arange(sides)
    for number, (lid, first) in enumerate(zip(lids, (0, (count - 1) * sides), strict=True)):
        if lid is None:
            continue
        middle = np.full(sides, count * sides + len(vertex) - 1)
        fan = np.stack((middle, first + (index + 1) % sides, first + index), 1)
        triangle.append(fan if number == 0 else fan[:, ::-1])
        materials.append(np.full(sides, lid, np.int32))
        vertex.append(rings[0 if number == 0 else -1].mean(axis=0)[None])
    skin = make_solid(np.concatenate(vertex), np.concatenate(triangle), np.concatenate(materials))
    return replace(skin, triangle=skin.triangle[:, ::-1]) if is_hollow else skin


def make_slab(
    outline: Outline, span: tuple[float, float], material: int, *, axis: str = "z", bevel: float = 0.0006
) -> Mesh:
    """Return an outline (of x and y, x and z, or y and z) drawn out along the axis that is left, its edges chamfered.

    Args:
        outline: Seen from its middle, every corner is in sight [m].
        span: From where to where along the axis [m].
        material: Of all triangles.
        axis: "x", "y" or "z".
        bevel: Width of its chamfers [m].
    """
    flat, (low, high) = np.array(outline, float), sorted(span)
    inner = inset_outline(flat, bevel)
    rings = [(inner, low), (flat, low + bevel), (flat, high - bevel), (inner, high)]
    stacked = np.stack([np.column_stack((ring, np.full(len(ring), height))) for ring, height in rings])
    order = {"x": [2, 0, 1], "y": [0, 2, 1], "z": [0, 1, 2]}[axis]
    return make_skin(stacked[:, :, order], material)


def make_round_box(size: Vector, centre: Vector, material: int, bevel: float = 0.0008) -> Mesh:
    """Return a box along the axes whose edges and corners are chamfered."""
    half = 0.5 * np.array(size)
    bevel = min(bevel, 0.45 * 2 * float(half.min()))
    x, y = half[0], half[1]
    c = bevel
    ring = np.array(
        [(x, c - y), (x, y - c), (x - c, y), (c - x, y), (-x, y - c), (-x, c - y), (c - x, -y), (x - c, -y)]
    )
    inner = np.clip(ring, -half[:2] + c, half[:2] - c)
    heights = (-half[2], c - half[2], half[2] - c, half[2])
    rings = [np.column_stack((r, np.full(8, z))) for r, z in zip((inner, ring, ring, inner), heights, strict=True)]
    return make_skin(np.stack(rings) + np.array(centre), material)


def make_panel(
    corners: Sequence[Vector], material: int, *, gap: float, thickness: float, bevel: float = 0.0003
) -> Mesh:
    """Return a flat sheet on a plane polygon, convex, that stops short of its edges and stands out by its thickness.

    Args:
        corners: Counter-clockwise seen from where it stands out to [m].
        material: Of all triangles.
        gap: How far it stays away from the polygon's edges [m].
        thickness: How far it stands out; as far again it goes down [m].
        bevel: Width of its chamfers [m].
    """
    place = np.array(corners, float)
    middle = place.mean(axis=0)
    _, _, axes = np.linalg.svd(place - middle)
    normal = np.cross(place, np.roll(place, -1, axis=0)).sum(axis=0)
    if float(axes[2] @ normal) < 0.0:
        axes = -axes
    flat = (place - middle) @ axes[:2].T
    slab = make_slab([(a, b) for a, b in inset_outline(flat, gap)], (-thickness, thickness), material, bevel=bevel)
    return turn_mesh(slab, axes.T, middle)


def make_tube(
    points: Sequence[Vector] | FloatArray,
    width: float | Sequence[float],
    material: int,
    *,
    sides: int = 8,
    flat: float = 1.0,
    is_open: bool = False,
) -> Mesh:
    """Return a tube through points.

    Args:
        points: At least two [m].
        width: Its diameter [m], or that at each point.
        material: Of all triangles.
        sides: Of each ring.
        flat: Factor on its height, for ribbons and blades.
        is_open: Whether it has no ends, as where both are hidden.
    """
    path = np.array(points, float)
    ahead = np.gradient(path, axis=0)
    ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
    across = np.cross(ahead[0], (0.0, 0.0, 1.0) if abs(ahead[0, 2]) < 0.9 else (1.0, 0.0, 0.0))
    angle = (np.arange(sides) + 0.5) * (2.0 * np.pi / sides)
    widths = np.broadcast_to(np.asarray(width, float), len(path))
    rings = []
    for place, forward, wide in zip(path, ahead, widths, strict=True):
        across = across - forward * (across @ forward)
        across = across / np.linalg.norm(across)
        other = np.cross(across, forward)
        rings.append(place + 0.5 * wide * (np.outer(np.cos(angle), across) + flat * np.outer(np.sin(angle), other)))
    return make_skin(np.stack(rings), material, ends=(None, None) if is_open else None)


def make_lathed(
    profile: Outline,
    sides: int,
    material: int | Sequence[int] | IntArray,
    *,
    axis: str = "z",
    centre: Vector = (0.0, 0.0, 0.0),
    has_foot: bool = True,
) -> Mesh:
    """Return a solid of revolution.

    Args:
        profile: Radius and place along the axis of each ring [m].
        sides: Of each ring.
        material: Of all triangles, of each part between two rings, or of each of its cells.
        axis: "x", "y" or "z".
        centre: Where the axis has its 0 [m].
        has_foot: Whether its first ring is closed; leave it open where that is hidden.
    """
    radius, height = np.array(profile, float).T
    angle = np.arange(sides) * (2.0 * np.pi / sides)
    rings = np.stack(
        (
            np.outer(radius, np.cos(angle)),
            np.outer(radius, np.sin(angle)),
            np.broadcast_to(height[:, None], (len(radius), sides)),
        ),
        axis=-1,
    )
    order = {"x": [2, 0, 1], "y": [1, 2, 0], "z": [0, 1, 2]}[axis]
    kinds = np.asarray(material, np.int32)
    kinds = np.broadcast_to(kinds if kinds.ndim == 2 else kinds.reshape(-1, 1), (len(radius) - 1, sides))
    ends = (int(kinds[0, 0]) if has_foot else None, int(kinds[-1, 0]))
    return make_skin(rings[:, :, order] + np.array(centre), kinds, ends=ends)


def make_spring(start: Vector, end: Vector, radius: float, turns: int, wire: float, material: int) -> Mesh:
    """Return a coil spring between two points."""
    first, last = np.array(start, float), np.array(end, float)
    axis = (last - first) / np.linalg.norm(last - first)
    across = np.cross(axis, (1.0, 0.0, 0.0))
    across /= np.linalg.norm(across)
    other = np.cross(axis, across)
    share = np.linspace(0.0, 1.0, 8 * turns + 1)
    angle = 2.0 * np.pi * turns * share
    coil = radius * (np.outer(np.cos(angle), across) + np.outer(np.sin(angle), other))
    return make_tube(first + np.outer(share, last - first) + coil, wire, material, sides=3, is_open=True)


def round_outline(outline: Outline, radius: float, steps: int = 2) -> list[tuple[float, float]]:
    """Return an outline whose corners are rounded off."""
    place = np.array(outline, float)
    rounded = []
    for before, here, after in zip(np.roll(place, 1, 0), place, np.roll(place, -1, 0), strict=True):
        to_before, to_after = before - here, after - here
        reach = min(radius, 0.49 * float(np.linalg.norm(to_before)), 0.49 * float(np.linalg.norm(to_after)))
        first = here + to_before / np.linalg.norm(to_before) * reach
        last = here + to_after / np.linalg.norm(to_after) * reach
        for share in np.linspace(0.0, 1.0, steps):
            x, y = (1 - share) ** 2 * first + 2 * share * (1 - share) * here + share**2 * last
            rounded.append((float(x), float(y)))
    return rounded


def inset_outline(outline: FloatArray, width: float) -> FloatArray:
    """Return an outline whose edges have moved inwards by a width."""
    after = np.roll(outline, -1, axis=0)
    area = float((outline[:, 0] * after[:, 1] - outline[:, 1] * after[:, 0]).sum())
    edge = after - outline
    edge /= np.linalg.norm(edge, axis=1, keepdims=True)
    inwards = np.sign(area) * np.stack((-edge[:, 1], edge[:, 0]), axis=1)
    before = np.roll(inwards, 1, axis=0)
    share = 1.0 + np.einsum("ij,ij->i", inwards, before)
    inset: FloatArray = outline + width * (inwards + before) / np.maximum(share, 0.3)[:, None]
    return inset


def bend(points: Sequence[Vector], steps: int = 4) -> FloatArray:
    """Return a smooth path through points, with so many steps from each to the next."""
    place = np.array(points, float)
    return interpolate(np.linspace(0.0, len(place) - 1.0, steps * (len(place) - 1) + 1), np.arange(len(place)), place)


def interpolate(at: FloatArray, knots: FloatArray | LongArray, values: FloatArray) -> FloatArray:
    """Return smooth values between those at knots, which rise; they never go beyond two neighbouring ones."""
    x, y = np.asarray(knots, float), np.asarray(values, float).reshape(len(knots), -1)
    step = np.diff(x)[:, None]
    slope = np.diff(y, axis=0) / step
    product = slope[1:] * slope[:-1]
    mean = np.where(product > 0.0, 2.0 * product / np.where(product > 0.0, slope[1:] + slope[:-1], 1.0), 0.0)
    tangent = np.concatenate((slope[:1], mean, slope[-1:]))
    index = np.clip(np.searchsorted(x, at, side="right") - 1, 0, len(x) - 2)
    width = step[index]
    t = (np.asarray(at, float)[:, None] - x[index][:, None]) / width
    found: FloatArray = (
        (2 * t**3 - 3 * t**2 + 1) * y[index]
        + (t**3 - 2 * t**2 + t) * width * tangent[index]
        + (3 * t**2 - 2 * t**3) * y[index + 1]
        + (t**3 - t**2) * width * tangent[index + 1]
    )
    return found.reshape((len(np.atleast_1d(at)), *np.asarray(values).shape[1:]))


def turn_mesh(mesh: Mesh, axes: FloatArray, origin: Vector | FloatArray = (0.0, 0.0, 0.0)) -> Mesh:
    """Return a mesh whose own axes point along the columns of a matrix, moved to an origin."""
    vertex = mesh.vertex @ np.asarray(axes, float).T + np.asarray(origin, float)
    triangle = mesh.triangle if np.linalg.det(axes) > 0.0 else mesh.triangle[:, ::-1]
    return Mesh(vertex.astype(np.float32), mesh.uv, triangle, mesh.material)


def weld_mesh(mesh: Mesh) -> Mesh:
    """Return a mesh on the grid whose triangles share their corners, without triangles of no area."""
    place = np.rint(mesh.vertex / GRID).astype(np.int64)
    kept, index = np.unique(place, axis=0, return_inverse=True)
    triangle = index.ravel()[mesh.triangle]
    corner = kept[triangle]
    is_flat = np.abs(np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])).sum(axis=1) == 0
    triangle, material = triangle[~is_flat].astype(np.int32), mesh.material[~is_flat]
    used, renamed = np.unique(triangle, return_inverse=True)
    vertex = (kept[used] * GRID).astype(np.float32)
    return Mesh(vertex, np.zeros((len(used), 2), np.float32), renamed.reshape(-1, 3).astype(np.int32), material)
