"""Textures for grey pictures: the luma of four neighbouring texels in one word, so that one gather takes a square."""

from __future__ import annotations

import numpy as np

from donkeysim.core.types import WordArray
from donkeysim.render.texture import TexelPool


class QuadPool:
    """Squares of all texels of a pool; made when the first camera asks for them, as they are as large as the texels.

    Attributes:
        quad: Luma of a texel | of the one at its right << 8 | of the one below << 16 | of the fourth << 24, in the
            places that the texels have, shape [texel_count]; of one until `update` is called.
    """

    def __init__(self) -> None:
        self.quad: WordArray = np.zeros(1, np.uint32)
        self._texture_count = 0

    def update(self, pool: TexelPool) -> None:
        """Write the squares of textures that have been added since."""
        if len(self.quad) < len(pool.texel):
            grown = np.zeros(len(pool.texel), np.uint32)
            grown[: len(self.quad)] = self.quad
            self.quad = grown
        for texture in range(self._texture_count, len(pool.size_log)):
            self.write(pool, texture)
        self._texture_count = len(pool.size_log)

    def write(self, pool: TexelPool, texture: int) -> None:
        """Write the squares of one texture."""
        wide, high, last = pool.size_log[texture].tolist()
        for level in range(last + 1):
            width, height = 1 << max(wide - level, 0), 1 << max(high - level, 0)
            first = int(pool.level_base[texture, level])
            word = pool.texel[first : first + width * height].reshape(height, width)
            luma = (2126 * (word & 255) + 7152 * (word >> 8 & 255) + 722 * (word >> 16 & 255) + 5000) // 10000
            right = np.roll(luma, -1, axis=1)  # textures repeat
            square = luma | right << 8 | np.roll(luma, -1, axis=0) << 16 | np.roll(right, -1, axis=0) << 24
            self.quad[first : first + width * height] = square.ravel()
