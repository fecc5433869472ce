"""donkey createjs: from a joystick's events to a file the car drives with."""

import os
import struct
import sys

import pytest

from donkeysim.car.config import make_default_config
from donkeysim.cli.donkey import run
from donkeysim.drive.joystick.custom import SURVEYED_ACTIONS, format_layout, load_layout
from donkeysim.drive.joystick.joystick import choose_layout
from donkeysim.drive.joystick.layout import read_layouts

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="joystick devices are Linux's")


@pytest.fixture
def survey(tmp_path):
    """Run the command over a pipe that holds some events already."""

    def start(*events):
        path = tmp_path / "js0"
        os.mkfifo(path)
        descriptor = os.open(path, os.O_RDWR)
        os.write(descriptor, b"".join(struct.pack("=IhBB", 0, *event) for event in events))
        try:
            out = tmp_path / "my_joystick.py"
            return run(["createjs", "--device", str(path), "--out", str(out), "--seconds", "0.02"]), out
        finally:
            os.close(descriptor)

    return start


def test_write_a_layout_that_the_car_can_load(survey):
    code, out = survey((9000, 2, 4), (32767, 2, 1), (-32767, 2, 1), (-32767, 2, 3), (1, 1, 2), (0, 1, 2), (1, 1, 0))
    layout = load_layout(out)
    assert code == 0
    assert dict(layout.axes) == {1: "steering", 3: "throttle"}
    assert dict(layout.actions) == {"button_132": "toggle_mode", "circle": "toggle_manual_recording"}
    assert dict(layout.buttons) == {0x132: "button_132", 0x130: "circle"}


def test_ask_for_every_action_and_name_buttons_as_cars_know_them(survey, tmp_path):
    pressed = [event for number in range(len(SURVEYED_ACTIONS)) for event in ((1, 1, number), (0, 1, number))]
    code, out = survey((32767, 2, 0), (-32767, 2, 1), *pressed)
    assert code == 0
    assert [*load_layout(out).actions.values()] == [*SURVEYED_ACTIONS[:-2]]
    config = make_default_config(tmp_path, {"CONTROLLER_TYPE": "custom", "TRAIN_BEHAVIORS": True})
    assert {*choose_layout(config).actions.values()} == {*SURVEYED_ACTIONS}


def test_write_nothing_when_nothing_moves(survey):
    code, out = survey()
    assert (code, out.exists()) == (1, False)


def test_leave_a_file_that_is_there_alone(survey, tmp_path):
    (tmp_path / "my_joystick.py").write_text("mine")
    code, out = survey()
    assert (code, out.read_text()) == (1, "mine")


def test_a_name_of_a_device_stays_a_comment(tmp_path):
    (tmp_path / "my_joystick.py").write_text(format_layout(read_layouts()["ps4"], "pad\nraise OSError('{axes}')"))
    assert load_layout(tmp_path / "my_joystick.py").actions == read_layouts()["ps4"].actions
