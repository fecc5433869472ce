"""Points tables."""

from donkeysim.racing.rules.standings import Outcome, count_points, list_places

POINTS = (10.0, 6.0, 4.0)


def test_points_of_all_evenings_are_added():
    evenings = [
        Outcome("1", (("a", 1), ("b", 2), ("c", 3)), POINTS),
        Outcome("2", (("b", 1), ("a", 0), ("d", 4)), POINTS),
    ]
    table = count_points(evenings)
    assert [(line.place, line.name, line.points, line.starts, line.wins) for line in table] == [
        (1, "b", 16.0, 2, 1),
        (2, "a", 10.0, 2, 1),
        (3, "c", 4.0, 1, 0),
        (4, "d", 0.0, 1, 0),
    ]
    assert table[2].by_outcome == (4.0, None)


def test_of_equal_points_more_wins_are_better_and_equals_share():
    evenings = [
        Outcome("1", (("a", 1), ("b", 2), ("x", 2)), (12.0, 6.0)),
        Outcome("2", (("b", 2), ("x", 2)), (12.0, 6.0)),
    ]
    assert [(line.place, line.name) for line in count_points(evenings)] == [(1, "a"), (2, "b"), (2, "x")]


def test_a_ranking_shares_places():
    assert list_places([["a"], ["b", "c"], ["d"]]) == (("a", 1), ("b", 2), ("c", 2), ("d", 4))
