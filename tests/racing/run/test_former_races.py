"""A race of the time when our own places had the original's names: its track is called what it is now."""

import json
import shutil

import msgspec
import pytest

from donkeysim.core.errors import SpecError
from donkeysim.racing.rules import act
from donkeysim.racing.rules.rule_book import Race, RuleBook
from donkeysim.racing.run.race_file import FORMAT, RacePlan, load_report, pack_note, unpack_note
from donkeysim.racing.run.tournament import FILE, Tournament, load_tournament
from donkeysim.racing.run.verify import amend_race, verify_race
from record.test_former_files import ELSEWHERE, FORMER

PLAN = RacePlan("warren", "club", RuleBook("Club", "", "", "", Race(laps=1)), ("a", "b"))


@pytest.fixture
def race(tmp_path):
    for name in ("race.dlog", "race.json"):
        shutil.copy(FORMER / name, tmp_path)
    return tmp_path / "race.dlog"


def test_a_race_is_verified_where_it_was_driven(race):
    found = verify_race(race)
    assert (found.plan.track, found.claimed.track, found.reported.track) == ("carpet_hall",) * 3
    assert load_report(race.with_suffix(".json")).race.track == "carpet_hall"
    if not any(part.startswith(ELSEWHERE) for part in found.differences):
        assert found.is_confirmed, found.list_complaints()


def test_a_race_that_is_judged_again_is_one_of_now(race):
    if any(part.startswith(ELSEWHERE) for part in verify_race(race).differences):
        pytest.skip("on another machine the race is not confirmed")
    amend_race(race, [act.Penalise(0, seconds=5.0)])
    found = verify_race(race)
    assert found.is_confirmed, found.list_complaints()
    assert found.plan.track == "carpet_hall"
    told = json.loads(race.with_suffix(".json").read_bytes())
    assert (told["race"]["track"], told["race"]["format"]) == ("carpet_hall", FORMAT)


def make_old(tree):
    """Return JSON without the numbers of formats, as it was written then."""
    tree = json.loads(tree)
    for table in (tree, *tree.values()):
        if isinstance(table, dict):
            table.pop("format", None)
    return json.dumps(tree)


def test_a_plan_of_now_means_the_originals_place_and_one_of_then_ours():
    assert unpack_note(pack_note(PLAN)) == PLAN
    assert unpack_note(make_old(pack_note(PLAN))) == msgspec.structs.replace(PLAN, track="carpet_hall")
    with pytest.raises(SpecError, match="format 9"):
        unpack_note(pack_note(msgspec.structs.replace(PLAN, format=9)))


def test_a_tournament_of_then_goes_on_in_our_place(tmp_path):
    text = msgspec.json.encode(Tournament(PLAN, "double_elimination", ["a", "b"], {"final": ["b", "a"]}))
    (tmp_path / FILE).write_bytes(text)
    assert load_tournament(tmp_path).plan == PLAN
    (tmp_path / FILE).write_text(make_old(text), encoding="utf-8")
    assert load_tournament(tmp_path).plan.track == "carpet_hall"
    assert load_tournament(tmp_path).results == {"final": ["b", "a"]}
