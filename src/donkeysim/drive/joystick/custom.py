"""my_joystick.py: a joystick of one's own, described as the original describes it, so that both can use the file.

Such a file has a class MyJoystickController whose methods say which class names the controls (`init_js`) and what the
controls do (`init_trigger_maps`). It imports both base classes from donkeycar; here it gets stand-ins instead, which
open no device and only write down what the file says. For an unknown joystick people are asked to move and press one
control after the other.
"""

import builtins
import logging
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, Self, cast

from donkeysim.car.config import describe_failure
from donkeysim.core.errors import SpecError, describe_unknown
from donkeysim.drive.joystick.device import JoystickDevice
from donkeysim.drive.joystick.layout import ACTIONS, ControllerLayout

_log = logging.getLogger(__name__)

TEXT_FILE = Path(__file__).with_name("my_joystick.txt")
"""A my_joystick.py with gaps for what a joystick has."""

CHAOS = ("chaos_monkey_on_left", "chaos_monkey_on_right")
SURVEYED_ACTIONS = tuple(action for action in ACTIONS if action != "erase_or_stop")
"""What such a file can give a button."""

BUTTONS_BY_NAME = {"arm_launch": "R2", "next_behavior": "L1"}
"""Actions that a car gives to the button of this name by itself, the first by its key AI_LAUNCH_ENABLE_BUTTON."""

# A movement that nobody makes by chance.
FAR = 0.7
"""An axis that passes this was moved on purpose."""

BUTTON_NAMES = BUTTONS_BY_NAME | {"toggle_manual_recording": "circle"}
"""Names by which cars know buttons; the original's lets "circle" say the record count while throttle records."""

UNOFFERED = ("chaos_monkey_off", "print_controls")
"""What the original's controller has besides, when a button is pressed."""

_CODE = re.compile(r"unknown\(0x([0-9a-f]+)\)")

UNTOLD_AXES, UNTOLD_BUTTONS = range(8), range(0x130, 0x140)
"""Codes of a device that does not list them."""


class StandInJoystick:
    """Stands for the original's class Joystick."""

    def __init__(self, dev_fn: str = "") -> None:
        self.dev_fn = dev_fn
        self.axis_names: dict[int, str] = {}
        self.button_names: dict[int, str] = {}

    def init(self) -> bool:
        """Open nothing."""
        return True


class StandInController:
    """Stands for the original's class JoystickController; each method it is asked for is the name of an action."""

    js: StandInJoystick | None

    def __init__(self, **_: object) -> None:
        self.dev_fn = ""
        self.js = None
        self.button_down_trigger_map: dict[str, Any] = {}
        self.button_up_trigger_map: dict[str, Any] = {}
        self.axis_trigger_map: dict[str, Any] = {}
        self.init_trigger_maps()

    def init_trigger_maps(self) -> None:
        """Leave all controls without an action."""

    def init_js(self) -> bool:
        """Have no joystick."""
        return False

    def set_button_down_trigger(self, button: str, action: Any) -> None:
        """Note what a button does."""
        self.button_down_trigger_map[button] = action

    def set_button_up_trigger(self, button: str, action: Any) -> None:
        """Note what a button does when it is let go."""
        self.button_up_trigger_map[button] = action

    def set_axis_trigger(self, axis: str, action: Any) -> None:
        """Note what an axis does."""
        self.axis_trigger_map[axis] = action

    def __getattr__(self, name: str) -> str:
        if name.startswith("__"):
            raise AttributeError(name)
        return name


class _MissingType(type):
    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _MissingType(name, (Missing,), {})  # of its own, as one class may have several as bases


class Missing(metaclass=_MissingType):
    """Stands for what a file imports and is not installed, as long as its own class does without it."""

    def __init__(self, *_: object, **__: object) -> None:
        """Take whatever it is given."""

    def __call__(self, *_: object, **__: object) -> Self:
        """Be called as a function or a decorator."""
        return self

    def __getattr__(self, name: str) -> Self:
        if name.startswith("__"):
            raise AttributeError(name)
        return self


def load_layout(path: Path) -> ControllerLayout:
    """Return what a my_joystick.py says.

    Raises:
        SpecError: The file is missing, is no Python, has no such class, or names what there is not.
    """
    if not path.is_file():
        raise SpecError(f"CONTROLLER_TYPE is custom, but there is no {path}; make it with `donkey createjs`.")
    missing: list[str] = []
    try:
        controller = _make_controller(path, missing)
    except Exception as error:
        raise SpecError(f"{describe_failure(path, error)} Create it again with `donkey createjs`.") from error
    js = None if controller is None else controller.js
    tables = [getattr(js, name, None) for name in ("axis_names", "button_names")]
    if controller is None or not all(isinstance(table, dict) for table in tables):
        lacks = f" (it imports {', '.join(missing)}, which is not installed)" if missing else ""
        raise SpecError(
            f"{path} has no class MyJoystickController with a joystick{lacks}; make it with `donkey createjs`."
        )
    axes, buttons = (cast(dict[int, str], table) for table in tables)
    used_axes: dict[str, str] = {}
    doubles: dict[str, str] = {}
    for axis, action in _leave_out_strange(path, "axis", controller.axis_trigger_map, axes):
        first = used_axes.setdefault(_check_action(path, action, ("set_steering", "set_throttle", "do_nothing")), axis)
        if first != axis and action != "do_nothing":
            doubles[axis] = first
    for action in ("set_steering", "set_throttle"):
        if action not in used_axes:
            raise SpecError(f"{path} gives no axis to {action}; create it again with `donkey createjs`.")
    actions = {
        button: _check_action(path, action, SURVEYED_ACTIONS)
        for button, action in _leave_out_strange(path, "button", controller.button_down_trigger_map, buttons)
    }
    sticks = used_axes["set_steering"], used_axes["set_throttle"]
    return ControllerLayout(axes, buttons, *sticks, actions, doubles=doubles)


