"""A place and its cars as one glTF file, for whoever draws them elsewhere: the pages, a modelling program.

It is made of what the camera's pictures are made of, so that what people see is what is simulated. The first scene of
the file is the place, with what can be pushed about as nodes of its own; the second one has a body and a wheel of each
style, each at the origin, drawn more finely than for cameras. All lie in our frame, below a node that turns it upright.

What the format has no words for stands in `extras`: of the first scene, `PlaceNotes`; of the second one, `CarNotes`; of
a material, `MaterialNotes`.
"""

import io
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from donkeysim.core.types import ByteArray, Float32Array, FloatArray, IntArray, LongArray
from donkeysim.render.body import fit_models
from donkeysim.watch.gltf import UPRIGHT, GltfWriter, encode_webp, find_alpha_factors
from donkeysim.world.scene import (
    CLASS_GROUND,
    CLASS_LINE,
    CLASS_ROAD,
    SHADE_CUTOUT,
    SHADE_GLOSS,
    SHADE_METAL,
    SHADE_PAINT,
    SHADE_TEXTURE,
    SHADE_TWO_SIDED,
    SHADE_UNLIT,
    CarModel,
    Material,
    Mesh,
    Scene,
)
from donkeysim.world.specs import CarSpec
from donkeysim.world.tracks.art import build_mesh
from donkeysim.world.tracks.mesh import Assets

CLASS_NAMES = ("sky", "ground", "road", "line", "prop", "car")
"""Of CLASS_*, by number."""

SHARES = (CLASS_GROUND, CLASS_ROAD, CLASS_LINE)
"""Classes that a class map has a channel for, red first; all others are black."""

# Below it, walls that meet in a corner would look round; above it, a car's bonnet would look like a folded sheet.
CREASE = 0.77
"""Triangles of one corner whose normals have at least this cosine look like one bent surface."""

FINE_CREASE = 0.69
"""As `CREASE`, of the fine cars: the chamfers along their edges, at 45 degrees, look like rounded edges."""

METAL, GLOSS, DULL = (0.8, 0.34), (0.7, 0.07), (0.0, 0.9)
"""How metallic and how rough bare metal is, glass (dark behind, it mirrors as tinted metal does), and all else."""

# Of the originals' skies, 0 to 1.1; of those with painted clouds, 4.6 and more.
EMPTY_SKY = 2.0
"""A sky that differs by less than that from itself a little farther to the side has no clouds [of 255]."""


class MaterialNotes(msgspec.Struct):
    """How a material is to be coloured.

    Attributes:
        segment: Its class.
        is_paint: Whether the car's own colour multiplies it.
        class_map: Its map of classes; null: none.
        has_finish: Whether it is as rough and metallic as its numbers say; else whoever draws it chooses.
        alpha_factors: Of a texture with holes, see `watch.gltf.find_alpha_factors`.
    """

    segment: str
    is_paint: bool
    class_map: int | None
    has_finish: bool
    alpha_factors: list[float]


class PlaceNotes(msgspec.Struct):
    """Light as in `world.scene.Light`, with the sky as a texture (null: none), and the path's nodes [m].

    `is_sky_empty`: It has no clouds of its own. `floor` is the height of the lowest ground [m]; one that is sealed
    mirrors what stands on it.
    """

    name: str
    sun_direction: tuple[float, float, float]
    sun_colour: tuple[float, float, float]
    ambient_colour: tuple[float, float, float]
    fog_colour: tuple[float, float, float]
    fog_density: float
    sky: int | None
    is_sky_empty: bool
    path: list[list[float]]
    is_closed: bool
    floor: float
    is_floor_sealed: bool


class CarNotes(msgspec.Struct):
    """Wheel centres at full compression, body frame [m], which wheels are steered, and their radius [m]."""

    wheel_position: list[list[float]]
    wheel_steered: list[bool]
    wheel_radius: float


def write_place(scene: Scene, car: CarSpec) -> bytes:
    """Return the file, GLB; `car`: whose wheels the bodies stand on."""
    return _PlaceWriter(scene, car).write()


