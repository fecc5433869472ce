"""The smooth curve through a path's nodes is SciPy's, to the bit, without what SciPy takes of memory."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from donkeysim.drivers.driving_line import refine_line
from donkeysim.world.path_frame import close_line, measure_length


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("count", [3, 4, 5, 108, 250])
def test_it_is_the_cubic_spline(count, closed):
    node = np.random.default_rng(count).normal(size=(count, 2)).cumsum(axis=0)
    knots = close_line(node, closed)
    along = measure_length(knots)
    place = np.interp(np.arange(7 * (len(knots) - 1) + (not closed)) / 7, np.arange(len(knots)), along)
    spline = CubicSpline(along, knots, bc_type="periodic" if closed else "natural")
    assert refine_line(node, 7, closed).tobytes() == spline(place).tobytes()


def test_nothing_of_splines_is_imported():
    code = """
import sys, numpy
from donkeysim.drivers.driving_line import refine_line
refine_line(numpy.random.default_rng(0).normal(size=(9, 2)), 3, closed=True)
print("scipy.interpolate" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
