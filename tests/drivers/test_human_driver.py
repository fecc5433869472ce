import numpy as np
import pytest

from donkeysim.drivers.human_driver import THROTTLE_MOST, HumanDriver, plan_thumb
from driving import CAR, Course, load_track, mirror_scene


@pytest.mark.parametrize("seed", range(3))
def test_wander_to_both_sides_of_the_line_but_stay_on_the_road(seed):
    course = Course(load_track())
    seen = course.drive(Watched(HumanDriver(course.scene, CAR, seed)), laps=6, seconds=200.0)
    assert len(seen.laps) == 6
    assert seen.off_road == 0
    assert not seen.hits


def test_be_pushed_to_both_sides():
    course = Course(load_track())
    watched = Watched(HumanDriver(course.scene, CAR, 1))
    course.drive(watched, laps=4, seconds=120.0)
    assert min(watched.offset) < -0.15
    assert max(watched.offset) > 0.25


def test_hairpins_near_full_lock_are_left_in_peace():
    course = Course(load_track("maker_hall"))
    watched = Watched(HumanDriver(course.scene, CAR, 3))
    seen = course.drive(watched, laps=1, seconds=60.0)
    assert (len(seen.laps), seen.off_road, seen.hits) == (1, 0, set())
    assert np.abs(np.array(watched.steer) - watched.intent).max() > 0.35, "it is pushed elsewhere"


def test_nothing_pushes_the_car_up_a_steep_bank():
    course = Course(load_track("mountain_track"))
    seen = course.drive(Watched(HumanDriver(course.scene, CAR, 0)), laps=1, seconds=120.0)
    assert (len(seen.laps), seen.off_road, seen.hits) == (1, 0, set())


def test_a_climb_steeper_than_the_motor_is_taken_with_a_run_up():
    """canyon_road climbs 29 %, the car less than 25 % without speed."""
    course = Course(load_track("canyon_road"))
    seen = course.drive(Watched(HumanDriver(course.scene, CAR, 0)), seconds=8.0)
    assert course.ledger.node_index[0] > 34, "over the crest"
    assert (seen.off_road, seen.hits) == (0, set())


def test_mean_to_come_back_while_being_pushed_away():
    course = Course(load_track())
    watched = Watched(HumanDriver(course.scene, CAR, 2))
    course.drive(watched, laps=4, seconds=120.0)
    done, meant = np.array(watched.steer), np.array(watched.intent)
    pushed = np.abs(done - meant) > 0.35
    assert 0.02 < pushed.mean() < 0.3
    assert np.corrcoef((done - meant)[pushed], meant[pushed])[0, 1] < -0.2


def test_drive_a_mirrored_track_too():
    course = Course(mirror_scene(load_track()))
    seen = course.drive(Watched(HumanDriver(course.scene, CAR, 0)), laps=2, seconds=80.0)
    assert len(seen.laps) == 2
    assert seen.off_road == 0


def test_the_throttle_alone_keeps_the_planned_speed():
    plan, throttle = plan_thumb(load_track(), CAR)
    assert 0.8 < plan.speed.min() <= plan.speed.max() <= 1.3
    assert 0.0 < min(throttle) <= max(throttle) < THROTTLE_MOST
    course = Course(load_track())
    seen = course.drive(Watched(HumanDriver(course.scene, CAR, 0)), laps=3, seconds=120.0)
    assert np.mean(seen.laps) == pytest.approx(plan.lap_time, rel=0.12)


class Watched:
    """A driver whose hands and intents are noted."""

    def __init__(self, driver):
        self.driver = driver
        self.offset, self.steer, self.intent = [], [], []

    def drive(self, ledger, car):
        action, intent = self.driver.drive(ledger, car)
        self.intent.append(intent.steer)
        self.steer.append(action.steer)
        self.offset.append(float(ledger.offset[car]))
        return action
