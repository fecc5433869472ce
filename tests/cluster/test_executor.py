"""An executor runs tasks in this process or with Ray; who is killed loses nothing."""

import functools
import os
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from donkeysim.cluster.executor import Executor, guard_ray
from donkeysim.core.errors import DonkeySimError, SpecError

pytestmark = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")


@pytest.fixture
def work():
    """Returns a square; number 3 kills its process the first time, 5 is refused.

    Within a function, as other processes cannot import tests.
    """

    def square(folder, number):
        mark = Path(folder) / "killed"
        if number == 3 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if number == 5:
            raise SpecError("five is not valid.")
        return number * number, os.getpid()

    return square


def test_this_process_alone_needs_no_ray(work, tmp_path):
    (tmp_path / "killed").touch()
    assert list(Executor(workers=0).run(work, str(tmp_path), over=range(4))) == [(n * n, os.getpid()) for n in range(4)]


@pytest.mark.soak  # Ray takes seconds to start
def test_tasks_run_elsewhere_and_a_killed_one_again(work, tmp_path):
    found = list(Executor(workers=2).run(work, str(tmp_path), over=[0, 1, 2, 3, 4, 6, 7]))
    assert sorted(square for square, _ in found) == [0, 1, 4, 9, 16, 36, 49]
    assert os.getpid() not in {process for _, process in found}
    assert (tmp_path / "killed").exists()
    with pytest.raises(SpecError, match=r"^five is not valid\.$"):
        list(Executor(workers=1).run(work, str(tmp_path), over=[5]))


@pytest.fixture
def no_cluster(tmp_path, monkeypatch):
    """Hides clusters of others, which Ray finds in its folder, in the environment and among the machine's processes."""
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr("ray._private.services.find_gcs_addresses", functools.cache(set))


@pytest.mark.usefixtures("no_cluster")
def test_a_cluster_that_is_not_there_is_named(work):
    with pytest.raises(DonkeySimError, match="the cluster at auto cannot be reached"):
        list(Executor(address="auto").run(work, ".", over=[0]))


@pytest.mark.usefixtures("no_cluster")
def test_what_the_environment_says_of_ray_stays(work, monkeypatch):
    monkeypatch.setattr(os, "environ", {**os.environ, "RAY_USAGE_STATS_ENABLED": "1"})
    os.environ.pop("LOG_NAME_UPDATE_INTERVAL_S", None)
    with pytest.raises(DonkeySimError):
        list(Executor(address="auto").run(work, ".", over=[0]))
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "1"
    assert os.environ["LOG_NAME_UPDATE_INTERVAL_S"] == "60"


@pytest.fixture
def environment(monkeypatch):
    monkeypatch.setattr(os, "environ", {name: os.environ[name] for name in os.environ if "RAY_AUTH" not in name})
    return os.environ


def test_what_is_started_here_answers_to_a_token_that_nobody_else_has(environment):
    guard_ray()
    first = environment.pop("RAY_AUTH_TOKEN")
    guard_ray()
    assert len(first) == 64
    assert environment["RAY_AUTH_TOKEN"] != first


@pytest.mark.parametrize("given", [{"RAY_AUTH_TOKEN": "mine"}, {"RAY_AUTH_TOKEN_PATH": "token"}])
def test_whoever_has_arranged_it_is_left_alone(environment, given):
    environment.update(given)
    guard_ray()
    assert given == {name: environment[name] for name in environment if "RAY_AUTH" in name}


STRANGER = """
import sys, ray
ray.init(sys.argv[1], logging_level="CRITICAL", log_to_driver=False)
print("in")
"""

OWNER = """
import os, subprocess, sys
from donkeysim.cluster.executor import Executor, guard_ray
with Executor(workers=1).open_ray() as ray:
    address = ray.get_runtime_context().gcs_address
    for name, value in (("stranger", "0" * 64), ("friend", os.environ["RAY_AUTH_TOKEN"])):
        words = [sys.executable, "-c", sys.argv[1], address]
        ended = subprocess.run(words, env={**os.environ, "RAY_AUTH_TOKEN": value}, capture_output=True, text=True)
        print(name, ended.returncode, "Auth" in ended.stderr)
"""


@pytest.mark.soak  # Ray takes seconds to start, and a stranger is long in believing it
@pytest.mark.timeout(180)
def test_a_stranger_does_not_reach_it_and_no_file_holds_its_token(tmp_path):
    environment = {name: value for name, value in os.environ.items() if "RAY_" not in name}
    words = [sys.executable, "-c", OWNER, STRANGER]
    ended = subprocess.run(
        words, env={**environment, "HOME": str(tmp_path)}, capture_output=True, text=True, timeout=170, check=True
    )
    assert ended.stdout.splitlines() == ["stranger 1 True", "friend 0 False"]
    assert not (tmp_path / ".ray").exists()
