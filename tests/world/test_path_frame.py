"""Places along paths: round trips, and the very numbers of one place at a time."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from donkeysim.core.rotation import find_axes, find_yaws
from donkeysim.world.path_frame import PathFrame, find_normals, measure_length
from donkeysim.world.specs import SceneSpec
from donkeysim.world.tracks import load_scene

ANGLE = np.linspace(0.0, math.tau, 200, endpoint=False)
RING = np.column_stack([5.0 * np.cos(ANGLE), 3.0 * np.sin(ANGLE), 0.2 * np.sin(ANGLE)])
CLOSED, OPEN = PathFrame.measure(RING, True), PathFrame.measure(RING[:120], False)
frames = st.sampled_from([CLOSED, OPEN])


def place_alone(node, closed, along, offset, yaw):
    """Return position and rotation of one place, as it was worked out car by car before paths knew arc length."""
    node = np.concatenate([node, node[: 1 if closed else 0]])
    length = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(node[:, :2], axis=0).T))])
    along = along % length[-1] if closed else min(max(along, 0.0), float(length[-1]))
    row = min(int(np.searchsorted(length, along, side="right")) - 1, len(node) - 2)
    step = node[row + 1] - node[row]
    share = (along - length[row]) / (length[row + 1] - length[row])
    x, y, z = (node[row] + share * step).tolist()
    direction = math.atan2(step[1], step[0])
    turn = 0.5 * (direction + yaw)
    return (
        (x - offset * math.sin(direction), y + offset * math.cos(direction), z),
        (math.cos(turn), 0.0, 0.0, math.sin(turn)),
    )


@pytest.mark.parametrize("name", ["generated_track", "harbour_town", "flat"])
def test_many_places_are_the_very_places_of_each_alone(name):
    path = load_scene(SceneSpec(name)).path
    random = np.random.default_rng(5)
    along = np.concatenate([random.uniform(-50.0, 250.0, 200), path.frame.node_length, [path.frame.length]])
    offset, yaw = random.uniform(-0.5, 0.5, (2, len(along)))
    position, orientation = path.frame.place(along, offset, yaw)
    for row, place in enumerate(zip(along.tolist(), offset.tolist(), yaw.tolist(), strict=True)):
        alone = place_alone(path.position, path.closed, *place)
        assert (tuple(position[row].tolist()), tuple(orientation[row].tolist())) == alone


def test_heights_of_a_hilly_path_are_the_very_ones_of_each_place_alone():
    path = load_scene(SceneSpec("canyon_road")).path
    along = np.concatenate([np.random.default_rng(5).uniform(-50.0, 250.0, 200), path.frame.node_length])
    position, _ = path.frame.place(along)
    assert np.ptp(position[:, 2]) > 0.5
    for row, place in enumerate(along.tolist()):
        assert tuple(position[row].tolist()) == place_alone(path.position, path.closed, place, 0.0, 0.0)[0]


@given(st.floats(-0.3, 0.3), st.floats(-0.3, 0.3), st.floats(-4.0, 4.0), st.floats(-0.5, 0.5))
def test_what_is_put_down_lies_on_the_ground_and_keeps_its_heading(slope, bank, yaw, offset):
    ground = np.array([(0.0, 0.0, 0.0), (3.0, 4.0, 5.0 * slope), (6.0, 8.0, 10.0 * slope)])
    frame = PathFrame.measure(ground, False, np.full(3, bank))
    (x, y, z), (w, *axis) = frame.place(4.0, offset, yaw)
    ahead, left = np.array([0.6, 0.8]), np.array([-0.8, 0.6])
    assert z == pytest.approx(slope * np.dot((x, y), ahead) + bank * np.dot((x, y), left))
    turned = find_axes((w, *axis))
    normal = np.array([*-(slope * ahead + bank * left), 1.0])
    assert turned[:, 2] == pytest.approx(normal / np.linalg.norm(normal))
    assert math.remainder(math.atan2(turned[1, 0], turned[0, 0]) - math.atan2(4.0, 3.0) - yaw, math.tau) == (
        pytest.approx(0.0, abs=1e-9)
    )


@given(frames, st.floats(0.0, 0.999), st.floats(-0.3, 0.3))
def test_a_place_is_found_where_it_was_put(frame, share, offset):
    along = share * frame.length
    (x, y, _), _ = frame.place(along, offset)
    found = frame.locate(x, y)
    # Beside a bend of the polyline the nearest point is up to offset times the bend's angle further on.
    assert abs(math.remainder(float(found.along) - along, frame.length)) < 0.02
    assert float(found.offset) == pytest.approx(offset, abs=0.005)


@given(frames, st.floats(0.0, 0.999))
def test_a_point_of_the_path_is_found_exactly(frame, share):
    (x, y, _), _ = frame.at(share * frame.length)
    found = frame.locate(x, y)
    assert abs(math.remainder(float(found.along) - share * frame.length, frame.length)) < 1e-9
    assert abs(float(found.offset)) < 1e-9


@given(st.floats(-100.0, 100.0), st.integers(-3, 3))
def test_a_closed_path_goes_on_from_its_beginning(along, laps):
    one, other = CLOSED.at(along)[0], CLOSED.at(along + laps * CLOSED.length)[0]
    assert np.allclose(one, other, atol=1e-9)


def test_an_open_path_is_cut_to_its_ends():
    position, _ = OPEN.at([-3.0, OPEN.length + 3.0])
    assert np.allclose(position, RING[[0, 119]])


def test_offsets_beyond_the_ends_of_an_open_path_are_from_its_ends_continued_straight():
    straight = PathFrame.measure(np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (2.0, 0.0, 0.0)]), False)
    found = straight.locate([-4.0, 7.0], [0.5, -0.25])
    assert found.along.tolist() == [0.0, 2.0]
    assert found.offset.tolist() == [0.5, -0.25]
    assert straight.locate([-4.0, 0.5, 7.0], 0.0).node.tolist() == [0, 0, 1]


def test_cars_turned_against_the_path_point_there():
    position, orientation = CLOSED.place(np.arange(6.0).reshape(2, 3), 0.1, 0.25)
    assert position.shape == (2, 3, 3)
    away = find_yaws(orientation) - CLOSED.at(np.arange(6.0).reshape(2, 3))[1] - 0.25
    assert np.allclose(np.remainder(away + 1.0, math.tau), 1.0)


def test_many_points_are_found_as_each_alone():
    x, y = np.random.default_rng(1).uniform(-8.0, 8.0, (2, 3000))
    found = CLOSED.locate(x, y)
    for row in range(0, 3000, 97):
        alone = CLOSED.locate(x[row], y[row])
        assert (alone.along, alone.offset) == (found.along[row], found.offset[row])


@given(st.floats(-8.0, 8.0), st.floats(-8.0, 8.0))
def test_no_point_of_the_path_is_nearer_than_the_one_found(x, y):
    every = CLOSED.at(np.linspace(0.0, CLOSED.length, 5000))[0]
    nearest = np.hypot(every[:, 0] - x, every[:, 1] - y).min()
    assert abs(float(CLOSED.locate(x, y).offset)) == pytest.approx(nearest, abs=0.01)


def test_lengths_are_measured_on_the_ground_plane():
    line = np.array([(0.0, 0.0, 0.0), (3.0, 4.0, 9.0), (3.0, 6.0, -9.0)])
    assert measure_length(line).tolist() == [0.0, 5.0, 7.0]
    assert PathFrame.measure(line, True).length == pytest.approx(7.0 + math.hypot(3.0, 6.0))


def test_a_path_is_measured_once():
    path = load_scene(SceneSpec("generated_track")).path
    assert path.frame is path.frame


@pytest.mark.parametrize("closed", [True, False])
def test_normals_at_points_stand_across_the_line(closed):
    normal = find_normals(RING[:, :2] if closed else RING[:120, :2], closed)
    outward = np.column_stack([np.cos(ANGLE) / 5.0, np.sin(ANGLE) / 3.0])[: len(normal)]
    outward /= np.hypot(*outward.T)[:, None]
    assert np.allclose(normal, -outward, atol=0.03)
