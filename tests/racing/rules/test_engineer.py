"""The race engineer: what penalties and their undoing leave of a result, in the race and after it."""

import pytest

from donkeysim.core.errors import SpecError
from donkeysim.racing.rules import act, decision
from donkeysim.racing.rules.director import COOL_DOWN, COUNTDOWN, GRID, RACE
from donkeysim.racing.rules.rule_book import Penalty, Race, RuleBook
from race_script import Script, stop, touch


def make_book(race=None, penalties=(), **changes):
    return RuleBook("Club", "", "", "", race or Race(laps=2), penalty=tuple(penalties), **changes)


def list_told(script, kind):
    return [item for item in script.told if isinstance(item, kind)]


# -- disqualified, and not ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["time", "distance", "best_lap"])
def test_a_disqualification_after_the_race_that_is_taken_back_leaves_the_result_as_it_was(order):
    script = Script(make_book(Race(laps=0 if order == "distance" else 3, limit=25.0, order=order)), [10.0, 7.0])
    before = script.run().placings
    for row in (0, 1):
        script.apply(act.Penalise(row, out=True, why="a protest"))
        assert script.director.result.placings[-1].status == "disqualified"
        script.apply(act.Undo(script.director.result.incidents[-1].number))
        assert script.director.result.placings == before


def test_a_disqualification_after_the_race_takes_no_car_off_and_shows_no_flag():
    script = Script(make_book(Race(laps=0, limit=25.0, order="distance")), [10.0, 7.0])
    script.run()
    told = len(script.told)
    script.apply(act.Penalise(0, out=True))
    assert {type(item) for item in script.told[told:]} == {decision.Tell, decision.GiveResult}


def test_a_disqualification_on_the_cool_down_lap_that_is_taken_back_leaves_what_was_driven():
    script = Script(make_book(Race(laps=0, limit=25.0, order="distance", cool_down_laps=1)), [10.0, 7.0])
    script.run_until(COOL_DOWN)
    script.apply(act.Penalise(0, out=True))
    assert [item.row for item in list_told(script, decision.TakeOff)] == [0], "it may not drive on, all the same"
    script.apply(act.Undo(1))
    placings = script.run().placings
    assert {placing.name: (placing.status, placing.laps) for placing in placings}["car 0"] == ("finished", 2)


def test_who_is_put_out_by_an_incident_on_the_cool_down_lap_is_told_why():
    race = Race(laps=3, limit=25.0, cool_down_laps=1)
    script = Script(make_book(race, [Penalty(("obstacle",), out="did not finish")]), [10.0, 7.0])
    script.run_until(COOL_DOWN)
    touch(script, 0)
    placing = next(item for item in script.run().placings if item.row == 0)
    assert (placing.status, placing.why) == ("did not finish", "obstacle")


# -- seconds where the best lap wins -----------------------------------------------------------------------------------


@pytest.mark.parametrize("when", ["before", "in the race", "after"])
def test_where_the_best_lap_wins_the_engineers_seconds_count_whenever_they_are_given(when):
    script = Script(make_book(Race(laps=3, order="best_lap", clock="line")), [10.0, 12.0])
    penalise = act.Penalise(0, seconds=50.0)
    if when == "before":
        script.apply(penalise)
    elif when == "in the race":
        script.plan(0, 1, 0.5, lambda script, row: script.apply(penalise))
    script.run()
    if when == "after":
        script.apply(penalise)
    first, second = script.director.result.placings
    assert [(item.name, item.result, item.penalty) for item in (first, second)] == [
        ("car 1", 12.0, 0.0),
        ("car 0", 60.0, 50.0),
    ]
    assert second.best_lap == 10.0, "it is still the lap that was driven"
    script.apply(act.Undo(1))
    assert script.director.result.placings[0].result == 10.0


def test_where_the_best_lap_wins_an_incidents_seconds_still_count_in_its_lap():
    book = make_book(Race(laps=2, order="best_lap", clock="line"), [Penalty(("obstacle",), seconds=9.0)])
    script = Script(book, [10.0])
    script.plan(0, 1, 0.5, touch)
    placing = script.run().placings[0]
    assert (placing.result, placing.penalty) == (10.0, 9.0), "the other lap has none"
    script.apply(act.Penalise(0, seconds=2.0))
    placing = script.director.result.placings[0]
    assert (placing.result, placing.penalty) == (12.0, 11.0)


# -- penalty laps ------------------------------------------------------------------------------------------------------


