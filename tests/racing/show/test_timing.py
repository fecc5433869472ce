"""The race as the page shows it: tower, marks on the time line, sessions that begin anew."""

import itertools

import pytest

from donkeysim.racing.rules import act
from donkeysim.racing.rules.director import COOL_DOWN, OVER, QUALIFYING, RACE
from donkeysim.racing.rules.rule_book import Penalty, Qualifying, Race, RuleBook, StartRules
from donkeysim.racing.show.timing import CarLook, Timing
from race_script import Script, leave_road, stop, vanish

LOOKS = {row: CarLook(10 + row, (200, 40 * row, 0)) for row in range(4)}


def make_book(**changes):
    return RuleBook("Club", "", "", "", **{"race": Race(laps=2), **changes})


class TimedScript(Script):
    """A script whose frames are timed."""

    def __init__(self, *arguments, **options):
        self.timing, self.is_open = Timing(), False
        super().__init__(*arguments, **options)
        advance = self.director.advance

        def advance_and_note(ledger, events, passed=0.05):
            decisions = advance(ledger, events, passed)
            self.timing.note(self.director, ledger, events)
            return decisions

        self.director.advance = advance_and_note

    def line_up(self, rows):
        super().line_up(rows)
        self.time = 0.0

    def draw(self):
        return self.timing.draw(self.director, LOOKS)


def test_the_tower_tells_gaps_laps_and_what_is_over():
    script = TimedScript(make_book(), [10.0, 12.5, 50.0])
    script.run_until(RACE)
    while script.timing.draw(script.director, LOOKS).clock < 15.0 - 1e-6:
        script.step()
    view = script.draw()
    assert (view.title, view.session, view.flag, view.laps, view.is_over) == ("Club", "race", "green", 2, False)
    first, second, third = view.tower
    assert (first.car, first.name, first.place, first.gap, first.interval) == (10, "car 0", 1, None, None)
    assert (first.laps, first.last_lap, first.best_lap, first.is_fastest) == (1, 10.0, 10.0, True)
    # 15 s: 2 m/s * 15 s - 1 m = 29 m, where the first was after 12 s; 6.5 m, where the second was after 3.75 s.
    assert (second.gap, second.interval) == (3.0, 3.0)
    assert (third.gap, third.interval) == (12.0, 11.25)
    assert [line.laps_behind for line in view.tower] == [0, 0, 1]
    assert second.sectors[0].rank == "own"
    assert view.lap_chart == {0: (1, 1), 1: (2, 2), 2: (3, 3)}


def test_results_take_the_place_of_gaps_on_the_track():
    script = TimedScript(make_book(race=Race(laps=1), penalty=(Penalty(("left_road",), seconds=5.0),)), [10.0, 11.0])
    script.plan(0, 1, 0.5, leave_road)
    script.run()
    view = script.draw()
    first, second = view.tower
    assert (view.session, view.is_over, view.flag) == (OVER, True, "chequered")
    assert (first.name, first.time, first.flag) == ("car 1", 11.44, "chequered")
    assert (second.name, second.penalty, second.gap) == ("car 0", 5.0, pytest.approx(15.4 - 11.44))


def test_marks_lie_on_the_time_line_and_say_what_was_taken_back():
    script = TimedScript(make_book(penalty=(Penalty(("left_road",), seconds=5.0),)), [10.0, 12.0])
    script.plan(1, 1, 0.5, leave_road)
    script.run_until(RACE)
    began = script.timing.at
    for _ in range(200):
        script.step()
    mark = next(mark for mark in script.draw().marks if mark.number == 1)
    assert (mark.text, mark.car, mark.is_undone) == ("car 1 left the road", 11, False)
    assert mark.time == pytest.approx(mark.at - began, abs=0.051)
    script.apply(act.Undo(1))
    assert next(mark for mark in script.draw().marks if mark.number == 1).is_undone


def test_the_time_line_goes_on_where_clocks_are_set_back():
    book = make_book(practice=5.0, qualifying=Qualifying(limit=30.0), start=StartRules(grid="qualifying"))
    script, moments = TimedScript(book, [12.0, 11.0]), []
    while script.director.session != OVER and len(moments) < 5000:
        script.step()
        moments.append(script.timing.at)
    assert script.director.session == OVER
    assert script.time < moments[-1] - 35.0
    assert all(later > earlier for earlier, later in itertools.pairwise(moments))


