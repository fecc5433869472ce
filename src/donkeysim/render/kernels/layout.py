"""Columns of the tables that picture kernels read and of the scratch that they share.

The columns of a table are a named tuple of numbers: `basis[BASIS.eye]` is the first of three. Vectors are in the frame
that their table names, rotations go row by row.
"""

from typing import NamedTuple

from donkeysim.core.types import Float32Array, IntArray


class PoseColumns(NamedTuple):
    """Where a mesh or a camera stands."""

    position: int = 0  # [m], 3 columns
    rotation: int = 3  # From its own frame, 9 columns


class AxesColumns(NamedTuple):
    """`CameraTables.axes`: where a camera looks, world frame, 3 columns each."""

    right: int = 0
    down: int = 3
    forward: int = 6


class LensColumns(NamedTuple):
    """`CameraTables.lens`."""

    focal: int = 0  # Focal length [pixel of the finished picture]
    fisheye: int = 1  # Strength in x and y, 2 columns
    grey: int = 3  # `GREY_*`, 0: in colour
    far: int = 4  # Far plane [m]
    fog: int = 5  # Share of the scene's fog


class LightColumns(NamedTuple):
    """`PictureTables.light`: colours and directions, 3 columns each, the fog, and what is recoloured alike."""

    sun: int = 0
    ambient: int = 3
    haze: int = 6  # Colour of the fog, 0 to 255
    density: int = 9  # Of the fog [1/m], one column
    direction: int = 10  # To the sun, world frame
    ground: int = 13  # Density of the fog that the ground is seen through, one column
    bare: int = 14  # 1 where the road is but painted on the ground and looks as it does, one column


class ClusterColumns(NamedTuple):
    """`MeshTables.cluster_range`: first ones, and one behind the last."""

    vertex: int = 0
    vertex_end: int = 1
    triangle: int = 2
    triangle_end: int = 3


class PlaneColumns(NamedTuple):
    """`MeshTables.triangle_plane`."""

    normal: int = 0  # Unit normal n, 3 columns
    offset: int = 3  # d, with n·p = d [m]
    u: int = 4  # Gradient of a texture coordinate [texel/m], 3 columns, and its value at the origin [texel]
    v: int = 8


class ClassMapColumns(NamedTuple):
    """`PictureTables.material_class`."""

    first: int = 0  # Cell in `class_cell`, -1: none
    width: int = 1  # Logarithms of its sides to base 2
    height: int = 2


class SizeColumns(NamedTuple):
    """`TexelPool.size_log`: logarithms of a texture's sides to base 2."""

    width: int = 0
    height: int = 1
    last: int = 2  # Mip level


class SceneMeshColumns(NamedTuple):
    """`PictureTables.scene_mesh`."""

    static: int = 0
    sky: int = 1


class CarMeshColumns(NamedTuple):
    """`PictureTables.car_mesh`."""

    body: int = 0
    wheel: int = 1
    plate: int = 2


class ShadowColumns(NamedTuple):
    """`PictureTables.car_shadow`: in the frame of the thing, heights above the ground under it [m]."""

    middle: int = 0  # x and y of the middle of the patch under it
    half: int = 2  # Half length and half width of that
    ground: int = 4  # Height of the ground in the thing's frame
    low: int = 5  # Height of what casts a shadow over the whole patch
    tall_middle: int = 6  # Of what stands higher: x and y from the patch's middle
    tall_half: int = 8  # Its half length and half width
    tall: int = 10
    taper: int = 11  # Share of its width that is missing at its top


class BasisColumns(NamedTuple):
    """`Scratch.basis`: a camera in the frame of a mesh, 3 columns each."""

    x: int = 0  # Rows of the projection: column times w, row times w, w along the optical axis
    y: int = 3
    w: int = 6
    eye: int = 9
    ray_column: int = 12
    """Of a ray whose part along the optical axis is 1: per column, per row, at the first pixel."""
    ray_row: int = 15
    ray_first: int = 18
    sun: int = 21  # Direction to it
    paint: int = 24  # sRGB 0 to 1


