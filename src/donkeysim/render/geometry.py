"""Tables of all meshes of a renderer, built once at load: clusters with bounding spheres, triangle planes, gradients.

A triangle's plane and its texture gradients are stored in the mesh's own frame, so that depth and texture coordinates
of a pixel follow from the ray through it alone, exactly and without regard to clipping.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from donkeysim.core.errors import ShapeError
from donkeysim.core.types import Float32Array, FloatArray, IntArray
from donkeysim.render.texture import TexelPool
from donkeysim.world.scene import Mesh

CLUSTER_LIMIT = 48
"""Triangles in a cluster at most: clusters are culled and transformed whole."""

CLUSTER_ROOM = 8 * CLUSTER_LIMIT
"""Vertices and listed triangles that kernels keep of a cluster: three vertices each, four more and another triangle
where the near plane cuts, and the rest of a vector."""

TRIANGLE_COLUMNS = 12
"""Normal (3), offset, u gradient (3), u offset, v gradient (3), v offset."""


class MeshTables(NamedTuple):
    """Triangles of all meshes in kernels' order."""

    vertex: Float32Array
    """[m], own frame of the mesh, each cluster has its own, shape [3, vertex_count], some rest behind."""
    triangle_vertex: IntArray
    """Indices within the cluster's vertices, shape [3, triangle_count], some rest behind."""
    triangle_normal: Float32Array
    """Unit normal and offset, as in `triangle_plane`, shape [4, triangle_count], some rest behind."""
    triangle_plane: Float32Array
    """Unit normal n and offset d with n·p = d; texture gradients and offsets [texel], shape
    [triangle_count, TRIANGLE_COLUMNS]."""
    triangle_mean: Float32Array
    """Mean of the triangle's part of its texture, RGB 0 to 255, shape [triangle_count, 3]."""
    triangle_material: IntArray
    """Index into the material tables, shape [triangle_count]."""
    triangle_flags: IntArray
    """SHADE_* of its material, shape [triangle_count]."""
    cluster_range: IntArray
    """First and end vertex, first and end triangle, shape [cluster_count, 4]."""
    cluster_sphere: Float32Array
    """Centre and radius [m], shape [cluster_count, 4]."""
    mesh_range: IntArray
    """First and end cluster, shape [mesh_count, 2]."""
    mesh_sphere: Float32Array
    """Centre and radius [m], shape [mesh_count, 4]."""


