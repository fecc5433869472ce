"""The picture as the pilot sees it."""

from collections.abc import Callable

import numpy as np

from donkeysim.core.types import ByteArray


class ImageTransformations:
    """Applies the car's picture transformations, the same as in training."""

    def __init__(self, transform: Callable[[ByteArray], ByteArray]) -> None:
        self.transform = transform

    def run(self, image: ByteArray | None) -> ByteArray | None:
        """Return the transformed picture; None before there is one."""
        return None if image is None else self.transform(image)


def make_blank_image(width: int, height: int, depth: int) -> ByteArray:
    """Return a black picture of a camera's size, shape [height, width, depth]."""
    return np.zeros((height, width, depth), np.uint8)
