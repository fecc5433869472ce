"""One built place: static geometry, pictures, path and surfaces as arrays. Made by `load_scene`; nobody writes it.

Consumers (physics, render) turn one or several scenes into their own flat tables with offsets when they start, so that
worlds of one batch may be on different tracks and nothing is computed in a hot path that could be done at load.
World frame: metres, x forward, y left, z up.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from donkeysim.core.types import ByteArray, Float32Array, FloatArray, IntArray
from donkeysim.world.path_frame import PathFrame
from donkeysim.world.specs import RoadSpec

COLLIDER_BOX = 0
COLLIDER_CYLINDER = 1

SHADE_TEXTURE = 1
"""Material flag: multiply by a texture."""
SHADE_PAINT = 2
"""Material flag: multiply by the car's own colour."""
SHADE_UNLIT = 4
"""Material flag: neither sun nor shadow (lamps, name plates); fog still applies."""
SHADE_CUTOUT = 8
"""Material flag: texels with alpha below one half are holes."""
SHADE_TWO_SIDED = 16
"""Material flag: seen from both sides."""
SHADE_METAL = 32
"""Material flag of what is drawn for people alone: bare metal, which mirrors in its own colour."""
SHADE_GLOSS = 64
"""Material flag of what is drawn for people alone: glass or polish, smooth enough to mirror the sky."""

CLASS_SKY, CLASS_GROUND, CLASS_ROAD, CLASS_LINE, CLASS_PROP, CLASS_CAR = range(6)
"""Segmentation classes."""


@dataclass(frozen=True)
class Path:
    """The line that cte is measured against, closed: the last node is followed by node 0.

    Attributes:
        position: Nodes, at the height of a standing car's origin [m], shape [node_count, 3]. The first car starts near
            node 0, before or behind it.
        width_left: Distance from the path to the drivable edge on its left [m], shape [node_count].
        width_right: The same on its right [m].
        closed: False for a scene whose path has two ends (the index does not wrap).
        shortest: Points of the shortest closed line inside the road's edges, starting at the start line [m],
            shape [point_count, 2].
        middle: Where the smooth line that the road lies along passes each node [m], shape [node_count, 2]: through the
            node, or beside it where the path has a corner that the road rounds.
        told_height: Height of each node that clients get [m], shape [node_count]; None: that of `position`.
        bank: How much the ground rises to the left of each node [m/m], shape [node_count]; None: not at all.
    """

    position: FloatArray
    width_left: FloatArray
    width_right: FloatArray
    closed: bool
    shortest: FloatArray
    middle: FloatArray
    told_height: FloatArray | None = None
    bank: FloatArray | None = None

    @cached_property
    def frame(self) -> PathFrame:
        """The path by arc length, measured when first asked for."""
        return PathFrame.measure(self.position, self.closed, self.bank)


@dataclass(frozen=True)
class Ground:
    """Height field and surface map.

    Heights are at grid corners and interpolated bilinearly; outside, the nearest border value holds. Surfaces are per
    cell of a finer grid. Row = y, column = x.

    Attributes:
        height_origin: World x, y of height[0, 0] [m].
        height_cell: Grid spacing [m].
        height: [m], shape [rows, columns]; 1x1 for a level scene.
        surface_origin: World x, y of the lower corner of surface[0, 0] [m].
        surface_cell: Cell size [m].
        surface: Index into `friction`, shape [rows, columns]; 0 outside the map.
        friction: Coefficient of each surface [-], shape [surface_count]. Surface 0 is the open ground.
        drivable: 1 where a surface counts as road, shape [surface_count].
    """

    height_origin: tuple[float, float]
    height_cell: float
    height: FloatArray
    surface_origin: tuple[float, float]
    surface_cell: float
    surface: ByteArray
    friction: FloatArray
    drivable: ByteArray


@dataclass(frozen=True)
class Colliders:
    """Static things a car can hit; lidar sees them too.

    Attributes:
        kind: COLLIDER_BOX or COLLIDER_CYLINDER (upright), shape [collider_count].
        centre: [m], shape [collider_count, 3].
        half_size: Half length, width, height of a box; radius, radius, half height of a cylinder [m], same shape.
        yaw: Of a box [rad], shape [collider_count].
        friction: [-], shape [collider_count].
        name: Index into `Scene.hit_names` and `Scene.labels`, shape [collider_count].
    """

    kind: ByteArray
    centre: FloatArray
    half_size: FloatArray
    yaw: FloatArray
    friction: FloatArray
    name: IntArray


@dataclass(frozen=True)
class Props:
    """Movable things (cones, barrels): upright frustums at their places; origin = middle of the base.

    Attributes:
        position: At the start [m], shape [prop_count, 3].
        yaw: At the start [rad], shape [prop_count].
        mass: [kg], shape [prop_count].
        radius_base: [m], shape [prop_count].
        radius_top: [m], shape [prop_count].
        height: [m], shape [prop_count].
        centre_of_mass: Height above the base [m], shape [prop_count].
        friction: [-], shape [prop_count].
        model: Index of its mesh in `Scene.models`, shape [prop_count].
        name: Index into `Scene.hit_names` and `Scene.labels`, shape [prop_count].
    """

    position: FloatArray
    yaw: FloatArray
    mass: FloatArray
    radius_base: FloatArray
    radius_top: FloatArray
    height: FloatArray
    centre_of_mass: FloatArray
    friction: FloatArray
    model: IntArray
    name: IntArray


