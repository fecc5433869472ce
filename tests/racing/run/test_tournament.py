"""Tournaments and leagues in folders; races themselves are left out here."""

import dataclasses

import pytest

from donkeysim.core.errors import SpecError
from donkeysim.racing.rules.classification import Placing
from donkeysim.racing.rules.director import Result
from donkeysim.racing.rules.rule_book import load_rule_book
from donkeysim.racing.rules.standings import count_points
from donkeysim.racing.run import tournament as rounds
from donkeysim.racing.run.race_file import RacePlan
from donkeysim.racing.run.race_run import RaceRecord
from donkeysim.racing.run.tournament import (
    hold_tournament,
    load_tournament,
    make_match,
    make_trial,
    open_tournament,
    read_league,
)

BOOK = load_rule_book("diyrobocars")
PLAN = RacePlan("somewhere", "diyrobocars", BOOK, ("d", "b", "c", "a"))


class QuickRace:
    """A race that the name first in the alphabet wins, without driving."""

    held: list = []  # noqa: RUF012

    def __init__(self, plan, racers, log):
        self.plan, self.log = plan, log
        assert len(racers) == len(plan.names)

    def run(self):
        self.held.append((self.log.stem, self.plan.names, self.plan.seed))
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.log.write_bytes(b"")
        placings = tuple(
            Placing(place, 0, name, "finished", 1, float(place), 0.0, None, float(place), 0.0)
            for place, name in enumerate(sorted(self.plan.names), start=1)
        )
        result = Result("somewhere", self.plan.book.title, 1, placings, (), (), (), ())
        return RaceRecord(self.plan, result, (), self.log, 1.0)


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(rounds, "PilotRace", QuickRace)
    monkeypatch.setattr(QuickRace, "held", [])


def hold(folder, plan=PLAN, kind="double_elimination"):
    tournament = open_tournament(folder, plan, kind)
    hold_tournament(tournament, dict.fromkeys(plan.names), folder)
    return tournament


def test_a_trial_seeds_and_matches_follow(tmp_path):
    tournament = hold(tmp_path)
    assert tournament.seeds == ["a", "b", "c", "d"]
    assert tournament.ranking == [["a"], ["b"], ["c"], ["d"]]
    assert [name for name, _, _ in QuickRace.held] == [
        "trial",
        "winners-1-1",
        "winners-1-2",
        "losers-1-1",
        "winners-2-1",
        "losers-2-1",
        "final",
    ]
    assert QuickRace.held[1][1] == ("a", "d"), "the better seed in front"
    assert len({seed for _, _, seed in QuickRace.held[1:]}) == 6, "no two races are lined up alike"
    assert load_tournament(tmp_path) == tournament


@pytest.mark.parametrize(
    ("names", "kind", "told"), [(("a",), "heats", "2 entries or more"), (("a", "b"), "cup", "kind")]
)
def test_a_tournament_that_is_not_possible_is_refused_before_anybody_drives(tmp_path, names, kind, told):
    with pytest.raises(SpecError, match=told):
        hold(tmp_path / "cup", RacePlan("somewhere", "diyrobocars", BOOK, names), kind)
    assert not QuickRace.held
    assert not (tmp_path / "cup").exists(), "the folder is free for another try"


def test_an_interrupted_tournament_goes_on_where_it_stopped(tmp_path, monkeypatch):
    def stop(name, _report):
        if name == "losers-1-1":
            raise KeyboardInterrupt

    tournament = open_tournament(tmp_path, PLAN, "double_elimination")
    with pytest.raises(KeyboardInterrupt):
        hold_tournament(tournament, dict.fromkeys(PLAN.names), tmp_path, stop)
    QuickRace.held.clear()
    assert hold(tmp_path).ranking == [["a"], ["b"], ["c"], ["d"]]
    assert [name for name, _, _ in QuickRace.held] == ["losers-1-1", "winners-2-1", "losers-2-1", "final"]


def test_after_the_greatest_seed_matches_go_on_from_zero(tmp_path):
    hold(tmp_path, RacePlan("somewhere", "diyrobocars", BOOK, ("a", "b"), seed=2**63 - 1), "heats")
    assert [seed for _, _, seed in QuickRace.held] == [0, 0]


def test_another_tournament_needs_another_folder(tmp_path):
    hold(tmp_path)
    with pytest.raises(SpecError, match="choose another folder"):
        open_tournament(tmp_path, PLAN, "ladder")


def test_without_qualifying_the_order_of_entry_seeds(tmp_path):
    book = load_rule_book("robo_racing_battle")
    tournament = hold(tmp_path, RacePlan("somewhere", "battle", book, ("b", "a", "c")))
    assert tournament.seeds == ["b", "a", "c"]


def test_trial_and_match_are_rule_books_of_their_own():
    trial, match = make_trial(BOOK), make_match(BOOK)
    assert (trial.race.laps, trial.race.order, trial.race.alone, trial.qualifying) == (3, "best_lap", True, None)
    assert (match.race, match.qualifying, match.start.grid) == (BOOK.race, None, "entry")
    with pytest.raises(SpecError, match="no qualifying"):
        make_trial(load_rule_book("f1tenth"))


def test_a_league_counts_tournaments_once_and_races_beside_them(tmp_path):
    hold(tmp_path / "evening-1")
    book = dataclasses.replace(load_rule_book("time_trial"), points=(3.0, 1.0))
    plan = RacePlan("somewhere", "time_trial", book, ("c", "d"))
    rounds.report_race(QuickRace(plan, [None, None], tmp_path / "evening-2" / "race.dlog").run())
    outcomes = read_league(tmp_path)
    assert [outcome.title for outcome in outcomes] == ["evening-1", "evening-2/race"]
    assert [(line.name, line.points) for line in count_points(outcomes)] == [("a", 10), ("c", 9), ("b", 8), ("d", 6)]
    assert [(line.name, line.points) for line in count_points(read_league(tmp_path, [1.0]))][:2] == [("c", 1), ("a", 1)]


@pytest.mark.parametrize(
    ("tournament", "race"), [("evening-1", "evening-1/race"), ("evening-1/race", "evening-1/race.dlog")]
)
def test_a_league_counts_a_race_in_the_folder_of_a_tournament(tmp_path, tournament, race):
    hold(tmp_path / tournament)
    book = dataclasses.replace(load_rule_book("time_trial"), points=(3.0, 1.0))
    plan = RacePlan("somewhere", "time_trial", book, ("c", "d"))
    rounds.report_race(QuickRace(plan, [None, None], tmp_path / "evening-1" / "race.dlog").run())
    assert [outcome.title for outcome in read_league(tmp_path)] == [tournament, race]


def test_a_league_does_not_count_a_match_that_was_held_again_after_an_interruption(tmp_path):
    tournament = hold(tmp_path)
    again = make_match(BOOK)
    rounds.report_race(
        QuickRace(RacePlan("somewhere", "a", again, ("a", "b")), [0, 0], tmp_path / "final-2.dlog").run()
    )
    assert "final" in tournament.results
    assert [outcome.title for outcome in read_league(tmp_path)] == [tmp_path.name]


def test_a_league_of_nothing_is_told(tmp_path):
    with pytest.raises(SpecError, match="nothing has been raced"):
        read_league(tmp_path)
    with pytest.raises(SpecError, match="there is no folder"):
        read_league(tmp_path / "nowhere")
