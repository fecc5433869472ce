"""gym-donkeycar's own examples, their import of `gym` replaced by the one documented line, drive at a `donkey_sim`.

GYM_DONKEYCAR names a checkout of gym-donkeycar; without it one is cloned, which needs the internet. Its other examples
need TensorFlow 1 or Stable-Baselines 2: what they ask of an environment is in `tests/envs/test_original_programs.py`.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.simulator_process import SimulatorProcess

pytestmark = [pytest.mark.soak, pytest.mark.timeout(900)]

REPOSITORY = "https://github.com/tawnkramer/gym-donkeycar"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    if given := os.environ.get("GYM_DONKEYCAR"):
        return Path(given)
    folder = tmp_path_factory.mktemp("original") / "gym-donkeycar"
    done = subprocess.run(["git", "clone", "-q", "--depth", "1", REPOSITORY, folder], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"gym-donkeycar cannot be cloned here: {done.stderr.strip().splitlines()[-1]}")
    return folder


@pytest.mark.parametrize(
    ("name", "said"), [("gym_test.py", "test finished"), ("test_cam_config.py", "Actual camera size: (256, 256, 3)")]
)
@pytest.mark.original("gym-donkeycar", "its examples `gym_test.py`, `test_cam_config.py`", "run with that line")
def test_an_example_drives_with_its_import_replaced(checkout, tmp_path, name, said):
    program = (checkout / "examples" / name).read_text(encoding="utf-8")
    program = re.sub(r"^import gym_donkeycar.*$", "", program, flags=re.MULTILINE)
    program, count = re.subn(r"^import gym$", "from donkeysim.envs import gym", program, flags=re.MULTILINE)
    assert count == 1, "it imports gym otherwise than it used to"
    (tmp_path / name).write_text(program, encoding="utf-8")
    with SimulatorProcess() as simulator:
        words = [sys.executable, name, "--port", str(simulator.address[1])]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    assert said in done.stdout
    assert "Exception" not in done.stdout
    assert "Invalid" not in done.stdout
