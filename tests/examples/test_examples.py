"""The examples run as they are written, with a tiny budget."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(name, *options):
    command = [sys.executable, str(EXAMPLES / name), *options]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)


@pytest.mark.parametrize("name", ["sb3_ppo.py", "torch_ppo.py", "torch_device_batch.py"])
def test_an_example_without_its_packages_says_how_to_install_them(name, tmp_path, monkeypatch):
    (tmp_path / "torch.py").write_text("raise ModuleNotFoundError(\"No module named 'torch'\")\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    ended = run(name)
    assert ended.returncode == 1
    assert re.fullmatch(
        r"No module named 'torch'\. This example needs .*; install it .*pip install \".*\[rl\]\"\n", ended.stderr
    )


def test_the_example_of_rllib_without_it_says_which_target_makes_its_environment(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(SystemExit, match=r"ray halted; .* This example needs RLlib, .* run: make rllib"):
        runpy.run_path(str(EXAMPLES / "rllib_ppo.py"))


def test_the_lidar_follower_drives_a_lap_between_the_hedges(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["lidar_follower.py", "--laps", "1"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(EXAMPLES / "lidar_follower.py"), run_name="__main__")
    assert ended.value.code == 0
    assert re.fullmatch(r"1 of 1 lap, the last one in \d\d\.\d s; no fault\n", capsys.readouterr().out)


@pytest.mark.soak
def test_the_one_file_of_policy_optimisation_learns_a_little_and_shows_it(tmp_path):
    kept = str(tmp_path / "pilot.pt")
    learned = run("torch_ppo.py", "--steps", "12288", "--laps", "1", "--out", kept)
    assert learned.returncode in (0, 1), learned.stderr
    speeds = [float(speed) for speed in re.findall(r"reward per step (-?[\d.]+)", learned.stdout)]
    assert len(speeds) == 3
    assert speeds[-1] > speeds[0]
    again = run("torch_ppo.py", "--laps", "1", "--drive", kept)
    assert again.stdout == learned.stdout.splitlines(keepends=True)[-1]


@pytest.mark.soak
def test_the_example_of_stable_baselines_learns_a_little_and_keeps_it(tmp_path):
    kept = tmp_path / "pilot.zip"
    learned = run("sb3_ppo.py", "--steps", "1024", "--cars", "16", "--laps", "1", "--out", str(kept))
    assert learned.returncode in (0, 1), learned.stderr
    assert "learned from 1,024 steps" in learned.stdout
    assert re.search(r"[01] of 1 lap, the last one in [\d.]+ s; (no fault|it left the road)", learned.stdout)
    assert kept.stat().st_size > 10_000


@pytest.mark.soak
def test_drivers_on_a_device_get_better():
    ended = run("torch_device_batch.py", "--cars", "64", "--generations", "4", "--steps", "100")
    assert ended.returncode == 0, ended.stderr
    earned = [float(points) for points in re.findall(r"earned (-?[\d.]+) points in 5 s", ended.stdout)]
    assert len(earned) == 4
    assert earned[-1] > earned[0] + 5.0
