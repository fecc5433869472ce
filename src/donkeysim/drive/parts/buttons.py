"""The five free buttons of the control page, and the one that steps through behaviours."""

import logging
from collections.abc import Mapping, Sequence

logger = logging.getLogger(__name__)

WEB_BUTTONS = ("w1", "w2", "w3", "w4", "w5")
"""Their names on the page; the channels are web/w1 … web/w5, True for one loop when pressed."""


class WebButtons:
    """Spreads the page's button presses over a channel for each button."""

    def run(self, pressed: Mapping[str, bool] | None) -> tuple[bool, ...]:
        """Return for each button whether it was pressed in this loop."""
        states = tuple(bool(pressed and pressed.get(name)) for name in WEB_BUTTONS)
        for name, state in zip(WEB_BUTTONS, states, strict=True):
            if state:
                logger.info("web/%s clicked", name)
        return states


class BehaviorState:
    """Which of the behaviours the driver shows now; a pilot of type "behavior" learns to follow it."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.state = 0

    def step(self) -> None:
        """Switch to the next behaviour, from the last to the first."""
        self.state = (self.state + 1) % len(self.names)
        logger.info("In State: %s", self.names[self.state])

    def run(self, pressed: bool | None = False) -> tuple[int, str, list[float]]:
        """Step on when the button was pressed; return the number, the name, and a list with 1 at the number."""
        if pressed:
            self.step()
        one_hot = [float(index == self.state) for index in range(len(self.names))]
        return self.state, self.names[self.state], one_hot
