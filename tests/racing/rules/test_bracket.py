"""Tournaments: who races whom, who goes out, and who ends where."""

import random

import pytest

from donkeysim.core.errors import SpecError
from donkeysim.racing.rules.bracket import DoubleElimination, Heats, Ladder, make_bracket


def play(bracket, decide):
    """Hold all matches; `decide(match)` returns the order."""
    results = {}
    while ready := bracket.list_ready(results):
        for match in ready:
            assert match.name not in results
            results[match.name] = decide(match)
    return results


def by_number(match):
    return sorted(match.entries, key=lambda name: int(name[1:]))


def name(count):
    return [f"p{number}" for number in range(1, count + 1)]


def test_the_best_seeds_meet_last():
    results = play(DoubleElimination(name(8)), by_number)
    assert results["winners-1-1"] == ["p1", "p8"]
    assert results["winners-1-4"] == ["p3", "p6"]
    assert results["winners-3-1"] == ["p1", "p2"]
    assert results["final"] == ["p1", "p2"]
    assert len(results) == 14
    ranking = DoubleElimination(name(8)).rank(results)
    assert ranking == [("p1",), ("p2",), ("p3",), ("p4",), ("p5", "p6"), ("p8", "p7")]


@pytest.mark.parametrize("count", [2, 3, 5, 6, 7, 8, 13, 16, 20])
@pytest.mark.parametrize("seed", range(5))
def test_who_has_lost_twice_is_out_and_nobody_else(count, seed):
    rng = random.Random(seed)
    bracket, lost = DoubleElimination(name(count)), dict.fromkeys(name(count), 0)

    def decide(match):
        assert all(lost[entry] < 2 for entry in match.entries)
        order = rng.sample(match.entries, 2)
        lost[order[1]] += 1
        return order

    results = play(bracket, decide)
    first, *others = bracket.rank(results)
    assert lost[first[0]] < 2
    assert len(first) == 1
    assert all(lost[entry] == 2 for names in others for entry in names)
    assert sorted(entry for names in (first, *others) for entry in names) == sorted(lost)
    assert len(results) == 2 * count - 2 + ("final-again" in results)


def test_the_winners_champion_must_be_beaten_twice():
    def decide(match):
        return ["p2", "p1"] if match.name.startswith("final") else by_number(match)

    bracket = DoubleElimination(name(4))
    results = play(bracket, decide)
    assert "final-again" in results
    assert bracket.rank(results)[:2] == [("p2",), ("p1",)]


def test_a_ladder_is_climbed_from_below():
    bracket = Ladder(name(5))
    results = play(bracket, lambda match: by_number(match)[::-1])
    assert [order[0] for order in results.values()] == ["p5"] * 4
    assert bracket.rank(results) == [("p5",), ("p1",), ("p2",), ("p3",), ("p4",)]
    heats = play(Ladder(name(7), cars=3), by_number)
    assert list(heats.values()) == [["p5", "p6", "p7"], ["p3", "p4", "p5"], ["p1", "p2", "p3"]]


def test_of_heats_the_better_half_goes_on():
    bracket = Heats(name(8), cars=4)
    results = play(bracket, by_number)
    assert results == {
        "round-1-heat-1": ["p1", "p4", "p5", "p8"],
        "round-1-heat-2": ["p2", "p3", "p6", "p7"],
        "final": ["p1", "p2", "p3", "p4"],
    }
    assert bracket.rank(results) == [("p1",), ("p2",), ("p3",), ("p4",), ("p5", "p6"), ("p8", "p7")]
    assert play(Heats(name(3)), by_number) == {"final": ["p1", "p2", "p3"]}


@pytest.mark.parametrize("count", range(2, 24))
def test_heats_of_any_size_end(count):
    bracket = Heats(name(count), cars=3)
    ranking = bracket.rank(play(bracket, by_number))
    assert ranking[0] == ("p1",)
    assert sorted(entry for names in ranking for entry in names) == sorted(name(count))


def test_impossible_tournaments_are_refused():
    for kind, entries, cars in (("heats", ["a", "b"], 1), ("ladder", ["a", "b"], 1), ("ladder", ["a", "a"], 2)):
        with pytest.raises(SpecError):
            make_bracket(kind, entries, cars)
    with pytest.raises(SpecError, match="2 entries or more"):
        make_bracket("double_elimination", ["a"], 2)
    with pytest.raises(SpecError, match="did you mean 'ladder'"):
        make_bracket("lader", ["a", "b"], 2)
    with pytest.raises(SpecError, match="race it again"):
        Ladder(["a", "b"]).list_ready({"heat-1": ["a", "c"]})
