"""Where episodes begin and cameras look, what their random numbers are functions of, and what cars are asked to do."""

import math
from typing import NamedTuple

import numpy as np

from donkeysim.core.kernel import index_kernel, inner_kernel
from donkeysim.core.rng import draw_uniform, hash_words
from donkeysim.core.rotation import find_matrix
from donkeysim.core.types import BoolArray, FloatArray, IntArray, LongArray
from donkeysim.render.kernels.layout import POSE

START_STREAM = 1 << 20
"""First of the streams of random numbers that starts are drawn from."""

START_OFFSET, START_YAW = 0.08, math.radians(8.0)
"""Of a random start: greatest distance from the path [m] and angle to it [rad]."""

CAMERA_STREAM = 1 << 21
"""First of the six streams of random numbers that cameras are moved and turned by."""

WORD = 0x7FFFFFFFFFFFFFFF
"""The bits of a seed and of a key."""

turn = inner_kernel(find_matrix)


class Episodes(NamedTuple):
    """Which episodes worlds are in."""

    seed: LongArray
    """Of each world, shape [world_count]."""
    number: LongArray
    """Of the world's next episode since it was seeded, shape [world_count]."""
    world_key: LongArray
    """Of the random numbers of its episode, shape [world_count]."""
    start: FloatArray
    """Where cars begin: along the path [m], left of it [m], against it [rad]; not a number: on the grid,
    shape [car_count, 3]."""
    previous: FloatArray
    """Steer and throttle asked for in the step before, 0 where an episode has just begun, shape [2, car_count]."""


@inner_kernel
def draw_start(key, slot, length):
    """Return a random start: along a path of this length [m], left of it [m], against its direction [rad]."""
    along = draw_uniform(key, slot, 0, START_STREAM) * length
    offset = (2.0 * draw_uniform(key, slot, 0, START_STREAM + 1) - 1.0) * START_OFFSET
    return along, offset, (2.0 * draw_uniform(key, slot, 0, START_STREAM + 2) - 1.0) * START_YAW


@inner_kernel
def make_key(seed, number):
    """Return the key of a world's episode."""
    key = np.int64(hash_words(seed, number, 0, 0)) & WORD
    return np.int64(hash_words(key, 0, 0, 0)) & WORD


@index_kernel
def begin_episode(
    world: int,
    begins: BoolArray,
    episodes: Episodes,
    world_scene: IntArray,
    length: FloatArray,
    slots: int,
    at_random: bool,
    given: FloatArray,
) -> None:
    """Give a world the key of its next episode and its cars their starts.

    Args:
        world: Which.
        begins: Of which worlds episodes begin; others are left as they are.
        episodes: Written.
        world_scene: Scene of each world.
        length: Of the paths of scenes [m].
        slots: Cars per world.
        at_random: Whether cars begin somewhere on the path, else on the grid.
        given: Where they begin instead, as `Episodes.start`, shape [3]; not a number: nowhere else.
    """
    if not begins[world]:
        return
    key = make_key(episodes.seed[world], episodes.number[world])
    episodes.world_key[world] = key
    episodes.number[world] += 1
    for slot in range(slots):
        along, offset, yaw = given[0], given[1], given[2]
        if at_random and not along == along:
            along, offset, yaw = draw_start(key, slot, length[world_scene[world]])
        car = world * slots + slot
        episodes.start[car, 0], episodes.start[car, 1], episodes.start[car, 2] = along, offset, yaw
        episodes.previous[0, car] = episodes.previous[1, car] = 0.0


@index_kernel
def seed_world(
    world: int, begins: BoolArray, is_given: BoolArray, seed: LongArray, episodes: Episodes, is_over: BoolArray
) -> None:
    """Forget that a world's episode was over, and draw all that is random in the coming ones from a seed if given."""
    if begins[world]:
        is_over[world] = False
        if is_given[world]:
            episodes.seed[world], episodes.number[world] = seed[world], 0


@inner_kernel
def scale_throttle(action, low, high):
    """Return a throttle of a range for an action from -1 to 1."""
    return low + 0.5 * (action + 1.0) * (high - low)


@inner_kernel
def limit_action(action):
    """Return an action from -1 to 1; 0 for one that is not a number."""
    return min(max(action, -1.0), 1.0) if action == action else 0.0


@index_kernel
def decode_action(
    car: int, actions: FloatArray, steer_limit: float, throttle_min: float, throttle_max: float, asked: FloatArray
) -> None:
    """Write what a car's action asks for: steer (+ = left), throttle and brake; `asked` has shape [3, car_count]."""
    asked[0, car] = -steer_limit * limit_action(actions[car, 0])
    asked[1, car] = scale_throttle(limit_action(actions[car, 1]), throttle_min, throttle_max)
    asked[2, car] = 0.0


@inner_kernel
def move_camera(key, slot, pose, spread, out):
    """Write position [m] and rotation [rad] of a car's camera in an episode, shape [6].

    Args:
        key: Of the random numbers of the car's world.
        slot: Of the car.
        pose: As the camera is meant to be, shape [6].
        spread: By how much it is moved and turned at most, shape [2].
        out: Written.
    """
    for axis in range(6):
        share = 2.0 * draw_uniform(key, slot, 0, CAMERA_STREAM + axis) - 1.0
        out[axis] = pose[axis] + spread[axis // 3] * share


@index_kernel
def aim_camera(
    camera: int,
    world_key: LongArray,
    slots: int,
    pose: FloatArray,
    spread: FloatArray,
    known: LongArray,
    moved: FloatArray,
    mount: FloatArray,
    serial: LongArray,
) -> None:
    """Give the camera of a car in a new episode the pose that is drawn for it.

    Args:
        camera: Of every car in turn.
        world_key: Of each world's random numbers.
        slots: Cars per world.
        pose: As cameras are meant to be, shape [6].
        spread: By how much they are moved [m] and turned [rad] at most, shape [2].
        known: Key that each camera was aimed by; read and written.
        moved: Poses, written, shape [camera_count, 6].
        mount: The same as columns POSE; written.
        serial: Set to -1: what follows from `moved` is to be written anew.
    """
    key = world_key[camera // slots]
    if key == known[camera]:
        return
    known[camera], serial[camera] = key, -1
    place = moved[camera]
    move_camera(key, camera % slots, pose, spread, place)
    matrix = turn(place[3], place[4], place[5])
    for axis in range(3):
        mount[camera, POSE.position + axis] = place[axis]
        for column in range(3):
            mount[camera, POSE.rotation + 3 * axis + column] = matrix[axis][column]
