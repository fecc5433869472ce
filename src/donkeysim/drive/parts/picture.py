"""The picture as the pilot sees it."""

from __future__ import annotations

from collections.abc import Callable

from donkeysim.core.types import ByteArray


class ImageTransformations:
    """Applies the car's picture transformations, the same as in training."""

    def __init__(self, transform: Callable[[ByteArray], ByteArray]) -> None:
        self.transform = transform

    def run(self, image: ByteArray | None) -> ByteArray | None:
        """Return the transformed picture; None before there is one."""
        return None if image is None else self.transform(image)
