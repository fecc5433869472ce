"""`donkey createcar` and `donkey update` make and renew car folders, and say in a sentence why they cannot."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

from donkeysim.car.folder import create_car
from donkeysim.cli.commands import createcar
from donkeysim.cli.donkey import run


def test_a_car_is_made_and_how_to_drive_it_is_said(tmp_path, capsys):
    assert run(["createcar", "--path", str(tmp_path / "my car")]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"Creating car folder: {tmp_path / 'my car'}\n")
    if sys.platform != "win32":
        assert said.endswith(f"\nDrive it:  cd '{tmp_path / 'my car'}' && python manage.py drive\n")


@pytest.mark.parametrize("name", ["my car", "O'Brien"])
def test_on_windows_both_of_its_shells_take_what_is_said(tmp_path, capsys, monkeypatch, name):
    """PowerShell 5.1 knows no &&, and takes an apostrophe for the begin of a text."""
    monkeypatch.setattr(createcar, "sys", SimpleNamespace(platform="win32"))
    assert run(["createcar", "--path", str(tmp_path / name)]) == 0
    first, second = capsys.readouterr().out.splitlines()[-2:]
    assert first == f'Drive it:  cd "{tmp_path / name}"'
    assert second.strip() == "python manage.py drive"


@pytest.mark.skipif(sys.platform == "win32", reason="it is said for another shell there")
@pytest.mark.parametrize("name", ["my car", "my'car", "$HOME"])
def test_what_is_said_works_in_a_shell_for_a_folder_at_home(tmp_path, monkeypatch, capsys, name):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert run(["createcar", "--path", f"~/{name}"]) == 0
    change = capsys.readouterr().out.splitlines()[-1].removeprefix("Drive it:  ").split(" && ")[0]
    done = subprocess.run(["sh", "-c", f"{change} && ls manage.py"], capture_output=True, text=True, check=True)
    assert done.stdout == "manage.py\n"


def test_without_a_path_it_is_mycar(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert run(["createcar", "--template", "simulator"]) == 0
    assert (tmp_path / "mycar" / "myconfig.py").is_file()
    assert "Copying car application template: simulator" in capsys.readouterr().out


def test_an_unknown_template_is_one_sentence(tmp_path, capsys):
    assert run(["createcar", "--path", str(tmp_path / "car"), "--template", "path_follow"]) == 1
    assert capsys.readouterr().err.startswith("donkey createcar: unknown template 'path_follow'. Valid: complete, sim")


def test_an_update_renews_the_folder_here(tmp_path, monkeypatch, capsys):
    create_car(tmp_path, say=lambda _line: None)
    (tmp_path / "config.py").write_text("OLD = 1\n")
    monkeypatch.chdir(tmp_path)
    assert run(["update"]) == 0
    assert "DRIVE_LOOP_HZ = 20" in (tmp_path / "config.py").read_text()
    assert "Keeping the earlier config.py as config.py.old." in capsys.readouterr().out


@pytest.mark.parametrize("words", [["update"], ["update", "--template", "complete"]])
def test_an_update_outside_of_a_car_folder_is_one_sentence(tmp_path, monkeypatch, capsys, words):
    monkeypatch.chdir(tmp_path)
    assert run(words) == 1
    assert "is not a car folder" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
