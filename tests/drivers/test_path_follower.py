"""The pace car and the expert drive real physics."""

import dataclasses
import math

import numpy as np
import pytest

from donkeysim.core.errors import SpecError
from donkeysim.drivers.driving_line import ease_turns, find_least_radius, plan_fastest, plan_path, refine_line
from donkeysim.drivers.lap_time import GripUse
from donkeysim.drivers.path_follower import FAST_GRIP, FAST_MARGIN, STEADY_GRIP, STEADY_SPEED, PathFollower
from donkeysim.drivers.steering import Action
from donkeysim.sim.snapshot import hash_state
from donkeysim.world.specs import load_car
from driving import CAR, Course, load_track, mirror_scene


@pytest.fixture(scope="module")
def track():
    return load_track()


@pytest.fixture(scope="module")
def drivers(track):
    return {style: PathFollower(track, CAR, style) for style in ("steady", "fast")}


def test_drivers_of_a_scene_share_a_plan_where_car_style_grip_and_speed_are_the_same(track, drivers):
    assert PathFollower(track, load_car("original"), "fast").plan is drivers["fast"].plan
    others = [
        PathFollower(mirror_scene(track), CAR, "fast"),
        PathFollower(track, load_car("original-2021"), "fast"),
        PathFollower(track, CAR, "fast", GripUse(0.8, 0.5)),
        PathFollower(track, CAR, "steady", speed_limit=1.0),
    ]
    known = [drivers["steady"].plan, drivers["fast"].plan]
    for driver in others:
        assert all(driver.plan is not plan and not np.array_equal(driver.plan.speed, plan.speed) for plan in known)
        known.append(driver.plan)
    alone = plan_fastest(track.path, track.ground, CAR, FAST_GRIP, FAST_MARGIN)
    assert np.array_equal(alone.speed, known[1].speed)


class ProportionalDriver:
    """What a client can do with cte and its change alone, and a speed limit of its own."""

    def __init__(self):
        self.cte = None

    def drive(self, ledger, car):
        cte = float(ledger.offset[car])
        change = 0.0 if self.cte is None else cte - self.cte
        self.cte = cte
        steer = max(-1.0, min(1.0, -2.4 * cte - 32.0 * change))
        return Action(steer, max(0.0, min(1.0, 1.5 - float(np.linalg.norm(ledger.velocity[car])))), 0.0)


def test_the_steady_driver_laps_in_its_lane_without_a_hit(track, drivers):
    seen = Course(track).drive(drivers["steady"], laps=3)
    assert len(seen.laps) == 3
    assert (seen.off_road, seen.hits) == (0, set())
    assert 1.2 < seen.distance / seen.time < 1.5


def test_the_steady_driver_keeps_to_the_path(track, drivers):
    course = Course(track)
    course.drive(drivers["steady"], seconds=5.0)
    for _ in range(20):
        course.drive(drivers["steady"], seconds=0.8)
        assert abs(course.ledger.offset[0]) < 0.04


def test_a_speed_from_which_the_motor_cannot_climb_is_raised():
    scene = load_track("canyon_road")
    plan = plan_path(scene.path, scene.ground, CAR, STEADY_GRIP, STEADY_SPEED)
    assert plan.speed.min() > 0.5
    assert STEADY_SPEED < plan.speed.max() < 3.0


def test_a_bend_too_slippery_for_any_speed_raises_no_limit():
    scene = load_track()
    ice = dataclasses.replace(scene.ground, friction=0.02 * scene.ground.friction)
    plan = plan_path(scene.path, ice, CAR, STEADY_GRIP, 0.55)
    assert plan.speed.min() < 0.5
    assert plan.speed.max() <= 0.55


def test_a_hairpin_tighter_than_the_wheels_turn_is_taken_wide():
    hall = load_track("pallet_hall")
    assert measure_least_radius(hall.path.position) < 0.9 * find_least_radius(CAR)
    course, driver = Course(hall), PathFollower(hall, CAR, "steady")
    while course.ledger.lap[0] < 2:
        seen = course.drive(driver, seconds=0.2)
        assert (seen.off_road, seen.hits) == (0, set())
        assert abs(course.ledger.offset[0]) < 0.5 * hall.path.width_right.min()


def measure_least_radius(node):
    """The radius of the tightest turn of a closed path."""
    step = np.roll(node[:, :2], -1, axis=0) - node[:, :2]
    heading = np.arctan2(step[:, 1], step[:, 0])
    turn = np.angle(np.exp(1j * (np.roll(heading, -1) - heading)))
    return float((np.linalg.norm(step, axis=1) / np.abs(turn).clip(1e-9)).min())


