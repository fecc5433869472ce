"""Friction curves of tyres and the rule for joint slip."""

import math

from donkeysim.core.kernel import inner_kernel

ORIGIN_SLOPE = 1.0
"""Slope of a friction curve at the origin, in extremum values per extremum slip (not published; 1 to 2 is usual)."""


@inner_kernel
def divide_curve(slip, curve, lift):
    """Return a friction curve over its slip, curve(s) / s [-].

    Two cubic pieces, flat at the extremum (slip 1) and from the asymptote on.

    Args:
        slip: In extremum slips, at least 0.
        curve: Its value at the extremum, the slip from which it is constant, in extremum slips, and its value there.
        lift: By how much its slope at the origin is greater than `ORIGIN_SLOPE`.
    """
    value, asymptote, asymptote_value = curve
    # Divided by hand here, so that a tyre without slip needs no case of its own.
    if slip < 1.0:
        rest = 1.0 - slip
        share = ORIGIN_SLOPE * rest * rest + slip * (3.0 - 2.0 * slip)
        if lift != 0.0:
            share += lift * rest * rest
        return value * share
    t = min((slip - 1.0) / (asymptote - 1.0), 1.0)
    return (value + (asymptote_value - value) * t * t * (3.0 - 2.0 * t)) / slip


@inner_kernel
def divide_arctangent(x):
    """Return atan(x) / x."""
    # The next term of the series, x**4 / 5, is below the rounding of 1 there.
    if abs(x) < 1e-4:
        return 1.0 - x * x / 3.0
    return math.atan(x) / x
