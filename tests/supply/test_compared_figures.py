"""Figures of two commits, taken by turns, become ratios: above 1 is better."""

import json
import math

import pytest
from benchmarks.compare import check_out, pair_up, rate, read_figures


def test_more_is_better_of_rates_and_less_of_all_else():
    assert rate(30.0, 20.0, "steps/s") == 1.5
    assert rate(2.0, 3.0, "s") == 1.5
    assert rate(100.0, 150.0, "MB") == 1.5
    assert rate(0.0, 0.0, "s") == 1.0
    assert math.isnan(rate(0.0, 1.0, "s"))


def test_each_pair_of_turns_has_its_own_ratio():
    """A machine that becomes twice as fast in the third turn changes both figures, and no ratio."""
    key, alone = ("case", "steps"), ("case", "only here")
    taken = [({key: (10.0 * pace, "/s"), alone: (1.0, "/s")}, {key: (8.0 * pace, "/s")}) for pace in (1.0, 1.0, 2.0)]
    (ratio,) = pair_up(taken)
    assert (ratio.middle, ratio.least, ratio.greatest) == (1.25, 1.25, 1.25)
    assert (ratio.here, ratio.there, ratio.what, ratio.unit) == (10.0, 8.0, "steps", "/s")


def test_the_last_of_equal_lines_counts_and_no_file_is_no_figures(tmp_path):
    path = tmp_path / "lines.jsonl"
    lines = [{"case": "c", "what": "w", "value": value, "unit": "s"} for value in (1.0, 2.0)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert read_figures(path) == {("c", "w"): (2.0, "s")}
    assert read_figures(tmp_path / "none") == {}


def test_a_commit_that_is_not_there_says_so():
    with (
        pytest.raises(SystemExit, match="there is no commit 'no-such-commit' to compare with"),
        check_out("no-such-commit"),
    ):
        pass
