"""The control page's state: latches, buttons, and when a throttle ends."""

import threading

import pytest

from donkeysim.core.clock import ManualClock
from donkeysim.core.errors import WireError
from donkeysim.drive.control_state import HEARTBEAT_SECONDS, ControlMessage, ControlState
from stand_ins.traveller import StandInTraveller


class Loop:
    """A vehicle loop of one part: what the page wants is what the next loop tells it."""

    def __init__(self, mode="user"):
        self.clock = ManualClock(100.0)
        self.state = ControlState(mode, self.clock)
        self.mode, self.recording, self.pilot, self.count = None, None, None, None
        self.pilots = ("a.h5", "b.onnx")

    def tick(self, **changed):
        for name, value in changed.items():
            setattr(self, name, value)
        tick = self.state.tick(self.mode, self.recording, self.count, self.pilot, self.pilots)
        self.mode, self.recording, self.pilot = tick.wish.mode, tick.wish.recording, tick.wish.pilot
        return tick

    def take(self, driver=None, **fields):
        self.state.take(ControlMessage(**fields), driver)


@pytest.fixture
def loop():
    return Loop()


def test_a_car_begins_at_a_standstill_in_the_mode_of_its_config():
    wish = Loop("local").tick().wish
    assert wish == (0.0, 0.0, "local", False, {}, False, None, False)


def test_values_hold_until_others_come(loop):
    loop.take(angle=0.5, throttle=0.3)
    assert loop.tick().wish[:2] == (0.5, 0.3)
    loop.take(angle=-0.5)
    loop.tick()
    assert loop.tick().wish[:2] == (-0.5, 0.3)


@pytest.mark.parametrize("by_socket", [True, False])
def test_mode_and_recording_are_latched_for_the_loop_and_told_to_all(loop, by_socket):
    driver = loop.state.join() if by_socket else None
    loop.tick()
    loop.take(driver, drive_mode="local", recording=True)
    tick = loop.tick()
    assert (tick.wish.mode, tick.wish.recording) == ("local", True)
    assert tick.news == {"driveMode": "local", "recording": True}
    tick = loop.tick()
    assert (tick.wish.mode, tick.wish.recording, tick.news) == ("local", True, {})


def test_setting_what_is_set_already_is_told_again(loop):
    loop.take(drive_mode="user")
    assert loop.tick().news == {"driveMode": "user"}
    loop.take(drive_mode="user")
    assert loop.tick().news == {"driveMode": "user"}


def test_other_parts_change_mode_and_recording_too_and_the_page_follows(loop):
    loop.tick()
    tick = loop.tick(mode="local_angle", recording=True)
    assert (tick.wish.mode, tick.wish.recording, tick.news) == ("local_angle", True, {})
    assert loop.tick(recording=False).wish.recording is False


def test_a_button_is_pressed_for_one_loop_and_released_for_the_next(loop):
    loop.take(buttons={"w1": True, "w2": False})
    assert [loop.tick().wish.buttons for _ in range(3)] == [{"w1": True}, {"w1": False}, {}]


def test_a_button_pressed_twice_within_a_loop_is_not_lost_when_it_is_released(loop):
    loop.take(buttons={"w1": True})
    loop.take(buttons={"w1": False, "w3": True})
    assert [loop.tick().wish.buttons for _ in range(2)] == [{"w1": True, "w3": True}, {"w1": False, "w3": False}]


def test_reset_is_true_for_one_loop(loop):
    loop.take(reset=True)
    assert [loop.tick().wish.reset for _ in range(2)] == [True, False]


def test_records_are_told_at_every_tenth_while_recording(loop):
    told = [loop.tick(recording=True, count=count).news for count in (9, 10, 10, 11, 20)]
    assert told == [{}, {"num_records": 10}, {}, {}, {"num_records": 20}]
    assert loop.tick(recording=False, count=30).news == {}


def test_a_pilot_is_chosen_by_name_and_then_is_what_the_loop_says(loop):
    loop.tick()
    loop.take(pilot="b.onnx")
    assert loop.tick().wish.pilot == "b.onnx"
    assert loop.tick(pilot="a.h5").wish.pilot == "a.h5"
    loop.take(pilot="")
    assert loop.tick().wish.pilot == ""


def test_a_pilot_that_is_not_there_changes_nothing_of_the_message(loop):
    loop.tick()
    with pytest.raises(WireError, match=r"unknown pilot 'c.h5'"):
        loop.take(pilot="c.h5", throttle=1.0)
    assert loop.tick().wish.throttle == 0.0


def test_closing_the_last_socket_stops_the_car(loop):
    first, second = loop.state.join(), loop.state.join()
    loop.take(first, angle=0.2, throttle=0.5)
    loop.state.leave(first)
    assert loop.tick().wish.throttle == 0.5
    loop.state.leave(second)
    assert loop.tick().wish[:2] == (0.2, 0.0)


def test_a_client_without_heartbeat_keeps_its_throttle_for_ever(loop):
    driver = loop.state.join()
    loop.take(driver, throttle=0.5)
    loop.clock.advance(3600)
    assert loop.tick().wish.throttle == 0.5


def test_half_a_second_without_heartbeat_stops_the_car_once_it_was_sent(loop):
    driver = loop.state.join()
    loop.take(driver, heartbeat=True)
    loop.take(driver, throttle=0.5)
    loop.clock.advance(HEARTBEAT_SECONDS)
    assert loop.tick().wish.throttle == 0.5
    loop.clock.advance(0.001)
    tick = loop.tick()
    assert (tick.wish.throttle, tick.lost) == (0.0, driver)
    assert loop.tick().lost is None
    loop.take(driver, heartbeat=True)
    assert loop.tick().wish.throttle == 0.0
    loop.take(driver, throttle=0.4)
    assert loop.tick().wish.throttle == 0.4


