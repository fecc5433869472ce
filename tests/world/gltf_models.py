"""Models for tests: meshes as trimesh writes them, and lines, which it does not."""

import json
import struct

import numpy as np
import trimesh

STRIP, LOOP, LINES = 3, 2, 1


def write_model(path, lines=(), meshes=(), change=None):
    """Write a .glb with lines (name, points, mode, indices or None) and meshes (name, Trimesh); return its path.

    `change` may alter the JSON before it is written.
    """
    model = trimesh.Scene()
    for name, mesh in meshes:
        model.add_geometry(mesh, node_name=name, geom_name=f"{name} shape")
    document, binary = _split(model.export(file_type="glb")) if meshes else (_empty(), b"")
    for name, points, mode, order in lines:
        part = {"mode": mode, "attributes": {"POSITION": None}}
        binary = _add(document, binary, np.asarray(points, "<f4"), part["attributes"], "POSITION")
        if order is not None:
            binary = _add(document, binary, np.asarray(order, "<u2").reshape(-1), part, "indices")
        document.setdefault("meshes", []).append({"name": f"{name} shape", "primitives": [part]})
        document["nodes"].append({"name": name, "mesh": len(document["meshes"]) - 1})
        document["scenes"][0]["nodes"].append(len(document["nodes"]) - 1)
    document["buffers"] = [{"byteLength": len(binary)}]
    if change is not None:
        change(document)
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    binary += b"\0" * (-len(binary) % 4)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(binary), 0x004E4942) + binary
    path.write_bytes(b"glTF" + struct.pack("<II", 2, 12 + len(chunks)) + chunks)
    return path


def make_ring(count=60, radius=(4.0, 3.0)):
    """Points of an oval as a model has them (y up), counter-clockwise seen from above."""
    angle = np.arange(count) * (2.0 * np.pi / count)
    return np.column_stack((radius[0] * np.cos(angle), np.zeros(count), -radius[1] * np.sin(angle)))


def make_block(size, at, colour=(200, 60, 40, 255)):
    """A box on its base (width, height, depth of the model), with one colour for all vertices."""
    block = trimesh.creation.box(size)
    block.apply_translation((at[0], at[1] + 0.5 * size[1], at[2]))
    block.visual.vertex_colors = colour
    return block


def _empty():
    return {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": []}], "nodes": [], "meshes": []} | {
        "accessors": [],
        "bufferViews": [],
    }


def _split(content):
    size = struct.unpack_from("<I", content, 12)[0]
    return json.loads(content[20 : 20 + size]), content[20 + size + 8 :]


def _add(document, binary, array, owner, key):
    binary += b"\0" * (-len(binary) % 4)
    document["bufferViews"].append({"buffer": 0, "byteOffset": len(binary), "byteLength": array.nbytes})
    kind = ("VEC3", 5126) if array.ndim == 2 else ("SCALAR", 5123)
    view = len(document["bufferViews"]) - 1
    document["accessors"].append({"bufferView": view, "componentType": kind[1], "count": len(array), "type": kind[0]})
    owner[key] = len(document["accessors"]) - 1
    return binary + array.tobytes()
