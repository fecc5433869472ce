"""The race director: sessions in order, acts of the race engineer, flags, who is put back where."""

import dataclasses

import pytest

from donkeysim.core.errors import SpecError
from donkeysim.racing.rules import act, decision
from donkeysim.racing.rules.director import COOL_DOWN, OVER, QUALIFYING, RACE, Director
from donkeysim.racing.rules.rule_book import Penalty, Qualifying, Race, RuleBook, StartRules, Watch
from race_script import COURSE, Script, cut, leave_road, ram, stop, touch, vanish


def make_book(race=None, penalties=(), **changes):
    return RuleBook("Club", "", "", "", race or Race(laps=2), penalty=tuple(penalties), **changes)


def list_sessions(script):
    return [item.session for item in script.told if isinstance(item, decision.BeginSession)]


def list_told(script, kind):
    return [item for item in script.told if isinstance(item, kind)]


def test_sessions_come_in_their_order():
    book = make_book(practice=5.0, qualifying=Qualifying(limit=30.0), start=StartRules(grid="qualifying"))
    script = Script(book, [12.0, 11.0])
    script.run()
    assert list_sessions(script) == ["practice", "qualifying", "grid", "countdown", "race", "cool-down", "over"]
    assert script.director.list_standing() == script.director.result.placings


def test_the_grid_follows_qualifying():
    book = make_book(qualifying=Qualifying(limit=30.0), start=StartRules(grid="qualifying"))
    result = Script(book, [12.0, 11.0, 40.0]).run()
    assert [placing.name for placing in result.qualifying] == ["car 1", "car 0", "car 2"]
    assert result.grid == (1, 0, 2)
    assert result.qualifying[2].best_lap is None


def test_qualifying_alone_takes_the_others_off_the_track():
    book = make_book(
        qualifying=Qualifying(limit=60.0, laps=3, by="total", alone=True), start=StartRules(grid="qualifying")
    )
    script = Script(book, [12.0, 11.0])
    script.run_until(QUALIFYING)
    assert script.ledger.present.tolist() == [1, 0]
    result = script.run()
    assert [item.rows for item in list_told(script, decision.LineUp)] == [(0,), (1,), (1, 0)]
    assert [placing.result for placing in result.qualifying] == [33.0, 36.0]


def test_a_drawn_grid_follows_from_the_seed():
    book = make_book(start=StartRules(grid="drawn"))
    grids = [Script(book, [12.0] * 6, seed=seed).director.open()[1].rows for seed in (1, 1, 2)]
    assert grids[0] == grids[1] != grids[2]
    assert sorted(grids[0]) == list(range(6))


def test_cars_that_are_held_cannot_start_early():
    penalty = Penalty(("false_start",), seconds=5.0)
    penalties = []
    for holds in (False, True):
        script = Script(make_book(penalties=[penalty], start=StartRules(holds=holds)), [12.0])
        script.jump(0)
        penalties.append(script.run().placings[0].penalty)
    assert penalties == [5.0, 0.0]


def test_a_false_start_within_the_tolerance_is_none():
    script = Script(make_book(penalties=[Penalty(("false_start",), out="disqualified")]), [12.0])
    script.jump(0, far=0.09)
    assert script.run().placings[0].status == "finished"


def test_penalty_laps_are_driven_in_addition():
    script = Script(make_book(penalties=[Penalty(("obstacle",), laps=1)]), [10.0, 10.0])
    script.plan(0, 1, 0.5, touch)
    first, second = script.run().placings
    assert (first.name, first.time, second.time) == ("car 1", 20.4, 30.4)


def test_the_first_so_many_may_be_free():
    script = Script(make_book(penalties=[Penalty(("obstacle",), seconds=3.0, free=1)]), [10.0])
    for share in (0.2, 0.4, 0.6):
        script.plan(0, 1, share, touch)
    assert script.run().placings[0].penalty == 6.0


def test_touching_the_same_again_within_a_moment_is_the_same_incident():
    script = Script(make_book(penalties=[Penalty(("obstacle",), seconds=3.0)]), [10.0])
    for share in (0.2, 0.21, 0.6):
        script.plan(0, 1, share, touch)
    assert script.run().placings[0].penalty == 6.0


def test_a_race_by_distance_goes_by_laps_then_by_when_they_were_done():
    script = Script(make_book(Race(laps=0, limit=60.0, order="distance")), [11.0, 11.5, 30.0])
    placings = script.run().placings
    assert [(placing.name, placing.laps) for placing in placings] == [("car 0", 5), ("car 1", 5), ("car 2", 1)]