@dataclass
class MeshStore:
    """Collects meshes and turns them into `MeshTables`."""

    vertex: list[Float32Array] = field(default_factory=list)
    triangle_vertex: list[IntArray] = field(default_factory=list)
    triangle_plane: list[Float32Array] = field(default_factory=list)
    triangle_mean: list[Float32Array] = field(default_factory=list)
    triangle_material: list[IntArray] = field(default_factory=list)
    cluster_range: list[tuple[int, int, int, int]] = field(default_factory=list)
    cluster_sphere: list[Float32Array] = field(default_factory=list)
    mesh_range: list[tuple[int, int]] = field(default_factory=list)
    mesh_sphere: list[Float32Array] = field(default_factory=list)
    triangle_counts: list[int] = field(default_factory=list)
    _vertex_cursor: int = 0
    _triangle_cursor: int = 0

    def add(self, mesh: Mesh, material_base: int, material_texture: IntArray, pool: TexelPool) -> int:
        """Add a mesh and return its index.

        Args:
            mesh: Triangles without area are left out.
            material_base: Added to the mesh's material indices.
            material_texture: Texture in `pool` of every material of the tables so far.
            pool: All textures.
        """
        check_mesh(mesh)
        corner = mesh.vertex[mesh.triangle].astype(np.float64)
        normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
        length = np.linalg.norm(normal, axis=1)
        kept = np.flatnonzero(length > 1e-12)
        material = mesh.material[kept].astype(np.int32) + np.int32(material_base)
        corner = corner[kept]
        uv, texture = mesh.uv[mesh.triangle[kept]].astype(np.float64), material_texture[material]
        plane = compute_planes(corner, uv, pool.measure(texture))
        mean = pool.average_triangles(uv, texture)
        first = len(self.cluster_range)
        for members in split_clusters(corner):
            self.triangle_mean.append(mean[members])
            self._add_cluster(mesh.triangle[kept[members]], mesh.vertex, plane[members], material[members])
        self.mesh_range.append((first, len(self.cluster_range)))
        self.mesh_sphere.append(bound_sphere(corner.reshape(-1, 3)))
        self.triangle_counts.append(len(kept))
        return len(self.mesh_range) - 1

    def _add_cluster(self, triangle: IntArray, vertex: Float32Array, plane: FloatArray, material: IntArray) -> None:
        used, local = merge_vertices(vertex, triangle)
        vertex_end, triangle_end = self._vertex_cursor + len(used), self._triangle_cursor + len(triangle)
        self.cluster_range.append((self._vertex_cursor, vertex_end, self._triangle_cursor, triangle_end))
        self.cluster_sphere.append(bound_sphere(vertex[used].astype(np.float64)))
        self.vertex.append(vertex[used].T.astype(np.float32))
        self.triangle_vertex.append(local)
        self.triangle_plane.append(plane.astype(np.float32))
        self.triangle_material.append(material)
        self._vertex_cursor, self._triangle_cursor = vertex_end, triangle_end

    def build(self, material_flags: IntArray) -> MeshTables:
        """Return the tables of everything added so far."""
        material = np.concatenate([np.zeros(0, np.int32), *self.triangle_material])
        return MeshTables(
            vertex=np.ascontiguousarray(np.concatenate([*self.vertex, np.zeros((3, 8), np.float32)], axis=1)),
            triangle_vertex=pack_rows(self.triangle_vertex, np.zeros((8, 3), np.int32)),
            triangle_normal=pack_rows([plane[:, :4] for plane in self.triangle_plane], np.zeros((8, 4), np.float32)),
            triangle_plane=np.concatenate([np.zeros((0, TRIANGLE_COLUMNS), np.float32), *self.triangle_plane]),
            triangle_mean=np.concatenate([np.zeros((0, 3), np.float32), *self.triangle_mean]),
            triangle_material=material,
            triangle_flags=material_flags[material],
            cluster_range=np.array(self.cluster_range, np.int32).reshape(-1, 4),
            cluster_sphere=np.array(self.cluster_sphere, np.float32).reshape(-1, 4),
            mesh_range=np.array(self.mesh_range, np.int32).reshape(-1, 2),
            mesh_sphere=np.array(self.mesh_sphere, np.float32).reshape(-1, 4),
        )


def merge_vertices(vertex: Float32Array, triangle: IntArray) -> tuple[IntArray, IntArray]:
    """Return one vertex for each place that triangles touch, and the triangles' corners as indices into these."""
    corner = triangle.ravel()
    _, first, local = np.unique(vertex[corner], axis=0, return_index=True, return_inverse=True)
    return corner[first], local.reshape(-1, 3).astype(np.int32)


def pack_rows(chunks: list[np.ndarray], rest: np.ndarray) -> np.ndarray:
    """Return rows of all chunks and then `rest` as columns."""
    return np.ascontiguousarray(np.concatenate([*chunks, rest]).T)


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
    """Return planes and texture gradients of triangles, shape [triangle_count, TRIANGLE_COLUMNS].

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
    result = np.zeros((len(corner), TRIANGLE_COLUMNS))
    result[:, :3] = normal / np.sqrt(square)[:, None]
    result[:, 3] = np.einsum("ij,ij->i", result[:, :3], corner[:, 0])
    for axis in (0, 1):
        texel = uv[:, :, axis] * size[:, None, axis]
        texel = texel - np.floor(texel.min(axis=1) / size[:, axis])[:, None] * size[:, None, axis]
        gradient = (texel[:, 1] - texel[:, 0])[:, None] * dual_one + (texel[:, 2] - texel[:, 0])[:, None] * dual_two
        result[:, 4 + 4 * axis : 7 + 4 * axis] = gradient
        result[:, 7 + 4 * axis] = texel[:, 0] - np.einsum("ij,ij->i", gradient, corner[:, 0])
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
