"""Who drives: from what the user and the pilot want to what the car does. Steering: + = right, -1 to 1, as in tubs."""

import logging
import time

from donkeysim.core.clock import Clock
from donkeysim.core.types import ByteArray

logger = logging.getLogger(__name__)

MODES = ("user", "local_angle", "local")
"""Who drives: the user; the pilot steers and the user gives throttle; the pilot does both."""


class Pipe:
    """Copies channels to other names."""

    def run(self, *values: object) -> object:
        """Return what it is given."""
        return values[0] if len(values) == 1 else values


class ThrottleFilter:
    """Lets a tap back work as on real speed controllers, which reverse at the second tap only.

    Of several negative values in a row the first passes, the second becomes 0 once, and all later ones pass.
    """

    def __init__(self) -> None:
        self._last_throttle = 0.0
        self._reversing = False

    def run(self, throttle: float | None) -> float | None:
        """Return the throttle to use."""
        if throttle is None:
            return None
        if throttle >= 0.0:
            self._reversing = False
        elif self._last_throttle < 0.0 and not self._reversing:
            self._reversing = True
            throttle = 0.0
        self._last_throttle = throttle
        return throttle


class PilotCondition:
    """Turns the mode into run conditions, and chooses the picture that is shown."""

    def __init__(self, show_pilot_image: bool = False) -> None:
        self.show_pilot_image = show_pilot_image

    def run(
        self, mode: str, image: ByteArray | None, pilot_image: ByteArray | None
    ) -> tuple[bool, bool, ByteArray | None]:
        """Return whether the user drives alone, whether the pilot is wanted, and the picture to show."""
        if mode == "user":
            return True, False, image
        return False, True, pilot_image if self.show_pilot_image and pilot_image is not None else image


class AiLaunch:
    """Gives a fixed throttle for a moment when the pilot takes over, if it was armed."""

    def __init__(
        self, duration: float, throttle: float, keep_enabled: bool = False, read_clock: Clock = time.monotonic
    ) -> None:
        """Make it.

        Args:
            duration: How long the launch lasts [s].
            throttle: The throttle meanwhile.
            keep_enabled: Armed anew whenever the mode becomes "local".
            read_clock: Returns the time [s].
        """
        self.duration = duration
        self.throttle = throttle
        self.keep_enabled = keep_enabled
        self._read_clock = read_clock
        self._armed = False
        self._ends_at: float | None = None
        self._mode = ""

    def arm(self) -> None:
        """Launch once, now or when the pilot takes over."""
        self._armed = True
        logger.info("AiLauncher is enabled.")

    def run(self, mode: str, pilot_throttle: float | None) -> float | None:
        """Return the pilot's throttle, or that of the launch."""
        if mode != self._mode and mode == "local" and self.keep_enabled:
            self._armed = True
        self._mode = mode
        if mode != "local" or not self._armed:
            self._ends_at = None
            return pilot_throttle
        now = self._read_clock()
        if self._ends_at is None:
            logger.info("AiLauncher is active!!!")
            self._ends_at = now + self.duration
        if now < self._ends_at:
            return self.throttle
        self._armed = False
        self._ends_at = None
        return pilot_throttle


class DriveMode:
    """Decides what steers the car: the user, the pilot, or one each."""

    def __init__(self, throttle_factor: float = 1.0) -> None:
        """Make it; `throttle_factor` multiplies the pilot's throttle."""
        self.throttle_factor = throttle_factor

    def run(
        self,
        mode: str,
        user_angle: float | None,
        user_throttle: float | None,
        pilot_angle: float | None,
        pilot_throttle: float | None,
    ) -> tuple[float, float]:
        """Return steering and throttle; what nobody gives is 0."""
        if mode == "user":
            return user_angle or 0.0, user_throttle or 0.0
        if mode == "local_angle":
            return pilot_angle or 0.0, user_throttle or 0.0
        return pilot_angle or 0.0, (pilot_throttle or 0.0) * self.throttle_factor
