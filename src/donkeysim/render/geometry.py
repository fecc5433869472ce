"""Tables of all meshes of a renderer: clusters with bounding spheres, triangle planes, gradients.

A triangle's plane and its texture gradients are stored in the mesh's own frame, so that depth and texture coordinates
of a pixel follow from the ray through it alone, exactly and without regard to clipping.
"""

from typing import NamedTuple

import numpy as np

from donkeysim.core.errors import ShapeError
from donkeysim.core.types import Float32Array, FloatArray, IntArray
from donkeysim.render.kernels.layout import LANES, PLANE, PLANE_WIDTH
from donkeysim.render.texture import TexelPool
from donkeysim.world.scene import Mesh

CLUSTER_LIMIT = 48
"""Triangles in a cluster at most: clusters are culled and transformed whole."""

CLUSTER_ROOM = 8 * CLUSTER_LIMIT
"""Vertices and listed triangles that kernels keep of a cluster: three vertices each, four more and another triangle
where the near plane cuts, and the rest of a vector."""


class MeshTables(NamedTuple):
    """Triangles of all meshes in kernels' order."""

    vertex: Float32Array
    """[m], own frame of the mesh, each cluster has its own, shape [3, vertex_count], some room behind."""
    triangle_vertex: IntArray
    """Indices within the cluster's vertices, shape [3, triangle_count], some room behind."""
    triangle_normal: Float32Array
    """Unit normal and offset, as in `triangle_plane`, shape [4, triangle_count], some room behind."""
    triangle_plane: Float32Array
    """Columns PLANE, shape [triangle_count, PLANE_WIDTH]."""
    triangle_mean: Float32Array
    """Mean of the triangle's part of its texture, RGB 0 to 255, shape [triangle_count, 3]."""
    triangle_material: IntArray
    """Index into the material tables, shape [triangle_count]."""
    triangle_flags: IntArray
    """SHADE_* of its material, shape [triangle_count]."""
    cluster_range: IntArray
    """Columns CLUSTER_RANGE, shape [cluster_count, 4]."""
    cluster_sphere: Float32Array
    """Centre and radius [m], shape [cluster_count, 4]."""
    mesh_range: IntArray
    """First and end cluster, shape [mesh_count, 2]."""
    mesh_sphere: Float32Array
    """Centre and radius [m], shape [mesh_count, 4]."""


class PreparedMesh(NamedTuple):
    """A mesh in kernels' order, before it has its place in the tables: all its numbers begin at 0."""

    vertex: Float32Array
    """[m], shape [vertex_count, 3]."""
    triangle_vertex: IntArray
    """Shape [triangle_count, 3]."""
    triangle_plane: Float32Array
    """Shape [triangle_count, PLANE_WIDTH]."""
    triangle_mean: Float32Array
    """Shape [triangle_count, 3]."""
    triangle_material: IntArray
    """Shape [triangle_count]."""
    cluster_range: IntArray
    """Shape [cluster_count, 4]."""
    cluster_sphere: Float32Array
    """Shape [cluster_count, 4]."""
    sphere: Float32Array
    """Around all of it, shape [4]."""


def prepare_mesh(mesh: Mesh, texture: IntArray, pool: TexelPool) -> PreparedMesh:
    """Return a mesh as clusters; may be called on any thread.

    Args:
        mesh: Triangles without area are left out.
        texture: Texture in `pool` of each of its materials.
    """
    check_mesh(mesh)
    corner = mesh.vertex[mesh.triangle].astype(np.float64)
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    kept = np.flatnonzero(np.linalg.norm(normal, axis=1) > 1e-12)
    corner, material = corner[kept], mesh.material[kept].astype(np.int32)
    uv, shown = mesh.uv[mesh.triangle[kept]].astype(np.float64), texture[material]
    clusters = split_clusters(corner)
    order = np.concatenate([np.zeros(0, np.int32), *clusters])
    vertex, local, spheres = [np.zeros((0, 3), np.float32)], [np.zeros((0, 3), np.int32)], []
    for members in clusters:
        used, corners = merge_vertices(mesh.vertex, mesh.triangle[kept[members]])
        vertex.append(mesh.vertex[used].astype(np.float32))
        local.append(corners)
        spheres.append(bound_sphere(mesh.vertex[used].astype(np.float64)))
    ends = np.cumsum([[len(rows), len(corners)] for rows, corners in zip(vertex, local, strict=True)], axis=0)
    return PreparedMesh(
        vertex=np.concatenate(vertex),
        triangle_vertex=np.concatenate(local),
        triangle_plane=compute_planes(corner, uv, pool.measure(shown))[order].astype(np.float32),
        triangle_mean=pool.average_triangles(uv, shown)[order],
        triangle_material=material[order],
        cluster_range=np.column_stack([ends[:-1, 0], ends[1:, 0], ends[:-1, 1], ends[1:, 1]]).astype(np.int32),
        cluster_sphere=np.array(spheres, np.float32).reshape(-1, 4),
        sphere=bound_sphere(corner.reshape(-1, 3)),
    )


