"""A trip passes in turns: time waits between them, and ends are told."""

import json
import math

import numpy as np
import pytest

from donkeysim.agents.board import Entry, add_entry, make_entry, rank_entries, read_board
from donkeysim.agents.trip import Trip
from donkeysim.core.errors import DonkeySimError, SpecError
from donkeysim.world.experiment import Experiment
from donkeysim.world.specs import CameraSpec


@pytest.fixture(scope="module")
def made():
    trip = Trip(Experiment(), CameraSpec(width=32, height=24), time_limit=6.0)
    yield trip
    trip.close()


@pytest.fixture
def trip(made):
    made.begin()
    return made


def test_time_passes_in_turns_only(trip):
    before = trip.look().copy()
    assert np.array_equal(trip.look(), before)
    assert trip.readings.seconds == 0.0
    after = trip.drive(0.0, 1.0, 0.5)
    assert after.seconds == 0.5
    assert after.turns == 1
    assert not np.array_equal(trip.look(), before)


def test_the_speed_that_is_asked_for_is_held(trip):
    assert trip.drive(0.1, 0.8, 2.0).speed == pytest.approx(0.8, abs=0.08)
    assert trip.drive(0.1, -0.3, 2.5).speed == pytest.approx(-0.3, abs=0.08)


def test_steering_is_positive_to_the_right(trip):
    trip.drive(0.0, 0.8, 0.5)
    yaw = float(trip._step.yaw[0])
    trip.drive(1.0, 0.8, 0.5)
    assert float(trip._step.yaw[0]) < yaw - 0.1


def test_stop_brakes_to_a_stand_and_ends(trip):
    trip.drive(0.0, 1.0, 1.0)
    last = trip.stop()
    assert abs(last.speed) < 0.05
    assert last.ending == "stopped"
    with pytest.raises(SpecError, match=r"over \(stopped\); call observe to begin a new one"):
        trip.drive(0.0, 1.0, 1.0)
    with pytest.raises(SpecError, match="the trip is over"):
        trip.stop()


def test_who_leaves_the_road_for_long_is_lost_and_keeps_the_way_made(trip):
    readings = trip.drive(-0.5, 1.5, 5.0)
    assert readings.ending == "lost the road"
    assert readings.metres > 0.2
    assert readings.seconds < 5.0


def test_time_is_up(trip):
    for _ in range(3):
        readings = trip.drive(0.0, 0.0, 2.0)
    assert (readings.ending, readings.seconds) == ("time is up", 6.0)


def test_the_same_turns_give_the_same_trip(trip):
    ways = []
    for _ in range(2):
        trip.begin()
        ways.append([trip.drive(0.2, 1.0, 0.4).metres for _ in range(5)])
    assert ways[0] == ways[1]


@pytest.mark.parametrize(
    ("turn", "told"),
    [
        ((1.5, 1.0, 1.0), "steering is 1.5; it takes -1"),
        ((math.nan, 1.0, 1.0), "steering is nan"),
        ((0.0, 9.0, 1.0), "speed is 9; it takes -0.5 to 2 m/s"),
        ((0.0, 1.0, 0.0), "seconds is 0; it takes 0.05 to 5"),
    ],
)
def test_a_turn_that_is_not_possible_passes_no_time(trip, turn, told):
    with pytest.raises(SpecError, match=told):
        trip.drive(*turn)
    assert trip.readings.seconds == 0.0


def test_a_time_limit_that_is_none_is_refused():
    with pytest.raises(SpecError, match="a time limit of 0 s"):
        Trip(Experiment(), CameraSpec(), 0.0)


def make(name, metres, turn_time=1.0, track="warren"):
    return Entry(name, track, metres, 0, 10, turn_time, 12.0, 0, "stopped")


def test_the_board_shows_the_best_trip_of_each_farthest_first(tmp_path, trip):
    board = tmp_path / "board.jsonl"
    for entry in (make("a", 3.0), make("b", 7.0), make("a", 9.0), make("c", 7.0, 0.5), make("a", 1.0, track="alley")):
        add_entry(board, entry)
    ranked = [(entry.track, entry.name, entry.metres) for entry in rank_entries(read_board(board))]
    assert ranked == [("alley", "a", 1.0), ("warren", "a", 9.0), ("warren", "c", 7.0), ("warren", "b", 7.0)]
    trip.drive(0.0, 1.0, 1.0)
    entry = make_entry("d", trip.summary)
    assert (entry.name, entry.track, entry.turns, entry.seconds) == ("d", "generated_track", 1, 1.0)
    assert entry.metres == trip.readings.metres > 0.1


def test_a_line_that_a_kill_cut_short_costs_itself_only(tmp_path):
    board = tmp_path / "board.jsonl"
    add_entry(board, make("a", 3.0))
    with board.open("ab") as file:
        file.write(b'{"name":"b","tra')
    assert [entry.name for entry in read_board(board)] == ["a"]


def test_a_board_that_is_none_is_named(tmp_path):
    board = tmp_path / "board.jsonl"
    with pytest.raises(SpecError, match=r"board\.jsonl cannot be read"):
        read_board(board)
    board.write_bytes(b"[]\n")
    with pytest.raises(SpecError, match="line 1 of the board"):
        read_board(board)
    with pytest.raises(DonkeySimError, match="cannot be written"):
        add_entry(tmp_path, make("a", 3.0))


def test_a_board_of_the_time_when_our_places_had_the_originals_names_means_ours(tmp_path):
    path = tmp_path / "board.jsonl"
    add_entry(path, make("a", 3.0))
    line = json.loads(path.read_bytes())
    del line["format"]
    path.write_text(path.read_text() + json.dumps(line) + "\n", encoding="utf-8")
    assert [entry.track for entry in read_board(path)] == ["warren", "carpet_hall"]
    path.write_text(json.dumps(line | {"format": 9}) + "\n", encoding="utf-8")
    with pytest.raises(SpecError, match="the format 9"):
        read_board(path)