def test_a_race_may_end_with_the_first_car():
    script = Script(make_book(Race(laps=2, ends="first")), [10.0, 12.0])
    first, second = script.run().placings
    assert (first.status, second.status, second.why) == ("finished", "did not finish", "time is up")


@pytest.mark.parametrize(("window", "second"), [(0.5, "finished"), (0.1, "did not finish"), (0.0, "finished")])
def test_once_a_car_has_finished_the_others_have_a_share_of_its_time(window, second):
    script = Script(make_book(Race(laps=2, finish_window=window)), [10.0, 12.0, 100.0])
    placings = script.run().placings
    assert [placing.status for placing in placings[:2]] == ["finished", second]
    if window:
        assert placings[2].why == "time is up"
        assert script.time <= script.director.run.green + 20.4 * (1.0 + window) + 0.2


def test_a_disqualified_car_that_comes_first_opens_no_window():
    book = make_book(Race(laps=2, finish_window=0.1), penalties=[Penalty(("obstacle",), out="disqualified")])
    script = Script(book, [10.0, 12.0, 13.0])
    script.plan(0, 1, 0.5, touch)
    assert [placing.status for placing in script.run().placings] == ["finished", "finished", "disqualified"]


def test_practice_and_qualifying_have_no_window():
    book = make_book(
        Race(laps=1, finish_window=0.1), qualifying=Qualifying(limit=60.0, laps=1), start=StartRules(grid="qualifying")
    )
    result = Script(book, [10.0, 15.0]).run()
    assert [placing.status for placing in result.qualifying] == ["finished", "finished"]


def test_a_race_without_a_limit_ends_when_its_laps_could_have_been_walked():
    script = Script(make_book(Race(laps=2), watch=Watch(still=0.0)), [10.0])
    script.plan(0, 1, 0.5, stop)
    assert script.run().placings[0].why == "time is up"
    assert script.time == pytest.approx(4.0 + 2 * 25 / 0.35 + 30.0, abs=0.3)


def test_who_never_moved_did_not_start():
    script = Script(make_book(Race(laps=1, limit=20.0)), [10.0, 1e9])
    assert [placing.status for placing in script.run().placings] == ["finished", "did not start"]


def test_cool_down_laps_are_driven_before_the_car_leaves():
    race = Race(laps=1, cool_down_laps=1)
    script = Script(make_book(race), [10.0, 12.0])
    script.run_until(COOL_DOWN)
    assert [item.row for item in list_told(script, decision.TakeOff)] == []
    script.run()
    assert [item.row for item in list_told(script, decision.TakeOff)] == [0, 1]
    assert script.time == pytest.approx(4.0 + 24.48, abs=0.2)


def test_a_finisher_is_taken_off_at_once_where_nobody_cools_down():
    script = Script(make_book(), [10.0, 20.0])
    script.run()
    assert list_told(script, decision.TakeOff)[0].row == 0
    flags = [item for item in list_told(script, decision.ShowFlag) if item.flag == "chequered"]
    assert [item.row for item in flags] == [0, 1, -1]


def test_yellow_is_shown_while_a_car_stands():
    script = Script(make_book(penalties=[Penalty(("stuck",), put_back="path")]), [10.0, 11.0])
    script.plan(0, 1, 0.5, stop)
    script.run()
    flags = [item.flag for item in list_told(script, decision.ShowFlag) if item.row < 0]
    assert flags == ["green", "yellow", "green", "chequered"]


def test_a_car_is_put_back_where_nobody_stands():
    script = Script(make_book(penalties=[Penalty(("obstacle",), put_back="checkpoint")]), [10.0, 10.0])
    for row in (0, 1):
        script.plan(row, 1, 0.5, touch)
    script.run()
    places = [item.along for item in list_told(script, decision.PutOnTrack)]
    assert places == pytest.approx([8.1, 7.4]), "both in the same frame, and not onto each other"


def test_who_comes_back_in_time_goes_on():
    def come_back(script, row):
        script.ledger.present[0] = 1
        script.cars[0].moves = True

    script = Script(make_book(), [10.0, 10.0])
    script.plan(0, 1, 0.5, vanish)
    script.plan(1, 1, 0.9, come_back)
    result = script.run()
    assert {placing.status for placing in result.placings} == {"finished"}
    assert result.incidents == ()


# -- the race engineer ------------------------------------------------------------------------------------------------


