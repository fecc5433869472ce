"""A recording keeps a race: any moment of it can be shown, with what lies between, and little is kept of it."""

import threading

import numpy as np
import pytest

from donkeysim.core.errors import SceneError
from donkeysim.core.image import decode_picture, encode_jpeg
from donkeysim.racing.show import recording as reels
from donkeysim.racing.show.race_view import Mark, RaceView, TimeLine
from donkeysim.racing.show.recording import PropTracks, RaceRecording, pack_cars, unpack_poses
from donkeysim.sim.simulator import Simulator
from donkeysim.sim.viewpoint import draw_car
from donkeysim.watch.picture_cache import PictureCache
from donkeysim.watch.watchable import CHOSEN
from donkeysim.world.specs import BodySpec, SceneSpec, WorldSpec

SIZE = (96, 64)
FRAMES = 60


def make_view(at, marks=(), session="race"):
    return RaceView("", session, 1, "green", False, at - 1.0, 60.0, 3, at, (), tuple(marks), {}, False)


@pytest.fixture(scope="module")
def drive():
    """A drive of two cars, and where they were."""
    simulator, recording = Simulator(WorldSpec(SceneSpec("generated_track"), cars_per_world=2)), RaceRecording()
    recording.broadcast.wants_cameras = False
    for name in ("Ada", "Ben"):
        simulator.add_car(body=BodySpec(name=name, colour=(9, 8, 7)))
    places, pictures = [], {}
    for frame in range(1, FRAMES + 1):
        simulator.drive_car(0, 0.3, 1.0, 0.0)
        simulator.drive_car(1, -0.3, 0.5, 0.0)
        simulator.step()
        marks = [Mark(1.0, 0.0, "one", number=1)] if frame >= 20 else []
        recording.note(simulator, {5: 0, 6: 1}, make_view(0.05 * frame, marks))
        places.append(simulator.ledger.position[:, :2].copy())
        if frame in (20, 40):
            pictures[frame] = draw_car(simulator, 0, "chase", *SIZE)
    yield recording, np.array(places), pictures
    simulator.close()


def test_the_time_line_is_what_was_noted(drive):
    assert drive[0].time_line() == TimeLine(0.05, pytest.approx(3.0), is_live=True)


def test_a_moment_is_shown_as_it_was(drive):
    recording, _, pictures = drive
    for frame, expected in pictures.items():
        shown = decode_picture(recording.take_picture("chase", 5, *SIZE, at=0.05 * frame)).astype(int)
        assert np.abs(shown - decode_picture(encode_jpeg(expected)).astype(int)).mean() < 1.0


def test_cars_are_where_they_were_and_on_their_way_in_between(drive):
    recording, places, _ = drive
    ada, ben = recording.list_cars(0.05 * 31)
    assert (ada.car_id, ada.name, ben.car_id, ben.name) == (5, "Ada", 6, "Ben")
    assert ada.pose[:2] == pytest.approx(places[30, 0], abs=1e-5)
    between = recording.list_cars(0.05 * 31.5)[1].pose[:2]
    assert between == pytest.approx(0.5 * (places[30, 1] + places[31, 1]), abs=1e-5)
    assert recording.list_cars()[0].pose[:2] == pytest.approx(places[-1, 0], abs=1e-5)


def test_the_race_of_a_moment_has_its_clock_and_all_marks(drive):
    view = drive[0].find_view(0.63)
    assert (view.at, view.clock) == (pytest.approx(0.63), pytest.approx(-0.37))
    assert ([mark.text for mark in view.marks], view.on_air) == (["one"], 5)
    assert drive[0].find_view(None).at == pytest.approx(3.0)


def test_a_car_that_was_not_there_cannot_be_shown(drive):
    with pytest.raises(SceneError, match="there is no car 9"):
        drive[0].take_picture("chase", 9, *SIZE, at=1.0)
    with pytest.raises(SceneError, match="nothing of the race is kept"):
        RaceRecording().take_picture("chase", 5, *SIZE)


