"""The joystick: events through a named pipe, what they make of the page's wishes, and what happens when it is gone."""

import os
import struct
import sys
import threading
from pathlib import Path

import pytest

from donkeysim.car.config import make_default_config
from donkeysim.car.keys import CONTROLLER_TYPES
from donkeysim.core.config import read_toml
from donkeysim.core.errors import SpecError
from donkeysim.drive.joystick import layout
from donkeysim.drive.joystick.controller import Controller, Feel
from donkeysim.drive.joystick.device import JoystickEvent
from donkeysim.drive.joystick.joystick import Joystick, choose_layout
from donkeysim.drive.joystick.layout import ACTIONS, NO_JOYSTICKS, read_layouts
from waiting import wait_until

AXIS_STEERING, AXIS_THROTTLE = 0, 3
"""Numbers of xbox axes 0x00 and 0x05 in the order of their codes."""

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="joystick devices are Linux's")


class Pad:
    """A controller and its page."""

    def __init__(self, kind="xbox", layout=None, **feel):
        self.controller = Controller(layout or read_layouts()[kind], Feel(**feel))
        self.wish = (0.0, 0.0, "user", False)
        self.page = (0.0, 0.0)

    def loop(self, *events):
        self.controller.hear(*self.page, *self.wish[2:])
        for event in events:
            self.controller.take(event)
        self.wish = self.controller.read()
        return self.wish

    def push(self, name, value):
        code = next(code for code, known in self.controller.layout.axes.items() if known == name)
        return self.loop(JoystickEvent("axis", code, value))

    def press(self, name):
        code = next(code for code, known in self.controller.layout.buttons.items() if known == name)
        return self.loop(JoystickEvent("button", code, 1.0))

    def release(self, name):
        code = next(code for code, known in self.controller.layout.buttons.items() if known == name)
        return self.loop(JoystickEvent("button", code, 0.0))


def test_steer_right_and_drive_forward_with_the_stick_up_and_record():
    pad = Pad(max_throttle=0.5, steering_scale=0.8)
    pad.push("left_stick_horz", 1.0)
    assert pad.push("right_stick_vert", -1.0) == (0.8, 0.5, "user", True)
    assert pad.push("right_stick_vert", 0.0) == (0.8, 0.0, "user", False)


def test_leave_the_page_alone_while_the_stick_trembles_and_take_over_when_it_moves():
    pad = Pad(dead_zone=0.1)
    pad.page = (0.3, 0.2)
    pad.loop()
    assert pad.push("left_stick_horz", 0.05)[:2] == (0.3, 0.2)
    assert pad.push("left_stick_horz", 0.5)[:2] == (0.5, 0.0)
    assert pad.push("left_stick_horz", 0.0)[:2] == (0.0, 0.0)
    pad.page = (0.3, 0.4)
    assert pad.loop()[:2] == (0.3, 0.4)


def test_change_the_mode_in_a_ring():
    pad = Pad()
    assert [pad.press("a_button").mode for _ in range(3)] == ["local_angle", "local", "user"]


def test_record_by_button_only_when_throttle_does_not_record():
    assert Pad(auto_record=False).press("b_button").recording is True
    assert Pad(auto_record=True).press("b_button").recording is False


def test_brake_in_an_emergency_and_hand_over_to_the_user():
    pad = Pad(max_throttle=0.2)
    pad.press("a_button")
    pad.push("right_stick_vert", -1.0)
    throttles = [pad.press("y_button").throttle, *(pad.loop().throttle for _ in range(8))]
    assert throttles == pytest.approx([-0.2, 0.01, -0.2, -0.15, -0.1, -0.05, 0, 0, 0])
    assert pad.wish == (0.0, 0.0, "user", False)


def test_hold_a_constant_throttle_until_the_stick_is_pulled():
    pad = Pad(max_throttle=0.5)
    assert pad.press("options").throttle == 0.5
    assert pad.press("right_shoulder").throttle == 0.51
    assert pad.push("right_stick_vert", 1.0).throttle == -0.51


