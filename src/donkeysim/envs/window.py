"""A window on the desktop that shows an environment to a human, in real time."""

from __future__ import annotations

import importlib
import os
from typing import Any

from donkeysim.core.errors import SpecError
from donkeysim.core.types import ByteArray

RENDER_MODES = ("rgb_array", "human")
"""How single environments show themselves."""

RATE = 20
"""Pictures per second, as many as a car's steps."""

TITLE = "Donkeysim"

_NOWHERE = "offscreen"
"""The driver that SDL takes by itself where there is no display."""


class Window:
    """Shows one picture after another, at most `RATE` a second; opens with the first one."""

    def __init__(self) -> None:
        """Find a display.

        Raises:
            SpecError: Pygame is missing, or there is no display.
        """
        self._pygame = _load_pygame()
        try:
            self._pygame.display.init()
            driver = self._pygame.display.get_driver()
        except self._pygame.error:
            driver = _NOWHERE
        if driver == _NOWHERE and os.environ.get("SDL_VIDEODRIVER") != _NOWHERE:
            self._pygame.display.quit()
            raise SpecError("there is no display for a window; take render_mode='rgb_array', which returns pictures.")
        self._clock = self._pygame.time.Clock()
        self._surface: Any = None

    def show(self, picture: ByteArray) -> None:
        """Show a picture, shape [height, width, 3], when its turn has come.

        A window that its user has closed stays closed.
        """
        pygame = self._pygame
        if not pygame.display.get_init():
            return
        height, width, _ = picture.shape
        if self._surface is None:
            self._surface = pygame.display.set_mode((width, height))
            pygame.display.set_caption(TITLE)
        self._surface.blit(pygame.image.frombuffer(picture.tobytes(), (width, height), "RGB"), (0, 0))
        pygame.display.flip()
        if any(event.type == pygame.QUIT for event in pygame.event.get()):
            self.close()
            return
        self._clock.tick(RATE)

    def close(self) -> None:
        """Close the window; twice does no harm."""
        self._pygame.display.quit()


def check_render_mode(mode: str | None) -> None:
    """Make sure that single environments have this mode.

    Raises:
        SpecError: They do not.
    """
    if mode is not None and mode not in RENDER_MODES:
        raise SpecError(f"render_mode is {mode!r}; it takes 'rgb_array', 'human' or None.")


def _load_pygame() -> Any:
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    try:
        return importlib.import_module("pygame")
    except ImportError:
        raise SpecError('a window needs pygame; install it with: pip install "donkeysim[window]"') from None