def test_a_heartbeat_keeps_the_throttle(loop):
    driver = loop.state.join()
    loop.take(driver, throttle=0.5, heartbeat=True)
    for _ in range(20):
        loop.clock.advance(0.4)
        loop.take(driver, heartbeat=True)
        assert loop.tick().wish.throttle == 0.5


def test_the_brake_begins_at_a_word_or_with_a_page_that_vanishes_and_ends_with_a_throttle(loop):
    page = loop.state.join()
    assert loop.tick().brake is None
    loop.take(page, throttle=0.0, brake=True, heartbeat=True)
    assert [loop.tick().brake, loop.tick().brake] == [True, None]
    loop.take(page, throttle=0.4)
    assert loop.tick().brake is False
    loop.clock.advance(2 * HEARTBEAT_SECONDS)
    assert loop.tick().brake is True
    loop.take(page, throttle=0.4)
    loop.tick()
    loop.state.leave(page)
    assert loop.tick().brake is True


@pytest.mark.parametrize("message", [{"brake": True}, {"throttle": 0.3, "brake": True}])
def test_the_brake_wins_over_a_throttle(loop, message):
    page = loop.state.join()
    loop.take(page, throttle=0.5)
    loop.tick()
    loop.take(page, **message)
    tick = loop.tick()
    assert (tick.brake, tick.wish.throttle) == (True, 0.0)


@pytest.mark.parametrize(
    ("mode", "heartbeat", "goes_on"), [("user", True, False), ("user", False, True), ("local", True, True)]
)
def test_a_recording_ends_with_the_page_that_began_it_unless_a_pilot_drives(loop, mode, heartbeat, goes_on):
    other, page = loop.state.join(), loop.state.join()
    loop.take(other, heartbeat=True)
    loop.take(page, recording=True, drive_mode=mode, heartbeat=heartbeat)
    assert loop.tick().wish.recording
    loop.state.leave(other)
    assert loop.tick().wish.recording
    loop.state.leave(page)
    assert loop.tick().wish.recording is goes_on


def test_a_recording_that_others_began_or_a_pilot_that_has_just_begun_goes_on(loop):
    page = loop.state.join()
    loop.take(page, recording=True, heartbeat=True)
    loop.tick()
    for is_recording in (False, True):  # a joystick ends it and begins another one
        loop.tick(recording=is_recording)
    loop.state.leave(page)
    assert loop.tick(recording=True).wish.recording
    page = loop.state.join()
    loop.take(page, recording=True, heartbeat=True)
    loop.tick()
    loop.take(page, drive_mode="local")
    loop.state.leave(page)
    assert loop.tick(recording=True).wish.recording


def test_a_client_with_heartbeat_that_closes_stops_its_car_while_others_watch(loop):
    loop.state.join()
    driver = loop.state.join()
    loop.take(driver, throttle=0.5, heartbeat=True)
    loop.state.leave(driver)
    assert loop.tick().wish.throttle == 0.0


def test_a_page_that_falls_silent_does_not_take_anothers_throttle(loop):
    page, other = loop.state.join(), loop.state.join()
    loop.take(page, throttle=0.5, heartbeat=True)
    loop.take(other, throttle=0.3)
    loop.clock.advance(5)
    assert loop.tick().wish.throttle == 0.3
    loop.state.leave(page)
    assert loop.tick().wish.throttle == 0.3


def test_what_came_by_post_stays(loop):
    page = loop.state.join()
    loop.take(page, heartbeat=True, throttle=0.1)
    loop.take(throttle=0.5)
    loop.clock.advance(5)
    loop.state.leave(page)
    assert loop.tick().wish.throttle == 0.5


def test_messages_from_many_threads_lose_no_button_press(loop):
    def press():
        for _ in range(200):
            loop.take(buttons={"w1": True})

    threads = [threading.Thread(target=press) for _ in range(4)]
    for thread in threads:
        thread.start()
    seen = [loop.tick().wish.buttons for _ in range(200)]
    for thread in threads:
        thread.join()
    seen.append(loop.tick().wish.buttons)
    assert {"w1": True} in seen


# ---- places ------------------------------------------------------------------------------------------------------


def test_a_car_is_sent_where_a_driver_wants_it():
    car = StandInTraveller()
    ControlState(traveller=car).take(ControlMessage(place="warren"))
    assert car.place == "warren"


@pytest.mark.parametrize(
    ("place", "is_lost", "sentence"),
    [
        ("waren", False, "unknown place 'waren'; did you mean 'warren'"),
        ("warren", True, "connection to the simulator has ended"),
    ],
)
def test_a_place_that_cannot_be_reached_is_refused_and_nothing_else_changes(place, is_lost, sentence):
    car = StandInTraveller()
    car.is_lost = is_lost
    state = ControlState(traveller=car)
    with pytest.raises(WireError, match=sentence):
        state.take(ControlMessage(place=place, throttle=0.5, recording=True))
    assert (car.place, state.throttle, state.tick(None, None, None, None, ()).wish.recording) == (
        "generated_track",
        0.0,
        False,
    )


def test_a_car_of_an_earlier_manage_program_says_how_it_can_be_sent_elsewhere():
    with pytest.raises(WireError, match="donkey update"):
        ControlState().take(ControlMessage(place="warren"))