def test_drive_with_the_triggers_of_an_xbox_pad():
    pad = Pad(max_throttle=0.5)
    assert pad.push("right_trigger", 1.0).throttle == 0.5
    assert pad.push("right_trigger", -1.0).throttle == 0.0
    assert pad.push("left_trigger", 0.0).throttle == -0.25


def test_use_a_direction_pad_as_two_buttons():
    pad = Pad("F710", max_throttle=0.5)
    pad.push("dpad_up_down", -1.0)
    pad.push("dpad_up_down", 0.0)
    pad.push("dpad_up_down", -1.0)
    assert pad.controller.max_throttle == 0.52


def test_make_chaos_while_the_button_is_held_and_not_record_it():
    pad = Pad("ps3")
    pad.push("right_stick_vert", -1.0)
    assert pad.press("L1") == (-0.2, 0.5, "user", False)
    assert pad.release("L1") == (0.0, 0.5, "user", True)


def test_erase_records_in_user_mode_and_stop_in_the_others_with_the_switch_of_rc3():
    pad, erased = Pad("rc3"), []
    pad.controller.handlers["erase_last_N_records"] = lambda: erased.append(100)
    pad.press("Switch-up")
    assert erased == [100]
    pad.press("Switch-down")
    assert pad.press("Switch-up")[1:3] == (-0.5, "user")


def test_stop_the_car_when_the_joystick_is_gone_and_wait_for_a_new_word_of_the_page():
    pad = Pad()
    pad.page = (0.0, 0.9)
    pad.loop()
    pad.push("right_stick_vert", -1.0)
    pad.controller.hear(*pad.page, "local", True)
    pad.controller.lose()
    assert pad.controller.read() == (0.0, 0.0, "user", False)
    assert pad.loop().throttle == 0.0
    pad.page = (0.0, 0.4)
    assert pad.loop().throttle == 0.4


@pytest.mark.parametrize("kind", read_layouts())
def test_know_each_control_that_a_type_uses(kind):
    known = read_layouts()[kind]
    triggers = {known.forward, known.reverse} - {""}
    assert {known.steering, known.throttle, *triggers, *known.pads} <= {*known.axes.values()}
    assert {*known.actions} <= {*known.buttons.values()}
    assert {*known.actions.values()} | {action for pair in known.pads.values() for action in pair} <= {*ACTIONS}


def test_say_nothing_in_the_file_of_layouts_that_a_layout_does_not_have():
    tables = read_toml(Path(layout.__file__).with_name("layouts.toml"))
    known = {"like", *layout.ControllerLayout.__dataclass_fields__}
    assert [(kind, key) for kind, table in tables.items() for key in table if key not in known] == []
    assert [table["like"] for table in tables.values() if table.get("like", "ps3") not in tables] == []


@pytest.fixture
def drive(tmp_path):
    """Start a joystick that reads a pipe; it ends with the test."""
    joysticks = []

    def start(**changes):
        path = tmp_path / "js0"
        joystick = Joystick(make_default_config(tmp_path, {"JOYSTICK_DEVICE_FILE": str(path), **changes}))
        thread = threading.Thread(target=joystick.update)
        thread.start()
        joysticks.append((joystick, thread))
        return joystick, path

    yield start
    for joystick, thread in joysticks:
        joystick.shutdown()
        thread.join(3)
        assert not thread.is_alive()


def loop_until(joystick, condition, page=(0.1, 0.2, "user", False)):
    wishes = []

    def loop():
        wishes.append(joystick.run_threaded(*page))
        return condition(wishes[-1])

    wait_until(loop, lambda: wishes[-1])
    return wishes[-1]


def encode(value, kind, number):
    return struct.pack("=IhBB", 0, value, kind, number)


