"""What runs a kernel in tests: a back end is a function from a kernel to something that may be called like it."""

import functools
from types import FunctionType

import numpy as np

from kept_kernels import compile_kept

OPTIONS = ("nogil", "error_model", "fastmath")
"""Of how a kernel is compiled; what else it was given is about who may call it."""


@functools.cache
def compile_kernel(kernel):
    """Return a kernel compiled for this processor, with an entry from Python."""
    chosen = {name: kernel.targetoptions[name] for name in OPTIONS if name in kernel.targetoptions}
    return compile_kept(kernel, "pictures", **chosen)


@functools.cache
def interpret_kernel(kernel):
    """Return a kernel as plain Python, and all that it calls too: the oracle of every other back end."""
    source = kernel.py_func
    called = {
        name: interpret_kernel(source.__globals__[name])
        for name in source.__code__.co_names
        if hasattr(source.__globals__.get(name), "py_func")
    }
    function = FunctionType(source.__code__, {**source.__globals__, **called}, source.__name__, source.__defaults__)

    def call(*arguments):
        # 32-bit words wrap around in kernels; NumPy would warn of it, and of the infinite.
        with np.errstate(all="ignore"):
            return function(*arguments)

    return call


BACK_ENDS = {"compiled": compile_kernel, "plain": interpret_kernel}
