"""What kernels read: all scenes, cars and cameras of a renderer as named tuples of arrays; columns: kernels/layout.

For grey pictures textures lie in them a second time, the luma of four neighbouring texels in one word (`QuadPool`), so
that one gather takes a square.
"""

from typing import NamedTuple

import numpy as np

from donkeysim.core.types import ByteArray, Float32Array, FloatArray, IntArray, LongArray, WordArray
from donkeysim.render.texture import TexelPool
from donkeysim.world.state import State


class PictureTables(NamedTuple):
    """Meshes, materials, textures, scenes and looks of cars. Built by `looks.Looks`; replaced when a body changes."""

    vertex: Float32Array
    triangle_vertex: IntArray
    triangle_normal: Float32Array
    triangle_plane: Float32Array
    triangle_mean: Float32Array
    triangle_material: IntArray
    triangle_flags: IntArray
    cluster_range: IntArray
    cluster_sphere: Float32Array
    mesh_range: IntArray
    mesh_sphere: Float32Array
    material_flags: IntArray
    """SHADE_* bits, shape [material_count]."""
    material_colour: Float32Array
    """sRGB 0 to 1, shape [material_count, 3]."""
    material_texture: IntArray
    """Index into `level_base`, shape [material_count]."""
    material_segment: ByteArray
    """CLASS_*, shape [material_count]."""
    material_class: IntArray
    """Columns CLASS_MAP: a class map instead, shape [material_count, 3]."""
    class_cell: ByteArray
    """All class maps, row by row, one after another."""
    texel: WordArray
    quad: WordArray
    """See `quads.QuadPool`."""
    level_base: IntArray
    size_log: IntArray
    light: Float32Array
    """Columns LIGHT, shape [scene_count, LIGHT_WIDTH]."""
    scene_mesh: IntArray
    """Columns SCENE_MESH, shape [scene_count, 2]."""
    world_scene: IntArray
    """Scene of each world, shape [world_count]."""
    prop_mesh: IntArray
    """-1: none, shape [prop_count]."""
    car_mesh: IntArray
    """Columns CAR_MESH; CAR_MESH.plate -1: none; shape [car_count, 3]."""
    car_sphere: Float32Array
    """Around body, wheels and name plate, body frame [m], shape [car_count, 4]."""
    car_paint: Float32Array
    """sRGB 0 to 1, shape [car_count, 3]."""
    car_shadow: Float32Array
    """Columns SHADOW, heights of 0 where there is no sun, shape [car_count, SHADOW_WIDTH]."""
    prop_shadow: Float32Array
    """The same in the prop's frame, shape [prop_count, SHADOW_WIDTH]."""
    wheel_anchor: Float32Array
    """Wheel centre at full compression, body frame [m], shape [4, 3]."""
    wheel_steered: ByteArray
    """Shape [4]."""


class PoseTables(NamedTuple):
    """The arrays of `State` that pictures depend on."""

    present: ByteArray
    position: FloatArray
    orientation: FloatArray
    steer_angle: FloatArray
    wheel_angle: FloatArray
    wheel_extension: FloatArray
    prop_position: FloatArray
    prop_orientation: FloatArray


class PoseReader:
    """Takes those arrays of a state, and remembers them: it is the same state from picture to picture."""

    def __init__(self) -> None:
        self._state: State | None = None
        self._poses: PoseTables

    def read(self, state: State) -> PoseTables:
        """Return the arrays."""
        if state is not self._state:
            self._state, self._poses = state, PoseTables._make(getattr(state, name) for name in PoseTables._fields)
        return self._poses


class CameraTables(NamedTuple):
    """One camera group; all its pictures have one size."""

    car: IntArray
    """Whose it is, -1: nobody's, shape [camera_count]."""
    world: IntArray
    """Shape [camera_count]."""
    mount: FloatArray
    """In the body frame, columns POSE, shape [camera_count, POSE_WIDTH]."""
    eye: Float32Array
    """Optical centre, world frame [m], shape [camera_count, 3]."""
    axes: Float32Array
    """In the world frame, columns AXES.*, shape [camera_count, AXES_WIDTH]."""
    lens: Float32Array
    """Columns LENS, shape [camera_count, LENS_WIDTH]."""
    light: Float32Array
    """As `PictureTables.light`, shape [camera_count, LIGHT_WIDTH]."""
    look: Float32Array
    """Of each class, see `kernels.recolour.LOOK_WIDTH`, shape [camera_count, class_count, LOOK_WIDTH]; of class_count
    0 where colours are not varied."""
    source: Float32Array
    """Where pixels come from, the same for all cameras; see `warp.Warp`."""


class CarRows(NamedTuple):
    """What differs from car to car, a row for each; see `variation`."""

    serial: LongArray
    """How often the row has been written, shape [car_count]."""
    light: Float32Array
    """As `PictureTables.light`, shape [car_count, LIGHT_WIDTH]."""
    look: Float32Array
    """Of each class, see `kernels.recolour`, shape [car_count, CLASS_COUNT, LOOK_WIDTH]; of no class where colours
    never differ."""
    mount: FloatArray
    """Added to position [m] and rotation [rad] of cameras, shape [car_count, 6]."""
    lens: FloatArray
    """Added to the field of view [rad] and to both fisheye strengths, shape [car_count, 2]."""
    effect: Float32Array
    """Columns EFFECT but the last, shape [car_count, EFFECT.grey]."""
    quality: IntArray
    """Of the JPEG file that a picture goes through, shape [car_count]."""


