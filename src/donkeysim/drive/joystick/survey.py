"""Finding out which control of an unknown joystick does what, by asking to move and press them one after the other."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal

from donkeysim.core.errors import SpecError
from donkeysim.drive.joystick.custom import BUTTONS_BY_NAME, SURVEYED_ACTIONS
from donkeysim.drive.joystick.device import JoystickDevice
from donkeysim.drive.joystick.layout import ControllerLayout

FAR = 0.7
"""An axis that passes this was moved on purpose."""

BUTTON_NAMES = BUTTONS_BY_NAME | {"toggle_manual_recording": "circle"}
"""Names by which cars know buttons; the original's lets "circle" say the record count while throttle records."""

UNTOLD_AXES, UNTOLD_BUTTONS = range(8), range(0x130, 0x140)
"""Codes of a device that does not list them."""


def survey_layout(device: JoystickDevice, seconds: float, say: Callable[[str], object]) -> ControllerLayout:
    """Return what the controls of a joystick are called and shall do.

    Args:
        seconds: How long each control is waited for [s]; a button that is not pressed in time is left out.
        say: Tells the driver what to do.

    Raises:
        SpecError: No axis for steering or throttle was moved.
        OSError: The joystick is gone.
    """
    axes: dict[int, str] = {}
    for name, how in (("steering", "Push the steering fully to one side"), ("throttle", "Push the throttle fully up")):
        say(f"{how} ...")
        code = _await_control(device, "axis", axes, seconds)
        if code is None:
            raise SpecError(
                f"nothing moved in {seconds:g} s, but a car needs {name}; start again and push it all the way."
            )
        axes[code] = name
    buttons: dict[int, str] = {}
    actions: dict[str, str] = {}
    for action in SURVEYED_ACTIONS:
        say(f"Press the button for {action}, or wait {seconds:g} s for none ...")
        code = _await_control(device, "button", buttons, seconds)
        if code is not None:
            buttons[code] = BUTTON_NAMES.get(action, f"button_{code:x}")
            actions[buttons[code]] = action
    return ControllerLayout(axes, buttons, "steering", "throttle", actions)


def _await_control(
    device: JoystickDevice, kind: Literal["axis", "button"], taken: dict[int, str], seconds: float
) -> int | None:
    """Return the code of the next control that is moved and is not taken; None: none was."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        event = device.read(left)
        if event and event.kind == kind and abs(event.value) > FAR and event.code not in taken:
            return event.code
    return None
