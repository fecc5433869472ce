"""What everything looks like: scenes, props and cars turned into the kernels' tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from donkeysim.core.errors import ShapeError
from donkeysim.core.types import ByteArray, Float32Array, FloatArray, IntArray
from donkeysim.render.geometry import MeshStore
from donkeysim.render.kernels.layout import SHADOW_WIDTH
from donkeysim.render.kernels.shade import SHADE_NO_FOG
from donkeysim.render.nameplate import draw_plate, make_plate_mesh, measure_plate
from donkeysim.render.tables import PictureTables
from donkeysim.render.texture import SKY_AXES, SKY_MARGIN, TexelPool, check_texture_index, take_sky_faces
from donkeysim.world.scene import CLASS_CAR, CLASS_SKY, SHADE_CUTOUT, SHADE_TEXTURE, SHADE_UNLIT, Mesh, Scene
from donkeysim.world.specs import BodySpec, CarSpec

SKY_DISTANCE = 1.0e5
"""Half the side of the sky's box [m]: everything is nearer."""

PARTS_PER_CAR = 6
"""Body, four wheels, name plate."""

NO_CAST = (0.0,) * (SHADOW_WIDTH - 5)
"""Rest of a row of `PictureTables.car_shadow` where the sun casts no shadow."""

NO_CLASS_MAP = (-1, 0, 0)
"""Row of `PictureTables.material_class` of a material that shows one class."""

PLATE_ROOM = 0.1
"""More than name plates stand above the sphere around a body [m]."""


