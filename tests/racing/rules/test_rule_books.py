"""One script of incidents, judged by every rule book; the results are worked out by hand from the published texts.

In the first lap that counts: `cutter` cuts 2 m, `rammer` drives into `victim` from behind, `sleeper` stands still,
`lost` goes the wrong way, `leaver` is gone, `toucher` touches a wall, `misser` goes round a checkpoint; `jumper` creeps
before green if it may; `clean` and `twin` do the same to the microsecond.

By hand, with lap time T: n laps take T (n + 0.04) from green, T n from the line. The cut saves 2 m of 25: the cutter's
lap takes 12 x 0.92 = 11.04. A lap that does not count is driven again. The sleeper stands for 5.05 s before it is put
back (longer than 5 s, in frames of 0.05). A missed checkpoint makes one lap of two rounds.
"""

import dataclasses

import pytest

from donkeysim.racing.rules.rule_book import list_rule_books, load_rule_book
from race_script import CONE, Script, cut, miss_checkpoint, ram, stop, touch, turn_round, vanish

CARS = {
    "clean": 12.5,
    "twin": 12.5,
    "cutter": 12.0,
    "jumper": 13.0,
    "rammer": 13.5,
    "victim": 14.0,
    "sleeper": 14.5,
    "lost": 15.0,
    "leaver": 12.0,
    "toucher": 15.5,
    "misser": 16.0,
}
ROWS = {name: row for row, name in enumerate(CARS)}
OUT, BLACK = "did not finish", "disqualified"


def stage(name, **changes):
    """The script under a rule book, on a grid as entered; what happens before the race has tests of its own."""
    book = load_rule_book(name)
    start = dataclasses.replace(book.start, grid="entry")
    book = dataclasses.replace(book, qualifying=None, start=start, race=dataclasses.replace(book.race, **changes))
    script = Script(book, list(CARS.values()), list(CARS))
    lap = 1 + book.race.warm_up_laps
    acts = {"cutter": cut, "sleeper": stop, "lost": turn_round, "leaver": vanish, "toucher": touch}
    if not book.race.alone:
        acts["rammer"] = ram(ROWS["victim"])
    for car, act in acts.items():
        script.plan(ROWS[car], lap, 0.5, act)
    script.plan(ROWS["misser"], lap, 0.25, miss_checkpoint)
    script.jump(ROWS["jumper"])
    return script


