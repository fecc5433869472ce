"""Environments with every Gymnasium that pyproject.toml allows: the tests of tests/envs, and Gymnasium's own checker.

Each version lies in a folder of its own before the installed one, which needs a package index. VERSIONS chooses some.
"""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]

ROOT = Path(__file__).parents[2]
VERSIONS = os.environ.get("VERSIONS", "1.0.0 1.1.1 1.2.2 newest").split()
FIRST = "1.0.0"
CHECKED = "tests/soak/test_every_id.py::test_the_checkers_are_content"
SCENES = ("donkey-generated-track-v0", "donkeysim/GeneratedTrack-v0", "donkeysim/MountainTrack-v0")
MAKE = """
import gymnasium, donkeysim
for name in ("donkey-generated-track-v0", "donkeysim/GeneratedTrack-v0"):
    for options in ({}, {"vectorization_mode": "vector_entry_point"}):
        envs = gymnasium.make_vec(name, num_envs=3, **options)
        assert type(envs.unwrapped).__module__.startswith("donkeysim."), type(envs)
        seen, _ = envs.reset(seed=1)
        assert seen in envs.observation_space
        seen, rewards, *_ = envs.step(envs.action_space.sample())
        assert (seen in envs.observation_space, rewards.shape) == (True, (3,))
        envs.close()
    assert type(gymnasium.make_vec(name, num_envs=2, vectorization_mode="sync")).__name__ == "SyncVectorEnv"
print(gymnasium.__version__)
"""


@pytest.fixture(params=VERSIONS)
def version(request):
    return request.param


@pytest.fixture
def environment(version, tmp_path):
    """Variables with which Python finds that Gymnasium first."""
    wanted = "gymnasium" if version == "newest" else f"gymnasium=={version}"
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", tmp_path / "site", wanted]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"{wanted} cannot be installed here: {done.stderr.strip().splitlines()[-1]}")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path / "site"), str(ROOT / "src")])}


def run(environment, *words):
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, env=environment, cwd=ROOT)
    assert done.returncode == 0, (done.stdout + done.stderr)[-5000:]
    return done.stdout.splitlines()[-1]


def test_the_first_version_is_the_least_that_the_package_asks_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f"gymnasium>={FIRST.removesuffix('.0')}" in project["dependencies"]


def test_environments_keep_their_promises(environment, version):
    pytest_words = ("-m", "pytest", "-n", "0", "--timeout", "900")
    found = run(environment, "-c", MAKE)
    assert version in ("newest", found)
    told = run(environment, *pytest_words, "-rs", "tests/envs", "-m", "not soak and not gpu")
    checked = run(environment, *pytest_words, "-m", "soak", *(f"{CHECKED}[{name}]" for name in SCENES))
    print(json.dumps({"gymnasium": found, "tests": told, "checkers": checked}))
