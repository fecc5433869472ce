"""Drivers among other cars."""

import pytest

from donkeysim.drivers.path_follower import PathFollower
from driving import CAR, Course, load_track


@pytest.fixture(scope="module")
def track():
    return load_track()


@pytest.mark.parametrize(("style", "node"), [("steady", 15), ("steady", 30), ("fast", 30)])
def test_a_standing_car_is_passed_on_the_road_without_touching_it(track, style, node):
    course = Course(track, car_count=4)
    course.park(1, node, 0.0)
    seen = course.drive(PathFollower(track, CAR, style), laps=1)
    assert (seen.off_road, seen.hits) == (0, set())
    assert len(seen.laps) == 1
    assert seen.nearest > 0.22


@pytest.mark.parametrize("style", ["steady", "fast"])
def test_a_blocked_road_is_waited_at_and_driven_on_when_free(track, style):
    course = Course(track, car_count=4)
    course.park(1, 40, 0.0)
    course.park(2, 40, 0.56)
    driver = PathFollower(track, CAR, style)
    waiting = course.drive(driver, seconds=20.0)
    assert waiting.hits == set()
    assert 0.4 < waiting.nearest < 1.2
    assert abs(course.ledger.velocity[0]).max() < 0.02
    for car in (1, 2):
        course.simulator.remove_car(car)
    assert course.drive(driver, seconds=10.0).distance > 8.0


def test_a_fast_car_stays_behind_a_steady_one(track):
    course = Course(track, car_count=2)
    course.park(1, 5, 0.0)
    fast, steady = PathFollower(track, CAR, "fast"), PathFollower(track, CAR, "steady")

    class Both:
        def drive(self, ledger, car):
            course.simulator.drive_car(1, *steady.drive(ledger, 1))
            return fast.drive(ledger, car)

    seen = course.drive(Both(), seconds=14.0)
    assert seen.hits == set()
    assert seen.nearest > 0.3


def test_a_car_far_away_does_not_matter(track):
    course = Course(track, car_count=2)
    driver = PathFollower(track, CAR, "steady")
    alone = course.drive(driver, seconds=3.0).trace
    course = Course(track, car_count=2)
    course.park(1, 60, 0.0)
    assert all((a == b).all() for a, b in zip(alone, course.drive(driver, seconds=3.0).trace, strict=True))