@needs_linux
def test_drive_with_what_a_pipe_says_until_nobody_writes_to_it(drive, tmp_path, caplog):
    os.mkfifo(tmp_path / "js0")
    joystick, path = drive()
    with path.open("wb", buffering=0) as pipe:
        first_report = encode(32767, 0x82, AXIS_STEERING)
        pipe.write(first_report + encode(-32767, 0x02, AXIS_THROTTLE) + encode(16384, 0x02, AXIS_STEERING)[:5])
        pipe.write(encode(16384, 0x02, AXIS_STEERING)[5:])
        wish = loop_until(joystick, lambda wish: wish.throttle == 0.5 and wish.steering)
        assert wish.steering == pytest.approx(0.5, abs=0.001)
    loop_until(joystick, lambda wish: wish == (0.0, 0.0, "user", False))
    assert "was disconnected" in caplog.text


@needs_linux
@pytest.mark.parametrize("is_there", [False, True])
def test_let_the_page_drive_and_say_so_when_there_is_no_joystick(drive, tmp_path, caplog, is_there):
    if is_there:
        (tmp_path / "js0").write_bytes(encode(-32767, 0x02, AXIS_THROTTLE) * 10)
    joystick, _ = drive()
    loop_until(joystick, lambda _: "the page drives until there is one" in caplog.text)
    assert joystick.run_threaded(0.1, 0.2, "local", True) == (0.1, 0.2, "local", True)


MY_JOYSTICK = """
from donkeycar.parts.controller import Joystick, JoystickController

class Wheel(Joystick):
    def __init__(self, *args, **kwargs):
        super(Wheel, self).__init__(*args, **kwargs)
        self.button_names = {0x120: 'R2', 0x121: 'left'}
        self.axis_names = {0x0: 'wheel', 0x2: 'pedal'}

class MyJoystickController(JoystickController):
    def __init__(self, *args, **kwargs):
        super(MyJoystickController, self).__init__(*args, **kwargs)

    def init_js(self):
        self.js = Wheel(self.dev_fn)
        self.js.init()
        return self.js is not None

    def init_trigger_maps(self):
        self.button_down_trigger_map = {'left': self.erase_last_N_records}
        self.set_axis_trigger('wheel', self.set_steering)
        self.set_axis_trigger('pedal', self.set_throttle)
"""


def read_own_layout(folder, text=MY_JOYSTICK, **changes):
    if text:
        (folder / "my_joystick.py").write_text(text)
    return choose_layout(make_default_config(folder, {"CONTROLLER_TYPE": "custom", **changes}))


@pytest.mark.original("Programs and other files", "`my_joystick.py`", "read without donkeycar")
def test_read_a_joystick_described_for_the_original(tmp_path):
    layout = read_own_layout(tmp_path)
    assert (layout.steering, layout.throttle, layout.axes[2]) == ("wheel", "pedal", "pedal")
    assert layout.actions == {"left": "erase_last_N_records", "R2": "arm_launch"}
    assert "donkeycar" not in sys.modules


OTHER_CLASS = """
import no_such_pads as pads
from no_such_pads.pad import Pad, register
from donkeycar.parts.controller import PS4Joystick, PS4JoystickController
from donkeycar.parts.no_such_part import Part

@register("pad", rate=20)
class OtherPad(Pad, PS4Joystick):
    names = pads.NAMES.get("all")
    def __init__(self):
        super().__init__(pads.Device("/dev/pad"))

@pads.decorate
class OtherController(PS4JoystickController):
    pass
"""


@pytest.mark.original(
    "Programs and other files",
    "the same with imports that are not installed",
    "read, if its own class does without them",
)
@pytest.mark.parametrize("line", [*OTHER_CLASS.strip().splitlines()[:4], OTHER_CLASS])
@pytest.mark.parametrize("is_before", [True, False])
def test_imports_of_other_classes_cost_one_s_own_nothing(tmp_path, line, is_before):
    text = f"{line}\n{MY_JOYSTICK}" if is_before else f"{MY_JOYSTICK}\n{line}\n"
    layout = read_own_layout(tmp_path, text)
    assert (layout.steering, layout.throttle) == ("wheel", "pedal")
    assert layout.actions["left"] == "erase_last_N_records"


