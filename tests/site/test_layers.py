"""Layers that run as kernels, against NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from donkeysim.site.kernels.layers import convolve, multiply


def convolve_plainly(source, weight, bias, step_y, step_x):
    rows, columns = weight.shape[:2]
    windows = np.lib.stride_tricks.sliding_window_view(source, (rows, columns), axis=(0, 1))[::step_y, ::step_x]
    return np.einsum("yxcij,ijcf->yxf", windows, weight, optimize=True) + bias


@settings(deadline=None, max_examples=25)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 4),
    st.integers(1, 5),
    st.integers(1, 5),
    st.integers(1, 3),
    st.integers(1, 9),
)
def test_a_convolution_is_that_of_numpy(seed, channels, rows, columns, step, filters):
    rng = np.random.default_rng(seed)
    source = rng.normal(size=(rows + 7, columns + 9, channels)).astype(np.float32)
    weight = rng.normal(size=(rows, columns, channels, filters)).astype(np.float32)
    bias = rng.normal(size=filters).astype(np.float32)
    wanted = convolve_plainly(source, weight, bias, step, step + 1)
    target = np.full(wanted.shape, np.nan, np.float32)
    convolve(source, weight, bias, step, step + 1, target)
    assert target == pytest.approx(wanted, abs=1e-4)


def test_a_dense_layer_is_that_of_numpy():
    rng = np.random.default_rng(3)
    source, weight, bias = (rng.normal(size=shape).astype(np.float32) for shape in ((50,), (50, 7), (7,)))
    target = np.full(7, np.nan, np.float32)
    multiply(source, weight, bias, target)
    assert target == pytest.approx(source @ weight + bias, abs=1e-4)