def test_a_restart_begins_anew():
    script = TimedScript(make_book(), [10.0, 12.0])
    script.run_until(RACE)
    for _ in range(300):
        script.step()
    assert script.draw().lap_chart[0] == (1, 1)
    at = script.timing.at
    script.apply(act.Restart())
    script.step()
    view = script.draw()
    assert (view.session, view.attempt, view.clock, view.flag) == ("grid", 2, None, "red")
    assert view.lap_chart == {0: (1,), 1: (2,)}
    assert [line.last_lap for line in view.tower] == [None, None]
    assert view.at == pytest.approx(at + 0.05)
    assert "the race engineer restarts the race" in [mark.text for mark in view.marks]


def test_time_that_is_held_does_not_pass():
    script = TimedScript(make_book(), [10.0])
    script.run_until(RACE)
    script.apply(act.Pause())
    at = script.timing.at
    script.step()
    view = script.draw()
    assert (view.is_held, view.flag, view.at) == (True, "red", pytest.approx(at))


def test_qualifying_one_by_one_keeps_who_has_driven():
    book = make_book(
        qualifying=Qualifying(limit=60.0, laps=1, by="best_lap", alone=True), start=StartRules(grid="qualifying")
    )
    script = TimedScript(book, [12.0, 11.0, 10.0])
    script.run_until(QUALIFYING)
    for _ in range(round(24.0 / 0.05)):  # 12.48 s, 11.44 s, and the third has begun
        script.step()
    first, second, third = script.draw().tower
    assert (first.name, first.best_lap, second.name, second.best_lap) == ("car 1", 11.0, "car 0", 12.0)
    assert (second.gap, third.best_lap, third.gap) == (1.0, None, None)
    assert [line.status for line in (first, second, third)] == ["finished", "finished", "racing"]


def test_marks_tell_the_clock_of_the_run_that_they_belong_to():
    qualifying = Qualifying(limit=60.0, laps=1, by="best_lap", alone=True)
    script = TimedScript(make_book(qualifying=qualifying), [12.0, 11.0])
    script.run_until(RACE)
    times = {mark.text: mark.time for mark in script.draw().marks}
    assert times["qualifying begins (car 0)"] == times["qualifying begins (car 1)"] == 0.0
    assert times["chequered flag to car 0"] == pytest.approx(12.48, abs=0.051)
    assert times["chequered flag to car 1"] == pytest.approx(11.44, abs=0.051)
    assert times["grid begins"] is None
    assert (times["countdown begins"], times["race begins"]) == (pytest.approx(-3.0), pytest.approx(0.0))


def test_in_qualifying_all_entries_are_listed_from_the_first_run_on():
    book = make_book(
        qualifying=Qualifying(limit=60.0, laps=1, by="best_lap", alone=True), start=StartRules(grid="qualifying")
    )
    script = TimedScript(book, [12.0, 11.0, 10.0])
    script.run_until(QUALIFYING)
    script.step()
    lines = script.draw().tower
    assert [(line.name, line.status) for line in lines] == [
        ("car 0", "racing"),
        ("car 1", "waiting"),
        ("car 2", "waiting"),
    ]
    assert [(line.place, line.gap, line.car, line.is_here) for line in lines[1:]] == [(0, None, -1, True)] * 2


def test_who_is_gone_and_who_is_out_is_told():
    script = TimedScript(make_book(), [10.0, 12.0, 14.0])
    script.plan(1, 1, 0.2, vanish)
    script.plan(2, 1, 0.2, stop)
    script.run_until(RACE)
    for _ in range(100):
        script.step()
    lines = {line.name: line for line in script.draw().tower}
    assert (lines["car 1"].is_here, lines["car 1"].car, lines["car 2"].is_here) == (False, -1, True)
    script.apply(act.Penalise(2, out=True, why="rude"))
    line = next(line for line in script.draw().tower if line.name == "car 2")
    assert (line.status, line.flag, line.why, line.place) == ("disqualified", "black", "rude", 0)


def test_the_rule_that_puts_a_car_out_is_told_by_its_name():
    script = TimedScript(make_book(penalty=(Penalty(("left_road",), out="disqualified"),)), [10.0, 12.0])
    script.plan(1, 1, 0.5, leave_road)
    script.run_until(RACE)
    for _ in range(200):
        script.step()
    assert {line.name: line.why for line in script.draw().tower} == {"car 0": "", "car 1": "left_road"}


def test_the_cool_down_shows_the_chequered_flag():
    script = TimedScript(make_book(race=Race(laps=1, cool_down_laps=1)), [10.0, 12.0])
    script.run_until(COOL_DOWN)
    assert script.draw().flag == "chequered"
