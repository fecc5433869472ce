"""Columns of the tables that kernels work on: bodies in motion, car parameters, scenes.

A world's cars and props are copied into rows of one scratch table `body`, stepped there, and written back to `State`:
both kinds share the first columns, so contacts need not know what they push. Vectors are world frame unless said;
positions of bodies are those of the centre of mass.
"""

from typing import NamedTuple

from donkeysim.core.types import ByteArray, FloatArray, IntArray, LongArray

# -- body: columns that cars and props share
POSITION = 0
"""Centre of mass [m], 3 columns."""
QUATERNION = 3
VELOCITY = 7
ANGULAR = 10
"""Angular velocity [rad/s], 3 columns."""
ROTATION = 13
"""Body to world matrix by rows, 9 columns."""
INVERSE_MASS = 22
INVERSE_INERTIA = 23
"""About the body's own axes [1/(kg m²)], 3 columns."""
PUSH = 26
"""Shift that takes this step's overlap away [m], 3 columns."""
CENTRE = 29
"""Centre of mass in the body frame [m], 3 columns."""
RADIUS = 32
"""Of a sphere about the centre of mass that holds the whole body [m]."""
SHAPE = 33
"""Car: half length, width, height, then centre of the box from the centre of mass; prop: radius of base and top,
height [m], 6 columns."""
FRICTION = 39

# -- body: columns of cars
WHEEL_SPEED = 40
WHEEL_ANGLE = 44
EXTENSION = 48
LOAD = 52
GRIP = 56
"""Deflection of the contacts, x and y of each wheel, 8 columns."""
STEER_COS = 64
STEER_SIN = 65
THROTTLE = 66
BRAKE = 67
BODY_VELOCITY = 68
"""Velocity in the body frame before the last step, 3 columns."""
TURN = 71
"""Rotation of the last step (w, x, y, z), 4 columns."""
ORIGIN_X = 75
ORIGIN_Y = 76
SPEED_SCALE = 77
"""What the speed is multiplied by before it is looked up in the torque curve: more than 1 as the battery sags."""
BODY_WIDTH = 80

# -- car parameters, one row per car
P_MASS = 0
P_DRAG = 1
P_ANGULAR_DRAG = 2
P_GRAVITY = 3
P_CENTRE = 4
P_INERTIA = 7
P_WHEEL = 10
"""Wheel anchors from the centre of mass, 12 columns."""
P_RADIUS = 22
P_WHEEL_INERTIA = 23
P_WHEEL_DAMPING = 24
P_DRIVEN = 25
P_STEERED = 29
P_STATIC_LOAD = 33
P_SPRING = 37
P_DAMPER = 38
P_TARGET = 39
P_TRAVEL = 40
P_FORCE_POINT = 41
P_TORQUE_MAX = 42
P_TORQUE_SPEED = 43
P_BRAKE_TORQUE = 44
P_STEER_GAIN = 45
P_STEER_LIMIT = 46
P_SLIP_DRIVEN = 47
P_SLIP_FREE = 48
P_SLIP_LATERAL = 49
P_FORWARD = 50
"""1 / extremum slip, extremum value, asymptote slip / extremum slip, asymptote value (values times stiffness)."""
P_SIDEWAYS = 54
P_GRIP_MASS = 58
P_HALF_SIZE = 59
P_BOX_CENTRE = 62
P_CURVE_COUNT = 65
P_CURVE = 66
"""Torque curve, `CURVE_ROWS` rows of speed share, factor, slope."""
CURVE_ROWS = 6
P_STEER_TRIM = P_CURVE + 3 * CURVE_ROWS
"""Added to the angle of the steered wheels, + = left [rad]."""
P_FORWARD_LIFT = P_STEER_TRIM + 1
"""By how much the slope of a friction curve without slip is greater than `tyre.ORIGIN_SLOPE`."""
P_SIDEWAYS_LIFT = P_FORWARD_LIFT + 1
P_SIDEWAYS_REAR = P_SIDEWAYS_LIFT + 1
"""As `P_SIDEWAYS`, of the rear wheels."""
P_HAS_ACTUATORS = P_SIDEWAYS_REAR + 4
"""Whether the columns that follow, of servo, ESC and battery, hold anything."""
P_SERVO_SPEED = P_HAS_ACTUATORS + 1
P_SERVO_BAND = P_SERVO_SPEED + 1
P_DEAD_ZONE = P_SERVO_BAND + 1
P_DOUBLE_TAP = P_DEAD_ZONE + 1
P_ESC_BRAKE = P_DOUBLE_TAP + 1
P_COGGING = P_ESC_BRAKE + 1
P_COGGING_SPEED = P_COGGING + 1
P_COGGING_COUNT = P_COGGING_SPEED + 1
P_CAPACITY = P_COGGING_COUNT + 1
"""Of the battery [A s]."""
P_CHARGE_MISSING = P_CAPACITY + 1
"""What is missing from the start [A s]."""
P_BATTERY_FALL = P_CHARGE_MISSING + 1
"""By how much the voltage falls until it is empty, in full voltages."""
P_BATTERY_SAG = P_BATTERY_FALL + 1
"""By how much it sags under the greatest current, likewise."""
P_CURRENT = P_BATTERY_SAG + 1
"""The greatest current [A]."""
P_LOAD_SHARE = P_CURRENT + 1
"""What a tyre grips with per load [-]."""
P_LOAD_REST = P_LOAD_SHARE + 1
"""What each wheel on the ground grips with besides [N], 4 columns."""
P_GRIP_CREEP = P_LOAD_REST + 4
"""Speed of rolling below which a contact forgets its deflection more slowly [m/s]."""
PARAM_WIDTH = P_GRIP_CREEP + 1

