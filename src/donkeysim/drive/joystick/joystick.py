"""A joystick as a part of the car: reads the device in a thread, says once in every loop what it wants.

A joystick may be missing at the start, be pulled out, and come back; meanwhile the page drives. When it is pulled out
the car stops.
"""

import contextlib
import logging
import queue
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from donkeysim.car.config import Config
from donkeysim.core.errors import SpecError
from donkeysim.drive.joystick.controller import Controller, Feel, JoystickCommand
from donkeysim.drive.joystick.custom import load_layout
from donkeysim.drive.joystick.device import JoystickDevice, JoystickEvent
from donkeysim.drive.joystick.layout import NO_JOYSTICKS, ControllerLayout, read_layouts

LOOK_AGAIN_SECONDS = 1.0
READ_SECONDS = 0.1

logger = logging.getLogger(__name__)


class Joystick:
    """Reads JOYSTICK_DEVICE_FILE; a threaded part."""

    def __init__(self, config: Config) -> None:
        """Learn what the controls do.

        Args:
            config: The car's: CONTROLLER_TYPE, JOYSTICK_…, AUTO_RECORD_ON_THROTTLE, AI_LAUNCH_ENABLE_BUTTON,
                TRAIN_BEHAVIORS, CAR_PATH.

        Raises:
            SpecError: CONTROLLER_TYPE is no joystick, or custom, and my_joystick.py is missing or wrong.
        """
        self._path = str(config.JOYSTICK_DEVICE_FILE)
        feel = Feel(
            config.JOYSTICK_STEERING_SCALE,
            config.JOYSTICK_MAX_THROTTLE,
            config.JOYSTICK_DEADZONE,
            config.JOYSTICK_THROTTLE_DIR,
            bool(config.AUTO_RECORD_ON_THROTTLE),
        )
        self._controller = Controller(choose_layout(config), feel)
        self._events: queue.SimpleQueue[JoystickEvent | None] = queue.SimpleQueue()
        self._ended = threading.Event()

    def on(self, action: str, handler: Callable[[], object]) -> None:
        """Call a function, in the vehicle's loop, when the button for an action is pressed."""
        self._controller.handlers[action] = handler

    def describe_controls(self) -> str:
        """Return what the controls do, a line each."""
        controls = self._layout.list_controls()
        width = max(len(name) for name, _ in controls)
        return "Joystick Controls:\n" + "\n".join(f"  {name:<{width}}  {action}" for name, action in controls)

    def update(self) -> None:
        """Read the device until `shutdown`; look for it again and again while it is not there."""
        if sys.platform != "linux":
            logger.warning("Joysticks are only supported on Linux; here choose Gamepad on the control page.")
            return
        reported = ""
        while not self._ended.is_set():
            try:
                device = JoystickDevice(self._path, self._layout.axes, self._layout.buttons)
            except OSError as error:
                reason = error.strerror or str(error)
                if reason != reported:
                    logger.warning("No joystick at %s (%s): the page drives until there is one.", self._path, reason)
                reported = reason
            else:
                reported = self._read(device)
            self._ended.wait(LOOK_AGAIN_SECONDS)

    def run_threaded(
        self, steering: float | None, throttle: float | None, mode: str | None, recording: bool | None
    ) -> JoystickCommand:
        """Return steering, throttle, mode and recording: the page's, or what the joystick makes of them."""
        self._controller.hear(steering, throttle, mode, recording)
        with contextlib.suppress(queue.Empty):
            while True:
                event = self._events.get_nowait()
                if event:
                    self._controller.take(event)
                else:
                    self._controller.lose()
        return self._controller.read()

    def shutdown(self) -> None:
        """Stop reading."""
        self._ended.set()

    @property
    def _layout(self) -> ControllerLayout:
        return self._controller.layout

    def _read(self, device: JoystickDevice) -> str:
        """Read until the device is gone or the drive ends; return what was last logged about it."""
        logger.info("Joystick %s at %s", device.name or "without a name", self._path)
        try:
            while not self._ended.is_set():
                event = device.read(READ_SECONDS)
                if event:
                    self._events.put(event)
        except OSError as error:
            self._events.put(None)
            logger.warning(
                "The joystick at %s was disconnected (%s): the car stops.", self._path, error.strerror or error
            )
        finally:
            device.close()
        return "No such file or directory"


def choose_layout(config: Config) -> ControllerLayout:
    """Return what the controls of the car's joystick are called and do.

    Raises:
        SpecError: CONTROLLER_TYPE is no joystick, or custom, and my_joystick.py is missing or wrong.
    """
    kind = config.CONTROLLER_TYPE
    if kind in NO_JOYSTICKS:
        raise SpecError(
            f"{config.locate('CONTROLLER_TYPE')} is {kind!r}, which {NO_JOYSTICKS[kind]}; a simulated car takes "
            f"{', '.join(read_layouts())} or custom."
        )
    layout = load_layout(Path(config.CAR_PATH) / "my_joystick.py") if kind == "custom" else read_layouts()[kind]
    extra = {"L1": "next_behavior"} if config.TRAIN_BEHAVIORS else {}
    extra[config.AI_LAUNCH_ENABLE_BUTTON] = "arm_launch"
    buttons = layout.buttons.values()
    must_be_armed = config.AI_LAUNCH_DURATION and not config.AI_LAUNCH_KEEP_ENABLED
    if must_be_armed and config.AI_LAUNCH_ENABLE_BUTTON not in buttons:
        logger.warning(
            "%s is %r, a button that this joystick does not have, so no launch can be armed; it has %s.",
            config.locate("AI_LAUNCH_ENABLE_BUTTON"),
            config.AI_LAUNCH_ENABLE_BUTTON,
            ", ".join(buttons),
        )
    known = {button: action for button, action in extra.items() if button in buttons}
    return replace(layout, actions={**layout.actions, **known})