class RecordColumns(NamedTuple):
    """`Scratch.record_float`: a triangle that may be seen."""

    near: int = 0  # 1/w per column, per row, at the first pixel; then u/w and v/w [texel], 3 columns each
    u: int = 3
    v: int = 6
    factor: int = 9  # Of red, green and blue, 3 columns
    fog: int = 12  # See `shade.clear_view`
    scale_u: int = 13  # At the mip level of its holes
    scale_v: int = 14


class IntegerColumns(NamedTuple):
    """`Scratch.record_int`: the whole numbers of the same triangle; some columns serve twice."""

    triangle: int = 0
    draw: int = 1  # Mesh of the picture
    state: int = 2  # `STATE_*`
    texture: int = 3
    middle_x: int = 4  # Of its bounds [pixel]
    middle_y: int = 5
    side: int = 6  # 1 when its front is seen, else -1
    extent: int = 7  # Longer side of its bounds [pixel], until it is shaded
    texture_size: int = 7  # From then on: its texture's row of `size_log`, 3 columns
    hole_level: int = 8  # Of holes, while it is drawn: first texel of the mip level
    hole_shift: int = 9  # Logarithm of a row of that level
    hole_mask_u: int = 10
    hole_mask_v: int = 11
    colour: int = 16  # Packed, of a triangle that has a single colour


class SpanInputRows(NamedTuple):
    """`Scratch.span_input`: what is listed of spans."""

    record: int = 0
    row: int = 1
    column: int = 2
    pixels: int = 3
    level_x: int = 4  # Pixel that the mip level is chosen at
    level_y: int = 5


class SpanFloatRows(NamedTuple):
    """`Scratch.span_float`: how spans run over their textures, at the first pixel and per column, 2 rows each."""

    near: int = 0  # 1/w; then u/w and v/w in fixed point of the mip level
    u: int = 2
    v: int = 4


class SpanIntRows(NamedTuple):
    """`Scratch.span_int`."""

    kind: int = 0  # `SPAN_*`
    base: int = 1  # First texel of the mip level
    mask_u: int = 2
    mask_v: int = 3
    step_u1: int = 4  # From a pixel's middle to its first and its second texel
    step_v1: int = 5
    step_u2: int = 6
    step_v2: int = 7


class Cluster(NamedTuple):
    """What is known of a cluster while it is drawn; rows of `Scratch.work_float` and `Scratch.work_int`."""

    vertex: tuple[Float32Array, ...]
    """X/w, Y/w, w, X and Y of its vertices."""
    side: Float32Array
    """On which side of its triangles the eye is, + = front [m]."""
    near: tuple[Float32Array, ...]
    """1/w of its triangles per column, per row, at the first pixel."""
    left: tuple[Float32Array, ...]
    """Columns at row 0 of three edges, then columns per row, of listed triangles; see `outline.measure_triangles`."""
    right: tuple[Float32Array, ...]
    code: IntArray
    """Beyond which bounds of what is drawn its vertices lie, see `outline.BEHIND`."""
    packed: IntArray
    """The three vertices of each triangle, see `outline.FIELD`."""
    corner: IntArray
    """Those of listed triangles."""
    number: IntArray
    """Which triangle of the cluster a listed one is."""
    box: tuple[IntArray, ...]
    """Their first and end column, first and end row."""
    begin: IntArray
    """First column of each row of one triangle."""
    stop: IntArray
    order: IntArray
    """Of all triangles, how they may be seen; then those of the listed ones that cover a pixel's middle."""


