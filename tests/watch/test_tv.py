"""Cameras beside a track: they see all of it, stand in nothing, and turn and zoom with the car."""

import math

import numpy as np
import pytest

from donkeysim.racing.show.race_view import Mark, RaceView, TowerLine
from donkeysim.racing.show.recording import rate_cars
from donkeysim.sim.simulator import Simulator
from donkeysim.watch.broadcast import LEAST_SHOT, LEAST_STORY, Broadcast
from donkeysim.watch.tv import TrackCameras, place_cameras
from donkeysim.world.specs import SceneSpec, WorldSpec
from donkeysim.world.tracks.terrain.ground import sample_height


@pytest.fixture(scope="module")
def simulator():
    simulator = Simulator(WorldSpec(SceneSpec("generated_track"), cars_per_world=4))
    for _ in range(4):
        simulator.add_car()
    simulator.step()
    yield simulator
    simulator.close()


@pytest.fixture(scope="module")
def cameras(simulator):
    return place_cameras(simulator.scene, simulator.renderer, simulator.keep_moment())


def test_every_part_of_the_path_is_seen_by_a_camera(cameras):
    assert (cameras.worth.max(axis=0) > 0.3).all()
    assert len(set(cameras.worth.argmax(axis=0).tolist())) >= 4


def test_cameras_stand_beside_the_road_and_above_the_ground(simulator, cameras):
    path, ground = simulator.scene.path, simulator.scene.ground
    place = path.frame.locate(cameras.eye[:, 0], cameras.eye[:, 1])
    width = np.where(place.offset > 0, path.width_left[place.node], path.width_right[place.node])
    assert (np.abs(place.offset) > width).all()
    assert (cameras.eye[:, 2] - sample_height(ground, cameras.eye[:, :2]) >= 0.5).all()


def test_a_camera_looks_at_the_car_and_zooms_in_on_one_far_away(cameras):
    near, far, nobody = cameras.eye[0] + (1.0, 1.0, -0.7), cameras.eye[0] + (6.0, 0.0, -0.7), np.zeros((0, 3))
    (_, rotation), field = cameras.aim(0, near, nobody)
    assert rotation == pytest.approx((0.0, math.atan2(0.7, math.sqrt(2.0)), math.pi / 4.0))
    assert cameras.aim(0, far, nobody)[1] < 0.5 * field


def test_a_car_that_is_near_comes_into_the_picture(cameras):
    car = cameras.eye[0] + (3.0, 0.0, -0.7)
    (_, alone), field = cameras.aim(0, car, car[None] + (0.0, 2.1, 0.0))
    (_, fight), wider = cameras.aim(0, car, car[None] + (0.0, 1.0, 0.0))
    assert alone[2] == pytest.approx(0.0)
    assert (0.05 < fight[2] < math.atan2(0.5, 3.0), wider > field) == (True, True)


def make_broadcast(worth):
    """Return a director of pictures with cameras that are worth so much at each metre of a path."""
    broadcast = Broadcast(wants_cameras=False)
    worth = np.array(worth, float)
    cameras = TrackCameras(np.zeros((len(worth), 3)), worth, float(worth.shape[1]))
    return broadcast, cameras


def follow(broadcast, cameras, simulator, drive, seconds=0.05):
    """Return which camera shows car 0 at each of these places of the path [m]."""
    shown = []
    for index, along in enumerate(drive):
        simulator.put_on_path(0, float(along) / cameras.length * simulator.scene.path.frame.length)
        if index == 0:
            broadcast.note(simulator, {0: 0}, None, 0.0)
            broadcast.cameras = cameras._replace(length=simulator.scene.path.frame.length)
        broadcast.note(simulator, {0: 0}, None, seconds * index)
        shown.append(int(broadcast.cuts.camera[0]))
    return shown


def test_the_picture_cuts_to_the_camera_that_sees_the_car(simulator):
    broadcast, cameras = make_broadcast([[1.0] * 5 + [0.0] * 5, [0.0] * 5 + [1.0] * 5])
    assert follow(broadcast, cameras, simulator, [1.5, 3.5, 4.5, 5.5, 8.5]) == [0, 0, 0, 1, 1]