def test_time_stands_still_in_a_pause():
    script = Script(make_book(), [10.0])
    script.run_until(RACE)
    script.apply(act.Pause())
    assert script.director.is_held
    assert script.director.advance(script.ledger, []) == []
    assert list_told(script, decision.ShowFlag)[-1].flag == "red"
    script.apply(act.Continue())
    assert script.run().placings[0].time == 20.4


def test_a_restart_forgets_what_happened():
    script = Script(make_book(penalties=[Penalty(("obstacle",), seconds=9.0)]), [10.0])
    script.run_until(RACE)
    touch(script, 0)
    script.step()
    script.apply(act.Restart())
    result = script.run()
    assert (result.attempt, result.incidents, result.placings[0].time) == (2, (), 20.4)


def test_the_engineer_penalises_and_takes_back():
    script = Script(make_book(), [10.0, 10.1])
    script.run_until(RACE)
    script.apply(act.Penalise(0, seconds=1.0, why="rude"))
    result = script.run()
    assert [placing.name for placing in result.placings] == ["car 1", "car 0"]
    script.apply(act.Undo(result.incidents[0].number))
    result = script.director.result
    assert [placing.name for placing in result.placings] == ["car 0", "car 1"]
    assert result.undone == (1,)
    script.apply(act.Penalise(0, out=True, why="it was an engine of 540 turns"))
    assert script.director.result.placings[-1].why == "it was an engine of 540 turns"
    assert any("takes back no. 1" in line.text for line in script.director.journal)


def test_a_disqualification_that_is_taken_back_after_the_finish_of_others_leaves_what_was_driven():
    script = Script(make_book(penalties=[Penalty(("obstacle",), out="disqualified")]), [10.0, 12.0])
    script.plan(0, 1, 0.5, touch)
    result = script.run()
    assert result.placings[-1].status == "disqualified"
    script.apply(act.Undo(1))
    assert (script.director.result.placings[1].status, script.director.result.placings[1].place) == (
        "did not finish",
        2,
    )


def test_a_compounding_penalty_is_cheaper_once_an_earlier_one_is_taken_back():
    script = Script(make_book(penalties=[Penalty(("obstacle",), seconds=10.0, compounds=True)]), [10.0])
    for share in (0.2, 0.4, 0.6):
        script.plan(0, 1, share, touch)
    assert script.run().placings[0].penalty == 60.0
    script.apply(act.Undo(1))
    assert script.director.result.placings[0].penalty == 30.0


def test_the_engineer_puts_a_car_back():
    script = Script(make_book(penalties=[Penalty(("put_back",), seconds=4.0)]), [10.0])
    script.run_until(RACE)
    for _ in range(100):
        script.step()
    script.apply(act.PutBack(0))
    assert list_told(script, decision.PutOnTrack)[0].along == pytest.approx(11.5, abs=0.2)
    assert script.run().placings[0].penalty == 4.0


def test_who_is_out_for_being_put_back_is_not_put_anywhere():
    script = Script(make_book(penalties=[Penalty(("put_back",), out="did not finish")]), [10.0, 10.0])
    script.run_until(RACE)
    script.step()
    script.apply(act.PutBack(0))
    assert list_told(script, decision.PutOnTrack) == []
    assert [item.row for item in list_told(script, decision.TakeOff)] == [0]


def test_who_is_put_back_by_its_penalty_is_put_back_once():
    script = Script(make_book(penalties=[Penalty(("put_back",), put_back="path")]), [10.0])
    script.run_until(RACE)
    script.step()
    script.apply(act.PutBack(0))
    assert len(list_told(script, decision.PutOnTrack)) == 1


def test_a_penalty_before_the_race_counts():
    script = Script(make_book(), [10.0])
    script.apply(act.Penalise(0, seconds=2.0))
    result = script.run()
    assert (result.incidents[0].time, result.placings[0].penalty) == (0.0, 2.0)


def test_impossible_acts_are_refused():
    script = Script(make_book(), [10.0])
    for wrong in (act.PutBack(0), act.PutBack(3), act.Penalise(7), act.Undo(1)):
        with pytest.raises(SpecError):
            script.apply(wrong)
    with pytest.raises(SpecError, match="nobody has entered"):
        Director(make_book(), COURSE, {})


# -- incidents --------------------------------------------------------------------------------------------------------


