"""RLlib learns with our batch, in the environment that `make rllib` makes. Needs a package index the first time."""

import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.soak,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(shutil.which("make") is None, reason="there is no make"),
]

ROOT = Path(__file__).parents[2]


def make(*words):
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "MAKE"))}
    done = subprocess.run(["make", *words], cwd=ROOT, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[-5000:]
    return done.stdout


def test_the_target_makes_an_environment_in_which_a_car_learns_to_drive_laps(tmp_path):
    make(".venv/rllib/.made")
    begun = time.monotonic()
    told = make("rllib", f"ARGS=--out {tmp_path / 'pilot'}")
    assert "RLlib steps TrackVectorEnv: 64 cars at once" in told
    before, after = (
        float(re.search(rf"^{when}: ([\d.]+) m and", told, re.MULTILINE)[1]) for when in ("before", "after")
    )
    last = told.splitlines()[-1]
    print(json.dumps({"before_m": before, "after_m": after, "seconds": time.monotonic() - begun, "laps": last}))
    assert after > 10.0 * before
    assert make("rllib", f"ARGS=--drive {tmp_path / 'pilot'}").splitlines()[-1] == last
