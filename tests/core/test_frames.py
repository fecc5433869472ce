"""Axes and units: the original's world and ours say the same thing."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from donkeysim.core import frames

angles = st.floats(-math.pi, math.pi)
numbers = st.floats(-1e3, 1e3)


def unity_matrix(quaternion):
    x, y, z, w = quaternion
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def our_matrix(quaternion):
    w, x, y, z = quaternion
    return unity_matrix((x, y, z, w))


def make_quaternion(roll, pitch, yaw):
    cr, sr = math.cos(roll / 2), math.sin(roll / 2)
    cp, sp = math.cos(pitch / 2), math.sin(pitch / 2)
    cy, sy = math.cos(yaw / 2), math.sin(yaw / 2)
    return (
        cr * cp * cy + sr * sp * sy,
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
    )


@given(numbers, numbers, numbers)
def test_vectors_return_unchanged(x, y, z):
    assert frames.vector_from_unity(frames.vector_to_unity((x, y, z))) == (x, y, z)
    assert np.allclose(frames.position_from_units(frames.position_to_units((x, y, z))), (x, y, z))


def test_axes_map_as_named():
    assert frames.vector_to_unity((1, 0, 0)) == (0, 0, 1)
    assert frames.vector_to_unity((0, 1, 0)) == (-1, 0, 0)
    assert frames.vector_to_unity((0, 0, 1)) == (0, 1, 0)
    assert frames.position_to_units((1.0, 0.0, 0.0)) == (0.0, 0.0, 8.0)


@given(angles, angles, angles, numbers, numbers, numbers)
def test_rotating_then_converting_is_converting_then_rotating(roll, pitch, yaw, x, y, z):
    rotation = make_quaternion(roll, pitch, yaw)
    ours = our_matrix(rotation) @ np.array([x, y, z])
    theirs = unity_matrix(frames.quaternion_to_unity(rotation)) @ np.array(frames.vector_to_unity((x, y, z)))
    assert np.allclose(frames.vector_to_unity(tuple(ours)), theirs, atol=1e-9)
    assert np.allclose(frames.quaternion_from_unity(frames.quaternion_to_unity(rotation)), rotation)


@given(st.floats(-1.5, 1.5), angles, angles)
def test_euler_angles_rebuild_the_rotation(pitch, yaw, roll):
    rotation = make_quaternion(roll, pitch, yaw)
    x, y, z = (math.radians(a) for a in frames.euler_to_unity(rotation))
    cx, sx, cy, sy, cz, sz = math.cos(x), math.sin(x), math.cos(y), math.sin(y), math.cos(z), math.sin(z)
    about_x = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    about_y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    about_z = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    assert np.allclose(about_y @ about_x @ about_z, unity_matrix(frames.quaternion_to_unity(rotation)), atol=1e-6)


def test_euler_signs_are_the_originals():
    assert np.allclose(frames.euler_to_unity(make_quaternion(0, 0.1, 0)), (math.degrees(0.1), 0, 0))
    assert np.allclose(frames.euler_to_unity(make_quaternion(0, 0, -0.1)), (0, math.degrees(0.1), 0))
    assert np.allclose(frames.euler_to_unity(make_quaternion(-0.1, 0, 0)), (0, 0, math.degrees(0.1)))
    assert all(0 <= angle < 360 for angle in frames.euler_to_unity(make_quaternion(0.1, -0.1, 0.1)))


def test_euler_angles_survive_a_car_on_its_nose():
    for pitch in (math.pi / 2, -math.pi / 2):
        assert all(map(math.isfinite, frames.euler_to_unity(make_quaternion(0.3, pitch, 0.4))))


def test_a_left_turn_is_a_negative_rate_about_their_y():
    assert frames.rate_to_unity((0.0, 0.0, 1.0)) == (0.0, -1.0, -0.0)


@given(angles, angles, angles)
def test_a_rate_turns_the_same_way_in_both_worlds(x, y, z):
    step = 1e-4
    half = 0.5 * step
    small = (1.0, x * half, y * half, z * half)
    quaternion = frames.quaternion_to_unity(small)
    assert np.allclose(np.array(quaternion[:3]) / half, frames.rate_to_unity((x, y, z)))


def test_steering_and_cte_change_sign_without_minus_zero():
    assert frames.steer_to_wire(0.5) == -0.5
    assert str(frames.steer_to_wire(0.0)) == "0.0"
    assert frames.cte_to_units(0.125) == -1.0
    assert str(frames.cte_to_units(0.0)) == "0.0"


def test_a_camera_turned_down_and_right_pitches_down_and_yaws_right():
    roll, pitch, yaw = frames.view_rotation_from_degrees(15.0, 30.0, 10.0)
    assert pitch > 0 > yaw
    assert math.isclose(roll, -math.radians(10.0))
