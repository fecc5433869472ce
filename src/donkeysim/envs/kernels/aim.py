"""How cameras are moved and turned, anew in every episode."""

from donkeysim.core.kernel import index_kernel, inner_kernel
from donkeysim.core.rng import draw_uniform
from donkeysim.core.rotation import find_matrix
from donkeysim.core.types import FloatArray, LongArray
from donkeysim.render.kernels.layout import POSE

CAMERA_STREAM = 1 << 21
"""First of the six streams of random numbers that cameras are moved and turned by."""

turn = inner_kernel(find_matrix)


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
