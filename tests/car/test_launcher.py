"""The launcher lies where the original's program lies, starts ours, and never replaces another program."""

import os
import plistlib
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import donkeysim
from donkeysim.car.folder import install_launcher
from donkeysim.core.errors import SpecError

SOURCES = str(Path(donkeysim.__file__).parents[1])


@pytest.mark.skipif(os.name == "nt", reason="a shell script")
def test_it_starts_the_simulator_from_anywhere_without_a_path(tmp_path):
    program = install_launcher(tmp_path / "it's my place", "linux")
    assert program == tmp_path / "it's my place" / "DonkeySimLinux" / "donkey_sim.x86_64"
    (tmp_path / "donkeysim.py").write_text("raise SystemExit('the wrong module')")
    command = [program, "--version", "-batchmode", "-logFile", "log.txt"]
    run = subprocess.run(
        command, cwd=tmp_path, env={"PYTHONPATH": SOURCES}, capture_output=True, text=True, check=False
    )
    assert (run.stdout, run.stderr) == (f"donkey_sim {donkeysim.__version__}\n", "")


def test_on_macos_it_is_an_application(tmp_path):
    program = install_launcher(tmp_path, "darwin")
    assert program == tmp_path / "DonkeySimMac" / "donkey_sim.app" / "Contents" / "MacOS" / "donkey_sim"
    keys = plistlib.loads((tmp_path / "DonkeySimMac" / "donkey_sim.app" / "Contents" / "Info.plist").read_bytes())
    assert keys["CFBundleExecutable"] == program.name


def test_on_windows_it_is_pips_program(tmp_path, monkeypatch):
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path / name))
    with pytest.raises(SpecError, match=r"there is no .*donkey_sim\.exe, which pip makes; install donkeysim with pip"):
        install_launcher(tmp_path, "win32")
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "donkey_sim.exe").write_bytes(b"MZ from donkeysim.cli.donkey_sim import main")
    program = install_launcher(tmp_path, "win32")
    assert program == tmp_path / "DonkeySimWin" / "donkey_sim.exe"
    assert program.read_bytes() == (tmp_path / "scripts" / "donkey_sim.exe").read_bytes()


def test_another_program_is_not_replaced_but_an_earlier_launcher_is(tmp_path):
    program = install_launcher(tmp_path, "linux")
    program.write_text("#!/bin/sh\nexec old -m donkeysim.cli.donkey_sim\n")
    assert sys.executable in install_launcher(tmp_path, "linux").read_text()
    program.write_bytes(b"\x7fELF of the original")
    with pytest.raises(SpecError, match="is another program, perhaps the original's simulator"):
        install_launcher(tmp_path, "linux")
    assert program.read_bytes() == b"\x7fELF of the original"


def test_a_place_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SpecError, match=r"cannot write .*; choose another folder\."):
        install_launcher(tmp_path / "file", "linux")


def test_home_is_expanded(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert install_launcher("~/projects", "linux").is_relative_to(tmp_path / "projects")
