"""The menu answers, and a first run compiles in other processes, before the compiler is read."""

import subprocess
import sys

ASK = """
import sys
import donkeysim.serve.scene_loader
import donkeysim.serve.simulation
import donkeysim.serve.watched_thread
import donkeysim.watch.spectator
import donkeysim.world.tracks.build_apart
print(sorted({"numba", "scipy", "shapely", "donkeysim.sim.simulator"} & set(sys.modules)))
"""


def test_what_waits_for_kernels_imports_neither_simulator_nor_compiler():
    done = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