def list_by_name(placings):
    return {placing.name: placing for placing in placings}


@pytest.mark.parametrize("cool_down_laps", [0, 1])
@pytest.mark.parametrize("order", ["time", "best_lap", "distance"])
def test_penalty_laps_for_a_car_that_has_finished_are_refused_and_the_race_goes_on(order, cool_down_laps):
    script = Script(make_book(Race(laps=2, order=order, cool_down_laps=cool_down_laps)), [10.0, 20.0])
    while not any(item.flag == "chequered" and item.row == 0 for item in list_told(script, decision.ShowFlag)):
        script.step()
    told = "car 0 has finished and drives no penalty laps any more; give seconds, or disqualify it"
    with pytest.raises(SpecError, match=told):
        script.apply(act.Penalise(0, laps=1))
    script.apply(act.Penalise(0, seconds=1.0))
    script.apply(act.Penalise(1, laps=1))
    result = script.run()
    placing = list_by_name(result.placings)["car 0"]
    assert (placing.status, placing.penalty, len(result.incidents)) == ("finished", 1.0, 2)
    with pytest.raises(SpecError, match=told):
        script.apply(act.Penalise(0, laps=1))
    assert script.director.result == result


def test_penalty_laps_for_a_car_that_is_off_the_track_are_refused():
    script = Script(make_book(penalties=[Penalty(("obstacle",), out="did not finish")]), [10.0, 20.0])
    script.plan(0, 1, 0.5, touch)
    script.run_until(RACE)
    while script.ledger.present[0]:
        script.step()
    with pytest.raises(SpecError, match="car 0 is off the track and drives no penalty laps any more; give seconds, or"):
        script.apply(act.Penalise(0, seconds=5.0, laps=2))
    assert [incident.kind for incident in script.director.run.incidents] == ["obstacle"]


def test_penalty_laps_after_a_race_without_a_number_of_laps_are_taken_off():
    script = Script(make_book(Race(laps=0, limit=60.0, order="distance")), [11.0, 11.5])
    script.run()
    script.apply(act.Penalise(0, laps=1))
    assert [(placing.name, placing.laps) for placing in script.director.result.placings] == [("car 1", 5), ("car 0", 4)]


def test_penalty_laps_that_an_older_race_file_has_are_counted_as_they_were():
    script = Script(make_book(), [10.0, 20.0])
    script.run()
    script.director.apply(act.Penalise(0, laps=1), script.ledger, is_logged=True)
    assert list_by_name(script.director.result.placings)["car 0"].status == "did not finish"


# -- flags after a pause -----------------------------------------------------------------------------------------------


def pause_and_continue(script):
    """Return the flag that is shown to all afterwards."""
    script.apply(act.Pause())
    assert script.director.flags[-1] == "red"
    script.apply(act.Continue())
    return script.director.flags[-1]


def test_the_yellow_flag_is_shown_again_after_a_pause_as_long_as_a_car_stands():
    script = Script(make_book(penalties=[Penalty(("stuck",), put_back="path")]), [10.0, 11.0])
    script.plan(0, 1, 0.5, stop)
    script.run_until(RACE)
    while script.director.flags[-1] != "yellow":
        script.step()
    assert pause_and_continue(script) == "yellow"
    script.run()
    flags = [item.flag for item in list_told(script, decision.ShowFlag) if item.row < 0]
    assert flags == ["green", "yellow", "red", "yellow", "green", "chequered"]


@pytest.mark.parametrize("session", [GRID, COUNTDOWN])
def test_a_pause_before_the_start_ends_with_red_and_green_comes_when_it_is_time(session):
    script = Script(make_book(), [10.0])
    script.run_until(session)
    assert pause_and_continue(script) == "red"
    script.run()
    flags = [item.flag for item in list_told(script, decision.ShowFlag) if item.row < 0]
    assert flags == ["red", "red", "green", "chequered"]


def test_a_pause_while_all_drive_ends_with_green():
    script = Script(make_book(), [10.0])
    script.run_until(RACE)
    script.step()
    assert pause_and_continue(script) == "green"


def test_a_race_that_is_started_again_after_a_yellow_flag_does_not_remember_it():
    script = Script(make_book(), [10.0, 11.0])
    script.plan(0, 1, 0.5, stop)
    script.run_until(RACE)
    while script.director.flags[-1] != "yellow":
        script.step()
    script.apply(act.Restart())
    script.run_until(RACE)
    assert pause_and_continue(script) == "green"
