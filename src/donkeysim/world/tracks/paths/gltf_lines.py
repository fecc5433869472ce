"""The lines of a glTF 2.0 model, with where they lie: of all a model says, a path needs nothing else.

Read here, since readers of models read triangles: line strips, line loops, and loose edges, which are put in order.

References:
    glTF 2.0 Specification, Khronos Group: 3.6 (buffers, accessors), 3.7.2 (primitives), 4.4 (GLB).
"""

import base64
import binascii
import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from donkeysim.core.errors import SceneError
from donkeysim.core.rotation import find_axes
from donkeysim.core.types import FloatArray, LongArray
from donkeysim.world.tracks.paths.raw_path import FARTHEST, POINTS_MOST

LONGEST_MODEL = 100_000_000
"""Of a model's file, and of each file it names [byte]."""

_LINES, _LOOP, _STRIP = 1, 2, 3
_INDEX_KINDS = {5121: "<u1", 5123: "<u2", 5125: "<u4"}
_FLOAT = 5126


@dataclass(frozen=True)
class ModelLine:
    """A line of a model.

    Attributes:
        name: Of its node.
        point: In order, the model's axes (y up), shape [point_count, 3].
        is_closed: Whether the end meets the beginning.
    """

    name: str
    point: FloatArray
    is_closed: bool


def read_model_lines(path: Path) -> tuple[list[ModelLine], list[str]]:
    """Return the lines of a model, and the names of its other nodes.

    Raises:
        SceneError: This is no such model, or a line branches; one sentence.
    """
    try:
        return _Model(path).read_lines()
    except OSError as error:
        raise SceneError(f"cannot read {path}: {error.strerror or error}.") from error
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, struct.error, RecursionError) as error:
        raise SceneError(f"{path} is not a valid model in glTF 2.0 ({type(error).__name__}: {error}).") from error


def count_declared(path: Path) -> int:
    """Return how many elements the longest array of a model has, as it declares; the file need not hold them.

    Raises:
        OSError, ValueError, LookupError, TypeError, AttributeError, RuntimeError, struct.error: It cannot be read.
    """
    return max((int(accessor["count"]) for accessor in _Model(path).list_accessors()), default=0)


class _Model:
    """One model being read; what is wrong with it surfaces as Python's own errors."""

    def __init__(self, path: Path) -> None:
        self._path = path
        content = self._read(path)
        self._chunk = b""
        if content[:4] == b"glTF":
            content, self._chunk = _split_chunks(content)
        self._json: dict[str, Any] = json.loads(content)
        if not str(self._json["asset"]["version"]).startswith("2"):
            raise ValueError("it is of another version")
        self._buffers: dict[int, bytes] = {}

    def list_accessors(self) -> list[dict[str, Any]]:
        return list(self._json.get("accessors", []))

    def read_lines(self) -> tuple[list[ModelLine], list[str]]:
        lines: list[ModelLine] = []
        others: list[str] = []
        for node, matrix in self._walk():
            if "mesh" not in node:
                continue
            mesh = self._json["meshes"][node["mesh"]]
            name = str(node.get("name", mesh.get("name", "")))
            found = [part for part in mesh["primitives"] if part.get("mode", 4) in (_LINES, _LOOP, _STRIP)]
            if not found:
                others.append(name)
            lines += [self._read_line(part, name, matrix) for part in found]
        return lines, others

    def _read_line(self, part: dict[str, Any], name: str, matrix: FloatArray) -> ModelLine:
        point = self._read_positions(part["attributes"]["POSITION"])
        if len(point) > POINTS_MOST:
            raise SceneError(f"{self._path}: the line {name!r} has {len(point)} points; it may have {POINTS_MOST}.")
        order = self._read_indices(part["indices"]) if "indices" in part else np.arange(len(point))
        placed = point @ matrix[:3, :3].T + matrix[:3, 3]
        if not np.isfinite(placed).all() or np.abs(placed).max(initial=0.0) > FARTHEST:
            raise ValueError("a coordinate is not a number, or far too large")
        if part["mode"] != _LINES:
            return ModelLine(name, placed[order], part["mode"] == _LOOP)
        kept, is_closed = _join_edges(placed, order.reshape(-1, 2), f"{self._path}: the line {name!r}")
        return ModelLine(name, placed[kept], is_closed)

    def _walk(self) -> Iterator[tuple[dict[str, Any], FloatArray]]:
        """Give every node of the model's scene with its place in the model."""
        nodes = self._json.get("nodes", [])
        children = {child for node in nodes for child in node.get("children", [])}
        scenes = self._json.get("scenes")
        roots = [index for index in range(len(nodes)) if index not in children]
        if scenes:
            roots = scenes[self._json.get("scene", 0)].get("nodes", [])
        waiting = [(int(index), np.eye(4)) for index in reversed(roots)]
        seen: set[int] = set()
        while waiting:
            index, outer = waiting.pop()
            if index in seen:
                raise ValueError(f"node {index} hangs below two others")
            seen.add(index)
            matrix = outer @ _read_matrix(nodes[index])
            yield nodes[index], matrix
            waiting += [(int(child), matrix) for child in reversed(nodes[index].get("children", []))]

    def _read_positions(self, index: int) -> FloatArray:
        accessor = self._json["accessors"][index]
        if accessor["componentType"] != _FLOAT or accessor["type"] != "VEC3" or "sparse" in accessor:
            raise ValueError("positions are not plain triples of floats")
        with np.errstate(invalid="ignore"):  # what is no number is reported later
            return self._read_accessor(accessor, "<f4", 3).astype(float)

    def _read_indices(self, index: int) -> LongArray:
        accessor = self._json["accessors"][index]
        return self._read_accessor(accessor, _INDEX_KINDS[accessor["componentType"]], 1)[:, 0].astype(np.int64)

    def _read_accessor(self, accessor: dict[str, Any], kind: str, width: int) -> np.ndarray:
        view = self._json["bufferViews"][accessor["bufferView"]]
        size = np.dtype(kind).itemsize * width
        stride = view.get("byteStride", size)
        first = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        count = accessor["count"]
        content = self._read_buffer(view["buffer"])
        if count < 0 or first < 0 or stride < size or first + (count - 1) * stride + size > len(content):
            raise ValueError("an accessor reaches beyond its buffer")
        return np.ndarray((count, width), kind, content, first, (stride, np.dtype(kind).itemsize)).copy()

    def _read_buffer(self, index: int) -> bytes:
        if index not in self._buffers:
            self._buffers[index] = self._fetch_buffer(self._json["buffers"][index], index)
        return self._buffers[index]

    def _fetch_buffer(self, buffer: dict[str, Any], index: int) -> bytes:
        if "uri" not in buffer:
            if index:
                raise ValueError("a buffer has no address")
            return self._chunk
        uri = str(buffer["uri"])
        if uri.startswith("data:"):
            try:
                return base64.b64decode(uri.partition(",")[2], validate=True)
            except binascii.Error as error:
                raise ValueError("a buffer is not in base64") from error
        if ":" in uri or Path(uri).is_absolute() or ".." in Path(uri).parts:
            raise ValueError(f"a buffer lies at {uri[:60]!r}, not beside the model")
        return self._read(self._path.parent / uri)

    def _read(self, path: Path) -> bytes:
        if path.stat().st_size > LONGEST_MODEL:
            raise SceneError(f"{path} is longer than {LONGEST_MODEL // 1_000_000} MB; simplify the model.")
        return path.read_bytes()


