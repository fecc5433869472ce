"""What all who drive with a pilot need to know of it. `donkeysim.learn` makes them."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from donkeysim.core.errors import PilotError
from donkeysim.core.types import ByteArray


class Pilot(Protocol):
    """Looks at a picture and says how to steer."""

    @property
    def kind(self) -> str:
        """The type as the commands name it, for example "linear"."""

    @property
    def input_names(self) -> tuple[str, ...]:
        """Channels it wants beside the picture, in the order `run` takes them."""

    def run(self, image: ByteArray, *others: Any) -> tuple[float, ...]:
        """Return angle and throttle, and the location (a whole number) when the pilot knows one.

        Args:
            image: The transformed picture, shape [height, width, 3 or 1].
            others: The values of `input_names`.
        """

    def reset(self) -> None:
        """Forget earlier pictures and answers; the drive begins anew."""


def check_answer(answer: Sequence[float], path: Path) -> None:
    """Check what the pilot in a file answers to a black picture, before it drives.

    Raises:
        PilotError: Not all of it are numbers.
    """
    if not all(map(math.isfinite, answer)):
        raise PilotError(
            f"{path} answers {', '.join(f'{number:g}' for number in answer)} to a black picture: its training has "
            "diverged; train it again with a smaller LEARNING_RATE."
        )