@dataclass(frozen=True)
class StartGrid:
    """Where cars begin and where laps are counted.

    Attributes:
        position: Body origins on the grid, first slot first [m], shape [slot_count, 3]. Behind the start line, on the
            road, never overlapping; enough for 64 cars where the road is long enough.
        yaw: [rad], shape [slot_count].
        line: Start lines as two end points, left then right seen in driving direction [m], shape [line_count, 2, 2].
        checkpoint: What a lap must pass after start line 0, in driving order, in the same form, shape
            [checkpoint_count, 2, 2].
        is_silent: The start lines are ours alone: clients on the wire hear of no crossings, and the original's
            environments, which count the crossings that they hear of, count no laps.
    """

    position: FloatArray
    yaw: FloatArray
    line: FloatArray
    checkpoint: FloatArray = field(default_factory=lambda: np.zeros((0, 2, 2)))
    is_silent: bool = False


@dataclass(frozen=True)
class Material:
    """How a triangle is coloured.

    Attributes:
        flags: SHADE_* bits.
        colour: sRGB 0 to 1; multiplies the texture.
        texture: Index into `Scene.textures`; ignored without SHADE_TEXTURE.
        segment: CLASS_*.
        class_map: Index into `Scene.class_maps`, which is laid like the texture and then says the class of each place
            instead of `segment`; -1: none. Only with SHADE_TEXTURE.
    """

    flags: int
    colour: tuple[float, float, float]
    texture: int
    segment: int
    class_map: int = -1


@dataclass(frozen=True)
class Mesh:
    """Triangles, counter-clockwise seen from outside.

    Attributes:
        vertex: [m], own frame (the world for the static mesh), shape [vertex_count, 3].
        uv: Texture coordinates; 1 is once across the texture, they repeat; v grows downwards in the picture.
            Shape [vertex_count, 2].
        triangle: Vertex indices, shape [triangle_count, 3].
        material: Index into `Scene.materials`, shape [triangle_count].
    """

    vertex: Float32Array
    uv: Float32Array
    triangle: IntArray
    material: IntArray


@dataclass(frozen=True)
class CarModel:
    """The meshes of a body style, all in the body frame of the car; wheels in the wheel's own frame (axle = y).

    Attributes:
        body: Index into `Scene.models`.
        wheel: Index into `Scene.models`; drawn four times.
    """

    body: int
    wheel: int


@dataclass(frozen=True)
class Light:
    """Sun, ambient light, fog and sky.

    Attributes:
        sun_direction: Unit vector towards the sun, world frame.
        sun_colour: Linear weight of direct light, RGB; sun + ambient of about 1 shows a surface's own colour.
        ambient_colour: Linear weight of light from everywhere, RGB.
        fog_colour: sRGB 0 to 1.
        fog_density: Of exponential fog [1/m]; 0: none.
        ground_fog_density: Of what lies on the ground [1/m]: asphalt and smooth floors pale towards the horizon.
        sky_texture: Index into `Scene.textures` of a panorama: u = azimuth over 2π (+ = left of +x), v from the
            zenith (0) over the horizon (0.5) to the nadir (1); or -1 for the fog colour alone.
    """

    sun_direction: tuple[float, float, float]
    sun_colour: tuple[float, float, float]
    ambient_colour: tuple[float, float, float]
    fog_colour: tuple[float, float, float]
    fog_density: float
    ground_fog_density: float
    sky_texture: int


@dataclass(frozen=True)
class Scene:
    """One place, built. See the fields' own classes.

    Attributes:
        name: As clients ask for it.
        path: Centre path and widths.
        ground: Heights and surfaces.
        colliders: Static obstacles.
        props: Movable obstacles.
        start: Grid and start lines.
        light: Sun, fog, sky.
        static: The triangles that never move, world frame.
        models: Meshes of props, car bodies and wheels, own frames.
        car_models: Body style to its meshes.
        materials: Of all meshes.
        textures: sRGB and alpha, uint8, shape [height, width, 4], sides powers of two.
        hit_names: What colliders, props and terrain that are hit are called to clients and the original's environments;
            entry 0 is the terrain.
        labels: What they are called everywhere else: as many, in the same order; several may be alike.
        class_maps: CLASS_* of places of materials that show more than one class, uint8, shape [height, width], sides
            powers of two.
        ghosts: Cones without a body: x, y of each [m], shape [ghost_count, 2]; to drive through one costs a second.
        road: Which of the roads that this scene generates; None: its road is not a generated one.
        has_bare_road: Whether the ground continues under the road: it looks the same there, however it is recoloured.
        has_sealed_floor: Whether the ground is a level floor of a hall, smooth enough to mirror; only views for people
            show it.
    """

    name: str
    path: Path
    ground: Ground
    colliders: Colliders
    props: Props
    start: StartGrid
    light: Light
    static: Mesh
    models: tuple[Mesh, ...]
    car_models: dict[str, CarModel]
    materials: tuple[Material, ...]
    textures: tuple[ByteArray, ...] = field(repr=False)
    hit_names: tuple[str, ...]
    labels: tuple[str, ...]
    class_maps: tuple[ByteArray, ...] = field(default=(), repr=False)
    ghosts: FloatArray = field(default_factory=lambda: np.zeros((0, 2)))
    road: RoadSpec | None = None
    has_bare_road: bool = False
    has_sealed_floor: bool = False
