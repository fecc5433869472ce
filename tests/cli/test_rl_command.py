"""`donkey rl` learns, keeps what it learned, and goes on."""

import json

import pytest

from donkeysim.cli import donkey
from donkeysim.cli.commands import rl

QUICK = ["--cars", "8", "--laps", "1", "--page", "0"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--minutes", "0"], "number above 0"),
        (["--steps", "0"], "whole number above 0"),
        (["--teacher", "nobody"], "learned"),
        (["--resume", "nowhere"], "to continue from"),
        (["--track", "nowhere"], "nowhere"),
        (["--from", "nowhere.h5"], "nowhere.h5"),
        (["--randomize", "nothing"], "nothing"),
        (["--reward", "nowhere.py"], "nowhere.py cannot be read as Python"),
        (["--reward", "nowhere.py", "--teacher"], "a teacher and a reward were both given"),
        (["--test", "waveshar"], "did you mean 'waveshare'"),
        (["--test", "waveshare", "broken.toml"], "broken.toml"),
        (["--test-roads", "-3"], "--test-roads -3 is not valid; it takes a whole number, 0 or above"),
    ],
)
def test_what_is_not_possible_is_said_in_a_sentence(words, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.toml").write_text("name =")
    assert donkey.run(["rl", *QUICK, "--minutes", "0.001", *words]) != 0
    captured = capsys.readouterr()
    assert message in captured.err
    assert "Traceback" not in captured.err
    assert "steps" not in captured.out
    assert [path.name for path in tmp_path.iterdir()] == ["broken.toml"]


def test_going_on_with_something_else_is_refused(tmp_path, capsys):
    (tmp_path / "task.json").write_text('{"format": 1, "seed": 3}')
    assert donkey.run(["rl", "--resume", str(tmp_path), "--seed", "4"]) != 0
    assert "seed" in capsys.readouterr().err


def test_the_reward_of_a_task_is_run_only_where_it_is_named_again(tmp_path, capsys):
    (tmp_path / "task.json").write_text(json.dumps({"format": 1, "reward": "sent.py"}))
    assert donkey.run(["rl", "--resume", str(tmp_path)]) != 0
    told = capsys.readouterr().err
    assert "names sent.py, a Python file that would run with your rights" in told
    assert f"donkey rl --resume {tmp_path} --reward sent.py" in told


def test_a_second_run_gets_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    parser = donkey.CommandParser()
    rl.add_arguments(parser)
    names = []
    for _ in range(3):
        _, folder = rl.read_request(parser.parse_args(["--track", "warren"]))
        folder.mkdir()
        names.append(folder.name)
    assert names == ["rl_warren_0", "rl_warren_0_2", "rl_warren_0_3"]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("cars = [16, 5000]", "line 6: 5000 cars are not valid"),
        ("cars = [16]\n[options]\ntrack = 'nowhere'", "nowhere"),
    ],
)
def test_a_sweep_is_refused_by_what_the_command_refuses(table, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    head = 'command = "rl"\nmethod = "grid"\nbudget = 9\nmaximize = "laps"\n[search]\n'
    (tmp_path / "sweep.toml").write_text(head + table)
    assert donkey.run(["sweep", "sweep.toml"]) != 0
    assert message in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["sweep.toml"]
