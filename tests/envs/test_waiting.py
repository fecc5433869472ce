"""The first compilation on a machine is not waited for in silence."""

import subprocess
import sys

import pytest

from donkeysim.envs.donkey_env import DonkeyEnv
from donkeysim.envs.donkey_vector_env import DonkeyVectorEnv
from donkeysim.sim.simulator import Simulator

PROGRAM = """
import sys
from donkeysim.sim.simulator import Simulator
from donkeysim.envs.donkey_env import DonkeyEnv
Simulator.must_compile = True
DonkeyEnv("flat", conf=eval(sys.argv[1])).close()
"""


def make_in_new_process(conf):
    ended = subprocess.run([sys.executable, "-c", PROGRAM, repr(conf)], capture_output=True, text=True, timeout=200)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == ""
    return ended.stderr.splitlines()


@pytest.mark.soak
def test_standard_error_tells_of_each_stage_unless_the_log_level_says_no():
    first, *stages, last = make_in_new_process({})
    assert first == "First run on this machine: kernels are compiled, once, which takes about half a minute."
    assert stages == [
        "First run: compiling kernels, 0 of 2: vehicles and contacts",
        "First run: compiling kernels, 1 of 2: camera",
    ]
    assert last.startswith("First run: kernels compiled in ")
    assert make_in_new_process({"log_level": "ERROR"}) == []


@pytest.mark.parametrize("make", [lambda: DonkeyEnv("flat"), lambda: DonkeyVectorEnv(2, "flat")])
def test_the_log_tells_of_it_the_first_time_only(make, caplog, monkeypatch):
    make().close()
    assert caplog.messages == []
    monkeypatch.setattr(Simulator, "must_compile", True)
    make().close()
    assert len(caplog.messages) == 4
