"""What all who drive with a pilot need to know of it. `donkeysim.learn` makes them."""

from __future__ import annotations

from typing import Any, Protocol

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
