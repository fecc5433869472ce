"""A run that learns nothing says so, once, and a run that learns does not."""

import numpy as np
import pytest

from donkeysim.rl.progress import Check, StallDetector, Update

CHECK = Check("flat", 1.0, 10, 0, 8, 1.0, 2.0, 0.0)


def listen(rewards, losses=None, checks=()):
    """Return what a detector says in a run of a minute with an update each second."""
    detector = StallDetector()
    said = []
    for second in range(60):
        update = Update(
            seconds=20.0 + second,
            time_limit=600.0,
            steps=1000 * second,
            rate=1000.0,
            reward=rewards(second),
            speed=1.0,
            ends=9.0,
            laps=3,
            losses=losses(second) if losses else {"policy": 0.0},
            ended_at=np.zeros((0, 3)),
            picture=np.zeros((1, 1), np.uint8),
            action=(0.0, 0.0),
            checks=checks,
        )
        said.append((second, detector.find(update)))
    return [(second, sentence) for second, sentence in said if sentence]


@pytest.mark.parametrize("reward", [0.0, 0.4, -0.2])
def test_rewards_that_stay_as_they_were_are_told_once_within_a_minute(reward):
    [(second, sentence)] = listen(lambda second: reward + 0.01 * (second % 3))
    assert second <= 60
    assert "Nothing has been learned yet" in sentence
    assert "--teacher" in sentence


def test_rewards_that_grow_are_no_stall():
    assert listen(lambda second: 0.1 + 0.01 * second) == []


def test_a_student_as_good_as_blind_is_told():
    blind = {"steering_error": 0.52, "throttle_error": 0.1, "blind_error": 0.55}
    [(_, sentence)] = listen(lambda second: 0.01 * second, lambda _: blind)
    assert "0.52 off" in sentence
    assert "0.55 off without a picture" in sentence


def test_a_student_that_sees_is_no_stall():
    assert listen(lambda _: 0.0, lambda _: {"steering_error": 0.3, "throttle_error": 0.1, "blind_error": 0.55}) == []


def test_who_has_been_checked_is_not_judged():
    assert listen(lambda _: 0.0, checks=(CHECK,)) == []


def test_the_line_of_a_student_names_its_error():
    update = Update(5.0, 60.0, 10, 2.0, 0.1, 1.0, 2.0, 0, {"steering_error": 0.314}, np.zeros((0, 3)), None, (0.0, 0.0))
    assert "steering 0.31 off" in update.describe()