@pytest.mark.parametrize(
    ("line", "module"),
    [
        ("import donkeycar.parts.controller", "donkeycar.parts.controller"),
        ("import donkeycar as dk", "dk.parts.controller"),
        ("import donkeycar.parts.controller as pads", "pads"),
        ("from donkeycar.parts import controller", "controller"),
        ("from donkeycar import parts", "parts.controller"),
    ],
)
def test_the_base_classes_are_found_however_they_are_imported(tmp_path, line, module):
    _, rest = MY_JOYSTICK.split("\n\n", 1)
    rest = rest.replace("(JoystickController)", f"({module}.JoystickController)")
    layout = read_own_layout(tmp_path, f"{line}\n\n{rest.replace('(Joystick)', f'({module}.Joystick)')}")
    assert (layout.steering, layout.throttle) == ("wheel", "pedal")


def test_names_may_lie_in_a_file_beside_it(tmp_path):
    (tmp_path / "pad_names.py").write_text("import no_such_thing\nAXES = {0x0: 'wheel', 0x2: 'pedal'}\n")
    text = "from pad_names import AXES\n" + MY_JOYSTICK.replace("{0x0: 'wheel', 0x2: 'pedal'}", "AXES")
    assert read_own_layout(tmp_path, text).axes == {0: "wheel", 2: "pedal"}
    assert "pad_names" not in sys.modules


@pytest.mark.original(
    "Programs and other files", "its controls with functions of one's own", "differs: left out, and logged"
)
@pytest.mark.parametrize("own", ["self.init_js", "lambda: None", "print"])
def test_a_function_of_one_s_own_costs_its_control_only(tmp_path, caplog, own):
    text = MY_JOYSTICK.replace("'left': self.erase_last_N_records", f"'left': {own}, 'R2': self.emergency_stop")
    layout = read_own_layout(
        tmp_path,
        text.replace(
            "'pedal', self.set_throttle)", f"'pedal', self.set_throttle)\n        self.set_axis_trigger('third', {own})"
        ),
    )
    assert (layout.steering, layout.throttle) == ("wheel", "pedal")
    assert "left" not in layout.actions
    assert layout.actions["R2"] in ("emergency_stop", "arm_launch")
    assert "my_joystick.py: left does nothing, as" in caplog.text
    assert "is a function of your own." in caplog.text


def test_what_is_missing_is_named_where_the_own_class_needs_it(tmp_path):
    text = MY_JOYSTICK.replace("(JoystickController)", "(pads.Controller)").replace("\nfrom", "\nimport pads\nfrom", 1)
    with pytest.raises(SpecError, match=r"no class MyJoystickController .*it imports pads, which is not installed"):
        read_own_layout(tmp_path, text)


def test_a_joystick_of_what_is_missing_is_no_joystick(tmp_path):
    text = MY_JOYSTICK.replace("Wheel(self.dev_fn)", "MyPad(self.dev_fn)")
    with pytest.raises(SpecError, match=r"with a joystick \(it imports mylib\.pads, which is not installed\)"):
        read_own_layout(tmp_path, "from mylib.pads import MyPad\n" + text)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("", None, "make it with `donkey createjs`"),
        ("from", "from (", "line 2: this is not Python"),
        ("import Joystick,", "import Joystik,", "line 2: ImportError: cannot import name 'Joystik'"),
        ("class MyJoystickController", "class Mine", "no class MyJoystickController"),
        ("self.js = Wheel(self.dev_fn)", "raise OSError('no')", "line 15: OSError: no"),
        ("self.erase_last_N_records", "self.erase_last_n_records", "did you mean 'erase_last_N_records'"),
        ("self.set_throttle", "lambda value: None", "no axis to set_throttle"),
        ("'left': self", "'lft': self", "did you mean 'left'"),
        ("'wheel', self.", "'whel', self.", "did you mean 'wheel'"),
        ("self.set_throttle", "self.do_nothing", "no axis to set_throttle"),
    ],
)
def test_say_what_is_wrong_with_a_joystick_of_ones_own(tmp_path: Path, old, new, sentence):
    with pytest.raises(SpecError, match=r"my_joystick\.py") as caught:
        read_own_layout(tmp_path, new and MY_JOYSTICK.replace(old, new))
    assert sentence in str(caught.value)