# Place, name and result (None: it depends on where there was room to put the car back), or why there is none.
EXPECTED = {
    # Three cars at the front as they drive; the books without a word on contacts and false starts charge nothing.
    "time_trial": [
        # The best of three laps; the first does not count for who had an incident, the others do.
        (1, "cutter", 12.0),
        (2, "clean", 12.5),
        (2, "twin", 12.5),
        (4, "jumper", 13.0),
        (5, "rammer", 13.5),
        (6, "victim", 14.0),
        (7, "sleeper", 14.5),
        (8, "lost", 15.0),
        (9, "toucher", 15.5),
        (10, "misser", 16.0),
        (11, "leaver", OUT),
    ],
    "diyrobocars": [
        # One lap. A cut (passing on the wrong side), standing, going the wrong way, a missed gate: did not finish.
        # The dead heat goes to the better place on the grid. Who did not finish is sorted by the way made:
        # misser 2 rounds, cutter 13.5 m (the cut's 2 m are no way made), the others half a lap.
        (1, "clean", 13.0),
        (2, "twin", 13.0),
        (3, "jumper", 13.52),
        (4, "rammer", 14.04),
        (5, "victim", 14.56),
        (6, "toucher", 16.12),
        (7, "misser", OUT),
        (8, "cutter", OUT),
        (9, "leaver", OUT),
        (10, "sleeper", OUT),
        (11, "lost", OUT),
    ],
    "virtual_race_league": [
        # 3 laps: 3.04 T. False start, ramming, wrong way + 5; the cutter drives a lap more: 0.48 + 11.04 + 36;
        # sleeper 14.5 x 3.04 + 5.05 + 5; misser 16 x 4.04.
        (1, "clean", 38.0),
        (1, "twin", 38.0),
        (3, "victim", 42.56),
        (4, "jumper", 39.52 + 5),
        (5, "rammer", 41.04 + 5),
        (6, "toucher", 47.12),
        (7, "cutter", 47.52),
        (8, "lost", 45.6 + 5),
        (9, "sleeper", 44.08 + 5.05 + 5),
        (10, "misser", 64.64),
        (11, "leaver", OUT),
    ],
    "original": [
        # Best lap of 120 s, nothing judged but checkpoints: the cut lap stands, 11.04, the misser is out. The sleeper
        # goes back to the grid and begins its lap anew.
        (1, "cutter", 11.04),
        (2, "clean", 12.5),
        (2, "twin", 12.5),
        (4, "jumper", 13.0),
        (5, "rammer", 13.5),
        (6, "victim", 14.0),
        (7, "sleeper", 14.5),
        (8, "lost", 15.0),
        (9, "toucher", 15.5),
        (10, "leaver", OUT),
        (0, "misser", BLACK),
    ],
    "robo_racing_sprint": [
        # Alone, three laps, the best with its penalties: everybody has clean ones beside the one of the incident.
        (1, "cutter", 12.0),
        (2, "clean", 12.5),
        (2, "twin", 12.5),
        (4, "jumper", 13.0),
        (5, "rammer", 13.5),
        (6, "victim", 14.0),
        (7, "sleeper", 14.5),
        (8, "lost", 15.0),
        (9, "toucher", 15.5),
        (10, "misser", 16.0),
        (11, "leaver", OUT),
    ],
    "robo_racing_battle": [
        # 3 laps. From behind: disqualified. Obstacle + 10; the wrong way costs the lap, 15 x 4.04; put back + 10.
        (1, "clean", 38.0),
        (1, "twin", 38.0),
        (3, "victim", 42.56),
        (4, "cutter", 47.52),
        (5, "jumper", 39.52 + 10),
        (6, "toucher", 47.12 + 10),
        (7, "sleeper", 44.08 + 5.05 + 10),
        (8, "lost", 60.6),
        (9, "misser", 64.64),
        (10, "leaver", OUT),
        (0, "rammer", BLACK),
    ],
    "robo_racing_slalom": [
        # One lap alone, from the line: T; + 10 for what costs 10; the cutter's and the lost one's first lap is void.
        (1, "clean", 12.5),
        (1, "twin", 12.5),
        (3, "rammer", 13.5),
        (4, "victim", 14.0),
        (5, "jumper", 13.0 + 10),
        (6, "cutter", 11.04 + 12),
        (7, "toucher", 15.5 + 10),
        (8, "sleeper", 14.5 + 5.05 + 10),
        (9, "lost", 30.0),
        (10, "misser", 32.0),
        (11, "leaver", OUT),
    ],
    "robo_racing_carnage": [
        # 5 laps: 5.04 T.
        (1, "clean", 63.0),
        (1, "twin", 63.0),
        (3, "victim", 70.56),
        (4, "cutter", 71.52),
        (5, "jumper", 65.52 + 10),
        (6, "toucher", 78.12 + 10),
        (7, "sleeper", 73.08 + 5.05 + 10),
        (8, "lost", 15 * 6.04),
        (9, "misser", 96.64),
        (10, "leaver", OUT),
        (0, "rammer", BLACK),
    ],
    "xinchejian": [
        # Lap + 5 for the wall + 10 for the reset; cutting is manipulation of the track: disqualified.
        (1, "clean", 12.5),
        (1, "twin", 12.5),
        (3, "jumper", 13.0),
        (4, "rammer", 13.5),
        (5, "victim", 14.0),
        (6, "lost", 15.0),
        (7, "toucher", 15.5 + 5),
        (8, "sleeper", 14.5 + 5.05 + 10),
        (9, "misser", 32.0),
        (10, "leaver", OUT),
        (0, "cutter", BLACK),
    ],
    "f1tenth": [
        # Ten laps after the one to warm up: 10 T. The false start makes a tie: 130 + 10 = 140. The cutter has ten
        # laps that count and 11.04 more. Collisions + 10, and back to the checkpoint at 8 m.
        (1, "clean", 125.0),
        (1, "twin", 125.0),
        (3, "cutter", 120 + 11.04),
        (4, "jumper", 140.0),
        (4, "victim", 140.0),
        (6, "rammer", None),
        (7, "lost", 150.0),
        (8, "sleeper", None),
        (9, "toucher", None),
        (10, "misser", 176.0),
        (11, "leaver", OUT),
    ],
    "aichallenge": [
        # 6 laps: 6.04 T; a tie goes by the grid. Slow, at 0.4 m/s: the rammer for 10 s, which costs it
        # 10 x (1 - 0.4 x 13.5 / 25) = 7.84 s; the toucher for 5 s, 5 x (1 - 0.4 x 15.5 / 25) = 3.76 s. The sleeper is
        # not helped. The wrong way is dangerous.
        (1, "clean", 75.5),
        (2, "twin", 75.5),
        (3, "jumper", 78.52),
        (4, "cutter", 83.52),
        (5, "victim", 84.56),
        (6, "rammer", 81.54 + 7.84),
        (7, "toucher", 93.62 + 3.76),
        (8, "misser", 112.64),
        (9, "leaver", OUT),
        (10, "sleeper", OUT),
        (0, "lost", BLACK),
    ],
}