class Looks:
    """Meshes, materials and textures of all scenes, and what each car wears.

    Attributes:
        tables: For the kernels; replaced when a body changes.
        record_limit: Triangles that one picture may show at most.
        draw_limit: Meshes that one picture may show at most.
    """

    tables: PictureTables
    record_limit: int
    draw_limit: int

    def __init__(
        self,
        scenes: Sequence[Scene],
        world_scene: IntArray,
        car: CarSpec,
        world_count: int,
        cars_per_world: int,
        props_per_world: int,
    ) -> None:
        self._scenes, self._world_scene, self._car = scenes, np.asarray(world_scene, np.int32), car
        self._cars_per_world, self._props_per_world = cars_per_world, props_per_world
        self._store = MeshStore()
        self._pool = TexelPool()
        self._flags: list[int] = []
        self._colour: list[tuple[float, float, float]] = []
        self._texture: list[int] = []
        self._segment: list[int] = []
        self._class_map: list[tuple[int, int, int]] = []
        self._class_cell = np.zeros(1, np.uint8)
        self._white = self._pool.add([np.full((1, 1, 4), 255, np.uint8)])
        self._model_base: list[int] = []
        self._plates: dict[tuple[str, int], int] = {}
        scene_mesh = [self._add_scene(scene) for scene in scenes]
        self._scene_mesh = np.array(scene_mesh, np.int32).reshape(-1, 2)
        self._light = np.array([_pack_light(scene) for scene in scenes], np.float32)
        car_count = world_count * cars_per_world
        self._car_mesh = np.full((car_count, 3), -1, np.int32)
        self._car_paint = np.ones((car_count, 3), np.float32)
        self._car_shadow = np.zeros((car_count, SHADOW_WIDTH), np.float32)
        self._prop_mesh = np.full(world_count * props_per_world, -1, np.int32)
        self._prop_shadow = np.zeros((world_count * props_per_world, SHADOW_WIDTH), np.float32)
        for world in range(world_count):
            self._add_props(world)
        for index in range(car_count):
            self._dress(index, BodySpec())
        self._build()

    def set_body(self, car: int, body: BodySpec) -> None:
        """Dress a car and rebuild what changed."""
        self._dress(car, body)
        self._build()

    def _add_scene(self, scene: Scene) -> tuple[int, int]:
        texture_base = self._pool.add(list_shown(scene))
        material_base = len(self._flags)
        class_maps = self._add_class_maps(scene)
        for index, material in enumerate(scene.materials):
            texture, class_map = self._white, NO_CLASS_MAP
            if material.flags & SHADE_TEXTURE:
                check_texture_index(material.texture, len(scene.textures), f"material {index} of scene {scene.name!r}")
                texture = texture_base + material.texture
                class_map = class_maps[material.class_map] if material.class_map >= 0 else NO_CLASS_MAP
            self._add_material(material.flags, material.colour, texture, material.segment, class_map)
        textures = np.array(self._texture, np.int32)
        static = self._store.add(scene.static, material_base, textures, self._pool)
        self._model_base.append(len(self._store.mesh_range))
        for model in scene.models:
            self._store.add(model, material_base, textures, self._pool)
        return static, self._add_sky(scene)

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
        material_base = len(self._flags)
        for texture in textures:
            self._add_material(SHADE_UNLIT | SHADE_NO_FOG, (1.0, 1.0, 1.0), texture, CLASS_SKY)
        return self._store.add(make_sky_box(), material_base, np.array(self._texture, np.int32), self._pool)

    def _add_material(
        self,
        flags: int,
        colour: tuple[float, float, float],
        texture: int,
        segment: int,
        class_map: tuple[int, int, int] = NO_CLASS_MAP,
    ) -> int:
        self._flags.append(flags)
        self._class_map.append(class_map)
        self._colour.append(colour)
        self._texture.append(texture)
        self._segment.append(segment)
        return len(self._flags) - 1

    def _add_props(self, world: int) -> None:
        index = int(self._world_scene[world])
        props = self._scenes[index].props
        if len(props.model) > self._props_per_world:
            raise ShapeError(
                f"scene {self._scenes[index].name!r} has {len(props.model)} props, but a world has room for "
                f"{self._props_per_world}."
            )
        first = world * self._props_per_world
        for slot, model in enumerate(props.model):
            self._prop_mesh[first + slot] = self._model_base[index] + int(model)
            self._prop_shadow[first + slot] = measure_prop(self._scenes[index], slot)

    def _dress(self, car: int, body: BodySpec) -> None:
        index = int(self._world_scene[car // self._cars_per_world])
        scene = self._scenes[index]
        if body.style not in scene.car_models:
            raise ShapeError(
                f"scene {scene.name!r} has no body style {body.style!r}; it has {sorted(scene.car_models)}."
            )
        model = scene.car_models[body.style]
        base = self._model_base[index]
        self._car_mesh[car] = (base + model.body, base + model.wheel, self._find_plate(body))
        self._car_paint[car] = np.array(body.colour, np.float32) / 255.0
        self._car_shadow[car] = measure_body(scene, scene.models[model.body], self._car)

    def _find_plate(self, body: BodySpec) -> int:
        key = (body.name, body.font_size)
        if key not in self._plates:
            picture = draw_plate(body.name) if body.name else None
            if picture is None:
                return -1
            texture = self._pool.add([picture])
            material = self._add_material(
                SHADE_TEXTURE | SHADE_UNLIT | SHADE_CUTOUT, (1.0, 1.0, 1.0), texture, CLASS_CAR
            )
            mesh = make_plate_mesh(*measure_plate(body.name, body.font_size))
            self._plates[key] = self._store.add(mesh, material, np.array(self._texture, np.int32), self._pool)
        return self._plates[key]

    def _build(self) -> None:
        flags = np.array(self._flags, np.int32)
        mesh = self._store.build(flags)
        self.record_limit = self._count_triangles() + 2
        self.draw_limit = 2 + PARTS_PER_CAR * self._cars_per_world + self._props_per_world
        segment: ByteArray = np.array(self._segment, np.uint8)
        self.tables = PictureTables(
            *mesh,
            material_flags=flags,
            material_colour=np.array(self._colour, np.float32),
            material_texture=np.array(self._texture, np.int32),
            material_segment=segment,
            material_class=np.array(self._class_map, np.int32),
            class_cell=self._class_cell,
            texel=self._pool.texel,
            level_base=self._pool.level_base,
            size_log=self._pool.size_log,
            light=self._light,
            scene_mesh=self._scene_mesh,
            world_scene=self._world_scene,
            prop_mesh=self._prop_mesh,
            car_mesh=self._car_mesh,
            car_sphere=self._bound_cars(mesh.mesh_sphere),
            car_paint=self._car_paint,
            car_shadow=self._car_shadow,
            prop_shadow=self._prop_shadow,
            wheel_anchor=np.array(self._car.wheel_position, np.float32),
            wheel_steered=np.array(self._car.wheel_steered, np.uint8),
        )

    def _bound_cars(self, sphere: Float32Array) -> Float32Array:
        body, wheel, plate = (sphere[self._car_mesh[:, part]] for part in range(3))
        anchor = np.linalg.norm(np.array(self._car.wheel_position), axis=1).max() + self._car.suspension_travel
        reach = np.maximum(np.linalg.norm(body[:, :3], axis=1) + body[:, 3], anchor + wheel[:, 3])
        above = np.where(
            self._car_mesh[:, 2] >= 0, np.linalg.norm(plate[:, :3], axis=1) + plate[:, 3] + PLATE_ROOM, 0.0
        )
        return np.stack([0.0 * reach, 0.0 * reach, 0.0 * reach, reach + above], axis=1).astype(np.float32)

    def _count_triangles(self) -> int:
        counts = np.array(self._store.triangle_counts)
        static = int(counts[self._scene_mesh].sum(axis=1).max())
        props = (
            self._prop_mesh.reshape(-1, self._props_per_world) if self._props_per_world else np.zeros((1, 0), np.int32)
        )
        moving = int(np.where(props >= 0, counts[props], 0).sum(axis=1).max())
        body = counts[self._car_mesh[:, 0]] + 4 * counts[self._car_mesh[:, 1]] + 2
        return static + moving + int(body.reshape(-1, self._cars_per_world).sum(axis=1).max())


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
    return [*light.sun_colour, *light.ambient_colour, *fog, light.fog_density, *light.sun_direction]
