"""Random numbers for what is made once."""

from donkeysim.core.draws import Draws

FIRST = [14876986326503956152, 9593336891867420317]
"""Of seed 1, purpose "cells"."""


def test_a_sequence_is_the_same_for_ever():
    draws = Draws(1, "cells")
    assert [draws.draw_word() for _ in range(2)] == FIRST
    assert Draws(1, "cells").draw_uniform() == (FIRST[0] >> 11) / 2**53


def test_seeds_and_purposes_draw_apart():
    words = {Draws(seed, purpose).draw_word() for seed in (-1, 0, 1, 2) for purpose in ("a", "b")}
    assert len(words) == 8
    assert Draws(2**64 + 1, "a").draw_word() == Draws(1, "a").draw_word()


def test_numbers_stay_inside_their_limits_and_reach_all_of_them():
    draws = Draws(5, "dice")
    assert {draws.draw_index(6) for _ in range(200)} == set(range(6))
    values = [draws.draw_uniform(-2.0, 3.0) for _ in range(1000)]
    assert -2.0 <= min(values) < -1.9
    assert 2.9 < max(values) < 3.0
    assert abs(sum(values) / 1000 - 0.5) < 0.2
    assert {draws.choose("ab") for _ in range(20)} == {"a", "b"}