def test_the_picture_does_not_cut_for_little_or_at_once(simulator):
    worth = [[0.6] * 5 + [0.5] * 5, [0.5] * 5 + [0.6] * 5]
    assert follow(*make_broadcast(worth), simulator, [4.5, 5.5, 4.5, 5.5] * 20) == [0] * 80
    worth = [[1.0] * 5 + [0.5] * 5, [0.5] * 5 + [1.0] * 5]
    shown = follow(*make_broadcast(worth), simulator, [4.5, 5.5] * 50)
    cuts = np.flatnonzero(np.diff(shown))
    assert len(cuts) > 0
    assert (np.diff(cuts) * 0.05 >= LEAST_SHOT - 0.06).all()


def test_a_car_that_no_camera_sees_is_shown_by_none(simulator):
    broadcast, cameras = make_broadcast([[1.0] * 5 + [0.0] * 5])
    assert follow(broadcast, cameras, simulator, [1.5, 7.5, 1.5]) == [0, -1, 0]


def make_view(at, intervals=(None, None, None, None), marks=()):
    """Return a race of four; a car's id is 10 more than its row."""
    rest = (None, None, False, (), None, 0.0, "", True)
    tower = tuple(
        TowerLine(10 + row, row, f"car {row}", (0, 0, 0), row + 1, "racing", 0, None, interval, 0, *rest)
        for row, interval in enumerate(intervals)
    )
    return RaceView("", "race", 1, "green", False, at, 60.0, 3, at, tower, tuple(marks), {}, False)


def choose(simulator, views):
    broadcast = Broadcast(wants_cameras=False)
    rows = {10 + row: row for row in range(4)}
    return [broadcast.note(simulator, rows, rate_cars(view, view.at), view.at).chosen for view in views]


def test_the_leader_is_watched_until_there_is_a_fight_and_news_come_before(simulator):
    fight, news = (None, 3.0, 0.4, 2.0), [Mark(21.0, 1.0, "hit", car=13, number=1)]
    views = [make_view(0.0), make_view(6.0, fight), make_view(12.0, fight), make_view(22.0, fight, news)]
    assert choose(simulator, views) == [0, 2, 2, 3]


def test_a_story_is_told_for_some_seconds_before_the_next(simulator):
    fights = [
        make_view(0.05 * frame, (None, 0.5, 2.0, 2.0) if frame % 2 else (None, 2.0, 0.5, 2.0)) for frame in range(400)
    ]
    chosen = choose(simulator, fights)
    changes = np.flatnonzero(np.diff(chosen))
    assert (np.diff(changes) * 0.05 >= LEAST_STORY - 0.06).all()


def test_an_incident_that_was_taken_back_is_no_news(simulator):
    mark = Mark(5.0, 5.0, "hit", car=13, number=1, is_undone=True)
    assert choose(simulator, [make_view(6.0, marks=[mark])]) == [0]


def test_the_picture_leaves_a_car_that_only_has_troubles(simulator):
    marks = [Mark(4.0 * number, 0.0, "stuck", car=12, number=number) for number in range(1, 40)]
    views = [make_view(float(at), marks=marks[: int(at / 4.0)]) for at in range(8, 120)]
    chosen = choose(simulator, views)
    assert 2 in chosen[:10], "at first it is news"
    assert 2 not in chosen[30:], "then it is not any more"
    assert choose(simulator, [make_view(260.0, marks=[*marks, Mark(259.5, 0.0, "hit", car=12, number=99)])]) == [2]


def test_the_same_frames_are_cut_alike(simulator):
    views = [make_view(0.3 * step, (None, 0.1 * (step % 7), 0.2 * (step % 5), 1.0)) for step in range(100)]
    assert choose(simulator, views) == choose(simulator, views)


def test_another_race_begins_anew_with_the_same_cameras(simulator, cameras):
    broadcast, rows = Broadcast(wants_cameras=False), {10 + row: row for row in range(4)}
    broadcast.note(simulator, rows, rate_cars(make_view(300.0), 300.0), 300.0)
    broadcast.cameras = cameras
    fight = make_view(0.5, (None, 3.0, 0.4, 2.0))
    assert broadcast.note(simulator, rows, rate_cars(fight, 0.5), 0.5).chosen == 2
    other = Simulator(WorldSpec(SceneSpec("generated_track"), cars_per_world=6), scene=simulator.scene)
    for _ in range(6):
        other.add_car()
    assert broadcast.note(other, {row: row for row in range(6)}, None, 1.0).camera.min() >= 0
    assert broadcast.cameras is cameras
    other.close()
