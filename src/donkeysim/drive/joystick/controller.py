"""What the axes and buttons of a joystick make of the car's wishes; no device, no thread.

Two may drive at once, the page and the joystick. A joystick that is deflected beyond the dead zone drives, and keeps
doing so after it is let go (throttle 0), until the page's steering or throttle changes.
"""

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from donkeysim.drive.joystick.device import JoystickEvent
from donkeysim.drive.joystick.layout import ControllerLayout
from donkeysim.drive.parts.driving import MODES

logger = logging.getLogger(__name__)

THROTTLE_STEP = 0.01
CHAOS_STEERING = 0.2
# From full reverse to nothing within 20 loops, a second.
RELEASE_STEP = 0.05
"""By so much an emergency stop eases off in each loop."""


class JoystickCommand(NamedTuple):
    """What the car shall do; steering + = right, both -1 to 1."""

    steering: float
    throttle: float
    mode: str
    recording: bool


@dataclass(frozen=True)
class Feel:
    """How the sticks feel; see the keys JOYSTICK_… and AUTO_RECORD_ON_THROTTLE of a car's configuration."""

    steering_scale: float = 1.0
    max_throttle: float = 0.5
    dead_zone: float = 0.01
    throttle_direction: float = -1.0
    auto_record: bool = True


class Controller:
    """Follows events and says once in every loop what they make of the page's wish.

    Attributes:
        handlers: What is called for the actions that concern other parts: erase_last_N_records, arm_launch,
            next_behavior, and tell_record_count, which the button for recording does while throttle records. An action
            without a handler only logs that it cannot be done here.
    """

    def __init__(self, layout: ControllerLayout, feel: Feel) -> None:
        self.layout = layout
        self.feel = feel
        self.handlers: dict[str, Callable[[], object]] = {}
        self.max_throttle = feel.max_throttle
        self._steering_axis = 0.0
        self._throttle_axis = 0.0
        self._drives = False
        self._is_constant = False
        self._chaos = 0.0
        self._braking: deque[float] = deque()
        self._mode = MODES[0]
        self._recording = False
        self._recording_before_chaos = False
        self._page = (0.0, 0.0)
        self._pads: dict[str, int] = {}
        self._own_actions: dict[str, Callable[[], object]] = {
            "toggle_mode": self._toggle_mode,
            "toggle_manual_recording": self._toggle_recording,
            "erase_or_stop": self._erase_or_stop,
            "emergency_stop": self._stop_hard,
            "increase_max_throttle": lambda: self._change_max_throttle(THROTTLE_STEP),
            "decrease_max_throttle": lambda: self._change_max_throttle(-THROTTLE_STEP),
            "toggle_constant_throttle": self._toggle_constant,
            "chaos_monkey_on_left": lambda: self._begin_chaos(-CHAOS_STEERING),
            "chaos_monkey_on_right": lambda: self._begin_chaos(CHAOS_STEERING),
        }

    def hear(self, steering: float | None, throttle: float | None, mode: str | None, recording: bool | None) -> None:
        """Begin a loop: take note of what the page wants; None: nothing yet."""
        page = (steering or 0.0, throttle or 0.0)
        is_held = max(abs(self._steering_axis), abs(self._throttle_axis)) > self.feel.dead_zone
        if page != self._page and not is_held and not self._is_constant:
            self._drives = False
        self._page = page
        self._mode = mode or MODES[0]
        self._recording = bool(recording)

    def take(self, event: JoystickEvent) -> None:
        """Follow what was moved or pressed."""
        if event.kind == "axis":
            self._move(self.layout.axes.get(event.code, ""), event.value)
            return
        action = self.layout.actions.get(self.layout.buttons.get(event.code, ""), "")
        if event.value:
            self._act(action)
        elif action.startswith("chaos_monkey"):
            self._end_chaos()

    def lose(self) -> None:
        """Stop the car: the joystick is gone. The page drives again as soon as its steering or throttle changes."""
        self._end_chaos()
        self._steering_axis = self._throttle_axis = 0.0
        self._is_constant = False
        self._drives = True
        self._braking.clear()
        self._mode = MODES[0]
        self._recording = False

    def read(self) -> JoystickCommand:
        """End a loop: return what the car shall do."""
        steering, throttle = self._page
        if self._drives:
            steering, throttle = self._steering_axis * self.feel.steering_scale, self._throttle
        if self._braking:
            steering, throttle = 0.0, self._braking.popleft()
        if self._chaos:
            steering, self._recording = self._chaos, False
        return JoystickCommand(_limit(steering), _limit(throttle), self._mode, self._recording)

    @property
    def _throttle(self) -> float:
        if self._is_constant:
            return self.max_throttle
        return self.feel.throttle_direction * self._throttle_axis * self.max_throttle

    def _move(self, name: str, value: float) -> None:
        sign = -1.0 if self.layout.is_reversed else 1.0
        name = self.layout.doubles.get(name, name)
        if name == self.layout.steering:
            self._steering_axis = sign * value
        elif name == self.layout.throttle:
            self._push(sign * value)
        elif name and name == self.layout.forward:
            self._push(-(value + 1) / 2)
        elif name and name == self.layout.reverse:
            self._push((value + 1) / 2)
        elif name in self.layout.pads:
            self._press_pad(name, round(value))
        if max(abs(self._steering_axis), abs(self._throttle_axis)) > self.feel.dead_zone:
            self._drives = True

    def _push(self, value: float) -> None:
        self._throttle_axis = value
        if abs(value) > self.feel.dead_zone:
            self._is_constant = False
        if self._drives or abs(value) > self.feel.dead_zone:
            self._record_when_driving()

    def _press_pad(self, name: str, side: int) -> None:
        if side and side != self._pads.get(name, 0):
            self._act(self.layout.pads[name][side > 0])
        self._pads[name] = side

    def _act(self, action: str) -> None:
        if action in self._own_actions:
            self._own_actions[action]()
        elif action in self.handlers:
            self.handlers[action]()
        elif action:
            logger.warning("The joystick requests %s, but this car has no part for it.", action)

    def _record_when_driving(self) -> None:
        if self.feel.auto_record:
            self._recording = abs(self._throttle) > self.feel.dead_zone and self._mode == "user"

    def _toggle_mode(self) -> None:
        self._mode = MODES[(MODES.index(self._mode) + 1) % len(MODES)]
        logger.info("The joystick sets the mode: %s", self._mode)

    def _toggle_recording(self) -> None:
        if self.feel.auto_record:
            logger.info("Throttle records: AUTO_RECORD_ON_THROTTLE is True, so the button does not.")
            self._act("tell_record_count")
            return
        self._recording = not self._recording

    def _erase_or_stop(self) -> None:
        self._act("erase_last_N_records" if self._mode == "user" else "emergency_stop")

    def _stop_hard(self) -> None:
        """Brake as speed controllers want it: back, a moment forward, back, and ease off."""
        logger.warning("Emergency stop!")
        self.lose()
        back = -self.max_throttle
        easing = [back + RELEASE_STEP * step for step in range(1, int(self.max_throttle / RELEASE_STEP) + 1)]
        self._braking.extend([back, 0.01, back, *easing])

    def _change_max_throttle(self, change: float) -> None:
        self.max_throttle = round(min(1.0, max(0.0, self.max_throttle + change)), 2)
        logger.info("The joystick's max throttle is %.2f", self.max_throttle)

    def _toggle_constant(self) -> None:
        self._is_constant = not self._is_constant
        self._drives = True
        self._record_when_driving()
        logger.info("Constant throttle: %s", f"{self.max_throttle:.2f}" if self._is_constant else "off")

    def _begin_chaos(self, steering: float) -> None:
        if not self._chaos:
            self._recording_before_chaos = self._recording
        self._chaos = steering

    def _end_chaos(self) -> None:
        if self._chaos:
            self._chaos, self._recording = 0.0, self._recording_before_chaos


def _limit(value: float) -> float:
    return min(1.0, max(-1.0, value))
