"""The start grid: several poses, rows that stand straight as the original's, rows that follow the path."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
from shapely import affinity
from shapely.geometry import box

from donkeysim.core.errors import SceneError
from donkeysim.world.tracks.grid import lay_grid
from donkeysim.world.tracks.tables.path import PathTable, Segment
from donkeysim.world.tracks.tables.road import RoadTable
from donkeysim.world.tracks.tables.start import StartTable
from donkeysim.world.tracks.track_check import build_line
from donkeysim.world.tracks.track_file import TrackFile

HALF = (Segment(straight=12.0), Segment(turn=180.0, radius=2.0))
OVAL = TrackFile(1, "oval", PathTable(segments=HALF * 2), RoadTable(0.9, 0.9))
PHASE = np.arange(24) * (2.0 * np.pi / 24)
EIGHT = TrackFile(
    1,
    "eight",
    PathTable(points=tuple(zip((8.0 * np.sin(PHASE)).tolist(), (6.0 * np.sin(2.0 * PHASE)).tolist(), strict=True))),
    RoadTable(0.9, 0.9),
)
"""It crosses itself at its beginning."""

MINI_MONACO = [
    (14.04, -68.185), (17.288, -71.299), (17.5, -64.576), (20.749, -67.69),
    (20.96, -60.966), (24.209, -64.081), (24.421, -57.357), (27.669, -60.471),
]  # fmt: skip
"""x, z of the first eight cars in the original's scene file [U]: heading 223.792 degrees, columns 4.5 U to the left of
it, rows 5 U behind."""

LEAGUE = [(23.864, -25.952, 270.0), (15.12, 25.744, 90.0), (28.864, -25.952, 270.0), (10.12, 25.744, 90.0)]
"""x, z [U] and yaw [degree] of the first four cars of its roboracingleague_1, which has two starts."""


def lay(track, **start):
    """Return the line of a track with this grid, its places and their yaws."""
    track = dataclasses.replace(track, start=StartTable(**start))
    line = build_line(track)
    return line, *lay_grid(track.start, line)


def to_pose(x, z, yaw):
    return (z / 8.0, -x / 8.0, -yaw)


def test_straight_rows_are_the_originals():
    x, y, yaw = to_pose(*MINI_MONACO[0], 223.792)
    begin = np.array((x, y)) - 8.0 * np.array((math.cos(math.radians(yaw)), math.sin(math.radians(yaw))))
    path = PathTable(start=tuple(begin), yaw=yaw, closed=False, segments=(Segment(straight=20.0),))
    track = TrackFile(1, "street", path, RoadTable(0.9, 0.9))
    _, position, yaws = lay(track, poses=((x, y, yaw),), straight=4, columns=(0.0, 0.5625), slots=8)
    assert position == pytest.approx(np.array([to_pose(*place, 0.0)[:2] for place in MINI_MONACO]), abs=1e-4)
    assert yaws == pytest.approx(np.full(8, math.radians(yaw)))


def test_cars_take_turns_between_poses():
    poses = tuple(to_pose(*place) for place in LEAGUE[:2])
    (x, y, _), (across, _, _) = poses
    half = (Segment(straight=1.5), Segment(turn=-180.0, radius=0.5 * abs(across - x)))
    path, road = PathTable(start=(x, y + 0.03), yaw=-270.0, segments=half * 2), RoadTable(0.6, 0.6)
    _, position, yaws = lay(TrackFile(1, "hall", path, road), poses=poses, straight=2, slots=12)
    assert position[:4] == pytest.approx(np.array([to_pose(*place)[:2] for place in LEAGUE]), abs=1e-6)
    assert np.degrees(yaws[:4]) == pytest.approx([-270.0, -90.0, -270.0, -90.0])


def test_rows_behind_the_straight_ones_follow_the_path():
    line, position, yaws = lay(OVAL, pose=(1.0, 0.2, 3.0), straight=3, columns=(0.2, -0.3), slots=24)
    ahead = np.array((math.cos(math.radians(3.0)), math.sin(math.radians(3.0))))
    assert position[0] == pytest.approx((1.0, 0.2))
    assert position[2] == pytest.approx((1.0, 0.2) - 0.625 * ahead)
    assert position[1] == pytest.approx(position[0] - 0.5 * np.array((-ahead[1], ahead[0])))
    assert yaws[:6] == pytest.approx(math.radians(3.0))
    last = line.find_along(position[4])
    for row in range(3, 12):
        for column, offset in enumerate((0.2, -0.3)):
            (place,), (yaw,) = line.offset([last - (row - 2) * 0.625], offset)
            assert position[2 * row + column] == pytest.approx(place, abs=1e-9)
            assert math.cos(yaws[2 * row + column] - yaw) == pytest.approx(1.0)


def test_no_two_cars_overlap_where_a_path_crosses_itself():
    line, position, yaws = lay(EIGHT, columns=(0.0, 0.5), slots=120)
    row, column = np.divmod(np.arange(120), 2)
    plain, _ = line.offset(-0.625 * row, 0.5 * column)
    assert len(position) == 120
    assert not np.allclose(position, plain)
    cars = [
        affinity.translate(affinity.rotate(box(-0.14, -0.107, 0.14, 0.107), yaw, (0, 0), use_radians=True), x, y)
        for (x, y), yaw in zip(position, yaws, strict=True)
    ]
    assert not any(a.intersects(b) for a, b in itertools.combinations(cars, 2))


def test_a_pose_far_beside_the_path_but_on_the_road_is_good():
    line, position, _ = lay(OVAL, pose=(4.0, -0.85, 0.0), columns=(-0.85, -0.3))
    assert position[1] == pytest.approx((4.0, -0.3))
    assert line.find_along(position[0]) == pytest.approx(4.0)


@pytest.mark.parametrize(
    ("start", "sentence"),
    [
        ({"pose": (4.0, -0.95, 0.0)}, r"pose has the first car at \(4\.00, -0\.95\), which lies beside the road"),
        ({"poses": ((4.0, 0.0, 0.0), (2.0, 1.2, 0.0))}, r"poses\[1\] has the first car at \(2\.00, 1\.20\)"),
        ({"pose": (1.0, 0.0, 0.0), "straight": 7}, r"the grid has a car at .*, which lies beside the road"),
        ({"pose": (1.0, 0.0, 0.0), "columns": (0.0, 1.0)}, r"columns has 1, which|a car at \(1\.00, 1\.00\)"),
    ],
)
def test_a_car_beside_the_road_is_refused(start, sentence):
    with pytest.raises(SceneError, match=sentence):
        lay(OVAL, **({"slots": 12} | start))


def test_more_slots_than_room_are_refused():
    with pytest.raises(SceneError, match=r"has room for"):
        lay(OVAL, poses=((1.0, 0.0, 0.0), (11.0, 4.0, 180.0)), slots=70)


@pytest.mark.parametrize(
    ("start", "sentence"),
    [
        ({"pose": (1.0, 2.0, 3.0), "poses": ((1.0, 2.0, 3.0),)}, r"leave one out"),
        ({"poses": ((1.0, 2.0),)}, r"poses\[0\] is \[1\.0, 2\.0\]; the first car stands at"),
        ({"straight": 0}, r"straight is 0"),
    ],
)
def test_a_table_that_says_nonsense_is_refused(start, sentence):
    with pytest.raises(ValueError, match=sentence):
        StartTable(**start)
