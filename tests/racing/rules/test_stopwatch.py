"""Gaps, sectors and places lap by lap, of cars that go round at a steady pace: worked out by hand."""

import pytest

from donkeysim.racing.rules.course import RaceCourse
from donkeysim.racing.rules.rule_book import Race, RuleBook
from donkeysim.racing.rules.stopwatch import Stopwatch
from race_script import COURSE, LENGTH, Script, cut, miss_checkpoint, stop

PLAIN = RaceCourse("plain", LENGTH, (0.0,))


def time_race(lap_times, seconds, course=COURSE, plans=(), **race):
    """Return a script that has raced for some seconds since green, and what its stopwatch says."""
    script = Script(RuleBook("Club", "", "", "", Race(**race)), lap_times)
    for row, lap, share, act in plans:
        script.plan(row, lap, share, act)
    script.run_until("race")
    watch, advance = Stopwatch(script.director.run, course), script.director.advance

    def advance_and_note(ledger, events, passed=0.05):
        decisions = advance(ledger, events, passed)
        watch.note(ledger, events, script.time)
        return decisions

    script.director.advance = advance_and_note
    for _ in range(round(seconds / 0.05)):
        script.step()
    return script, watch


def test_a_gap_is_the_time_since_the_car_in_front_was_here():
    _, watch = time_race([10.0, 12.5], 9.0, laps=3)
    # At 9 s the first is at 2.5 * 9 - 1 = 21.5 m, the second at 2 * 9 - 1 = 17 m, where the first was at 18 / 2.5 s.
    assert watch.measure_gap(1, 0) == pytest.approx(9.0 - 18.0 / 2.5, abs=0.01)
    assert watch.measure_gap(0, 1) is None
    assert watch.count_laps_behind(1, 0) == 0


def test_who_is_lapped_is_whole_laps_behind():
    _, watch = time_race([5.0, 20.0], 14.0, laps=5)
    # 5 * 14 - 1 = 69 m against 1.25 * 14 - 1 = 16.5 m: 52.5 m, two laps and 2.5 m.
    assert watch.count_laps_behind(1, 0) == 2
    assert watch.measure_gap(1, 0) == pytest.approx(14.0 - 17.5 / 5.0, abs=0.01)


def test_who_stands_falls_behind_second_by_second():
    script, watch = time_race([10.0, 10.0], 6.0, laps=3, plans=[(1, 1, 0.2, stop)])
    before = watch.measure_gap(1, 0)
    for _ in range(20):
        script.step()
    assert watch.measure_gap(1, 0) == pytest.approx(before + 1.0, abs=0.01)


def test_sectors_are_timed_from_gate_to_gate_and_ranked():
    _, watch = time_race([12.5, 10.0], 16.0, laps=3)
    # 2.5 m/s: 8 m, 8 m, 9 m; after one lap (10.4 s) and 14 m only the first gate of the second has been passed.
    assert watch.rank_sectors(1) == [(3.2, "best"), None, None]
    # 2 m/s: the lap ended after 13 s, and the first gate of the next comes after 17 s.
    assert watch.rank_sectors(0) == [(4.0, "own"), (4.0, "own"), (4.5, "own")]


def test_a_slower_sector_has_no_rank():
    script, watch = time_race([10.0], 17.0, laps=3, plans=[(0, 2, 0.5, stop)])
    script.cars[0].moves = True
    for _ in range(60):
        script.step()
    times, ranks = zip(*filter(None, watch.rank_sectors(0)), strict=True)
    # It passed the first gate after 13.6 s, stood until 17 s, and had 3.5 m to go: 1.4 s.
    assert times == (3.2, pytest.approx(17.0 + 1.4 - 13.6, abs=0.06))
    assert ranks == ("best", "")


def test_a_track_without_checkpoints_has_three_sectors():
    _, watch = time_race([10.0], 5.0, course=PLAIN, laps=3)
    # A third of the 25 m at 2.5 m/s.
    assert watch.rank_sectors(0) == [(pytest.approx(10.0 / 3.0, abs=1e-6), "best"), None, None]


def test_the_chart_has_the_grid_and_a_line_for_each_lap_of_the_leader():
    _, watch = time_race([12.0, 10.0, 40.0], 22.0, laps=3)
    assert watch.chart == {0: [1, 2, 2], 1: [2, 1, 1], 2: [3, 3, 3]}


def test_the_order_on_the_road_counts_laps_and_then_where_cars_are():
    script, watch = time_race([10.0, 10.2, 30.0], 8.0, laps=3, plans=[(1, 1, 0.3, cut)])
    # The cut brings 2 m; the director's order counts what was driven, the road what is seen.
    assert [placing.row for placing in script.director.list_standing()] == [0, 1, 2]
    order = watch.sort_placings(script.director.list_standing())
    assert [(placing.row, placing.place) for placing in order] == [(1, 1), (0, 2), (2, 3)]


def test_a_lap_that_goes_on_for_a_missed_checkpoint_is_driven_again():
    _, watch = time_race([10.0, 10.5], 13.0, laps=3, plans=[(0, 1, 0.5, miss_checkpoint)])
    # Over the line without its checkpoint: a lap less than the way driven.
    assert watch.cars[0].place == pytest.approx(2.5 * 13.0 - 1.0 - LENGTH, abs=0.01)
    assert watch.cars[1].place == pytest.approx(LENGTH / 10.5 * 13.0 - 1.0, abs=0.01)