def test_turns_that_the_wheels_can_make_are_left_as_they_are(track):
    line = refine_line(track.path.position[:, :2], 3, closed=True)
    assert ease_turns(line, find_least_radius(CAR)) is line


def test_the_fast_driver_laps_within_a_quarter_of_the_least_time(track, drivers):
    least = plan_fastest(track.path, track.ground, CAR, GripUse(), margin=0.5 * CAR.chassis_size[1]).lap_time
    seen = Course(track).drive(drivers["fast"], laps=3)
    assert (seen.off_road, seen.hits) == (0, set())
    assert len(seen.laps) == 3
    assert np.all(seen.laps[1:] < 1.22 * least)
    assert seen.laps[0] < 1.4 * least, "the first lap begins at standstill"


@pytest.mark.parametrize("style", ["steady", "fast"])
def test_a_mirrored_track_gives_mirrored_laps(track, drivers, style):
    seen = Course(track).drive(drivers[style], laps=2)
    mirrored_track = mirror_scene(track)
    mirrored = Course(mirrored_track).drive(PathFollower(mirrored_track, CAR, style), laps=2)
    assert (mirrored.off_road, mirrored.hits) == (0, set())
    assert mirrored.laps == pytest.approx(seen.laps, abs=0.1)


@pytest.mark.parametrize("slot", [1, 10, 35, 62])
def test_the_fast_driver_starts_from_any_place_of_the_grid(track, drivers, slot):
    course = Course(track)
    course.place_on_grid(0, slot)
    seen = course.drive(drivers["fast"], laps=1)
    assert (seen.off_road, seen.hits) == (0, set())
    assert len(seen.laps) == 1


@pytest.mark.parametrize("steps", [1, 8, 48])
def test_the_fast_driver_may_be_asked_at_other_rates(track, drivers, steps):
    seen = Course(track).drive(drivers["fast"], laps=1, steps=steps)
    assert seen.off_road == 0
    assert len(seen.laps) == 1


@pytest.mark.parametrize("style", ["steady", "fast"])
@pytest.mark.parametrize(
    ("x", "y", "yaw"), [(0.0, 0.0, math.pi), (0.0, 0.56, 3.0), (0.0, 2.5, 2.0), (0.0, -2.0, -2.0), (0.0, 0.0, 1.57)]
)
def test_a_car_put_astray_comes_back_and_laps(track, drivers, style, x, y, yaw):
    course = Course(track)
    start = track.start.position[0]
    course.place(0, start[0] + x, start[1] + y, yaw)
    course.drive(drivers[style], seconds=30.0)
    seen = course.drive(drivers[style], laps=int(course.ledger.lap[0]) + 1, seconds=60.0)
    assert seen.off_road == 0
    assert len(seen.crossings) == 2


def test_a_car_on_its_roof_stops_asking_for_power(track, drivers):
    course = Course(track)
    course.place(0, *track.start.position[0, :2], 0.0, roll=math.pi, height=0.1)
    assert drivers["steady"].drive(course.ledger, 0) == (0.0, 0.0, 1.0)


def test_the_driver_keeps_nothing_between_calls(track, drivers):
    course = Course(track)
    course.drive(drivers["fast"], seconds=3.0)
    asked = drivers["fast"].drive(course.ledger, 0)
    drivers["fast"].drive(Course(track).ledger, 0)
    assert drivers["fast"].drive(course.ledger, 0) == asked


@pytest.mark.parametrize("style", ["steady", "fast"])
def test_asking_a_driver_changes_nothing(track, drivers, style):
    course = Course(track, car_count=3)
    course.park(1, 10, 0.0)
    course.drive(drivers[style], seconds=0.5)
    before = hash_state(course.simulator.state), [array.tobytes() for array in course.simulator.control]
    drivers[style].drive(course.ledger, 0)
    after = hash_state(course.simulator.state), [array.tobytes() for array in course.simulator.control]
    assert after == before


def test_the_steady_driver_goes_straight_on_the_endless_plane():
    scene = load_track("flat")
    seen = Course(scene).drive(PathFollower(scene, CAR, "steady"), seconds=10.0)
    assert seen.distance > 10.0
    assert abs(seen.trace[-1][1] - scene.path.position[0, 1]) < 0.02


def test_a_driver_proportional_to_cte_and_its_change_laps_on_the_road(track):
    seen = Course(track).drive(ProportionalDriver(), laps=3)
    assert len(seen.laps) == 3
    assert (seen.off_road, seen.hits) == (0, set())
    assert seen.distance / seen.time >= 1.2


def test_an_unknown_style_is_refused_by_name(track):
    with pytest.raises(SpecError, match="did you mean 'steady'"):
        PathFollower(track, CAR, "stead")
