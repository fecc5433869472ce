"""How a program's memory is given back to the system."""

from __future__ import annotations

import ctypes
import sys

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _MMAP_MAX, _ARENA_MAX = -1, -3, -4, -8  # of mallopt(3)


def keep_freed_memory() -> None:
    """Let the C library keep large blocks that are freed, for the rest of the process; on Linux with glibc only.

    Else every step of training asks the system anew for hundreds of megabytes, and it clears each page: a fifth of the
    time. All threads share one heap, as that of another thread than the first gives large blocks back all the same;
    but where there have been more than eight threads before, as in Ray's workers, glibc makes each a heap as ever.
    Elsewhere nothing changes.
    """
    if not sys.platform.startswith("linux"):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # musl has none
    if mallopt is not None:
        values = {_MMAP_THRESHOLD: 1 << 30, _TRIM_THRESHOLD: (1 << 31) - 1, _MMAP_MAX: 0, _ARENA_MAX: 1}
        for option, value in values.items():
            mallopt(option, value)