class _PlaceWriter:
    """Lays one place out in one file."""

    def __init__(self, scene: Scene, car: CarSpec) -> None:
        self._scene, self._car = dress_finely(scene), car
        self._models = fit_models(self._scene, car)
        self._file = GltfWriter("donkeysim")
        self._textures: dict[tuple[str, int], int] = {}
        self._materials: dict[int, int] = {}
        self._meshes: dict[int, int] = {}

    def write(self) -> bytes:
        file, document = self._file, self._file.document
        document["extensionsUsed"] = ["EXT_texture_webp", "KHR_materials_unlit", "KHR_mesh_quantization"]
        document["extensionsRequired"] = ["EXT_texture_webp", "KHR_mesh_quantization"]
        file.add("samplers", {"magFilter": 9729, "minFilter": 9987, "wrapS": 10497, "wrapT": 10497})
        self._add_scene(self._scene.name, self._list_place(), self._describe_place())
        steered = [bool(value) for value in self._car.wheel_steered]
        notes = CarNotes(np.array(self._car.wheel_position).tolist(), steered, self._car.wheel_radius)
        self._add_scene("cars", self._list_cars(), notes)
        document["scene"] = 0
        return file.encode()

    def _add_scene(self, name: str, children: list[int], notes: msgspec.Struct) -> None:
        root = self._file.add("nodes", {"name": name, "rotation": UPRIGHT, "children": children})
        self._file.add("scenes", {"name": name, "nodes": [root], "extras": msgspec.to_builtins(notes)})

    def _list_place(self) -> list[int]:
        scene = self._scene
        static = self._add_mesh("ground", scene.static)
        nodes = [self._file.add("nodes", {"name": "ground", "mesh": static})]
        for index, model in enumerate(scene.props.model.tolist()):
            half = 0.5 * float(scene.props.yaw[index])
            node = {
                "name": f"prop {index}",
                "mesh": self._add_model(model, scene.labels[scene.props.name[index]]),
                "translation": scene.props.position[index].tolist(),
                "rotation": (0.0, 0.0, float(np.sin(half)), float(np.cos(half))),
            }
            nodes.append(self._file.add("nodes", node))
        return nodes

    def _list_cars(self) -> list[int]:
        nodes = []
        for style, model in self._scene.car_models.items():
            for part, index in (("body", model.body), ("wheel", model.wheel)):
                name = f"{part} {style}"
                nodes.append(
                    self._file.add("nodes", {"name": name, "mesh": self._add_model(index, name, is_fine=True)})
                )
        return nodes

    def _add_model(self, index: int, name: str, *, is_fine: bool = False) -> int:
        if index not in self._meshes:
            self._meshes[index] = self._add_mesh(name, self._models[index], is_fine=is_fine)
        return self._meshes[index]

    def _add_mesh(self, name: str, mesh: Mesh, *, is_fine: bool = False) -> int:
        crease = FINE_CREASE if is_fine else CREASE
        normal = find_corner_normals(mesh.vertex, mesh.triangle, crease, is_chained=is_fine)
        shown = mesh.material
        primitives = [self._add_primitive(mesh, normal, shown == material, material) for material in np.unique(shown)]
        return self._file.add("meshes", {"name": name, "primitives": primitives})

    def _add_primitive(self, mesh: Mesh, normal: Float32Array, chosen: np.ndarray, material: int) -> dict[str, Any]:
        corner = mesh.triangle[chosen].ravel()
        turned = np.rint(127.0 * normal[chosen].reshape(-1, 3)).astype(np.int8)
        row = np.concatenate((corner[:, None], turned), axis=1)
        kept, place = np.unique(row, axis=0, return_inverse=True)
        vertex, file = kept[:, 0], self._file
        attributes = {
            "POSITION": file.add_array(pack_small(mesh.vertex)[vertex], has_bounds=True),
            "NORMAL": file.add_array(kept[:, 1:].astype(np.int8)),
        }
        if self._scene.materials[material].flags & SHADE_TEXTURE:
            attributes["TEXCOORD_0"] = file.add_array(mesh.uv[vertex].astype(np.float32))
        place = place.astype(np.uint16 if len(kept) < 65_536 else np.uint32)
        indices = file.add_array(place.ravel(), is_index=True)
        return {"attributes": attributes, "indices": indices, "material": self._add_material(int(material))}

    def _add_material(self, index: int) -> int:
        if index not in self._materials:
            self._materials[index] = self._file.add("materials", self._describe_material(self._scene.materials[index]))
        return self._materials[index]

    def _describe_material(self, material: Material) -> dict[str, Any]:
        colour = [*find_linear(np.array(material.colour)).tolist(), 1.0]
        is_metal, is_gloss = bool(material.flags & SHADE_METAL), bool(material.flags & SHADE_GLOSS)
        metalness, roughness = METAL if is_metal else GLOSS if is_gloss else DULL
        looks: dict[str, Any] = {"baseColorFactor": colour, "metallicFactor": metalness, "roughnessFactor": roughness}
        class_map = None
        if material.flags & SHADE_TEXTURE:
            looks["baseColorTexture"] = {"index": self._add_texture(material.texture)}
            class_map = self._add_class_map(material.class_map) if material.class_map >= 0 else None
        is_paint = bool(material.flags & SHADE_PAINT)
        factors = []
        if material.flags & SHADE_CUTOUT:
            factors = find_alpha_factors(self._scene.textures[material.texture][..., 3])
        notes = MaterialNotes(CLASS_NAMES[material.segment], is_paint, class_map, is_metal or is_gloss, factors)
        described: dict[str, Any] = {"pbrMetallicRoughness": looks, "extras": msgspec.to_builtins(notes)}
        if material.flags & SHADE_CUTOUT:
            described |= {"alphaMode": "MASK", "alphaCutoff": 0.5}
        if material.flags & SHADE_TWO_SIDED:
            described["doubleSided"] = True
        if material.flags & SHADE_UNLIT:
            described["extensions"] = {"KHR_materials_unlit": {}}
        return described

    def _add_texture(self, index: int) -> int:
        key = ("texture", index)
        if key not in self._textures:
            picture = self._scene.textures[index]
            image = self._file.add_image(encode_webp(picture), "image/webp", f"texture {index}")
            self._textures[key] = self._file.add(
                "textures", {"sampler": 0, "extensions": {"EXT_texture_webp": {"source": image}}}
            )
        return self._textures[key]

    def _add_class_map(self, index: int) -> int:
        key = ("class map", index)
        if key not in self._textures:
            image = self._file.add_image(encode_shares(self._scene.class_maps[index]), "image/png", f"classes {index}")
            self._textures[key] = self._file.add("textures", {"sampler": 0, "source": image})
        return self._textures[key]

    def _describe_place(self) -> PlaceNotes:
        scene, light = self._scene, self._scene.light
        return PlaceNotes(
            name=scene.name,
            sun_direction=light.sun_direction,
            sun_colour=light.sun_colour,
            ambient_colour=light.ambient_colour,
            fog_colour=light.fog_colour,
            fog_density=light.fog_density,
            sky=None if light.sky_texture < 0 else self._add_texture(light.sky_texture),
            is_sky_empty=light.sky_texture < 0 or is_empty_sky(scene.textures[light.sky_texture]),
            path=np.round(scene.path.position, 3).tolist(),
            is_closed=scene.path.closed,
            floor=float(scene.ground.height.min()),
            is_floor_sealed=scene.has_sealed_floor,
        )


