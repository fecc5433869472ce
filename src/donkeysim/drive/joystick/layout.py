"""What the axes and buttons of controllers are called and what they do, as data.

Codes are those of the Linux input system (`input-event-codes.h`), which the joystick device tells for each of its axes
and buttons. The tables are the original's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

ACTIONS = (
    "toggle_mode",
    "toggle_manual_recording",
    "erase_last_N_records",
    "erase_or_stop",
    "emergency_stop",
    "increase_max_throttle",
    "decrease_max_throttle",
    "toggle_constant_throttle",
    "chaos_monkey_on_left",
    "chaos_monkey_on_right",
    "arm_launch",
    "next_behavior",
)
"""What a button can do, under the original's names. erase_or_stop erases records in user mode and is an emergency stop
in the others."""


@dataclass(frozen=True)
class Layout:
    """One type of controller.

    Attributes:
        axes: Name of each axis by its code.
        buttons: Name of each button by its code.
        steering: The axis that steers, -1 left to 1 right.
        throttle: The axis that gives throttle, -1 up to 1 down.
        actions: What a button does when it is pressed.
        forward: An axis that drives forward, -1 released to 1 pressed; "" for none.
        reverse: Likewise backwards.
        pads: Axes that act as two buttons: name of the axis to the actions at -1 and at 1.
        is_reversed: Whether steering and throttle come with the other sign.
    """

    axes: Mapping[int, str]
    buttons: Mapping[int, str]
    steering: str
    throttle: str
    actions: Mapping[str, str]
    forward: str = ""
    reverse: str = ""
    pads: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    is_reversed: bool = False

    def list_controls(self) -> list[tuple[str, str]]:
        """Return each control that does something and what it does, for the driver to read."""
        triggers = [(name, way) for name, way in ((self.forward, "forward"), (self.reverse, "reverse")) if name]
        pads = [(f"{name}, either way", " / ".join(actions)) for name, actions in self.pads.items()]
        return [(self.steering, "steering"), (self.throttle, "throttle"), *triggers, *pads, *self.actions.items()]


_STICKS = {0x00: "left_stick_horz", 0x01: "left_stick_vert", 0x03: "right_stick_horz", 0x04: "right_stick_vert"}

_PS3_ACTIONS = {
    "select": "toggle_mode",
    "circle": "toggle_manual_recording",
    "triangle": "erase_last_N_records",
    "cross": "emergency_stop",
    "dpad_up": "increase_max_throttle",
    "dpad_down": "decrease_max_throttle",
    "start": "toggle_constant_throttle",
    "R1": "chaos_monkey_on_right",
    "L1": "chaos_monkey_on_left",
}

_PS3 = Layout(
    axes={**_STICKS, 0x02: "L2_pressure", 0x05: "R2_pressure"},
    buttons={
        0x130: "cross",
        0x131: "circle",
        0x133: "triangle",
        0x134: "square",
        0x136: "L1",
        0x137: "R1",
        0x138: "L2",
        0x139: "R2",
        0x13A: "select",
        0x13B: "start",
        0x13C: "PS",
        0x13D: "L3",
        0x13E: "R3",
        0x220: "dpad_up",
        0x221: "dpad_down",
        0x222: "dpad_left",
        0x223: "dpad_right",
    },
    steering="left_stick_horz",
    throttle="right_stick_vert",
    actions=_PS3_ACTIONS,
)

_PS3_SIXAD = Layout(
    axes={0x00: "left_stick_horz", 0x01: "left_stick_vert", 0x02: "right_stick_horz", 0x03: "right_stick_vert"},
    buttons={
        0x120: "select",
        0x121: "L3",
        0x122: "R3",
        0x123: "start",
        0x124: "dpad_up",
        0x125: "dpad_right",
        0x126: "dpad_down",
        0x127: "dpad_left",
        0x128: "L2",
        0x129: "R2",
        0x12A: "L1",
        0x12B: "R1",
        0x12C: "triangle",
        0x12D: "circle",
        0x12E: "cross",
        0x12F: "square",
        0x130: "PS",
    },
    steering="right_stick_horz",
    throttle="left_stick_vert",
    actions=_PS3_ACTIONS,
)

_PS4 = Layout(
    axes={
        **_STICKS,
        0x02: "left_trigger_axis",
        0x05: "right_trigger_axis",
        0x06: "motion_a",
        0x07: "motion_b",
        0x08: "motion_c",
        0x10: "dpad_leftright",
        0x11: "dpad_updown",
        0x19: "tilt_a",
        0x1A: "tilt_b",
        0x1B: "tilt_c",
    },
    buttons={
        0x130: "cross",
        0x131: "circle",
        0x133: "triangle",
        0x134: "square",
        0x136: "L2",
        0x137: "R2",
        0x138: "L1",
        0x139: "R1",
        0x13A: "share",
        0x13B: "options",
        0x13C: "PS",
        0x13D: "pad",
    },
    steering="left_stick_horz",
    throttle="right_stick_vert",
    actions={
        "share": "toggle_mode",
        "circle": "toggle_manual_recording",
        "triangle": "erase_last_N_records",
        "cross": "emergency_stop",
        "L1": "increase_max_throttle",
        "R1": "decrease_max_throttle",
        "options": "toggle_constant_throttle",
    },
)

_XBOX = Layout(
    axes={
        0x00: "left_stick_horz",
        0x01: "left_stick_vert",
        0x02: "right_stick_horz",
        0x05: "right_stick_vert",
        0x09: "right_trigger",
        0x0A: "left_trigger",
        0x10: "dpad_horiz",
        0x11: "dpad_vert",
    },
    buttons={
        0x130: "a_button",
        0x131: "b_button",
        0x133: "x_button",
        0x134: "y_button",
        0x136: "left_shoulder",
        0x137: "right_shoulder",
        0x13B: "options",
    },
    steering="left_stick_horz",
    throttle="right_stick_vert",
    forward="right_trigger",
    reverse="left_trigger",
    actions={
        "a_button": "toggle_mode",
        "b_button": "toggle_manual_recording",
        "x_button": "erase_last_N_records",
        "y_button": "emergency_stop",
        "right_shoulder": "increase_max_throttle",
        "left_shoulder": "decrease_max_throttle",
        "options": "toggle_constant_throttle",
    },
)

_NIMBUS = Layout(
    axes={0x00: "lx", 0x01: "ly", 0x02: "rx", 0x05: "ry", 0x10: "dpad_horz", 0x11: "dpad_vert"},
    buttons={
        0x130: "a",
        0x131: "b",
        0x132: "x",
        0x133: "y",
        0x134: "L1",
        0x135: "R1",
        0x136: "L2",
        0x137: "R2",
    },
    steering="lx",
    throttle="ry",
    actions={"y": "erase_last_N_records", "b": "toggle_mode", "a": "emergency_stop"},
)

_WIIU = Layout(
    axes={0x00: "LEFT_STICK_X", 0x01: "LEFT_STICK_Y", 0x03: "RIGHT_STICK_X", 0x04: "RIGHT_STICK_Y"},
    buttons={
        0x130: "B",
        0x131: "A",
        0x133: "X",
        0x134: "Y",
        0x136: "LEFT_TOP_TRIGGER",
        0x137: "RIGHT_TOP_TRIGGER",
        0x138: "LEFT_BOTTOM_TRIGGER",
        0x139: "RIGHT_BOTTOM_TRIGGER",
        0x13A: "SELECT",
        0x13B: "START",
        0x13D: "LEFT_STICK_PRESS",
        0x13E: "RIGHT_STICK_PRESS",
        0x220: "PAD_UP",
        0x222: "PAD_LEFT",
        0x223: "PAD_RIGHT",
        0x224: "PAD_DOWN",
    },
    steering="LEFT_STICK_X",
    throttle="RIGHT_STICK_Y",
    actions={"Y": "erase_last_N_records", "B": "toggle_mode", "A": "emergency_stop"},
)

_F710 = Layout(
    axes={
        **_STICKS,
        0x02: "L2_pressure",
        0x05: "R2_pressure",
        0x10: "dpad_leftright",
        0x11: "dpad_up_down",
    },
    buttons={
        0x130: "A",
        0x131: "B",
        0x133: "X",
        0x134: "Y",
        0x136: "L1",
        0x137: "R1",
        0x13A: "back",
        0x13B: "start",
        0x13C: "Logitech",
        0x13D: "left_stick_press",
        0x13E: "right_stick_press",
    },
    steering="left_stick_horz",
    throttle="right_stick_vert",
    pads={"dpad_up_down": ("increase_max_throttle", "decrease_max_throttle")},
    actions={
        "start": "toggle_mode",
        "B": "toggle_manual_recording",
        "Y": "erase_last_N_records",
        "A": "emergency_stop",
        "back": "toggle_constant_throttle",
        "R1": "chaos_monkey_on_right",
        "L1": "chaos_monkey_on_left",
    },
)

_RC3 = Layout(
    axes={0x00: "Steering", 0x01: "Throttle"},
    buttons={0x120: "Switch-up", 0x121: "Switch-down"},
    steering="Steering",
    throttle="Throttle",
    actions={"Switch-down": "toggle_mode", "Switch-up": "erase_or_stop"},
    is_reversed=True,
)

LAYOUTS: Mapping[str, Layout] = {
    "ps3": _PS3,
    "ps3sixad": _PS3_SIXAD,
    "ps4": _PS4,
    "xbox": _XBOX,
    "xboxswapped": replace(_XBOX, steering="right_stick_horz", throttle="left_stick_vert"),
    "nimbus": _NIMBUS,
    "wiiu": _WIIU,
    "F710": _F710,
    "rc3": _RC3,
    "pygame": _PS4,
}
"""By CONTROLLER_TYPE. The original's "pygame" is a PS4 controller, read by other means."""

NO_JOYSTICKS: Mapping[str, str] = {
    "MM1": "is a board between a radio and a real car",
    "pigpio_rc": "is a radio receiver on the pins of a Raspberry Pi",
    "mock": "only says fixed values, to try a car without a joystick; `donkey sample` drives without anybody",
}
"""Those of the original's that are no joysticks, and what they are."""
