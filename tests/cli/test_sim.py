"""`donkey sim` is the simulator with its own options, or writes a launcher."""

import subprocess
import sys

import pytest

import donkeysim.cli.donkey_sim
from donkeysim.cli.donkey import run


def test_its_words_are_the_simulators(monkeypatch):
    given = []
    monkeypatch.setattr(donkeysim.cli.donkey_sim, "main", given.append)
    assert run(["sim", "--port", "0", "-batchmode", "--scene", "flat"]) == 0
    assert given == [["--port", "0", "-batchmode", "--scene", "flat"]]


def test_the_simulators_mistakes_end_with_its_sentence():
    command = [sys.executable, "-m", "donkeysim", "sim", "--port", "99999"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert ended.stderr == "donkey_sim: --port: 99999 is not a port; it takes 0 (any free one) to 65535.\n"


@pytest.mark.original(
    "Programs and other files", "`DONKEY_SIM_PATH` of a program", "`donkey sim --install` puts a launcher there"
)
def test_installing_shows_the_line_to_write(tmp_path, capsys):
    assert run(["sim", "--install", str(tmp_path)]) == 0
    assert f'DONKEY_SIM_PATH = "{tmp_path.as_posix()}/DonkeySim' in capsys.readouterr().out


def test_installing_takes_no_options_of_the_simulator(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        run(["sim", "--install", str(tmp_path), "--port", "1"])
    assert ended.value.code == 2
    assert "--install takes a folder and nothing else, not '--port'" in capsys.readouterr().err