def test_who_is_hit_from_behind_pays_nothing():
    script = Script(make_book(penalties=[Penalty(("rear_end", "contact"), seconds=5.0)]), [10.0, 12.0])
    script.plan(0, 1, 0.5, ram(1))
    result = script.run()
    assert {placing.name: placing.penalty for placing in result.placings} == {"car 0": 5.0, "car 1": 0.0}
    assert (result.incidents[0].kind, result.incidents[0].other) == ("rear_end", 1)
    assert len(result.incidents) == 1, "both cars tell of it; it is one"


def test_a_cut_is_seen_however_it_is_made():
    script = Script(make_book(), [10.0])
    script.plan(0, 1, 0.5, cut)
    script.plan(0, 2, 0.5, leave_road)
    assert [incident.kind for incident in script.run().incidents] == ["cut", "left_road"]


def test_numbers_of_incidents_go_on_through_re_runs():
    race = Race(laps=1, reruns=1, rerun_when=("nobody_finishes",))
    script = Script(make_book(race, [Penalty(("obstacle",), out="did not finish")]), [10.0])
    script.plan(0, 1, 0.5, touch)
    result = script.run()
    assert [incident.number for incident in result.incidents] == [2]


def test_the_standing_while_cars_race_goes_by_laps_and_way():
    script = Script(make_book(), [12.0, 11.0])
    script.run_until(RACE)
    for _ in range(200):
        script.step()
    standing = script.director.list_standing()
    assert [(placing.name, placing.status) for placing in standing] == [("car 1", "racing"), ("car 0", "racing")]


def test_nothing_happens_after_the_end():
    script = Script(make_book(), [10.0])
    script.run()
    assert script.director.session == OVER
    assert script.director.advance(script.ledger, []) == []


def test_a_slow_car_gets_its_speed_back():
    penalty = Penalty(("obstacle",), slow_speed=0.5, slow_time=4.0)
    script = Script(make_book(penalties=[penalty]), [10.0])
    script.plan(0, 1, 0.5, touch)
    script.run()
    limits = [item.speed for item in list_told(script, decision.LimitSpeed)]
    assert limits == [0.5, float("inf")]


@pytest.mark.parametrize("ties", ["shared", "best_lap", "grid"])
def test_ties(ties):
    book = make_book(Race(laps=2, ties=ties), penalties=[Penalty(("obstacle",), seconds=1.02)])
    book = dataclasses.replace(book, race=dataclasses.replace(book.race, clock="line"))
    script = Script(book, [10.51, 10.0])
    script.plan(1, 1, 0.5, touch)
    placings = script.run().placings
    assert placings[0].time == placings[1].time
    expected = {"shared": [(1, "car 0"), (1, "car 1")], "grid": [(1, "car 0"), (2, "car 1")]}
    expected["best_lap"] = [(1, "car 1"), (2, "car 0")]
    assert [(placing.place, placing.name) for placing in placings] == expected[ties]


def test_a_long_countdown_makes_nobody_stuck():
    script = Script(
        make_book(start=StartRules(countdown=20.0), penalties=[Penalty(("stuck",), out="disqualified")]), [10.0]
    )
    script.run_until(RACE)
    script.ledger.still_time[0] = 20.0
    script.carry_out(script.director.advance(script.ledger, []))
    script.ledger.still_time[0] = 0.0
    assert script.run().placings[0].status == "finished"


def test_time_goes_on_when_everybody_is_gone():
    script = Script(make_book(watch=Watch(absence=7.0)), [10.0])
    script.run_until(RACE)
    for _ in range(20):
        script.step()
    vanish(script, 0)
    stood = float(script.ledger.time[0])
    for _ in range(200):
        script.ledger.time[:] = stood  # rows of cars that are not there are not written
        script.carry_out(script.director.advance(script.ledger, []))
    assert script.director.session == OVER
    assert script.director.result.placings[0].why == "absent"


def test_where_the_best_lap_wins_a_void_lap_is_not_driven_again():
    race = Race(laps=2, order="best_lap", clock="line")
    script = Script(make_book(race, [Penalty(("obstacle",), voids_lap=True)]), [10.0, 9.0, 8.0])
    for lap in (1, 2):
        script.plan(2, lap, 0.5, touch)
    script.plan(1, 1, 0.5, touch)
    placings = script.run().placings
    assert [(placing.name, placing.status, placing.laps) for placing in placings] == [
        ("car 1", "finished", 1),
        ("car 0", "finished", 2),
        ("car 2", "did not finish", 0),
    ]
    assert script.time == pytest.approx(4.0 + 20.4, abs=0.2)
