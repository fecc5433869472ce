"""What everything looks like: scenes, props and cars turned into the kernels' tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from donkeysim.core.errors import ShapeError
from donkeysim.core.memory import remember
from donkeysim.core.types import ByteArray, FloatArray
from donkeysim.render.body import Plate, fit_models, prepare_plate
from donkeysim.render.geometry import GrowingTable, MeshStore, PreparedMesh, prepare_mesh
from donkeysim.render.kernels.layout import CAR_MESH, SHADOW, SHADOW_WIDTH, SPHERE_RADIUS
from donkeysim.render.kernels.shade import SHADE_NO_FOG
from donkeysim.render.tables import PictureTables, QuadPool
from donkeysim.render.texture import SKY_AXES, SKY_MARGIN, TexelPool, check_texture_index, take_sky_faces
from donkeysim.world.scene import CLASS_CAR, CLASS_SKY, SHADE_CUTOUT, SHADE_TEXTURE, SHADE_UNLIT, Mesh, Scene
from donkeysim.world.specs import BodySpec, CarSpec
from donkeysim.world.state import Layout

SKY_DISTANCE = 1.0e5
"""Half the side of the sky's box [m]: everything is nearer."""

PARTS_PER_CAR = 6
"""Body, four wheels, name plate."""

NO_CAST = (0.0,) * (SHADOW_WIDTH - SHADOW.low)
"""Rest of a row of `PictureTables.car_shadow` where the sun casts no shadow."""

NO_CLASS_MAP = (-1, 0, 0)
"""Row of `PictureTables.material_class` of a material that shows one class."""

WHITE = (1.0, 1.0, 1.0)

PLATE_ROOM = 0.1
"""More than name plates stand above the sphere around a body [m]."""


_MESHES: dict[int, list[PreparedMesh]] = {}
"""Of living scenes by their `id`: what never moves, and the models."""

MOST_PLATES = 128
"""Once there are this many, a new name takes the place of one that nobody wears; they have up to 1.4 MB each."""


