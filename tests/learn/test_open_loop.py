"""Answers beside a drive: hand-made cases, whose figures can be worked out."""

import numpy as np
import pytest

from donkeysim.learn.open_loop import correlate, find_share, judge_answers, list_worst

ONE_STRETCH = np.zeros(400, np.int64)


@pytest.fixture
def driven():
    """Steering like that of a winding road, throttle that is less in bends."""
    noise = np.random.default_rng(3).normal(size=(406,))
    angle = np.convolve(noise, np.ones(7) / 7, mode="valid")
    angle = 0.9 * angle / np.abs(angle).max()
    return np.stack([angle, 0.5 - 0.2 * np.abs(angle)], axis=1)


def test_a_perfect_pilot(driven):
    found = judge_answers(driven, driven, ONE_STRETCH)
    assert found.correlation == pytest.approx(1.0)
    assert found.throttle_correlation == pytest.approx(1.0)
    assert (found.right_side, found.error, found.throttle_error, found.delay) == (1.0, 0.0, 0.0, 0)
    assert found.bend_count == int((np.abs(driven[:, 0]) > 0.3).sum())
    assert found.list_doubts() == []
    assert sum(part.count for part in found.bins) == found.count == 400
    assert all(part.driven == part.answered for part in found.bins)


def test_a_mirrored_pilot_is_pointed_out(driven):
    found = judge_answers(driven, driven * (-1.0, 1.0), ONE_STRETCH)
    assert found.correlation == pytest.approx(-1.0)
    assert (found.right_side, found.delay) == (0.0, 0)
    assert found.error == pytest.approx(2.0 * np.abs(driven[:, 0]).mean())
    assert "mirrored" in found.list_doubts()[0]


@pytest.mark.parametrize(("delay", "word"), [(2, "2 records later"), (-3, "3 records earlier"), (1, "1 record later")])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_delayed_answers_are_pointed_out(driven, delay, word, sign):
    said = np.roll(driven, delay, axis=0) * (sign, 1.0)
    found = judge_answers(driven, said, ONE_STRETCH)
    assert found.delay == delay
    assert found.delay_correlation == pytest.approx(sign)
    assert word in found.list_doubts()[-1]


def test_a_constant_pilot_has_no_correlation(driven):
    said = np.broadcast_to(driven.mean(axis=0), driven.shape)
    found = judge_answers(driven, said, ONE_STRETCH)
    assert (found.correlation, found.throttle_correlation, found.delay) == (0.0, 0.0, 0)
    assert "the same way everywhere" in found.list_doubts()[0]
    bends = driven[np.abs(driven[:, 0]) > 0.3, 0]
    assert found.right_side == pytest.approx((np.sign(bends) == np.sign(said[0, 0])).mean())


def test_delays_are_not_measured_across_gaps(driven):
    said = np.roll(driven, 2, axis=0)
    assert judge_answers(driven, said, np.arange(400) // 2).delay < 2
    assert judge_answers(driven, said, np.arange(400)).delay == 0


def test_a_drive_without_bends_has_no_right_side():
    found = judge_answers(np.zeros((1, 2)), np.ones((1, 2)), np.zeros(1, np.int64))
    assert (found.right_side, found.bend_count, found.correlation, found.error) == (None, 0, 0.0, 1.0)
    assert [part.count for part in found.bins] == [0, 0, 0, 1, 0, 0, 0]


def test_answers_are_clipped_as_a_car_does():
    found = judge_answers(np.array([[1.0, 0.2], [-1.0, 0.2]]), np.array([[4.0, 0.2], [-3.0, 0.2]]), np.zeros(2, int))
    assert found.error == 0.0


def test_bins_hold_their_edges():
    angle = np.array([-1.0, -0.6, -0.05, 0.1, 0.3, 1.0])
    driven = np.stack([angle, angle], axis=1)
    found = judge_answers(driven, driven * 0.5, np.zeros(6, int))
    assert [part.count for part in found.bins] == [1, 1, 0, 1, 1, 1, 1]
    assert found.bins[0].error == pytest.approx(0.5)
    assert found.bins[0].answered == pytest.approx(-0.5)


def test_the_share_of_the_way():
    assert find_share(0.5, 0.0, 0.8) == pytest.approx(0.625)
    assert find_share(-0.2, 0.0, 0.8) == pytest.approx(-0.25)
    assert find_share(0.5, 0.0, 0.05) is None


def test_the_worst_records_are_apart():
    angle = np.zeros(100)
    answer = np.zeros(100)
    answer[[10, 11, 12, 60, 99]] = [0.9, -1.0, 0.8, 0.5, 5.0]
    assert list_worst(angle, answer, 3, 20) == [11, 99, 60]
    assert len(list_worst(angle, answer, 12, 20)) < 6


def test_correlation_is_pearsons():
    first, second = np.random.default_rng(0).normal(size=(2, 50))
    assert correlate(first, second) == pytest.approx(np.corrcoef(first, second)[0, 1])