# -- prop parameters, one row per prop of a scene
PROP_MASS = 0
PROP_BASE = 1
PROP_TOP = 2
PROP_HEIGHT = 3
PROP_CENTRE = 4
PROP_FRICTION = 5
PROP_INERTIA = 6
PROP_WIDTH = 9


class Terrain(NamedTuple):
    """Grounds of all scenes in flat arrays."""

    number: FloatArray
    """One row per scene, columns T_*."""
    entry: LongArray
    """One row per scene, columns I_*."""
    height: FloatArray
    ceiling: FloatArray
    """Greatest height near each grid corner, same order as `height`."""
    surface: ByteArray
    friction: FloatArray
    drivable: ByteArray


T_HEIGHT_X, T_HEIGHT_Y, T_HEIGHT_CELL, T_SURFACE_X, T_SURFACE_Y, T_SURFACE_CELL, T_LEVEL, T_FRICTION = range(8)
TERRAIN_NUMBERS = 8
I_HEIGHT, I_HEIGHT_ROWS, I_HEIGHT_COLUMNS, I_SURFACE, I_SURFACE_ROWS, I_SURFACE_COLUMNS = range(6)
I_KINDS, I_IS_LEVEL, I_IS_UNIFORM = 6, 7, 8
TERRAIN_INDICES = 9


class ScenePaths(NamedTuple):
    """Paths, shortest lines and start lines of all scenes in flat arrays."""

    entry: LongArray
    """One row per scene, columns N_*."""
    node: FloatArray
    """Path nodes [m], shape [node_count, 3]."""
    node_shortest: LongArray
    """For each node the nearest point of the scene's shortest line."""
    shortest: FloatArray
    """Points [m] and length up to them, shape [point_count, 3]."""
    gate: FloatArray
    """What is driven through: each scene's start lines, then its checkpoints, then the finish of an open path. Left x,
    y, right x, y [m], shape [gate_count, 4]."""


N_NODE, N_NODE_COUNT, N_CLOSED, N_SHORTEST, N_SHORTEST_COUNT, N_GATE = range(6)
N_GATE_COUNT, N_LINE_COUNT, N_CHECKPOINT_COUNT = 6, 7, 8
COURSE_INDICES = 9


class Obstacles(NamedTuple):
    """Static colliders of all scenes, and a grid over each scene that finds them."""

    entry: LongArray
    """One row per scene, columns G_*."""
    number: FloatArray
    """One row per scene: lower corner x, y of the grid [m], shape [scene_count, 2]."""
    cell_begin: LongArray
    """First entry of each grid cell, and the end of the last; cells by rows, scenes one after another."""
    cell_collider: LongArray
    """Colliders of each cell in rising order."""
    kind: ByteArray
    shape: FloatArray
    """Boxes have columns B_*, cylinders F_*; column 15 friction."""
    name: LongArray


