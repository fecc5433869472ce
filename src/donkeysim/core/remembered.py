"""What is made of scenes and their pictures, which never change: kept for as long as they live.

Simulators of the same scene, as in a batch of environments each with one of its own, and drivers there share this work.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TypeVar

M = TypeVar("M")


def remember(known: dict[int, M], thing: object, make: Callable[[], M]) -> M:
    """Return what is made of a thing, made once for as long as the thing lives; two threads may both make it.

    Args:
        known: What has been made of such things, by their `id`.
        thing: Nobody may change it any more; a weak reference to it must be possible.
        make: Returns what is kept, which must not hold the thing itself.
    """
    key = id(thing)
    if key not in known:
        made = make()
        weakref.finalize(thing, known.pop, key, None)
        known[key] = made
    return known[key]
