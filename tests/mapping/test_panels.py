"""Walls that stand beside a road of known poses come out as panels where they stand, with their picture."""

import dataclasses
import math
import re

import numpy as np
import pytest

from donkeysim.calibration.camera import Mount
from donkeysim.calibration.motion import FloorCamera
from donkeysim.mapping import panels as module
from donkeysim.mapping.floor import PaintedFloor, paint_ring
from donkeysim.mapping.panels import Panel, find_rows, stand_panels
from donkeysim.mapping.place_file import write_place
from donkeysim.mapping.points import find_points, find_seen_through
from donkeysim.mapping.report import draw_map, redraw
from donkeysim.mapping.road import Road
from donkeysim.mapping.survey import PlaceSurvey
from donkeysim.sim.simulator import Simulator
from donkeysim.world.lens import make_plain_lens
from donkeysim.world.specs import CameraSpec, SceneSpec, WorldSpec
from mapping.painted_floor import list_poses

COUNT, RADIUS, HEIGHT = 150, 1.5, 0.16
"""Pictures of a lap; of the road, to its middle, and of the camera above the floor [m]."""

WALL, OUTER = 0.6, 3.0
"""Its height, and from the middle of all to its inner side [m]."""

ROOM = """format = 1
name = "room"
[path]
node_count = 60
start = [0.0, -1.5]
segments = [{ turn = 360.0, radius = 1.5 }]
[road]
width_left = 0.3
width_right = 0.3
[ground]
texture = "plain"
"""

CAMERA = FloorCamera(make_plain_lens((160, 120), math.radians(80.0)), Mount(HEIGHT, math.radians(10.0), 0.0), 0.05)


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """Poses, and pictures of a round room with a wall of bricks."""
    turn = np.linspace(0.0, -2.0 * np.pi, 120)  # clockwise, so that its front is outside, and its back shows, too
    ring = ", ".join(f"[{OUTER * math.cos(a):.4f}, {OUTER * math.sin(a):.4f}]" for a in turn.tolist())
    wall = f'[[walls]]\nkind = "brick"\npoints = [{ring}]\nheight = {WALL}\nthickness = 0.08\n'
    (file := tmp_path_factory.mktemp("room") / "room.toml").write_text(ROOM + wall)
    simulator = Simulator(WorldSpec(SceneSpec(str(file))))
    eye = CameraSpec(width=160, height=120, fov=CAMERA.lens.fov, lens=CAMERA.lens, quality="smooth")
    poses = list_poses(COUNT, step=2.0 * math.pi * RADIUS / COUNT, radius=RADIUS)
    pictures = []
    for x, y, yaw in poses.tolist():
        place = (x + CAMERA.ahead * math.cos(yaw), y + CAMERA.ahead * math.sin(yaw), HEIGHT)
        pictures.append(simulator.view(0, place, (0.0, CAMERA.mount.pitch, yaw), eye))
    simulator.close()
    return pictures, poses


@pytest.fixture(scope="module")
def points(seen):
    shares = []
    points = find_points(*seen, CAMERA, np.zeros((120, 160), bool), shares.append)
    assert shares[-1] == 1.0
    return points


@pytest.fixture(scope="module")
def road():
    turn = np.arange(190) / 190 * 2.0 * np.pi
    line = RADIUS * np.column_stack([np.sin(turn), -np.cos(turn)])
    return Road(line, np.full(190, 0.3), np.full(190, 0.3), 1.0, has_lines=True)


@pytest.fixture(scope="module")
def place(seen, road):
    """What a survey of the drive is, its floor a grey one of which nothing was seen."""
    pictures, poses = seen
    cells = np.zeros((60, 60))
    axes = np.array([[0.0, -0.1, 3.0], [-0.1, 0.0, 3.0], [0.0, 0.0, 1.0]])
    colour, even = np.full((60, 60, 3), 90, np.float32), np.ones((COUNT, 3), np.float32)
    floor = PaintedFloor(colour, cells.astype(np.float32) + 1.0, axes, even, np.ones((120, 160), np.float32))
    own = np.zeros((120, 160), bool)
    ring = paint_ring(pictures, poses[:, 2], CAMERA, own, floor)
    panels = stand_panels(pictures, poses, CAMERA, own, floor, road, lambda _share: None)
    likeness = np.ones(COUNT)
    seen = (likeness, np.zeros(1), floor, road, ring, panels, None, None)
    return PlaceSurvey(pictures, CAMERA, False, own, poses, *seen)


