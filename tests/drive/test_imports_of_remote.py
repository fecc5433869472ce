"""What a drive beside a simulator that is another program loads, which is memory: no simulator and no compiler."""

import subprocess
import sys

ASK = """
import sys
import donkeysim.car.template.manage
heavy = {"numba", "llvmlite", "scipy", "torch", "keras", "donkeysim.sim.simulator"}
print(sorted(heavy & set(sys.modules)))
"""


def test_a_car_folders_program_imports_neither_simulator_nor_compiler():
    done = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
