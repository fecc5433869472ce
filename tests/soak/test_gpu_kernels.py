"""Every index kernel of the package becomes machine code of GPUs; none of them is needed for it."""

import ast
import functools
import importlib.util
import json
import time
from pathlib import Path

import pytest
from benchmarks.gpu_kernels import GPUS, MOST_REGISTERS, MOST_SPILLED, assemble, compile_kernel, record_kernels

from sources import name_decorators

HAS_COMPILER = importlib.util.find_spec("numba_cuda") is not None
pytestmark = [
    pytest.mark.soak,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(not HAS_COMPILER, reason='numba-cuda is not installed: pip install ".[gpu]"'),
]

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "donkeysim"


def list_index_kernels():
    """The names of all functions that are made index kernels."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and "index_kernel" in name_decorators(node):
                yield node.name


@functools.cache
def record():
    """Every index kernel that a batch runs, and its arguments, by name."""
    return {function.py_func.__name__: (function, list(kinds.values())) for function, kinds in record_kernels().items()}


@pytest.mark.parametrize("name", list(list_index_kernels()))
def test_an_index_kernel_fits_into_the_registers_of_every_gpu(name):
    assert name in record(), "nothing of supply.kernels.run_index_kernels runs it: add what does"
    function, kinds = record()[name]
    for arguments in kinds:
        begun = time.monotonic()
        ptx = compile_kernel(function, arguments)
        taken = {gpu: assemble(ptx, gpu) for gpu in GPUS}
        figures = {gpu: (used.registers, used.spilled) for gpu, used in taken.items()}
        print("\n" + json.dumps({"case": name, **figures, "seconds": round(time.monotonic() - begun, 1)}))
        assert all(used.registers <= MOST_REGISTERS and used.spilled <= MOST_SPILLED for used in taken.values())
