"""Back ends on which the tests of kernels run; another one joins by a row in `BACK_ENDS`."""

import functools
import types

import pytest
from numba.core.dispatcher import Dispatcher

from kept_kernels import compile_kept


@functools.cache
def compile_for_processor(kernel):
    """Return an inner kernel with what it lacks: an entry from Python."""
    return compile_kept(kernel, "strict", error_model="numpy")


@functools.cache
def interpret(kernel):
    """Return a kernel, and all that it calls, as plain Python: no compiler, so an oracle for the compiled ones."""
    source = kernel.py_func
    names = {name: source.__globals__[name] for name in source.__code__.co_names if name in source.__globals__}
    ported = {name: interpret(value) for name, value in names.items() if isinstance(value, Dispatcher)}
    return types.FunctionType(source.__code__, source.__globals__ | ported, source.__name__, source.__defaults__)


BACK_ENDS = {"processor": compile_for_processor, "interpreter": interpret}
"""Each takes an inner kernel and returns a function of the same arguments, which may write into the arrays given."""

on_every_back_end = pytest.mark.parametrize("build", BACK_ENDS.values(), ids=BACK_ENDS.keys())