class MeantCameras(NamedTuple):
    """Cameras of one group as they are meant to be, before what differs from car to car is added."""

    pose: FloatArray
    """Position in the body frame [m], then roll, pitch, yaw [rad], shape [camera_count, 6]."""
    fov: FloatArray
    """Vertical field of view [rad], shape [camera_count]."""
    fisheye: FloatArray
    """Strengths in x and y, shape [camera_count, 2]."""
    number: WordArray
    """By which the noise of a second camera differs from the first one's, shape [camera_count]."""
    effect: Float32Array
    """Columns EFFECT, shape [camera_count, EFFECT_WIDTH]; all but the last are the car's."""
    serial: LongArray
    """`CarRows.serial` of the row that the group's tables are of, -1: none yet, shape [camera_count]."""


class Scratch(NamedTuple):
    """Working memory of one worker, for one picture size."""

    depth: Float32Array
    """1/w of what is nearest, shape [height * stride]."""
    ident: WordArray
    """Its record."""
    colour: WordArray
    """R | G << 8 | B << 16."""
    warped: WordArray
    work_float: Float32Array
    """What one cluster needs, see `kernels.layout.Cluster`, shape [WORK_FLOATS, CLUSTER_ROOM]."""
    work_int: IntArray
    """As `work_float`; its last rows also hold a triangle's columns row by row, shape [WORK_INTS, room]."""
    record_float: Float32Array
    """Triangles of this picture, columns RECORD, shape [record_limit, RECORD_FLOATS]."""
    record_int: IntArray
    """Their whole numbers, shape [record_limit, RECORD_INTS]."""
    flat_float: Float32Array
    """The memory of `record_float`, one triangle after another."""
    flat_int: IntArray
    """That of `record_int`."""
    span_input: IntArray
    """Spans of a band of rows, rows SPAN_INPUT, written by `kernels.spans.list_run`, shape [SPAN_INPUTS, room]."""
    span_float: Float32Array
    """How they run over their textures, see `kernels.spans.set_up_spans`, shape [SPAN_FLOATS, room]."""
    span_int: IntArray
    """Their whole numbers, shape [SPAN_INTS, room]."""
    draw_mesh: IntArray
    """Meshes to draw, shape [draw_limit]."""
    basis: Float32Array
    """Camera in the frame of each mesh drawn, columns BASIS, shape [draw_limit, BASIS_WIDTH]."""
    iota: Float32Array
    """0, 1, 2 …; never written."""
    run_end: IntArray
    """Where the runs of one triangle end in a row, shape [width]."""
    mesh_pose: Float32Array
    """Of a mesh, shape [POSE_WIDTH]."""
    body_pose: Float32Array
    """Of a car's body."""
    camera_view: Float32Array
    """The camera, columns VIEW, shape [VIEW_WIDTH]."""
    drawn: LongArray
    """Triangles of this picture that had pixels to try, shape [1]."""
    light: Float32Array
    """The scene's, as this camera sees it, shape [LIGHT_WIDTH]."""
    classes: ByteArray
    """CLASS_* of each sample where colours are varied, shape [height, width]; else of one sample."""
    factor: Float32Array
    """Of the samples of a row, shape [width]."""


class QuadPool:
    """Squares of all texels of a pool; made when the first camera asks for them, as they are as large as the texels.

    Attributes:
        quad: Luma of a texel | of the one at its right << 8 | of the one below << 16 | of the fourth << 24, in the
            places that the texels have, shape [texel_count]; of one until `update` is called.
    """

    def __init__(self) -> None:
        self.quad: WordArray = np.zeros(1, np.uint32)
        self._texture_count = 0

    def update(self, pool: TexelPool) -> None:
        """Write the squares of textures that have been added since."""
        if len(self.quad) < len(pool.texel):
            grown = np.zeros(len(pool.texel), np.uint32)
            grown[: len(self.quad)] = self.quad
            self.quad = grown
        for texture in range(self._texture_count, len(pool.size_log)):
            self.write(pool, texture)
        self._texture_count = len(pool.size_log)

    def write(self, pool: TexelPool, texture: int) -> None:
        """Write the squares of one texture."""
        wide, high, last = pool.size_log[texture].tolist()
        for level in range(last + 1):
            width, height = 1 << max(wide - level, 0), 1 << max(high - level, 0)
            first = int(pool.level_base[texture, level])
            word = pool.texel[first : first + width * height].reshape(height, width)
            luma = (2126 * (word & 255) + 7152 * (word >> 8 & 255) + 722 * (word >> 16 & 255) + 5000) // 10000
            right = np.roll(luma, -1, axis=1)  # textures repeat
            square = luma | right << 8 | np.roll(luma, -1, axis=0) << 16 | np.roll(right, -1, axis=0) << 24
            self.quad[first : first + width * height] = square.ravel()
