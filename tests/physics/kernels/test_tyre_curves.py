"""The friction curves of tyres and what divides them."""

import numpy as np
import pytest
from tests.backends import on_every_back_end

from donkeysim.physics.kernels.vehicle import ORIGIN_SLOPE, divide_arctangent, divide_curve

CURVE = (1.6, 2.5, 1.2)
"""Value at the extremum, slip of the asymptote, value there."""


@on_every_back_end
def test_a_curve_rises_to_its_extremum_and_falls_to_its_asymptote(build):
    divide = build(divide_curve)
    slips = np.linspace(0.0, 4.0, 401)
    force = np.array([slip * divide(slip, CURVE, 0.0) for slip in slips])
    peak = int(np.argmax(force))
    assert slips[peak] == pytest.approx(1.0)
    assert force[peak] == pytest.approx(1.6)
    assert (np.diff(force[: peak + 1]) > 0.0).all()
    assert (np.diff(force[peak : peak + 151]) < 0.0).all()
    assert force[250:] == pytest.approx(1.2)


@on_every_back_end
def test_a_tyre_without_slip_has_the_slope_at_the_origin(build):
    assert build(divide_curve)(0.0, CURVE, 0.0) == 1.6 * ORIGIN_SLOPE
    assert build(divide_curve)(0.0, CURVE, 0.5) == 1.6 * (ORIGIN_SLOPE + 0.5)
    assert build(divide_curve)(1e-9, CURVE, 0.0) == pytest.approx(1.6 * ORIGIN_SLOPE)


@on_every_back_end
@pytest.mark.parametrize("join", [1.0, 2.5])
def test_the_pieces_of_a_curve_join_without_a_step_or_a_bend(build, join):
    divide = build(divide_curve)
    before, at, after = (s * divide(s, CURVE, 0.0) for s in (join - 1e-6, join, join + 1e-6))
    assert before == pytest.approx(at, abs=1e-11)
    assert after == pytest.approx(at, abs=1e-11)


@on_every_back_end
@pytest.mark.parametrize("x", [-3.0, -1.0001e-4, 0.9999e-4, 0.2, 50.0])
def test_the_arctangent_over_its_argument_has_no_hole_at_zero(build, x):
    assert build(divide_arctangent)(x) == pytest.approx(np.arctan(x) / x, rel=1e-15)
    assert build(divide_arctangent)(0.0) == 1.0
