"""Films of a log: in any size, from the seat, of a car by its name."""

import numpy as np
import pytest

from donkeysim.core.errors import SpecError
from donkeysim.record.recorder import open_simulator
from donkeysim.record.replay import Replay
from donkeysim.record.replay_view import FilmSize, draw_replay, read_size
from donkeysim.world.specs import BodySpec, CameraSpec, SceneSpec, WorldSpec


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """Ten frames; Anna is off the track for the last four."""
    path = tmp_path_factory.mktemp("log") / "run.dlog"
    simulator = open_simulator(WorldSpec(SceneSpec("flat"), cars_per_world=3), log=path)
    simulator.add_car(0, BodySpec(name="2"))
    anna = simulator.add_car(0, BodySpec(name="Anna"))
    simulator.configure_camera(anna, CameraSpec(width=80, height=60))
    for frame in range(10):
        if frame == 6:
            simulator.retire_car(anna)
        simulator.step()
    simulator.close()
    return path


@pytest.mark.parametrize(
    ("view", "size", "shape"),
    [("chase", FilmSize(64, 32), (32, 64)), ("top", FilmSize(32, 64), (64, 32)), ("camera", None, (360, 480))],
)
def test_views_have_the_size_that_was_asked_for(log, view, size, shape):
    pictures = [picture.copy() for picture in draw_replay(Replay(log), view, 0 if size else "Anna", size)]
    assert {picture.shape for picture in pictures} == {(*shape, 3)}
    assert len(pictures) == (10 if size else 6), "a car that is off the track is not shown"


def test_the_seat_fills_a_wide_frame(log):
    picture = next(draw_replay(Replay(log), "seat", "Anna", FilmSize(160, 60)))
    assert picture.shape == (60, 160, 3)
    assert (picture.max(axis=(0, 2)) > 0).all()
    assert len(np.unique(picture[:, 40:120])) > 10


def test_the_seat_keeps_its_camera_s_shape_in_a_high_black_frame(log):
    picture = next(draw_replay(Replay(log), "seat", "Anna", FilmSize(80, 120)))
    assert picture.shape == (120, 80, 3)
    assert not picture[:30].any()
    assert not picture[90:].any()
    assert (picture[30:90].max(axis=(1, 2)) > 0).all()


def test_a_number_is_a_row_unless_a_car_is_called_so(log):
    shown = [next(draw_replay(Replay(log), "camera", car)).copy() for car in ("2", 0, "1", "Anna")]
    assert np.array_equal(shown[0], shown[1])
    assert np.array_equal(shown[2], shown[3])
    assert shown[0].shape != shown[2].shape


@pytest.mark.parametrize(
    ("view", "car", "size", "told"),
    [
        ("side", 0, None, "unknown view 'side'"),
        ("chase", "Ana", None, "did you mean 'Anna'"),
        ("chase", "7", None, "there is no car 7; the log has the cars 0 to 2"),
        ("camera", 0, FilmSize(64, 64), "the view seat is the same place in any size"),
    ],
)
def test_what_cannot_be_shown_is_told_before_anything_is_played(log, view, car, size, told):
    with pytest.raises(SpecError, match=told):
        draw_replay(Replay(log), view, car, size)


def test_sizes_are_read():
    assert read_size("1280x720") == FilmSize(1280, 720)
    assert read_size(None) is None


@pytest.mark.parametrize("text", ["", "1280", "1281x720", "8x8", "5000x100", "a" * 1000, "-64x64", "٦٤x٦٤"])
def test_bad_sizes_are_told_in_a_sentence(text):
    with pytest.raises(SpecError, match="columns and rows such as 1280x720, both even, 16 to 4096"):
        read_size(text)
