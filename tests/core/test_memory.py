"""A library whose code was left is read again when it is needed."""

import sys
from pathlib import Path

import numba
import pytest

from donkeysim.core.memory import leave_library


def measure_library() -> int:
    """Return how much of the compiler's code is in this process [kB]."""
    is_code, found = False, 0
    for line in Path("/proc/self/smaps").read_text().splitlines():
        words = line.split()
        if not words[0].endswith(":"):
            is_code = "libllvmlite" in line and words[1] == "r-xp"
        elif is_code and words[0] == "Rss:":
            found += int(words[1])
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="other systems keep what they have read")
def test_code_goes_until_it_runs_again():
    assert numba.njit(lambda number: number + 1)(1) == 2
    before = measure_library()
    leave_library("libllvmlite")
    assert measure_library() < before / 10
    assert numba.njit(lambda number: number + 2)(1) == 3
    assert measure_library() > before / 10