def _split_chunks(content: bytes) -> tuple[bytes, bytes]:
    """Return the JSON and the binary chunk of a .glb file."""
    _, version, _ = struct.unpack_from("<III", content, 0)
    if version != 2:
        raise ValueError(f"it is of version {version}")
    chunks: dict[int, bytes] = {}
    at = 12
    while at + 8 <= len(content):
        length, kind = struct.unpack_from("<II", content, at)
        chunks.setdefault(kind, content[at + 8 : at + 8 + length])
        at += 8 + length
    return chunks[0x4E4F534A], chunks.get(0x004E4942, b"")


def _read_matrix(node: dict[str, Any]) -> FloatArray:
    """Return a node's transform, shape [4, 4]."""
    if "matrix" in node:
        return np.array(node["matrix"], float).reshape(4, 4).T
    x, y, z, w = np.array(node.get("rotation", (0.0, 0.0, 0.0, 1.0)), float)
    matrix = np.eye(4)
    matrix[:3, :3] = find_axes((w, x, y, z)) * np.array(node.get("scale", (1.0, 1.0, 1.0)), float)
    matrix[:3, 3] = node.get("translation", (0.0, 0.0, 0.0))
    return matrix


def _join_edges(point: FloatArray, edge: LongArray, what: str) -> tuple[list[int], bool]:
    """Return the points of loose edges in order, and whether they close.

    Raises:
        SceneError: The edges are not one line.
    """
    size = float(np.ptp(point, axis=0).max()) or 1.0
    _, first, same = np.unique(np.round(point / (1e-6 * size)), axis=0, return_index=True, return_inverse=True)
    pairs = same.reshape(-1)[edge]
    beside: dict[int, list[int]] = {}
    for a, b in pairs[pairs[:, 0] != pairs[:, 1]].tolist():
        beside.setdefault(a, []).append(b)
        beside.setdefault(b, []).append(a)
    if any(len(others) > 2 for others in beside.values()):
        raise SceneError(f"{what} branches; a path is one line without side arms.")
    ends = [index for index, others in beside.items() if len(others) == 1]
    if not beside or len(ends) not in (0, 2):
        raise SceneError(f"{what} is in {max(1, len(ends) // 2)} pieces or has no length; a path is one line.")
    begin = ends[0] if ends else int(pairs[0, 0])
    order, before, here = [begin], -1, begin
    while (after := next((index for index in beside[here] if index != before), None)) not in (None, begin):
        assert after is not None
        order.append(after)
        before, here = here, after
    if len(order) != len(beside):
        raise SceneError(f"{what} is in several pieces; a path is one line.")
    return first[order].tolist(), not ends