@pytest.mark.original(
    "Programs and other files", "radio controls as `CONTROLLER_TYPE`", "differs: refused, as they are wired to a car"
)
@pytest.mark.parametrize("kind", NO_JOYSTICKS)
def test_refuse_to_drive_with_what_is_no_joystick(tmp_path, kind):
    config = make_default_config(tmp_path, {"CONTROLLER_TYPE": kind})
    with pytest.raises(SpecError, match=f"CONTROLLER_TYPE is '{kind}', which .*a simulated car takes ps3, "):
        choose_layout(config)


def test_a_control_that_has_a_code_for_a_name_is_known_by_it(tmp_path):
    layout = read_own_layout(tmp_path, MY_JOYSTICK.replace("'left':", "'unknown(0x13a)':"))
    assert layout.buttons[0x13A] == "unknown(0x13a)"
    assert "unknown(0x13a)" in layout.actions


def test_say_which_control_does_nothing(tmp_path, caplog):
    read_own_layout(tmp_path, MY_JOYSTICK.replace("self.erase_last_N_records", "self.print_controls"))
    assert "left does nothing, as there is no print_controls here." in caplog.text


@pytest.mark.original("Programs and other files", "two axes for one action in `my_joystick.py`", "as it is")
def test_of_two_axes_that_do_the_same_the_last_moved_counts(tmp_path):
    text = MY_JOYSTICK.replace("0x2: 'pedal'", "0x2: 'pedal', 0x5: 'knee'")
    layout = read_own_layout(tmp_path, text + "        self.set_axis_trigger('knee', self.set_throttle)\n")
    assert ("knee", "throttle") in layout.list_controls()
    pad = Pad(layout=layout, max_throttle=1.0)
    assert pad.push("pedal", -0.5).throttle == 0.5
    assert pad.push("knee", -0.75).throttle == 0.75
    assert pad.push("wheel", 0.25)[:2] == (0.25, 0.75)


def test_know_every_type_that_a_configuration_may_name():
    assert {*CONTROLLER_TYPES} == {*read_layouts(), *NO_JOYSTICKS, "custom"}


def test_say_so_when_a_launch_cannot_be_armed_for_want_of_the_button(tmp_path, caplog):
    launch = {"AI_LAUNCH_DURATION": 1.0, "AI_LAUNCH_THROTTLE": 0.5}
    choose_layout(make_default_config(tmp_path, launch | {"CONTROLLER_TYPE": "ps4"}))
    choose_layout(make_default_config(tmp_path, launch | {"AI_LAUNCH_KEEP_ENABLED": True}))
    assert caplog.messages == []
    choose_layout(make_default_config(tmp_path, launch))
    assert "AI_LAUNCH_ENABLE_BUTTON is 'R2', a button that this joystick does not have" in caplog.text


def test_tell_the_record_count_with_the_button_that_does_not_record():
    pad, told = Pad("ps3"), []
    pad.controller.handlers["tell_record_count"] = lambda: told.append(1)
    assert (pad.press("circle").recording, told) == (False, [1])
    pad = Pad("ps3", auto_record=False)
    assert pad.press("circle").recording is True


def test_list_what_the_controls_do(tmp_path):
    lines = Joystick(make_default_config(tmp_path)).describe_controls().splitlines()
    assert lines[:2] == ["Joystick Controls:", "  left_stick_horz   steering"]
    assert "  a_button          toggle_mode" in lines