def _make_controller(path: Path, missing: list[str]) -> StandInController | None:
    """Run the file and return its controller, None when it has none; what it imports in vain joins `missing`."""

    def import_or_stand_in(name: str, *arguments: Any) -> Any:
        if name in _STAND_INS:  # `import a.b` gives a, `from a.b import c` b
            return _STAND_INS[name if len(arguments) > 2 and arguments[2] else "donkeycar"]
        if (beside := path.parent / f"{name}.py").is_file():
            return run(beside)
        try:
            return builtins.__import__(name, *arguments)
        except ModuleNotFoundError:
            missing.append(name)
            return Missing

    def run(file: Path) -> ModuleType:
        module = ModuleType(file.stem)
        own = {"__file__": str(file), "__builtins__": {**vars(builtins), "__import__": import_or_stand_in}}
        vars(module).update(own)
        exec(compile(file.read_bytes(), str(file), "exec"), vars(module))
        return module

    kind = getattr(run(path), "MyJoystickController", None)
    if not (isinstance(kind, type) and issubclass(kind, StandInController)):
        return None
    controller = kind()
    controller.init_js()
    return controller


def _find_other(name: str) -> Any:
    """Return what stands for another class of the original's module, such as PS4Joystick."""
    if name.endswith(("Joystick", "Controller")):
        return getattr(Missing, name)
    raise AttributeError(name)


def _stand_in(name: str, **members: Any) -> ModuleType:
    module = ModuleType(name)
    vars(module).update(members)
    return module


_CONTROLLER = _stand_in(
    "controller", Joystick=StandInJoystick, JoystickController=StandInController, __getattr__=_find_other
)
_PARTS = _stand_in("parts", controller=_CONTROLLER, __getattr__=lambda name: getattr(Missing, name))
_STAND_INS = {
    "donkeycar": _stand_in("donkeycar", parts=_PARTS, __getattr__=lambda name: getattr(Missing, name)),
    "donkeycar.parts": _PARTS,
    "donkeycar.parts.controller": _CONTROLLER,
}
"""The original's modules that such a file imports, by their names; an installed original is not asked."""


def _leave_out_strange(
    path: Path, kind: str, actions: Mapping[str, Any], names: dict[int, str]
) -> Iterator[tuple[str, str]]:
    """Yield controls and what they do, but those that nobody has or that do something of the file's own (logged).

    Args:
        kind: "axis" or "button".
        names: By codes; controls that have none there are known by their codes, as "unknown(0x13a)".

    Raises:
        SpecError: No control has such a name.
    """
    for control, action in actions.items():
        if not isinstance(action, str):
            name = getattr(action, "__name__", repr(action))
            _log.warning("%s: %s does nothing, as %s is a function of your own.", path, control, name)
            continue
        if (code := _CODE.fullmatch(str(control))) is not None:
            names.setdefault(int(code[1], 16), str(control))
        if control not in names.values():
            raise SpecError(f"{path}: {describe_unknown(kind, str(control), names.values())}")
        if action in UNOFFERED:
            _log.warning("%s: %s does nothing, as there is no %s here.", path, control, action)
        else:
            yield control, action


def _check_action(path: Path, action: str, allowed: Sequence[str]) -> str:
    if action not in allowed:
        raise SpecError(f"{path}: {describe_unknown('action', action, allowed)}")
    return action


def format_layout(layout: ControllerLayout, device_name: str) -> str:
    """Return the text of a my_joystick.py that says the same as a layout without triggers and pads."""
    actions = {button: action for button, action in layout.actions.items() if action not in BUTTONS_BY_NAME}
    released = dict.fromkeys((button for button, action in actions.items() if action in CHAOS), "chaos_monkey_off")
    moved = {layout.steering: "set_steering", layout.throttle: "set_throttle"}
    return TEXT_FILE.read_text(encoding="utf-8").format(
        device_name=repr(device_name) if device_name else "a joystick without a name",
        axes=_format_rows({code: repr(name) for code, name in layout.axes.items()}),
        buttons=_format_rows({code: repr(name) for code, name in layout.buttons.items()}),
        down=_format_rows({button: f"self.{action}" for button, action in actions.items()}),
        up=_format_rows({button: f"self.{action}" for button, action in released.items()}),
        moved=_format_rows({axis: f"self.{action}" for axis, action in moved.items()}),
    )


def _format_rows(rows: Mapping[Any, str]) -> str:
    lines = [f"            {hex(key) if isinstance(key, int) else repr(key)}: {text},\n" for key, text in rows.items()]
    return "{\n" + "".join(lines) + "        }" if lines else "{}"


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
