"""The score of a race: laps count on the line, times are those of the line, places follow."""

import numpy as np
import pytest

from donkeysim.race.standings import Standings


def note(standings, *rows):
    for time, *driven in rows:
        standing = standings.note(np.array(driven, float), time)
    return standing


def test_a_lap_ends_on_the_line_wherever_the_car_stood_on_the_grid():
    standings = Standings(2, np.array([0.0, 1.0]), 10.0)
    standing = note(standings, (1.0, 9.5, 10.5), (2.0, 10.5, 11.5))
    assert standing.laps.tolist() == [1, 1]
    assert standings.lap_times == ([pytest.approx(1.5)], [pytest.approx(1.5)])
    assert standing.way.tolist() == [10.5, 10.5]


def test_places_go_by_finish_then_by_way():
    standings = Standings(1, np.array([0.0, 0.5, 1.0]), 10.0)
    standing = note(standings, (0.0, 0, 0, 0))
    assert standing.place.tolist() == [1, 2, 3]
    standing = note(standings, (1.0, 5, 7, 1))
    assert standing.place.tolist() == [2, 1, 3]
    assert standing.gained.tolist() == [-1, 1, 0]
    standing = note(standings, (2.0, 9.9, 10.6, 12))
    assert standing.finished.tolist() == [False, True, True]
    assert standing.place.tolist() == [3, 2, 1]
    assert standing.finish_time[2] < standing.finish_time[1] < 2.0
    standing = note(standings, (3.0, 30, 10.6, 12))
    assert standing.place.tolist() == [3, 2, 1]
    assert standing.laps.tolist() == [1, 1, 1]


def test_the_line_crossed_again_is_no_other_lap():
    standings = Standings(3, np.zeros(1), 10.0)
    standing = note(standings, (1.0, 10.5), (2.0, 9.5), (3.0, 10.5), (4.0, 9.0), (5.0, 11.0))
    assert standing.laps.tolist() == [1]
    assert len(standings.lap_times[0]) == 1


def test_lap_times_add_up_to_the_race():
    standings = Standings(3, np.full(1, 0.7), 10.0)
    driven = np.linspace(0.0, 31.0, 64)
    for time, way in enumerate(driven, start=0):
        standing = standings.note(np.array([way]), time / 20.0)
    assert standing.finished[0]
    assert sum(standings.lap_times[0]) == pytest.approx(standing.finish_time[0])
    assert standing.finish_time[0] == pytest.approx(30.7 / 31.0 * 63 / 20.0)
