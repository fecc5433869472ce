"""`donkey drive` as people call it."""

import sys

import pytest

from donkeysim.cli.donkey import run
from donkeysim.cli.drive_beside import find_watching_page
from donkeysim.cli.folder_checkup import check_folder
from donkeysim.watch.spectator import create_app
from donkeysim.web.serving import bind_port
from stand_ins.served_app import ServedApp
from stand_ins.watched_stage import WatchedStage


@pytest.mark.parametrize("place", ["localhost:0", "localhost:65536", "localhost:x", "localhost:-1", ":9091"])
def test_a_simulator_at_no_port_is_refused(tmp_path, monkeypatch, capsys, place):
    monkeypatch.chdir(tmp_path)
    assert run(["drive", "--simulator", place]) == 1
    error = capsys.readouterr().err
    assert f"--simulator {place!r} is not valid; it takes HOST or HOST:PORT, a port from 1 to 65535." in error
    assert not list(tmp_path.iterdir())


def test_the_watching_page_of_a_simulator_that_runs_is_found_by_its_port():
    served, wire_port = ServedApp(), 9191
    served.start(create_app(WatchedStage(), wire_port=wire_port))
    page_port = int(served.address.rsplit(":", 1)[1])
    with bind_port(0) as nobody_there:
        nobody = nobody_there.getsockname()[1]
    assert find_watching_page("127.0.0.1", wire_port, [nobody, page_port]) == served.address
    assert find_watching_page("127.0.0.1", wire_port + 1, [nobody, page_port]) == ""
    served.close()


def test_a_car_s_program_finds_what_lies_beside_it(tmp_path, monkeypatch, capsys):
    """`donkey drive` is `python manage.py drive`, whose folder Python searches first."""
    (tmp_path / "parts_beside").mkdir()
    (tmp_path / "parts_beside/mine.py").write_text("WORD = 'found'", encoding="utf-8")
    program = "import os\nfrom parts_beside.mine import WORD\nos.chdir('parts_beside')\nprint(WORD)"
    (tmp_path / "manage.py").write_text(program, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    path = list(sys.path)
    assert run(["drive"]) == 0
    assert "found" in capsys.readouterr().out
    assert sys.path == path


@pytest.mark.parametrize(
    "line",
    [
        "import donkeycar as dk",
        "from donkeycar.parts.tub_v2 import TubWriter",
        "def drive(cfg):\n    import donkeycar as dk\ndrive(None)",
    ],
)
def test_the_original_s_program_says_what_to_do(tmp_path, monkeypatch, capsys, line):
    (tmp_path / "manage.py").write_text(f"from docopt import docopt\n{line}\n", encoding="utf-8")
    (tmp_path / "config.py").write_text("DRIVE_LOOP_HZ = 20\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert run(["drive"]) == 1
    assert "is donkeycar's, which is not installed here; `donkey update`" in " ".join(capsys.readouterr().err.split())
    (car,) = check_folder(tmp_path)
    assert car.works == {"loads": True, "trains": True, "drives": False}
    assert "`donkey update`" in car.reason


@pytest.mark.parametrize("where", ["", "def assemble():\n    "])
def test_a_part_of_the_original_in_our_program_says_what_to_do(tmp_path, monkeypatch, capsys, where):
    """`donkey update` would take away what its owner wrote."""
    line = "from donkeycar.parts.pipe import Pipe"
    program = f"from donkeysim.drive.options import run_program\n{where}{line}\nexit(run_program(assemble))"
    (tmp_path / "manage.py").write_text(program, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert run(["drive"]) == 1
    error = " ".join(capsys.readouterr().err.split())
    assert "imports donkeycar, which is not installed here; install it into the same environment, or leave" in error
    assert "update" not in error


@pytest.mark.parametrize("beside", [True, False])
def test_a_program_that_does_without_the_original_runs(tmp_path, monkeypatch, capsys, beside):
    """Where it is only tried, or lies beside it."""
    if beside:
        (tmp_path / "donkeycar").mkdir()
        text = "import donkeycar\nprint('runs')"
    else:
        text = "try:\n    import donkeycar\nexcept ImportError:\n    print('runs')"
    (tmp_path / "manage.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert run(["drive"]) == 0
    assert "runs" in capsys.readouterr().out
