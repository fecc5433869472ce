"""What calls return is worked out once, and kernels become the same code as without that."""

import os
import re
import subprocess
import sys

import pytest

COUNT = """
import numba
from numba.core.types import BaseFunction
from donkeysim.core.inner_compiler import remember_call_types

asked, work_out = [], BaseFunction.get_call_type
BaseFunction.get_call_type = lambda *given: asked.append(given) or work_out(*given)
remember_call_types()
for number in range(2):
    numba.njit(lambda a, b: a * b + min(a, b))(1.5, 2.5)
    print(len(asked))
numba.njit(lambda a, b: a * b)(1, 2.5)
print(len(asked))
for number in range(2):
    try:
        numba.njit(lambda a, b: a - b)("text", 2.5)
    except numba.TypingError:
        print("refused")
"""

MIXED = """
import sys
import numba
from donkeysim.core.inner_compiler import remember_call_types

if sys.argv[1] == "remember":
    remember_call_types()

def choose(a, b, c):
    return max(min(a, b), c) * abs(a) + (a < b)

for options in ({}, {"fastmath": True}, {"error_model": "numpy"}, {"fastmath": {"nnan"}}, {}):
    for given in ((1.0, 2.0, 3.0), (1, 2.0, 3)):
        kernel = numba.njit(**options)(choose)
        kernel(*given)
        print(*kernel.inspect_llvm().values())
"""

STAGES = """
import sys
from numba.core.codegen import CPUCodeLibrary
from donkeysim.core.inner_compiler import remember_call_types
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import SceneSpec, WorldSpec

if sys.argv[1] == "remember":
    remember_call_types()
finalize = CPUCodeLibrary._finalize_final_module

def print_too(library):
    finalize(library)
    print(library._final_module)

CPUCodeLibrary._finalize_final_module = print_too
for _, compile_stage in Simulator(WorldSpec(scene=SceneSpec("flat"))).list_compile_stages():
    compile_stage()
"""


def run(program, how="", **environment):
    command = [sys.executable, "-c", program, how]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | environment)
    return done.stdout


def list_instructions(code):
    """Return LLVM's instructions without names, which number what was compiled before, and without comments."""
    lines = (re.sub(r'[%@!#](?:"[^"]*"|[\w.$-]+)', "_", line.split(";")[0]) for line in code.splitlines())
    return [line for line in lines if line.startswith(" ")]


def test_what_is_known_is_not_worked_out_again_and_errors_are():
    first, second, other, *refusals = run(COUNT).split()
    assert 0 < int(first) == int(second) < int(other)
    assert refusals == ["refused"] * 2


def test_functions_with_other_options_get_code_of_their_own():
    code = list_instructions(run(MIXED, "remember"))
    assert len(code) > 500
    assert code == list_instructions(run(MIXED, "anew"))


@pytest.mark.soak
def test_all_kernels_have_the_same_instructions(tmp_path):
    code = [
        list_instructions(run(STAGES, how, DONKEYSIM_KERNEL_CACHE=str(tmp_path / how))) for how in ("remember", "anew")
    ]
    assert len(code[0]) > 20_000
    assert code[0] == code[1]
