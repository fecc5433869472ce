"""A window on the desktop that shows an environment to a human, in real time."""

import importlib
import logging
import os
from abc import abstractmethod
from collections.abc import Mapping
from functools import partial
from typing import Any, Self, TypeVar

import gymnasium

from donkeysim.core.errors import SpecError, describe_install
from donkeysim.core.types import ByteArray, Float32Array

Seen = TypeVar("Seen")

RATE = 20
"""Pictures per second, as many as a car's steps."""

TITLE = "Donkeysim"

_log = logging.getLogger("donkeysim.envs")

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
            raise SpecError("there is no display for a window; use render_mode='rgb_array', which returns pictures.")
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


def _keep(value: Any) -> Any:
    """Return a value as it is now: tables and lists are copied, in depth; what else they hold stays the same."""
    if isinstance(value, Mapping):
        return {key: _keep(held) for key, held in value.items()}
    return [_keep(held) for held in value] if isinstance(value, list) else value


class MadeAnew:
    """Made anew by the same arguments when copied, by `pickle` or `copy.deepcopy`; the copy begins with `reset`."""

    _making: partial[Self]

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Note how it is made, for copies."""
        made = super().__new__(cls)
        made._making = partial(cls, *map(_keep, args), **_keep(kwargs))
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return self._making, ()


class ShownEnv(MadeAnew, gymnasium.Env[Seen, Float32Array]):
    """A single environment that shows itself: to programs by `render`, or to a human after every step."""

    metadata: dict[str, Any] = {  # noqa: RUF012  (Gymnasium's own form)
        "render_modes": ["rgb_array", "human"],
        "render_fps": RATE,
    }

    def __reduce__(self) -> tuple[Any, ...]:
        return *super().__reduce__(), {"spec": self.spec}

    def __init__(self, render_mode: str | None) -> None:
        """Find a display if one is needed; where there is none, that is logged and nothing is shown.

        Raises:
            SpecError: There is no such mode.
        """
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise SpecError(f"render_mode is {render_mode!r}; it takes 'rgb_array', 'human' or None.")
        self.render_mode = render_mode
        self._window: Window | None = None
        if render_mode == "human":
            try:
                self._window = Window()
            except SpecError as error:
                _log.warning("%s", error)

    @abstractmethod
    def _draw(self) -> ByteArray:
        """Return what is shown."""

    def _show(self) -> None:
        if self._window is not None:
            self._window.show(self._draw())

    def render(self) -> ByteArray | None:
        """Return a view from behind the car, shape [360, 640, 3]; what its camera sees when it is elsewhere."""
        return self._draw() if self.render_mode == "rgb_array" else None

    def close(self) -> None:
        """Close the window."""
        if self._window is not None:
            self._window.close()


def _load_pygame() -> Any:
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    try:
        return importlib.import_module("pygame")
    except ImportError:
        raise SpecError(f"a window needs pygame; install it {describe_install('window')}") from None
