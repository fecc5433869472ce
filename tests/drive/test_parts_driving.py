"""Who drives: throttle filter, run conditions, launch, modes; buttons, behaviours, location, rate."""

import logging

import numpy as np
import pytest

from donkeysim.core.clock import ManualClock
from donkeysim.drive.parts.buttons import BehaviorState, WebButtons
from donkeysim.drive.parts.driving import AiLaunch, DriveMode, PilotCondition, Pipe, ThrottleFilter
from donkeysim.drive.parts.picture import ImageTransformations, make_blank_image
from donkeysim.drive.parts.place import LocationTracker
from donkeysim.drive.parts.rate import FrequencyLogger


@pytest.mark.parametrize(
    ("given", "passed"),
    [
        ([0.5, 0.2, 0.0], [0.5, 0.2, 0.0]),
        ([-0.5, -0.6, -0.7, -0.8], [-0.5, 0.0, -0.7, -0.8]),
        ([-0.5, 0.0, -0.6, -0.7, -0.8], [-0.5, 0.0, -0.6, 0.0, -0.8]),
        ([-0.1, -0.2, -0.3, 0.1, -0.4, -0.5], [-0.1, 0.0, -0.3, 0.1, -0.4, 0.0]),
        ([None, -0.1, None], [None, -0.1, None]),
    ],
)
def test_the_second_tap_back_becomes_zero_once(given, passed):
    throttle_filter = ThrottleFilter()
    assert [throttle_filter.run(throttle) for throttle in given] == passed


def test_the_mode_says_which_parts_run_and_which_picture_is_shown():
    image, seen_by_pilot = np.zeros((2, 2, 3), np.uint8), np.ones((2, 2, 3), np.uint8)
    plain, showing = PilotCondition(), PilotCondition(show_pilot_image=True)
    assert plain.run("user", image, seen_by_pilot) == (True, False, image)
    for mode in ("local", "local_angle"):
        assert plain.run(mode, image, seen_by_pilot)[:2] == (False, True)
        assert plain.run(mode, image, seen_by_pilot)[2] is image
        assert showing.run(mode, image, seen_by_pilot)[2] is seen_by_pilot
        assert showing.run(mode, image, None)[2] is image
    assert showing.run("user", image, seen_by_pilot)[2] is image


@pytest.mark.parametrize(
    ("mode", "driven"), [("user", (0.1, 0.2)), ("local_angle", (-0.5, 0.2)), ("local", (-0.5, 0.6))]
)
def test_the_mode_decides_who_steers_and_who_gives_throttle(mode, driven):
    assert DriveMode(throttle_factor=2.0).run(mode, 0.1, 0.2, -0.5, 0.3) == driven


@pytest.mark.parametrize("mode", ["user", "local_angle", "local"])
def test_what_nobody_gives_is_zero(mode):
    assert DriveMode().run(mode, None, None, None, None) == (0.0, 0.0)


class Launched:
    def __init__(self, **options):
        self.clock = ManualClock()
        self.launch = AiLaunch(1.0, 0.9, read_clock=self.clock, **options)

    def run(self, mode, count=1):
        throttles = []
        for _ in range(count):
            throttles.append(self.launch.run(mode, 0.2))
            self.clock.advance(0.5)
        return throttles


def test_an_armed_launch_lasts_its_duration_once(caplog):
    caplog.set_level(logging.INFO)
    car = Launched()
    assert car.run("local", 2) == [0.2, 0.2]
    car.launch.arm()
    assert car.run("user", 2) == [0.2, 0.2]
    assert car.run("local", 4) == [0.9, 0.9, 0.2, 0.2]
    car.run("user")
    assert car.run("local", 2) == [0.2, 0.2]
    assert caplog.text.count("AiLauncher is active!!!") == 1


def test_a_launch_kept_enabled_comes_each_time_the_pilot_takes_over():
    car = Launched(keep_enabled=True)
    for _ in range(2):
        assert car.run("local", 3) == [0.9, 0.9, 0.2]
        assert car.run("local_angle") == [0.2]


def test_a_launch_that_is_broken_off_begins_anew():
    car = Launched()
    car.launch.arm()
    assert car.run("local") == [0.9]
    assert car.run("user", 4) == [0.2] * 4
    assert car.run("local", 3) == [0.9, 0.9, 0.2]


def test_a_launch_without_duration_changes_nothing():
    launch = AiLaunch(0.0, 0.9, keep_enabled=True, read_clock=ManualClock())
    assert launch.run("local", 0.2) == 0.2


def test_a_pipe_copies_one_value_or_several():
    assert Pipe().run(0.5) == 0.5
    assert Pipe().run(1, 2) == (1, 2)


def test_web_buttons_become_a_channel_each(caplog):
    caplog.set_level(logging.INFO)
    buttons = WebButtons()
    assert buttons.run(None) == (False,) * 5
    assert buttons.run({"w2": True, "w9": True}) == (False, True, False, False, False)
    assert caplog.messages == ["web/w2 clicked"]


def test_behaviours_step_round_when_the_button_is_pressed():
    behavior = BehaviorState(["left", "right"])
    assert behavior.run(False) == (0, "left", [1.0, 0.0])
    assert behavior.run(True) == (1, "right", [0.0, 1.0])
    assert behavior.run(None) == (1, "right", [0.0, 1.0])
    assert behavior.run(True)[1] == "left"


class Telemetry:
    def __init__(self, node, count):
        self.activeNode, self.totalNodes = node, count


@pytest.mark.parametrize(
    ("telemetry", "location"),
    [(None, None), (Telemetry(None, 10), None), (Telemetry(0, 0), None)]
    + [(Telemetry(node, 200), node // 50) for node in (0, 49, 50, 199)]
    + [(Telemetry(200, 200), 0)],
)
def test_the_lap_is_divided_into_equal_locations(telemetry, location):
    assert LocationTracker(4).run(telemetry) == location


def test_the_rate_is_told_now_and_then(caplog):
    caplog.set_level(logging.INFO)
    clock = ManualClock()
    logger = FrequencyLogger(10.0, clock)
    for _ in range(42):
        rate, told = logger.run(20.0)
        clock.advance(0.5)
    assert (rate, told) == (20.0, [20.0, 20.0])
    assert len(caplog.messages) == 2


def test_pictures_are_transformed_once_there_are_any():
    part = ImageTransformations(lambda image: 255 - image)
    assert part.run(None) is None
    assert part.run(make_blank_image(4, 3, 1)).tolist() == np.full((3, 4, 1), 255).tolist()
