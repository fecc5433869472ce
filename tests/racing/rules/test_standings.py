"""The score of a race: laps and times are those of the ledger's events, places follow."""

import numpy as np
import pytest

from donkeysim.racing.rules.course import RaceCourse
from donkeysim.racing.rules.standings import Standings
from donkeysim.world.ledger import EVENT_CHECKPOINT, EVENT_CROSSING, EVENT_HIT, EVENT_LAP, Event

OVAL = RaceCourse("oval", 10.0)


def begin(*cars):
    """What happens where cars cross the line after the start."""
    return [Event(0.2, car, EVENT_CROSSING, 0.0) for car in cars]


def finish(car, time, lap_time):
    """What happens where a lap ends and the next begins."""
    return [Event(time, car, EVENT_LAP, lap_time), Event(time, car, EVENT_CROSSING, 0.0)]


def test_the_way_counts_from_the_line_wherever_the_car_stood_on_the_grid():
    standings = Standings(2, OVAL, np.array([0.0, 1.0]))
    assert standings.note(np.zeros(2)).way.tolist() == [0.0, -1.0]
    assert standings.note(np.array([10.5, 11.5])).way.tolist() == [10.5, 10.5]


def test_laps_are_those_that_are_told():
    standings = Standings(2, OVAL, np.zeros(2))
    standing = standings.note(np.array([10.5, 25.0]), [*begin(0, 1), *finish(0, 7.5, 6.25)])
    assert standing.laps.tolist() == [1, 0], "a way of two laps is none as long as no lap is told"
    assert standing.lap_time.tolist() == [6.25, 0.0]
    others = [Event(8.0, 1, kind, 2.0) for kind in (EVENT_HIT, EVENT_CHECKPOINT)]
    assert standings.note(np.array([10.5, 25.0]), others).laps.tolist() == [1, 0]
    assert (standings.list_lap_times(0), standings.list_lap_times(1)) == ((6.25,), ())


def test_places_go_by_finish_then_by_way():
    standings = Standings(1, OVAL, np.array([0.0, 0.5, 1.0]))
    standing = standings.note(np.zeros(3))
    assert standing.place.tolist() == [1, 2, 3]
    standing = standings.note(np.array([5.0, 7.0, 1.0]), begin(0, 1, 2))
    assert standing.place.tolist() == [2, 1, 3]
    assert standing.gained.tolist() == [-1, 1, 0]
    standing = standings.note(np.array([9.9, 10.6, 12.0]), finish(1, 1.9, 1.8) + finish(2, 1.5, 1.2))
    assert standing.finished.tolist() == [False, True, True]
    assert standing.place.tolist() == [3, 2, 1]
    assert standing.finish_time.tolist() == [np.inf, 1.9, 1.5]
    standing = standings.note(np.array([30.0, 10.6, 12.0]), finish(0, 3.0, 2.9) + finish(2, 3.1, 1.6))
    assert standing.place.tolist() == [3, 2, 1]
    assert standing.laps.tolist() == [1, 1, 1], "no more than the race has"
    assert standing.finish_time[2] == 1.5


def test_lap_times_add_up_to_the_race_from_the_first_crossing_on():
    standings = Standings(3, OVAL, np.full(1, 0.7))
    time = 0.4
    standings.note(np.full(1, 1.0), [Event(time, 0, EVENT_CROSSING, 0.0)])
    for lap, lap_time in enumerate((9.5, 9.25, 9.125), start=1):
        time += lap_time
        standing = standings.note(np.full(1, 10.0 * lap), finish(0, time, lap_time))
        assert standing.finished[0] == (lap == 3)
    assert sum(standings.list_lap_times(0)) == pytest.approx(standing.finish_time[0] - 0.4)
