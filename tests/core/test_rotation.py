"""Rotations agree with SciPy's."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from donkeysim.core import rotation

angles = st.floats(-math.pi, math.pi)
pitches = st.floats(-1.5, 1.5)
numbers = st.floats(-1e3, 1e3)


@st.composite
def orientations(draw):
    parts = np.array(draw(st.tuples(*[st.floats(-1.0, 1.0)] * 4).filter(lambda parts: math.hypot(*parts) > 1e-3)))
    return tuple((parts / np.linalg.norm(parts)).tolist())


def judge(orientation):
    return Rotation.from_quat(orientation, scalar_first=True)


@given(angles, pitches, angles)
def test_the_yaw_of_an_orientation_is_the_first_of_its_euler_angles(yaw, pitch, roll):
    turned = Rotation.from_euler("ZYX", (yaw, pitch, roll)).as_quat(scalar_first=True)
    assert abs(math.remainder(float(rotation.find_yaws(turned)) - yaw, math.tau)) < 1e-9


@given(st.lists(orientations(), min_size=1, max_size=6))
def test_yaws_of_many_are_those_of_each(rows):
    yaws = rotation.find_yaws(np.array(rows))
    assert np.allclose(yaws, [rotation.find_yaws(np.array(row)) for row in rows], rtol=0.0, atol=1e-12)


def test_yaws_keep_the_shape_of_the_batch():
    level = np.zeros((2, 3, 4))
    level[..., 0] = 1.0
    assert rotation.find_yaws(level).shape == (2, 3)


@given(st.floats(-20.0, 20.0))
def test_a_yaw_becomes_a_rotation_about_the_upright(yaw):
    assert np.allclose(
        judge(rotation.yaw_to_quaternion(yaw)).as_matrix(), Rotation.from_rotvec((0, 0, yaw)).as_matrix()
    )


@given(angles, pitches)
def test_a_look_is_a_pitch_and_then_a_yaw(yaw, pitch):
    expected = Rotation.from_euler("ZYX", (yaw, pitch, 0.0)).as_matrix()
    assert np.allclose(judge(rotation.look_to_quaternion(yaw, pitch)).as_matrix(), expected)


@given(st.floats(-1e4, 1e4))
def test_a_wrapped_angle_is_the_same_direction_within_half_a_turn(angle):
    for wrapped in (rotation.wrap_angle(angle), float(rotation.wrap_angles(np.array([angle]))[0])):
        assert abs(wrapped) <= math.pi
        assert abs(math.sin(wrapped) - math.sin(angle)) < 1e-9
        assert abs(math.cos(wrapped) - math.cos(angle)) < 1e-9


@given(orientations(), st.tuples(numbers, numbers, numbers))
def test_vectors_turn_into_the_body_frame(orientation, vector):
    body = rotation.rotate_to_body(orientation, vector)
    assert np.allclose(body, judge(orientation).apply(vector, inverse=True), atol=1e-9)


@given(orientations())
def test_the_axes_of_a_body_are_the_columns_of_its_matrix(orientation):
    assert np.allclose(rotation.find_axes(orientation), judge(orientation).as_matrix(), atol=1e-12)


@given(angles, pitches, angles)
def test_a_rotation_by_roll_pitch_and_yaw_turns_about_the_fixed_axes_in_that_order(roll, pitch, yaw):
    expected = Rotation.from_euler("xyz", (roll, pitch, yaw)).as_matrix()
    assert rotation.make_rotation((roll, pitch, yaw)).reshape(3, 3) == pytest.approx(expected, abs=1e-12)