@pytest.mark.parametrize("name", list_rule_books())
def test_a_script_of_incidents_ends_as_worked_out_by_hand(name):
    result = stage(name, reruns=0).run()
    assert [(placing.place, placing.name) for placing in result.placings] == [row[:2] for row in EXPECTED[name]]
    for placing, (_, _, worked_out) in zip(result.placings, EXPECTED[name], strict=True):
        if isinstance(worked_out, str):
            assert placing.status == worked_out
        else:
            assert placing.status == "finished"
            assert worked_out is None or placing.result == pytest.approx(worked_out, abs=1e-5), placing.name


@pytest.mark.parametrize("name", [name for name in list_rule_books() if load_rule_book(name).race.reruns])
def test_a_race_that_nobody_finishes_is_run_again_as_often_as_the_book_says(name):
    book = load_rule_book(name)
    book = dataclasses.replace(book, qualifying=None, start=dataclasses.replace(book.start, grid="entry"))
    script = Script(book, [12.0, 13.0])
    for row in (0, 1):
        script.plan(row, 1, 0.5, vanish)
    result = script.run()
    allowed = {"diyrobocars": 3, "original": 4, "robo_racing_battle": 2}  # the first race, and the re-runs
    assert result.attempt == allowed[name]
    assert {placing.status for placing in result.placings} == {OUT}


@pytest.mark.parametrize("name", [name for name in list_rule_books() if not load_rule_book(name).race.reruns])
def test_other_races_are_not_run_again(name):
    book = load_rule_book(name)
    book = dataclasses.replace(book, qualifying=None, start=dataclasses.replace(book.start, grid="entry"))
    script = Script(book, [12.0])
    script.plan(0, 1, 0.5, vanish)
    assert script.run().attempt == 1


def test_a_re_run_begins_with_a_clean_sheet():
    script = stage("robo_racing_battle")
    result = script.run()
    assert (result.attempt, result.placings[0].name, result.placings[1].place) == (2, "clean", 1), "the tie stays one"
    jumper = next(placing for placing in result.placings if placing.name == "jumper")
    assert (jumper.time, jumper.penalty) == (39.52, 0), "it has crept in the first attempt only"
    assert {incident.kind for incident in result.incidents} >= {"cut", "rear_end", "stuck"}


def test_f1tenth_collisions_compound_and_the_sixth_is_out():
    book = load_rule_book("f1tenth")
    script = Script(book, [12.0, 12.0])
    for row, count in ((0, 5), (1, 6)):
        for index in range(count):
            script.plan(row, 2 + index, 0.01, lambda script, row: touch(script, row, CONE))
    script.plan(0, 1, 0.5, touch)  # warming up, nothing counts
    script.plan(0, 12, 0.5, touch)  # nor when cooling down
    first, second = script.run().placings
    assert (first.name, first.penalty) == ("car 0", 10 + 20 + 30 + 40 + 50)
    assert (second.status, second.why) == (BLACK, "obstacle")


def test_the_original_ignores_short_laps_and_disqualifies_who_is_late_at_a_checkpoint():
    book = load_rule_book("original")
    book = dataclasses.replace(book, qualifying=None, start=dataclasses.replace(book.start, grid="entry"))
    script = Script(book, [9.5, 12.0, 160.0])
    result = script.run()
    by_name = {placing.name: placing for placing in result.placings}
    assert (by_name["car 1"].place, by_name["car 1"].result) == (1, 12.0)
    assert by_name["car 0"].best_lap is None, "all its laps are below 10 s"
    assert (by_name["car 2"].status, by_name["car 2"].why) == (BLACK, "late_checkpoint")
    late = next(incident for incident in result.incidents if incident.kind == "late_checkpoint")
    assert late.time == pytest.approx(46.45, abs=0.06), "6.4 s to the line, 40 s for 8 m, which take 51.2 s"
