"""Functions that only kernels call: the same results, and no machine code that nobody could call."""

import numba
import numpy as np
import pytest
from llvmlite import binding

from donkeysim.core.inner_compiler import COMPILER, InnerCompiler, _InnerLibrary
from donkeysim.core.kernel import inner_kernel


def sum_squares(values: np.ndarray) -> float:
    total = 0.0
    for value in values:
        total += value * value
    return total


@pytest.mark.parametrize("loose", [False, True])
@pytest.mark.parametrize("merged", [False, True])
def test_a_kernel_takes_in_a_function_without_machine_code(loose, merged):
    inner = inner_kernel(loose=loose, merged=merged)(sum_squares)

    def outer(values: np.ndarray) -> float:
        return inner(values) + inner(values[1:])

    compiled = numba.njit(outer)
    values = np.arange(5.0)
    assert compiled(values) == 60.0
    (result,) = inner.overloads.values()
    assert isinstance(result.library, _InnerLibrary)
    (whole,) = compiled.overloads.values()
    name = result.fndesc.llvm_func_name
    assert not whole.library._codegen._engine.is_symbol_defined(name), "nobody can call it"


def test_what_was_compiled_is_kept_packed_and_once():
    inner = inner_kernel(sum_squares)

    @inner_kernel
    def middle(values: np.ndarray) -> float:
        return inner(values) + inner(values[1:])

    compiled = numba.njit(lambda values: middle(values) - inner(values))
    assert compiled(np.arange(5.0)) == 30.0
    for function in (inner, middle):
        (result,) = function.overloads.values()
        assert result.library._final_module is None
        assert result.fndesc.typemap is None
        assert result.fndesc.calltypes is None
        assert result.type_annotation is None
    (packed,) = (result.library.packed for result in middle.overloads.values())
    (name,) = (result.fndesc.mangled_name for result in inner.overloads.values())
    functions = {function.name: function for function in binding.parse_bitcode(packed).functions}
    assert functions[name].is_declaration, "whoever calls both takes its code in once"


def test_this_numba_has_what_the_shortcut_needs():
    assert COMPILER.get("pipeline_class") is InnerCompiler