G_CELL, G_ROWS, G_COLUMNS, G_COLLIDERS = range(4)
OBSTACLE_INDICES = 4
OBSTACLE_FRICTION = 15
OBSTACLE_WIDTH = 16
GRID_CELL = 1.0
"""Side of a grid cell [m]."""


class SceneProps(NamedTuple):
    """Props of all scenes."""

    begin: LongArray
    """First row of each scene, and the end of the last."""
    number: FloatArray
    """One row per prop, columns PROP_*."""
    name: LongArray


class Orders(NamedTuple):
    """Commands on their way to the cars, a ring for each; whoever has none gives rings of length 1 that are empty."""

    due: LongArray
    """World's step count after which the car does it, rising along a ring, shape [car_count, ring_length]."""
    value: FloatArray
    """Steer, throttle and brake, shape [car_count, ring_length, 3]."""
    first: LongArray
    """Place of the oldest one, shape [car_count]; written."""
    waiting: LongArray
    """How many there are, shape [car_count]; written."""


class EventTable(NamedTuple):
    """What happened to the cars of each world in a frame, see `world.ledger.Event`; the next frame begins without.

    Events that find no room are lost; hits leave `EVENT_RESERVE` places to the others, of which a frame has few.
    """

    noted: LongArray
    """How many there are, shape [world_count]."""
    missed: LongArray
    """How often a pair or a contact found no room in `StepScratch`, since the table was made, shape [world_count]."""
    row: FloatArray
    """Time on the world's clock [s], row of the car, kind and value, shape [world_count, room, 4]."""
    hit_before: IntArray
    """`State.hit` before a step, shape [car_count]; working space."""


EVENT_ROOM, EVENT_RESERVE = 32, 16
"""Places for events for each car of a world, and how many of a world's places hits leave free."""


class StepScratch(NamedTuple):
    """What the worlds that are stepped at once need; nothing of it outlives a call.

    Each has a room of its own, the first axis. Kernels hand on one room's rows as a plain tuple, places S_*: not every
    compiler of kernels builds named ones.
    """

    body: FloatArray
    """Cars, then props of the world, columns as above, shape [room, bodies, BODY_WIDTH]."""
    pair: LongArray
    """Kind and the two partners of things that may meet, shape [room, pair_limit, 3]."""
    contact: FloatArray
    """Columns C_*, shape [room, contact_limit, CONTACT_WIDTH]."""
    link: LongArray
    """Bodies a and b (-1: static) and what each of them touched, shape [room, contact_limit, 4]."""
    touch: LongArray
    """Codes that each car touches in this step, shape [room, cars_per_world, TOUCH_COUNT]."""
    box: FloatArray
    """Two boxes, columns B_*, shape [room, 2, 15]."""
    frustum: FloatArray
    """Two frustums, columns F_*, shape [room, 2, 9]."""
    polygon: FloatArray
    """A face before and after a cut, shape [room, 2, 16, 3]."""
    missed: LongArray
    """How often a pair or a contact found no room in this call, shape [room, 1]."""


S_BODY, S_PAIR, S_CONTACT, S_LINK, S_TOUCH, S_BOX, S_FRUSTUM, S_POLYGON, S_MISSED = range(9)


# -- box, in `StepScratch` and `Obstacles`: half size [m], centre [m], rotation by rows
B_HALF, B_CENTRE, B_ROTATION = 0, 3, 6

# -- frustum likewise: middle of the base [m], axis, height [m], radius of base and of top [m]
F_BASE, F_AXIS, F_HEIGHT, F_RADIUS = 0, 3, 6, 7

# -- contact
C_POINT = 0
C_NORMAL = 3
"""From b to a."""
C_DEPTH = 6
C_FRICTION = 7
C_ROWS = 8
"""Three directions (normal, two tangents), columns R_* each."""
R_DIRECTION, R_ARM, R_TURN = 0, 3, 6
"""Direction; arm x direction of body a and the change of its angular velocity per impulse."""
R_PARTNER = 6
"""From the arm and turn of body a to those of body b."""
R_MASS, R_IMPULSE = 15, 16
"""Mass along the direction [kg], impulse [N s]."""
C_ROW_WIDTH = 17
CONTACT_WIDTH = C_ROWS + 3 * C_ROW_WIDTH
