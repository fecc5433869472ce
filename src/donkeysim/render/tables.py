"""What kernels read: all scenes, cars and cameras of a renderer as named tuples of arrays."""

from __future__ import annotations

from typing import NamedTuple

from donkeysim.core.types import ByteArray, Float32Array, FloatArray, IntArray, LongArray, WordArray


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
    """Class map instead: first of its cells in `class_cell` (-1: none), logarithms of its width and height to base 2,
    shape [material_count, 3]."""
    class_cell: ByteArray
    """All class maps, row by row, one after another."""
    texel: WordArray
    level_base: IntArray
    size_log: IntArray
    light: Float32Array
    """Sun colour (3), ambient colour (3), fog colour 0 to 255 (3), fog density [1/m], direction to the sun (3),
    shape [scene_count, 13]."""
    scene_mesh: IntArray
    """Static mesh and sky mesh, shape [scene_count, 2]."""
    world_scene: IntArray
    """Scene of each world, shape [world_count]."""
    prop_mesh: IntArray
    """-1: none, shape [prop_count]."""
    car_mesh: IntArray
    """Body, wheel and name plate (-1: none), shape [car_count, 3]."""
    car_sphere: Float32Array
    """Around body, wheels and name plate, body frame [m], shape [car_count, 4]."""
    car_paint: Float32Array
    """sRGB 0 to 1, shape [car_count, 3]."""
    car_shadow: Float32Array
    """Of the patch under it: middle x, y, half length, half width, height of the ground in the body frame [m]. Height
    above the ground of what casts a shadow over the whole patch. Of what stands higher: middle x, y from that of the
    patch, half length, half width, height above the ground [m], share of its width that is missing at its top; heights
    of 0 where there is no sun. Shape [car_count, SHADOW_COLUMNS]."""
    prop_shadow: Float32Array
    """The same in the prop's frame, shape [prop_count, SHADOW_COLUMNS]."""
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


class CameraTables(NamedTuple):
    """One camera group; all its pictures have one size."""

    car: IntArray
    """Whose it is, -1: nobody's, shape [camera_count]."""
    world: IntArray
    """Shape [camera_count]."""
    mount: FloatArray
    """Position in the body frame [m] (3) and rotation matrix camera to body (9), shape [camera_count, 12]."""
    eye: Float32Array
    """Optical centre, world frame [m], shape [camera_count, 3]."""
    axes: Float32Array
    """Right, down, forward in the world frame, shape [camera_count, 9]."""
    lens: Float32Array
    """Focal length [pixel of the finished picture], fisheye x, fisheye y, grey, far plane [m],
    share of the scene's fog, shape [camera_count, 6]."""
    light: Float32Array
    """As `PictureTables.light`, shape [camera_count, 13]."""
    look: Float32Array
    """Of each class, see `kernels.recolour.LOOK_WIDTH`, shape [camera_count, class_count, LOOK_WIDTH]; of class_count
    0 where colours are not varied."""


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
    """What one cluster needs, see `kernels.raster.draw_mesh`, shape [WORK_FLOATS, CLUSTER_ROOM]."""
    work_int: IntArray
    """Likewise; its last rows also hold a triangle's columns row by row, shape [WORK_INTS, room]."""
    record_float: Float32Array
    """Triangles of this picture, see `kernels.layout.RECORD_FLOATS`."""
    record_int: IntArray
    """See `kernels.layout.RECORD_INTS`."""
    flat_float: Float32Array
    """The memory of `record_float`, one triangle after another."""
    flat_int: IntArray
    """That of `record_int`."""
    span_input: IntArray
    """Spans of a band of rows, see `kernels.spans.list_run`, shape [SPAN_INPUTS, room]."""
    span_float: Float32Array
    """How they run over their textures, see `kernels.spans.set_up_spans`, shape [SPAN_FLOATS, room]."""
    span_int: IntArray
    """Likewise, shape [SPAN_INTS, room]."""
    draw_mesh: IntArray
    """Meshes to draw, shape [draw_limit]."""
    basis: Float32Array
    """Camera in the frame of each mesh drawn, shape [draw_limit, BASIS_COLUMNS]."""
    iota: Float32Array
    """0, 1, 2 …; never written."""
    run_end: IntArray
    """Where the runs of one triangle end in a row, shape [width]."""
    place: Float32Array
    """Position and rotation of a mesh, shape [12]."""
    body: Float32Array
    """The same of a car's body."""
    sides: Float32Array
    """Columns, rows, and how far a sphere of 1 m reaches beyond them, shape [4]."""
    zero: Float32Array
    """Zeros, shape [3]; never written."""
    drawn: LongArray
    """Triangles of this picture that had pixels to try, shape [1]."""
    light: Float32Array
    """The scene's, as this camera sees it, shape [13]."""
    classes: ByteArray
    """CLASS_* of each sample where colours are varied, shape [height, width]; else of one sample."""
    factor: Float32Array
    """Of the samples of a row, shape [width]."""
