"""A plain sequence of random numbers, equal on every machine and version, for what is made once, such as a scene."""

import zlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

_WORD = (1 << 64) - 1


class Draws:
    """SplitMix64 (Steele, Lea, Flood 2014), begun at a hash of seed and purpose: what one purpose draws never moves
    what another one does.
    """

    def __init__(self, seed: int, purpose: str) -> None:
        """Begin the sequence.

        Args:
            seed: Any whole number; taken modulo 2^64.
            purpose: Name of what is drawn.
        """
        self._state = _mix(_mix(seed & _WORD) ^ zlib.crc32(purpose.encode()))

    def draw_word(self) -> int:
        """Return 64 random bits."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & _WORD
        return _mix(self._state)

    def draw_uniform(self, low: float = 0.0, high: float = 1.0) -> float:
        """Return a number in [low, high) with 53 random bits."""
        return low + (high - low) * (self.draw_word() >> 11) / (1 << 53)

    def draw_index(self, count: int) -> int:
        """Return a whole number from 0 to count - 1."""
        return self.draw_word() * count >> 64

    def choose(self, items: Sequence[T]) -> T:
        """Return one of some things, all as likely."""
        return items[self.draw_index(len(items))]


def _mix(word: int) -> int:
    """Return the finaliser of SplitMix64 of a 64-bit word."""
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 & _WORD
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB & _WORD
    return word ^ (word >> 31)
