"""What the axes and buttons of controllers are called and what they do; the tables stand in `layouts.toml`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from donkeysim.core.config import read_toml

ACTIONS = (
    *("toggle_mode", "toggle_manual_recording", "erase_last_N_records", "erase_or_stop", "emergency_stop"),
    *("increase_max_throttle", "decrease_max_throttle", "toggle_constant_throttle"),
    *("chaos_monkey_on_left", "chaos_monkey_on_right", "arm_launch", "next_behavior"),
)
"""What a button can do, under the original's names. erase_or_stop erases records in user mode and is an emergency stop
in the others."""


@dataclass(frozen=True)
class ControllerLayout:
    """One type of controller.

    Attributes:
        axes: Name of each axis by its code.
        buttons: Name of each button by its code.
        steering: The axis that steers, -1 left to 1 right.
        throttle: The axis that gives throttle, -1 up to 1 down.
        actions: What a button does when it is pressed.
        forward: An axis that drives forward, -1 released to 1 pressed; "" for none.
        reverse: The same backwards.
        pads: Axes that act as two buttons: name of the axis to the actions at -1 and at 1.
        is_reversed: Whether steering and throttle come with the other sign.
        doubles: Further axes that do the same as another: the one that was moved last counts.
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
    doubles: Mapping[str, str] = field(default_factory=dict)

    def list_controls(self) -> list[tuple[str, str]]:
        """Return each control that does something and what it does, for the driver to read."""
        triggers = [(name, way) for name, way in ((self.forward, "forward"), (self.reverse, "reverse")) if name]
        pads = [(f"{name}, either way", " / ".join(actions)) for name, actions in self.pads.items()]
        sticks = [(self.steering, "steering"), (self.throttle, "throttle")]
        doubles = [(name, dict(sticks)[double]) for name, double in self.doubles.items()]
        return [*sticks, *doubles, *triggers, *pads, *self.actions.items()]


NO_JOYSTICKS: Mapping[str, str] = {
    "MM1": "is a board between a radio and a real car",
    "pigpio_rc": "is a radio receiver on the pins of a Raspberry Pi",
    "mock": "only gives fixed values, to try a car without a joystick; `donkey sample` drives by itself",
}
"""Those of the original's that are no joysticks, and what they are."""


@cache
def read_layouts() -> Mapping[str, ControllerLayout]:
    """Return what each CONTROLLER_TYPE calls its controls. The original's "pygame" is a PS4 controller."""
    tables: dict[str, dict[str, Any]] = {}
    for kind, table in read_toml(Path(__file__).with_name("layouts.toml")).items():
        tables[kind] = tables.get(table.pop("like", ""), {}) | table
        for codes in ("axes", "buttons"):
            if codes in table:
                tables[kind][codes] = {int(code, 16): name for code, name in table[codes].items()}
    return {kind: msgspec.convert(table, ControllerLayout) for kind, table in tables.items()}