class Looks:
    """Meshes, materials and textures of all scenes, and what each car wears.

    Attributes:
        tables: For the kernels; replaced when a name plate is added.
        record_limit: Triangles that one picture may show at most.
        draw_limit: Meshes that one picture may show at most.
    """

    tables: PictureTables
    record_limit: int
    draw_limit: int

    def __init__(self, layout: Layout) -> None:
        scenes, world_scene, car, world_count, cars_per_world, props_per_world = layout
        self._scenes, self._world_scene, self._car = scenes, np.asarray(world_scene, np.int32), car
        self._cars_per_world, self._props_per_world = cars_per_world, props_per_world
        self._store = MeshStore()
        self._pool, self._quads, self._has_quads = TexelPool(), QuadPool(), False
        self._pool.fill(scenes)
        self._materials = _Materials()
        self._class_cell = np.zeros(1, np.uint8)
        self._white = self._pool.add([np.full((1, 1, 4), 255, np.uint8)])
        self._model_base: list[int] = []
        self._models: list[tuple[Mesh, ...]] = []
        self._plates: dict[tuple[str, int], _PlateSlot] = {}
        self._shadows: dict[tuple[int, str], list[float]] = {}
        scene_mesh = np.array([self._add_scene(scene) for scene in scenes], np.int32).reshape(-1, 2)
        self._pool.share(scenes)
        car_count, prop_count = world_count * cars_per_world, world_count * props_per_world
        self._fixed: dict[str, Any] = {
            "light": np.array([_pack_light(scene) for scene in scenes], np.float32),
            "scene_mesh": scene_mesh,
            "world_scene": self._world_scene,
            "prop_mesh": np.full(prop_count, -1, np.int32),
            "car_mesh": np.full((car_count, 3), -1, np.int32),
            "car_sphere": np.zeros((car_count, 4), np.float32),
            "car_paint": np.ones((car_count, 3), np.float32),
            "car_shadow": np.zeros((car_count, SHADOW_WIDTH), np.float32),
            "prop_shadow": np.zeros((prop_count, SHADOW_WIDTH), np.float32),
            "wheel_anchor": np.array(car.wheel_position, np.float32),
            "wheel_steered": np.array(car.wheel_steered, np.uint8),
        }
        self.tables = self._list_tables()
        for scene in np.unique(self._world_scene).tolist():
            self._add_props(scene)
        # Whatever cars wear: so nobody has to allocate anything when one of them is dressed.
        self.record_limit = max(map(self._count_triangles, range(len(scenes)))) + 2
        self.draw_limit = 2 + PARTS_PER_CAR * cars_per_world + props_per_world
        self.set_bodies(range(car_count), BodySpec())

    def set_bodies(self, cars: Sequence[int], body: BodySpec) -> None:
        """Dress cars alike; a name that no car has had adds its plate behind all meshes, and nothing else is built.

        Raises:
            ShapeError: A scene of theirs has no such body.
        """
        rows = np.asarray(cars, np.intp)
        there = self._world_scene[rows // self._cars_per_world]
        scenes = np.unique(there).tolist()
        for about in (self._scenes[scene] for scene in scenes):
            if body.style not in about.car_models:
                models = sorted(about.car_models)
                raise ShapeError(f"scene {about.name!r} has no body style {body.style!r}; it has {models}.")
        plate = self._find_plate(body)
        for scene in scenes:
            self._dress(rows[there == scene], scene, body, plate)

    def make_quads(self) -> None:
        """Make the textures of grey pictures, some tenths of a second once; from then on plates have theirs too."""
        if not self._has_quads:
            self._has_quads = True
            self.tables = self._list_tables()

    def reserve(self) -> None:
        """Make room for further name plates; may be called on any thread."""
        self._pool.reserve()

    def _add_scene(self, scene: Scene) -> tuple[int, int]:
        texture_base = self._pool.add(list_shown(scene))
        material_base = self._materials.flags.count
        class_maps = self._add_class_maps(scene)
        for index, material in enumerate(scene.materials):
            texture, class_map = self._white, NO_CLASS_MAP
            if material.flags & SHADE_TEXTURE:
                check_texture_index(material.texture, len(scene.textures), f"material {index} of scene {scene.name!r}")
                texture = texture_base + material.texture
                class_map = class_maps[material.class_map] if material.class_map >= 0 else NO_CLASS_MAP
            self._materials.add(material.flags, material.colour, texture, material.segment, class_map)
        models = fit_models(scene, self._car)
        meshes = self._prepare_all(scene, models, material_base)
        static, *_ = [self._store.add(mesh, material_base, self._materials.flags.room) for mesh in meshes]
        self._model_base.append(static + 1)
        self._models.append(models)
        return static, self._add_sky(scene)

    def _prepare_all(self, scene: Scene, models: Sequence[Mesh], material_base: int) -> list[PreparedMesh]:
        """Return the ground, and a scene's models as they fit the car; what is not bent to fit is made once a scene."""
        made = remember(_MESHES, scene, lambda: self._prepare((scene.static, *scene.models), material_base))
        bent = [model for model, drawn in zip(models, scene.models, strict=True) if model is not drawn]
        fitted = iter(self._prepare(bent, material_base))
        kept = zip(models, scene.models, made[1:], strict=True)
        return [made[0], *(mesh if model is drawn else next(fitted) for model, drawn, mesh in kept)]

    def _prepare(self, meshes: Iterable[Mesh], material_base: int) -> list[PreparedMesh]:
        texture = self._materials.texture.room[material_base:]
        return [prepare_mesh(mesh, texture, self._pool) for mesh in meshes]

    def _add_class_maps(self, scene: Scene) -> list[tuple[int, int, int]]:
        """Append a scene's class maps to all and return a row of `PictureTables.material_class` for each."""
        rows = []
        for cells in scene.class_maps:
            height, width = cells.shape
            if width & (width - 1) or height & (height - 1):
                raise ShapeError(
                    f"a class map of scene {scene.name!r} has the shape {cells.shape}; its sides are powers of two."
                )
            rows.append((len(self._class_cell), width.bit_length() - 1, height.bit_length() - 1))
            self._class_cell = np.concatenate((self._class_cell, cells.ravel()))
        return rows

    def _add_sky(self, scene: Scene) -> int:
        index = scene.light.sky_texture
        if index >= 0:
            check_texture_index(index, len(scene.textures), f"the sky of scene {scene.name!r}")
            first = self._pool.add(take_sky_faces(scene.textures[index]))
            textures = [first + face for face in range(6)]
        else:
            picture = np.full((1, 1, 4), 255, np.uint8)
            picture[..., :3] = np.rint(255.0 * np.array(scene.light.fog_colour))
            textures = [self._pool.add([picture])] * 6
        material_base = self._materials.flags.count
        for texture in textures:
            self._materials.add(SHADE_UNLIT | SHADE_NO_FOG, WHITE, texture, CLASS_SKY)
        (box,) = self._prepare([make_sky_box()], material_base)
        return self._store.add(box, material_base, self._materials.flags.room)

    def _add_props(self, scene: int) -> None:
        """Give the props of a scene to all its worlds."""
        about, room = self._scenes[scene], self._props_per_world
        count = len(about.props.model)
        if count > room:
            raise ShapeError(f"scene {about.name!r} has {count} props, but a world has room for {room}.")
        first = np.flatnonzero(self._world_scene == scene)[:, None] * room
        for slot, model in enumerate(about.props.model):
            self.tables.prop_mesh[first + slot] = self._model_base[scene] + int(model)
            self.tables.prop_shadow[first + slot] = measure_prop(about, slot)

    def _dress(self, rows: NDArray[np.intp], scene: int, body: BodySpec, plate: int) -> None:
        about, tables = self._scenes[scene], self.tables
        model, base = about.car_models[body.style], self._model_base[scene]
        meshes = base + model.body, base + model.wheel, plate
        if (scene, body.style) not in self._shadows:
            self._shadows[scene, body.style] = measure_body(about, self._models[scene][model.body], self._car)
        tables.car_mesh[rows] = meshes
        tables.car_paint[rows] = np.array(body.colour, np.float32) / 255.0
        tables.car_shadow[rows] = self._shadows[scene, body.style]
        tables.car_sphere[rows, SPHERE_RADIUS] = self._measure_reach(*meshes)

    def _find_plate(self, body: BodySpec) -> int:
        key = (body.name, body.font_size)
        plate = None if key in self._plates or not body.name else prepare_plate(*key)
        if plate is not None:
            self._plates[key] = self._reuse_slot(plate) or self._add_slot(plate)
        return self._plates[key].mesh if key in self._plates else -1

    def _add_slot(self, plate: Plate) -> _PlateSlot:
        texture, flags = self._pool.add([plate.picture]), SHADE_TEXTURE | SHADE_UNLIT | SHADE_CUTOUT
        material = self._materials.add(flags, WHITE, texture, CLASS_CAR)
        mesh = self._store.add(plate.mesh, material, self._materials.flags.room)
        self.tables = self._list_tables()
        return _PlateSlot(mesh, material, texture, plate.picture.shape)

    def _reuse_slot(self, plate: Plate) -> _PlateSlot | None:
        """Return the place of a plate that nobody wears any more, the oldest of this size, with the new one in it."""
        if len(self._plates) < MOST_PLATES:
            return None
        worn = set(self.tables.car_mesh[:, CAR_MESH.plate].tolist())
        free = (
            key for key, slot in self._plates.items() if slot.shape == plate.picture.shape and slot.mesh not in worn
        )
        key = next(free, None)
        if key is None:
            return None
        slot = self._plates.pop(key)
        self._pool.replace(slot.texture, plate.picture)
        if self._has_quads:
            self._quads.write(self._pool, slot.texture)
        self._store.replace(slot.mesh, plate.mesh, slot.material, self._materials.flags.room)
        return slot

    def _list_tables(self) -> PictureTables:
        materials = self._materials
        if self._has_quads:
            self._quads.update(self._pool)
        return PictureTables(
            *self._store.tables,
            material_flags=materials.flags.room,
            material_colour=materials.colour.room,
            material_texture=materials.texture.room,
            material_segment=materials.segment.room,
            material_class=materials.class_map.room,
            class_cell=self._class_cell,
            texel=self._pool.texel,
            quad=self._quads.quad,
            level_base=self._pool.level_base,
            size_log=self._pool.size_log,
            **self._fixed,
        )

    def _measure_reach(self, body: int, wheel: int, plate: int) -> float:
        """Return how far a body, its wheels and a name plate (-1: none) reach from a car's origin [m]."""
        sphere = self.tables.mesh_sphere[[body, wheel, plate]].astype(np.float64)
        centre, radius = np.linalg.norm(sphere[:, :SPHERE_RADIUS], axis=1).tolist(), sphere[:, SPHERE_RADIUS].tolist()
        anchor = np.linalg.norm(np.array(self._car.wheel_position), axis=1).max() + self._car.suspension_travel
        above = centre[2] + radius[2] + PLATE_ROOM if plate >= 0 else 0.0
        return float(max(centre[0] + radius[0], anchor + radius[1]) + above)

    def _count_triangles(self, scene: int) -> int:
        """Return how many triangles a picture of a scene may show, whatever its cars wear."""
        counts, about, base = self._store.triangle_counts, self._scenes[scene], self._model_base[scene]
        fixed = sum(counts[mesh] for mesh in self.tables.scene_mesh[scene].tolist())
        props = sum(counts[base + int(model)] for model in about.props.model)
        cars = [counts[base + model.body] + 4 * counts[base + model.wheel] + 2 for model in about.car_models.values()]
        return int(fixed + props + self._cars_per_world * max(cars, default=0))


class _PlateSlot(NamedTuple):
    """Where a name plate lies in the tables."""

    mesh: int
    material: int
    texture: int
    shape: tuple[int, ...]


class _Materials:
    """Materials of all scenes and of name plates, column by column."""

    def __init__(self) -> None:
        self.flags, self.texture = GrowingTable(np.int32), GrowingTable(np.int32)
        self.colour, self.segment = GrowingTable(np.float32, 3), GrowingTable(np.uint8)
        self.class_map = GrowingTable(np.int32, 3)

    def add(
        self,
        flags: int,
        colour: tuple[float, float, float],
        texture: int,
        segment: int,
        class_map: tuple[int, int, int] = NO_CLASS_MAP,
    ) -> int:
        """Add a material and return its index."""
        self.flags.add(np.array([flags]))
        self.colour.add(np.array([colour]))
        self.texture.add(np.array([texture]))
        self.segment.add(np.array([segment]))
        self.class_map.add(np.array([class_map]))
        return self.flags.count - 1


def measure_body(scene: Scene, body: Mesh, car: CarSpec) -> list[float]:
    """Return a row of `PictureTables.car_shadow`: all of a body as high as its wheels, and what of it stands higher."""
    wheels = np.array(car.wheel_position)
    rest = float(wheels[:, 2].mean()) - car.suspension_target * car.suspension_travel - car.wheel_radius
    corner = body.vertex[:, :2]
    low = np.minimum(corner.min(axis=0), wheels[:, :2].min(axis=0))
    high = np.maximum(corner.max(axis=0), wheels[:, :2].max(axis=0))
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    patch = [*middle.tolist(), *half.tolist(), rest]
    top = float(body.vertex[:, 2].max()) - rest
    tall = corner[body.vertex[:, 2] - rest > max(0.5 * top, 2.0 * car.wheel_radius)]
    if scene.light.sky_texture < 0 or not len(tall):
        return [*patch, *NO_CAST]
    first, last = tall.min(axis=0), tall.max(axis=0)
    aside, size = 0.5 * (first + last) - middle, 0.5 * (last - first)
    return [*patch, 2.0 * car.wheel_radius, *aside.tolist(), *size.tolist(), top, 0.0]


def measure_prop(scene: Scene, slot: int) -> list[float]:
    """Return a row of `PictureTables.prop_shadow`: a frustum as a box that narrows."""
    props = scene.props
    radius, height = float(props.radius_base[slot]), float(props.height[slot])
    patch = [0.0, 0.0, radius, radius, 0.0]
    if scene.light.sky_texture < 0:
        return [*patch, *NO_CAST]
    taper = 1.0 - float(props.radius_top[slot]) / radius
    return [*patch, 0.0, 0.0, 0.0, radius, radius, height, taper]


def list_shown(scene: Scene) -> list[ByteArray]:
    """Return a scene's textures, one texel in place of a panorama that only the sky shows: it has faces of its own."""
    shown = list(scene.textures)
    sky = scene.light.sky_texture
    used = {material.texture for material in scene.materials if material.flags & SHADE_TEXTURE}
    if 0 <= sky < len(shown) and sky not in used:
        shown[sky] = shown[sky][:1, :1]
    return shown


def make_sky_box() -> Mesh:
    """Return the box whose faces are seen from inside, in the order of `texture.make_sky_faces`, materials 0 to 5."""
    vertex: list[FloatArray] = []
    uv: list[list[float]] = []
    triangle: list[tuple[int, int, int]] = []
    for middle, right, down in np.array(SKY_AXES, float):
        base = len(vertex)
        for across, below in ((0, 0), (0, 1), (1, 1), (1, 0)):
            vertex.append(SKY_DISTANCE * (middle + (2 * across - 1) * right + (2 * below - 1) * down))
            uv.append([SKY_MARGIN + (1.0 - 2.0 * SKY_MARGIN) * share for share in (across, below)])
        triangle += [(base, base + 1, base + 2), (base, base + 2, base + 3)]
    return Mesh(
        vertex=np.array(vertex, np.float32),
        uv=np.array(uv, np.float32),
        triangle=np.array(triangle, np.int32),
        material=np.repeat(np.arange(6, dtype=np.int32), 2),
    )


def _pack_light(scene: Scene) -> list[float]:
    light = scene.light
    fog = [255.0 * value for value in light.fog_colour]
    colours = (*light.sun_colour, *light.ambient_colour, *fog)
    return [*colours, light.fog_density, *light.sun_direction, light.ground_fog_density, float(scene.has_bare_road)]