def find_corner_normals(
    vertex: Float32Array, triangle: IntArray, crease: float = CREASE, *, is_chained: bool = False
) -> Float32Array:
    """Return the normal of each corner of each triangle, shape [triangle_count, 3, 3].

    Triangles that share a place and hardly bend there share the mean of their normals, weighted by area.

    Args:
        vertex: [m], shape [vertex_count, 3].
        triangle: Vertex indices, shape [triangle_count, 3].
        crease: Least cosine of the normals of two that hardly bend.
        is_chained: Whether two also share it that bend more, if others between them hardly do: fewer normals differ.
    """
    corner = vertex[triangle].astype(np.float64)
    facing = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    unit = facing / np.maximum(np.linalg.norm(facing, axis=1, keepdims=True), 1e-12)
    _, place = np.unique(np.round(corner.reshape(-1, 3), 5), axis=0, return_inverse=True)
    order = np.argsort(place.ravel(), kind="stable")
    sorted_place = place.ravel()[order]
    first = np.searchsorted(sorted_place, sorted_place)
    count = np.searchsorted(sorted_place, sorted_place, side="right") - first
    face, pairs = order // 3, []
    for step in range(int(count.max(initial=0))):  # the step-th of those at a corner's place
        has = np.flatnonzero(step < count)
        other = first[has] + step
        is_near = np.einsum("ij,ij->i", unit[face[has]], unit[face[other]]) >= crease
        pairs.append((has[is_near], other[is_near]))
    summed = _sum_chains(pairs, facing[face]) if is_chained else _sum_pairs(pairs, facing[face])
    normal = np.empty_like(summed)
    normal[order] = summed / np.maximum(np.linalg.norm(summed, axis=1, keepdims=True), 1e-12)
    return normal.reshape(-1, 3, 3).astype(np.float32)