class ViewColumns(NamedTuple):
    """`Scratch.camera_view`: a camera as all meshes of a picture see it, and which of its rows are drawn."""

    eye: int = 0  # World frame [m], 3 columns
    right: int = 3  # Where it looks, world frame, 3 columns each
    down: int = 6
    forward: int = 9
    focal: int = 12  # Focal length [sample]
    columns: int = 13  # Of the picture [sample]
    rows: int = 14
    reach_x: int = 15  # How far a sphere of radius 1 m reaches beyond its centre, times w [sample · m]
    reach_y: int = 16
    first: int = 17  # First row that is drawn [sample]
    end: int = 18  # One behind the last
    far: int = 19  # Far plane [m]
    sun: int = 20  # Direction to it, world frame, 3 columns


POSE, POSE_WIDTH = PoseColumns(), 12
AXES, AXES_WIDTH = AxesColumns(), 9
LENS, LENS_WIDTH = LensColumns(), 6
LIGHT, LIGHT_WIDTH = LightColumns(), 15
VIEW, VIEW_WIDTH = ViewColumns(), 24
CLUSTER_RANGE = ClusterColumns()
PLANE, PLANE_WIDTH = PlaneColumns(), 12
CLASS_MAP = ClassMapColumns()
SIZE_LOG = SizeColumns()
SCENE_MESH = SceneMeshColumns()
CAR_MESH = CarMeshColumns()
SHADOW, SHADOW_WIDTH = ShadowColumns(), 12
BASIS, BASIS_WIDTH = BasisColumns(), 32
RECORD, RECORD_FLOATS = RecordColumns(), 16
INTEGER, RECORD_INTS = IntegerColumns(), 20
SPAN_INPUT, SPAN_INPUTS = SpanInputRows(), 6
SPAN_FLOAT, SPAN_FLOATS = SpanFloatRows(), 6
SPAN_INT, SPAN_INTS = SpanIntRows(), 8
"""Columns of each table, and how many there are."""

SPHERE_RADIUS = 3
"""Column of a sphere's radius [m], behind its centre."""

# Numbers of 32 bits in a vector of 256; vectors of 512 were 2 % faster at best, slower on short runs
# (docs/decisions/0004).
LANES = 8
"""Row loops run over multiples of this many pixels; rows are padded accordingly."""

STATE_NEW, STATE_FLAT, STATE_SMALL, STATE_LARGE, STATE_PLAIN = range(5)
"""How a record is coloured: not known yet; one colour; one mip level; a mip level per block; the sky."""

# Within 40 pixels a triangle's distance seldom doubles, which is what another mip level stands for.
SMALL_SIDE = 40
"""Triangles with fewer columns and rows than this have one mip level and one amount of fog."""

# One colour instead of texels below 5 pixels; 8 gained nothing in small pictures (docs/decisions/0022).
TINY_SIDE = 5
"""Those with fewer than this have one colour, the mean of their part of the texture."""

TINY_SIDE_FAST = 12
"""The same for the quality `fast`."""

# Four vectors of eight pixels: shorter blocks choose levels more often than they change, longer ones show where they
# do.
BLOCK = 32
"""Pixels of a large triangle's row that share a mip level."""

# Spans of eight rows are enough to fill vectors, and fit into a cache.
BAND = 8
"""Rows whose spans are prepared together; a power of two."""

SPAN_PLAIN, SPAN_ONE, SPAN_FOUR, SPAN_FLAT, SPAN_SMOOTH, SPAN_PAIR = range(6)
"""How a span is coloured: one texel as it is; one texel; four texels; one colour; texels blended into each other; two
squares of texels, grey."""

SHARP, SMOOTH, PALE = 1, 2, 3
"""Qualities `fast` and `smooth`, and `default` of small grey pictures; `default` of others is none of them."""

GREY_LUMA, GREY_PALE = 1, 2
"""How a grey picture comes about: drawn in colour, then its luma; or drawn in one channel."""

WORK_FLOATS, WORK_INTS = 21, 11
"""Rows of a cluster's scratch: see `raster.split_work`."""