def test_the_chosen_car_and_every_view_can_be_shown(drive):
    for kind in ("chase", "top", "seat", "tv", "place"):
        picture = decode_picture(drive[0].take_picture(kind, CHOSEN, *SIZE, at=1.0))
        assert picture.std() > 5.0
    assert decode_picture(drive[0].take_picture("camera", 5, *SIZE, at=1.0)).shape == (120, 160, 3)


def test_time_that_is_held_is_kept_once(drive):
    recording, simulator = RaceRecording(), Simulator(WorldSpec(SceneSpec("generated_track")))
    recording.broadcast.wants_cameras = False
    simulator.add_car()
    for session in ("race", "cool-down"):
        recording.note(simulator, {1: 0}, make_view(1.0, session=session))
    assert (len(recording._frames), recording.find_view(None).session) == (1, "cool-down")
    recording.finish()
    assert recording.time_line() == TimeLine(1.0, 1.0, is_live=False)
    recording.begin()
    assert recording.time_line() is None
    simulator.close()


def test_the_beginning_of_a_very_long_race_is_forgotten(monkeypatch):
    monkeypatch.setattr(reels, "MOST_FRAMES", 50)
    recording, simulator = RaceRecording(), Simulator(WorldSpec(SceneSpec("generated_track")))
    recording.broadcast.wants_cameras = False
    simulator.add_car()
    for frame in range(1, 101):
        simulator.step()
        recording.note(simulator, {1: 0}, make_view(0.05 * frame))
    line = recording.time_line()
    assert (2.4 < line.begin < 2.9, line.end) == (True, pytest.approx(5.0))
    assert recording.find_view(0.0).at <= line.begin + 1e-6
    assert decode_picture(recording.take_picture("top", 1, *SIZE, at=0.0)).shape == (64, 96, 3)
    simulator.close()


def test_a_frame_of_24_cars_is_kept_in_some_kilobytes():
    simulator = Simulator(WorldSpec(SceneSpec("generated_track"), cars_per_world=24))
    poses = simulator.keep_moment().poses
    assert pack_cars(poses).nbytes < 1700
    simulator.close()


def test_only_props_that_move_are_kept_and_all_are_found_again():
    simulator = Simulator(WorldSpec(SceneSpec("generated_track_2020")))
    moments = [simulator.keep_moment().poses for _ in range(4)]
    moments[2].prop_position[1] += 0.5
    moments[3].prop_position[1] += 0.75
    tracks = PropTracks(moments[0])
    for number in (1, 2, 3):
        tracks.append(number, moments[number])
    assert list(tracks._moved) == [1]
    for number, poses in enumerate(moments):
        found = unpack_poses(pack_cars(poses), tracks.find(number))
        assert found.prop_position == pytest.approx(poses.prop_position, abs=1e-6)
        assert found.position == pytest.approx(poses.position, abs=1e-5)
        assert found.present.dtype == poses.present.dtype
    simulator.close()


def test_a_picture_that_several_want_is_drawn_once():
    pictures, begun, go_on, drawn = PictureCache(), threading.Event(), threading.Event(), []

    def draw(_room):
        drawn.append(1)
        begun.set()
        assert go_on.wait(10.0)
        return np.zeros((16, 16, 3), np.uint8)

    answers = []
    threads = [threading.Thread(target=lambda: answers.append(pictures.take("key", draw))) for _ in range(5)]
    threads[0].start()
    assert begun.wait(10.0)
    for thread in threads[1:]:
        thread.start()
    go_on.set()
    for thread in threads:
        thread.join(10.0)
    assert (len(drawn), len(answers), len(set(answers))) == (1, 5, 1)
    assert pictures.take("key", draw) == answers[0]
    assert len(drawn) == 1


def test_a_picture_that_failed_is_tried_again():
    pictures = PictureCache()
    with pytest.raises(ZeroDivisionError):
        pictures.take("key", lambda _room: 1 / 0)
    assert pictures.take("key", lambda _room: np.zeros((16, 16, 3), np.uint8))[:2] == b"\xff\xd8"