def is_empty_sky(panorama: ByteArray) -> bool:
    """Return whether a sky is the same all around, but for a sun: of a panorama as in `Light.sky_texture`."""
    above = panorama[: panorama.shape[0] // 2 - panorama.shape[0] // 16, :, :3].astype(np.float64)
    beside = np.roll(above, panorama.shape[1] // 64, axis=1)
    return float(np.abs(above - beside).mean()) < EMPTY_SKY


def _sum_pairs(pairs: Sequence[tuple[LongArray, LongArray]], facing: FloatArray) -> FloatArray:
    """Return for each corner the sum over those that it makes a pair with; no corner comes twice in one entry."""
    summed = np.zeros((len(facing), 3))
    for one, other in pairs:
        summed[one] += facing[other]
    return summed


def _sum_chains(pairs: Sequence[tuple[LongArray, LongArray]], facing: FloatArray) -> FloatArray:
    """Return for each corner the sum over all that pairs lead to."""
    label, before = np.arange(len(facing)), None
    while before is None or (label != before).any():
        before = label.copy()
        for one, other in pairs:
            label[one] = np.minimum(label[one], before[other])
    summed = np.zeros((len(facing), 3))
    np.add.at(summed, label, facing)
    return summed[label]


def pack_small(vertex: Float32Array) -> NDArray[np.float32] | NDArray[np.int16]:
    """Return places as int16, to 0.03 mm, where all lie within a metre of the origin; else as they are [m]."""
    if np.abs(vertex).max(initial=0.0) >= 1.0:
        return vertex.astype(np.float32)
    packed: NDArray[np.int16] = np.rint(vertex * 32_767.0).astype(np.int16)
    return packed


def find_linear(colour: FloatArray) -> FloatArray:
    """Return linear values of sRGB ones, 0 to 1; IEC 61966-2-1."""
    return np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)


def encode_shares(classes: ByteArray) -> bytes:
    """Return a class map as PNG: 255 in the channel of a texel's class (`SHARES`)."""
    channels: Sequence[ByteArray] = [np.where(classes == kind, 255, 0).astype(np.uint8) for kind in SHARES]
    buffer = io.BytesIO()
    Image.fromarray(np.stack(channels, axis=-1)).save(buffer, "PNG", compress_level=3)
    return buffer.getvalue()


def dress_finely(scene: Scene) -> Scene:
    """Return a scene whose cars have the fine meshes of `art`; all else keeps its number."""
    materials, textures, bodies, wheel = _build_fine_cars(tuple(scene.car_models))
    first, number = len(scene.materials), len(scene.models)
    models = [replace(mesh, material=mesh.material + first) for mesh in (wheel, *bodies)]
    cars = {style: CarModel(number + 1 + index, number) for index, style in enumerate(scene.car_models)}
    shifted = [
        replace(material, texture=material.texture + len(scene.textures)) if material.texture >= 0 else material
        for material in materials
    ]
    return replace(
        scene,
        models=(*scene.models, *models),
        car_models=cars,
        materials=(*scene.materials, *shifted),
        textures=(*scene.textures, *textures),
    )


@lru_cache(maxsize=4)
def _build_fine_cars(
    styles: tuple[str, ...],
) -> tuple[tuple[Material, ...], tuple[ByteArray, ...], tuple[Mesh, ...], Mesh]:
    """Return materials, textures, bodies and wheel."""
    assets = Assets()
    wheel = build_mesh("cars/fine_wheel", 0, assets)
    bodies = tuple(build_mesh(f"cars/fine_{style}", 0, assets) for style in styles)
    return tuple(assets.materials), tuple(assets.textures), bodies, wheel
