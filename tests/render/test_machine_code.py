"""What loops over pixels become on x86 processors: gathers of texels, and no stores through masks."""

import re

import llvmlite.binding
import numba
import numpy as np
import pytest

from donkeysim.core.dispatcher import compile_function
from donkeysim.core.kernel_folders import TARGETS
from donkeysim.render.kernels.layout import LANES, SPAN_FLOATS, SPAN_INTS
from donkeysim.render.kernels.raster import fill_rows
from donkeysim.render.kernels.shade import shade_plain

pytestmark = pytest.mark.skipif(
    not llvmlite.binding.get_host_cpu_features().get("avx2"), reason="a processor without 256-bit vectors"
)


def find_instructions(function, *arguments):
    """Compile a function, run it once, and return the names of its machine code's instructions."""
    compiled = compile_function(function, is_entry=True)
    compiled(*arguments)
    (code,) = compiled.inspect_asm().values()
    return set(re.findall(r"^\s+(v\w+)", code, flags=re.MULTILINE))


def fill(plane, begins, stops, depth, ident, iota):
    fill_rows(0, 2, plane, 16, np.uint32(3), begins, stops, depth, ident, iota)


def shade(floats, ints, texel, iota, target):
    shade_plain(0, 16, floats, ints, texel, iota, target)


def test_rows_are_filled_on_vectors_that_are_stored_whole():
    begins, stops = np.array([1, 2], np.int32), np.array([12, 3], np.int32)
    depth, ident = np.zeros(48, np.float32), np.zeros(48, np.uint32)
    plane, iota = (np.float32(0.0), np.float32(0.0), np.float32(1.0)), np.arange(16, dtype=np.float32)
    found = find_instructions(fill, plane, begins, stops, depth, ident, iota)
    assert np.flatnonzero(ident).tolist() == [*range(1, 12), 18]
    assert not {name for name in found if "maskmov" in name}
    assert {"vpmaxsd"} <= found


def test_texels_are_gathered():
    floats, ints = np.ones((SPAN_FLOATS, 1), np.float32), np.zeros((SPAN_INTS, 1), np.int32)
    texel, target = np.arange(4, dtype=np.uint32), np.zeros(2 * LANES, np.uint32)
    found = find_instructions(shade, floats, ints, texel, np.arange(2 * LANES, dtype=np.float32), target)
    assert {name for name in found if "gather" in name}


def test_what_is_compiled_here_and_what_wheels_carry_gathers():
    assert numba.config.CPU_FEATURES.endswith("+fast-gather")
    assert TARGETS["x86_64"].switches.endswith("+fast-gather")
