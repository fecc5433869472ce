"""The examples that learn from pixels: their task, their exam, and each of them with a tiny budget."""

import importlib
import json
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

EXAMPLES = Path(__file__).parents[2] / "examples"
TINY = "--threads 1 --cars 4 --batch 16 --steps 64 --minutes 1 --seed 3"
PPO = f"{TINY} --rollout 8"
OFF_POLICY = f"{TINY} --warm-up 8 --memory 64 --gradients 1"
RUNS = {
    "cleanrl_ppo_pixels": PPO,
    "sb3_ppo_pixels": PPO,
    "torchrl_ppo_pixels": PPO,
    "sb3_sac_pixels": f"{OFF_POLICY} --algorithm sac",
    "sb3_tqc_pixels": f"{OFF_POLICY} --algorithm tqc",
}


@pytest.fixture(autouse=True)
def find_examples(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def task():
    return importlib.import_module("pixel_task")


def run(name, words, monkeypatch):
    monkeypatch.setattr(sys, "argv", [name, *words.split()])
    return importlib.import_module(name.replace("tqc", "sac")).main()


def make_step(**changes):
    still = {"gain": 0.0, "steer": 0.0, "previous_steer": 0.0, "ended": False, "forward_speed": 0.0}
    return SimpleNamespace(**{name: np.array([value]) for name, value in (still | changes).items()})


def test_the_reward_pays_for_way_up_to_two_metres_a_second(task):
    assert task.reward_smooth_driving(make_step(gain=0.1)) == pytest.approx(0.5)
    assert task.reward_smooth_driving(make_step(gain=0.2)) == pytest.approx(1.0)
    assert task.reward_smooth_driving(make_step(gain=0.3)) == pytest.approx(1.0)


def test_the_reward_takes_for_jerks_and_most_for_fast_accidents(task):
    assert task.reward_smooth_driving(make_step(steer=0.5, previous_steer=-0.5)) == pytest.approx(-0.1)
    assert task.reward_smooth_driving(make_step(ended=True)) == pytest.approx(-2.0)
    assert task.reward_smooth_driving(make_step(ended=True, forward_speed=2.0)) == pytest.approx(-4.0)


def test_the_eye_moves_pictures_only_while_it_is_trained(task):
    torch.manual_seed(0)
    eye = task.Eye()
    pictures = torch.rand(3, 2, 60, 80)
    eye.eval()
    assert eye(pictures).shape == (3, task.Eye.size)
    assert torch.equal(eye(pictures), eye(pictures))
    eye.train()
    assert not all(torch.equal(eye(pictures), eye(pictures)) for _ in range(5))


def test_the_eye_sees_nothing_above_the_horizon(task):
    eye = task.Eye().eval()
    pictures = torch.rand(1, 2, 60, 80)
    sky = pictures.clone()
    sky[:, :, : task.HORIZON] = 0.0
    assert torch.equal(eye(pictures), eye(sky))
    road = pictures.clone()
    road[:, :, task.HORIZON :] = 0.0
    assert not torch.equal(eye(pictures), eye(road))


def make_exam(task, action, words, tmp_path):
    options = task.make_parser("").parse_args([*words.split(), "--curve", str(tmp_path / "curve.jsonl")])
    return task.Exam(lambda seen: np.tile(np.float32(action), (len(seen), 1)), options)


def test_the_exam_is_passed_once_all_cars_have_gone_far_enough(task, tmp_path):
    exam = make_exam(task, (0.0, 0.5), "--laps 0.005", tmp_path)
    assert exam.is_over(320)
    assert exam.is_passed
    (point,) = map(json.loads, (tmp_path / "curve.jsonl").read_text().splitlines())
    assert point["passed"]
    assert (point["steps"], point["laps"]) == (320, 0.005)
    assert point["seconds"] > 0.0 < point["speed"]


def test_a_car_that_leaves_the_road_fails_the_exam_and_learning_goes_on_until_time_is_up(task, tmp_path, capsys):
    exam = make_exam(task, (1.0, 1.0), "--minutes 60", tmp_path)
    exam._started = task.time.time()
    assert not exam.is_over(0)
    assert "of 16 cars failed" in capsys.readouterr().out
    assert not exam.is_over(128), "the next exam is not due yet"
    exam._started -= 3600.0
    assert exam.is_over(256)
    assert not exam.is_passed
    assert [json.loads(line)["steps"] for line in (tmp_path / "curve.jsonl").read_text().splitlines()] == [0, 256]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.soak
@pytest.mark.parametrize("name", RUNS)
def test_an_example_learns_a_little_keeps_its_pilot_and_examines_it(name, tmp_path, monkeypatch):
    curve, kept = tmp_path / "curve.jsonl", tmp_path / "pilot.zip"
    assert run(name, f"{RUNS[name]} --curve {curve} --out {kept}", monkeypatch) == 1
    points = [json.loads(line) for line in curve.read_text().splitlines()]
    assert 0 <= points[0]["steps"] <= 64
    assert not points[-1]["passed"]
    assert kept.stat().st_size > 10_000
    assert run(name, f"{RUNS[name]} --laps 0.0001 --drive {kept}", monkeypatch) == 0


@pytest.mark.parametrize(
    ("name", "missing"),
    [("sb3_ppo_pixels", "stable_baselines3"), ("sb3_sac_pixels", "sb3_contrib"), ("torchrl_ppo_pixels", "tensordict")],
)
def test_an_example_from_pixels_without_its_packages_says_how_to_install_them(name, missing, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(SystemExit, match=rf"{missing} halted; None in sys.modules\. .*; install it .*\[rl\]\""):
        runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")


def write_table(runs):
    program = runpy.run_path(str(EXAMPLES.parent / "docs" / "envs" / "write_learning.py"))
    return program["write_table"](program["read_runs"](runs))


def test_the_table_shows_seeds_that_failed_and_of_each_the_newest_run(tmp_path):
    run = {
        "tool": "sb3-ppo",
        "command": "python ppo.py --seed 0 --minutes 10",
        "minutes": 10.0,
        "versions": {"torch": "2"},
    }
    point = {"speed": 1.84, "processor": 61.2}
    runs = [
        run | {"seed": 1, "passed": False, "seconds": 600.4, "steps": 900_000, "curve": [point]},
        run | {"seed": 0, "passed": False, "seconds": 600.4, "steps": 800_000, "curve": [point]},
        run | {"seed": 0, "passed": True, "seconds": 47.4, "steps": 110_000, "curve": [point]},
    ]
    path = tmp_path / "learning.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in runs))
    row = write_table(path).splitlines()[-1].strip("| ").split(" | ")
    assert row[1:5] == ["`python ppo.py`", "1 of 2", "–", "0: 47 s, 1: not in 10 minutes"]
    assert row[5:] == ["61 s", "110,000", "1.8 m/s", "torch 2"]


@pytest.mark.soak
def test_the_example_in_the_style_of_cleanrl_learns_to_drive_ten_laps_from_pixels(monkeypatch):
    assert run("cleanrl_ppo_pixels", "--seed 0", monkeypatch) == 0