def test_points_lie_where_the_wall_stands(points):
    away = np.hypot(*points[:, :2].T)
    assert len(points) > 200
    assert np.median(away) == pytest.approx(OUTER, rel=0.02)
    assert (np.abs(away - OUTER) < 0.3).mean() > 0.8
    assert (points[:, 2] < WALL + 0.1).mean() > 0.9


def test_what_others_are_seen_through_is_mistaken():
    wall = np.column_stack([np.full(50, 4.0), np.linspace(-1.0, 1.0, 50), np.full(50, 0.5)])
    eyes = np.tile((0.0, 0.0, 0.2), (50, 1))
    for x, z, is_through in ((2.0, 0.5, True), (2.0, 0.3, False), (3.7, 0.5, False)):
        some = np.vstack([wall, (x, 0.0, z)])  # in the way; so low that the others are seen above it; at the wall
        assert find_seen_through(some, np.vstack([eyes, eyes[:1]]), 0.1).tolist() == [False] * 50 + [is_through]


def test_a_wall_is_one_row_of_its_height_that_faces_the_road(points, road):
    row, *rest = sorted(find_rows(points, road, HEIGHT), key=lambda row: -len(row.points))
    assert not rest
    assert np.hypot(*row.points.T).mean() == pytest.approx(OUTER, rel=0.03)
    assert np.hypot(*row.points.T).std() < 0.1
    assert np.median(row.top) == pytest.approx(WALL, abs=0.08)
    ahead = row.points[21] - row.points[20]
    assert ahead[0] * row.points[20, 1] - ahead[1] * row.points[20, 0] < 0.0, "to the left lies the middle"


def test_points_here_and_there_are_no_row(road):
    scattered = np.random.default_rng(3).uniform((-4.0, -4.0, 0.1), (4.0, 4.0, 0.8), (60, 3))
    assert find_rows(scattered, road, HEIGHT) == []
    assert find_rows(np.zeros((0, 3)), road, HEIGHT) == []


def test_pictures_of_the_place_show_the_wall(place, tmp_path):
    upper = slice(20, 55)  # of each picture, above the floor
    off = []
    for name, panels in (("walled", place.panels), ("bare", ())):
        file = write_place(tmp_path, name, dataclasses.replace(place, panels=panels), "a room")
        drawn = redraw(file, place, range(5, COUNT, 10))
        off.append(np.sqrt(np.mean([(one.drawn.astype(float) - one.real)[upper] ** 2 for one in drawn])))
    assert off[0] < 0.7 * off[1]


def test_a_place_that_is_made_again_leaves_no_panels_of_the_former_one(place, tmp_path):
    for panels in (place.panels * 3, place.panels):
        write_place(tmp_path, "again", dataclasses.replace(place, panels=panels), "a room")
    assert len(list(tmp_path.glob("again_panel_*.webp"))) == len(place.panels)


def test_the_map_has_room_for_panels(place):
    drawn = draw_map(
        dataclasses.replace(place, panels=[*place.panels, Panel(np.array([(9.0, 0.0), (9.0, 1.0)]), 1.0, None)])
    )
    x, _, width, _ = map(float, re.search(r'viewBox="(.*?)"', drawn)[1].split())
    assert drawn.count('class="panel"') == len(place.panels) + 1
    assert x + width == pytest.approx(119.0, abs=1.0), "a floor of 60 cells, and 6 m beside it"


def test_ctrl_c_keeps_the_panels_that_are_painted(place, seen, road, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(module._Painter, "paint", stop)
    assert stand_panels(*seen, CAMERA, place.own, place.floor, road, lambda _share: None) == []
    monkeypatch.setattr(module, "find_points", stop)
    assert stand_panels(*seen, CAMERA, place.own, place.floor, road, lambda _share: None) == []