class GrowingTable:
    """A table with room for more: rows are written behind the others, which move only when there is none left.

    Attributes:
        room: All of it, shape [room, ...], or [columns, room] by columns.
        count: Rows in use; at least a vector of lanes is left behind them, as loops run over whole ones.
    """

    def __init__(self, dtype: type[np.generic], *columns: int, by_column: bool = False) -> None:
        self.room = np.zeros((*columns, LANES) if by_column else (LANES, *columns), dtype)
        self.count = 0
        self._by_column = by_column

    def replace(self, first: int, rows: np.ndarray) -> None:
        """Write rows in the place of others."""
        (self.room.T if self._by_column else self.room)[first : first + len(rows)] = rows

    def add(self, rows: np.ndarray) -> None:
        """Add rows, shape [row_count, ...] in either case."""
        first, self.count = self.count, self.count + len(rows)
        old = self.room.T if self._by_column else self.room
        if self.count + LANES > len(old):
            # Half as much again: however many are added, a row is moved twice on average.
            shape = (self.count + self.count // 2 + LANES, *old.shape[1:])
            self.room = np.zeros(shape[::-1] if self._by_column else shape, old.dtype)
            kept, old = old[:first], self.room.T if self._by_column else self.room
            old[:first] = kept
        old[first : self.count] = rows


class MeshStore:
    """All meshes of a renderer; adding one writes behind the others."""

    def __init__(self) -> None:
        real, whole = np.float32, np.int32
        self._tables = (
            GrowingTable(real, 3, by_column=True),
            GrowingTable(whole, 3, by_column=True),
            GrowingTable(real, PLANE.offset + 1, by_column=True),
            GrowingTable(real, PLANE_WIDTH),
            GrowingTable(real, 3),
            GrowingTable(whole),
            GrowingTable(whole),
            GrowingTable(whole, 4),
            GrowingTable(real, 4),
            GrowingTable(whole, 2),
            GrowingTable(real, 4),
        )
        self.triangle_counts: list[int] = []
        self._starts: list[dict[str, int]] = []

    def add(self, mesh: PreparedMesh, material_base: int, material_flags: IntArray) -> int:
        """Add a mesh and return its index.

        Args:
            mesh: As `prepare_mesh` returned it.
            material_base: Added to the mesh's material indices.
            material_flags: SHADE_* of every material.
        """
        starts = dict(zip(MeshTables._fields, (table.count for table in self._tables), strict=True))
        for table, new in zip(self._tables, self._list_rows(mesh, starts, material_base, material_flags), strict=True):
            table.add(new)
        self.triangle_counts.append(len(mesh.triangle_material))
        self._starts.append(starts)
        return len(self.triangle_counts) - 1

    def replace(self, index: int, mesh: PreparedMesh, material_base: int, material_flags: IntArray) -> None:
        """Write a mesh with as many vertices, triangles and clusters in the place of another; see `add`."""
        starts = self._starts[index]
        rows = self._list_rows(mesh, starts, material_base, material_flags)
        for table, first, new in zip(self._tables, starts.values(), rows, strict=True):
            table.replace(first, new)

    def _list_rows(
        self, mesh: PreparedMesh, starts: dict[str, int], material_base: int, material_flags: IntArray
    ) -> MeshTables:
        """Return a mesh's rows of each table, for rows that begin at `starts`."""
        first = np.array([starts["vertex"]] * 2 + [starts["triangle_plane"]] * 2, np.int32)
        material = mesh.triangle_material + np.int32(material_base)
        return MeshTables(
            vertex=mesh.vertex,
            triangle_vertex=mesh.triangle_vertex,
            triangle_normal=mesh.triangle_plane[:, : PLANE.offset + 1],
            triangle_plane=mesh.triangle_plane,
            triangle_mean=mesh.triangle_mean,
            triangle_material=material,
            triangle_flags=material_flags[material],
            cluster_range=mesh.cluster_range + first,
            cluster_sphere=mesh.cluster_sphere,
            mesh_range=starts["cluster_range"] + np.array([[0, len(mesh.cluster_range)]], np.int32),
            mesh_sphere=mesh.sphere[None],
        )

    @property
    def tables(self) -> MeshTables:
        """Everything added so far, and room behind it."""
        return MeshTables(*(table.room for table in self._tables))


def merge_vertices(vertex: Float32Array, triangle: IntArray) -> tuple[IntArray, IntArray]:
    """Return one vertex for each place that triangles touch, and the triangles' corners as indices into these."""
    corner = triangle.ravel()
    _, first, local = np.unique(vertex[corner], axis=0, return_index=True, return_inverse=True)
    return corner[first], local.reshape(-1, 3).astype(np.int32)


def check_mesh(mesh: Mesh) -> None:
    """Raise ShapeError when a mesh's arrays do not belong together."""
    vertex_count = len(mesh.vertex)
    if mesh.uv.shape != (vertex_count, 2) or mesh.vertex.shape != (vertex_count, 3):
        raise ShapeError(f"a mesh has {mesh.vertex.shape} vertices and {mesh.uv.shape} uv; it takes [n, 3] and [n, 2].")
    if mesh.triangle.shape != (len(mesh.material), 3):
        raise ShapeError(
            f"a mesh has {mesh.triangle.shape} triangles and {mesh.material.shape} materials; it takes [n, 3] and [n]."
        )
    if mesh.triangle.size and not (mesh.triangle.min() >= 0 and mesh.triangle.max() < vertex_count):
        raise ShapeError(
            f"a mesh's triangles name vertices {mesh.triangle.min()} to {mesh.triangle.max()}; "
            f"it has 0 to {vertex_count - 1}."
        )


def compute_planes(corner: FloatArray, uv: FloatArray, size: Float32Array) -> FloatArray:
    """Return planes and texture gradients of triangles, shape [triangle_count, PLANE_WIDTH].

    Args:
        corner: [m], shape [triangle_count, 3, 3].
        uv: Texture coordinates of the corners, shape [triangle_count, 3, 2].
        size: Texture width and height [texel], shape [triangle_count, 2].
    """
    one, two = corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]
    normal = np.cross(one, two)
    square = np.einsum("ij,ij->i", normal, normal)
    dual_one = np.cross(two, normal) / square[:, None]
    dual_two = np.cross(normal, one) / square[:, None]
    result = np.zeros((len(corner), PLANE_WIDTH))
    result[:, :3] = normal / np.sqrt(square)[:, None]
    result[:, PLANE.offset] = np.einsum("ij,ij->i", result[:, :3], corner[:, 0])
    for axis, column in enumerate((PLANE.u, PLANE.v)):
        texel = uv[:, :, axis] * size[:, None, axis]
        texel = texel - np.floor(texel.min(axis=1) / size[:, axis])[:, None] * size[:, None, axis]
        gradient = (texel[:, 1] - texel[:, 0])[:, None] * dual_one + (texel[:, 2] - texel[:, 0])[:, None] * dual_two
        result[:, column : column + 3] = gradient
        result[:, column + 3] = texel[:, 0] - np.einsum("ij,ij->i", gradient, corner[:, 0])
    return result


def split_clusters(corner: FloatArray) -> list[IntArray]:
    """Return the triangles of each cluster: neighbours together, by halving the longest side of their box.

    Args:
        corner: [m], shape [triangle_count, 3, 3].
    """
    centre = corner.mean(axis=1)
    pending = [np.arange(len(corner), dtype=np.int32)]
    clusters: list[IntArray] = []
    while pending:
        members = pending.pop()
        if len(members) == 0:
            continue
        if len(members) <= CLUSTER_LIMIT:
            clusters.append(members)
            continue
        axis = int(np.argmax(np.ptp(centre[members], axis=0)))
        order = members[np.argsort(centre[members, axis], kind="stable")]
        pending += [order[len(order) // 2 :], order[: len(order) // 2]]
    return clusters


def bound_sphere(point: FloatArray) -> Float32Array:
    """Return centre and radius of a sphere around points: (x, y, z, radius), a little larger than needed."""
    if len(point) == 0:
        return np.zeros(4, np.float32)
    centre = 0.5 * (point.min(axis=0) + point.max(axis=0))
    radius = np.sqrt(((point - centre) ** 2).sum(axis=1).max())
    return np.append(centre, radius * 1.0001 + 1e-6).astype(np.float32)
