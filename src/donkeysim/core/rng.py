"""Random numbers as a function of who asks and when: hash(world key, slot, step, stream).

World i of 4,096 draws what that world alone would draw, in any order and on any thread. What is made once, such as a
scene, takes a plain sequence instead (`core.draws`), equal on every machine and version.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from donkeysim.core.kernel import kernel
from donkeysim.core.types import FloatArray, LongArray


@kernel(taken_in=True)
def mix(value: np.uint64) -> np.uint64:
    """Return the SplitMix64 finaliser of a 64-bit word (Steele, Lea, Flood 2014)."""
    z = np.uint64(value) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel(taken_in=True)
def hash_words(key: int, slot: int, step: int, stream: int) -> np.uint64:
    """Return a 64-bit hash of a world key, a slot, a step and a stream number."""
    z = mix(np.uint64(key))
    z = mix(z ^ np.uint64(slot))
    z = mix(z ^ np.uint64(step))
    return mix(z ^ np.uint64(stream))


@kernel(taken_in=True)
def draw_uniform(key: int, slot: int, step: int, stream: int) -> float:
    """Return a number in [0, 1) with 53 random bits."""
    return float(hash_words(key, slot, step, stream) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@kernel
def _hash_rows(words: LongArray, out: LongArray) -> None:
    for row in range(len(out)):
        out[row] = np.int64(hash_words(words[0, row], words[1, row], words[2, row], words[3, row]))


def hash_rows(key: ArrayLike, slot: ArrayLike, step: ArrayLike, stream: ArrayLike) -> LongArray:
    """Return `hash_words` of many rows as signed words, shape [n]; what is one number is the same for all."""
    words = np.empty((4, *np.broadcast(key, slot, step, stream).shape), np.int64)
    words[0], words[1], words[2], words[3] = key, slot, step, stream
    out: LongArray = np.empty(words.shape[1:], np.int64)
    _hash_rows(words.reshape(4, -1), out.ravel())
    return out


def draw_uniforms(key: ArrayLike, slot: ArrayLike, step: ArrayLike, stream: ArrayLike) -> FloatArray:
    """Return `draw_uniform` of many rows, shape [n]; what is one number is the same for all."""
    words = hash_rows(key, slot, step, stream).view(np.uint64)
    return (words >> np.uint64(11)).astype(np.float64) * (1.0 / 9007199254740992.0)


@kernel(taken_in=True)
def draw_gaussian(key: int, slot: int, step: int, stream: int) -> float:
    """Return a number from the standard normal distribution (Box–Muller)."""
    first = draw_uniform(key, slot, step, 2 * stream)
    second = draw_uniform(key, slot, step, 2 * stream + 1)
    return math.sqrt(-2.0 * math.log(1.0 - first)) * math.cos(2.0 * math.pi * second)
