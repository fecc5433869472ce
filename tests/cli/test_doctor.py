"""`donkey doctor` finds what is wrong, says what to do, and its exit code tells scripts."""

import os
import socket
import subprocess
import sys

import pytest

from donkeysim.car.config import TEMPLATE_FOLDER
from donkeysim.cli.commands import doctor
from donkeysim.cli.commands.doctor import FINE, NOTE, WRONG, Finding, check_all
from donkeysim.cli.donkey import run
from donkeysim.core import kernel_folders
from donkeysim.core.errors import describe_install


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A working folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def car_here(here):
    """A car folder with free ports, as the working folder."""
    (here / "config.py").write_text((TEMPLATE_FOLDER / "config.py").read_text(encoding="utf-8"), encoding="utf-8")
    (here / "manage.py").write_text("")
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
    control, wire, watch = (bound.getsockname()[1] for bound in sockets)
    for bound in sockets:
        bound.close()
    (here / "myconfig.py").write_text(f"WEB_CONTROL_PORT = {control}\nSIM_PORT = {wire}\nWATCH_PAGE_PORT = {watch}\n")
    return here, control, wire, watch


def find(subject):
    return next(finding for finding in check_all() if finding.subject == subject)


def test_a_car_folder_in_order_is_fine(car_here, capsys):
    folder, control, wire, watch = car_here
    assert find("car") == Finding("car", FINE, str(folder))
    assert {find(f"port {port}").state for port in (control, wire, watch)} == {FINE}
    assert run(["doctor"]) == 0
    shown = capsys.readouterr().out
    assert "No problems found." in shown
    assert f"port {control}" in shown


def test_a_port_held_by_another_program_is_named_with_what_to_do(car_here, capsys):
    _, control, _, watch = car_here
    with socket.create_server(("127.0.0.1", control)), socket.create_server(("127.0.0.1", watch)):
        finding = find(f"port {control}")
        assert (finding.state, find(f"port {watch}").state) == (WRONG, NOTE)
        assert finding.advice == "stop that program, or set WEB_CONTROL_PORT in myconfig.py"
        if sys.platform.startswith("linux"):
            assert f"held by process {os.getpid()}: " in finding.text
        assert run(["doctor"]) == 1
    assert f"To be fixed: port {control}." in capsys.readouterr().out


def test_a_port_held_by_our_own_program_is_fine(car_here):
    _, _, wire, _ = car_here
    script = f"import socket, sys; s = socket.create_server(('127.0.0.1', {wire})); print(flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", script, "donkey_sim"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        holder.stdout.readline()
        finding = find(f"port {wire}")
        holder.stdin.close()
    if sys.platform.startswith("linux"):
        assert finding.state == FINE
        assert f"held by process {holder.pid}" in finding.text


def test_a_wrong_line_in_the_cars_configuration_is_told(car_here):
    folder = car_here[0]
    (folder / "myconfig.py").write_text("IMAGE_W = 0\n")
    finding = find("car")
    assert finding.state == WRONG
    assert "myconfig.py, line 1: IMAGE_W is 0, but takes" in finding.text


def test_elsewhere_it_says_how_to_make_a_car(here):
    finding = find("car")
    assert finding.state == NOTE
    assert "is not a car folder" in finding.text


def test_the_originals_program_on_the_path_is_told(here, monkeypatch):
    program = here / "donkey"
    program.write_text("#!/usr/bin/python\nfrom donkeycar.management.base import execute_from_command_line\n")
    monkeypatch.setattr(doctor.shutil, "which", lambda _name: str(program))
    assert find("donkey").text == f"{program} is the original's"
    assert "use the command donkeysim" in find("donkey").advice


def test_packages_of_the_original_beside_ours_are_told(here, monkeypatch):
    real = doctor._find_version
    monkeypatch.setattr(doctor, "_find_version", lambda name: "5.3.0" if name == "donkeycar" else real(name))
    assert find("donkeycar").state == NOTE


def test_missing_packages_name_the_command(here, monkeypatch):
    groups = {"": ["numpy", "no-such-package-x"], "learn": ["no-such-package-y"]}
    monkeypatch.setattr(doctor, "_list_requirements", lambda: groups)
    assert find("packages").state == WRONG
    finding = find("extra learn")
    assert finding == Finding(
        "extra learn", NOTE, "missing: no-such-package-y", f"install it {describe_install('learn')}"
    )


def test_no_folder_for_kernels_is_wrong(here):
    (here / "file").write_text("")
    script = "from donkeysim.cli.commands.doctor import _check_kernels; print(_check_kernels())"
    environment = os.environ | {"DONKEYSIM_KERNEL_CACHE": str(here / "file")}
    ended = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert "state='wrong'" in ended.stdout
    assert "set DONKEYSIM_KERNEL_CACHE" in ended.stdout


def test_kernels_that_came_with_the_package_are_fine_though_none_were_compiled(here, monkeypatch):
    monkeypatch.setattr(kernel_folders, "READY_LIBRARY", here)
    monkeypatch.setattr(kernel_folders, "count_cached_kernels", lambda: 0)
    finding = doctor._check_kernels()
    assert finding.state == FINE
    assert finding.text.startswith("came with the package")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="joysticks are only supported on Linux")
def test_a_joystick_is_found_by_its_device(car_here):
    folder = car_here[0]
    device = folder / "js"
    with (folder / "myconfig.py").open("a") as own:
        own.write(f"JOYSTICK_DEVICE_FILE = {str(device)!r}\n")
    assert "there is no" in find("joystick").text
    device.write_text("")
    assert find("joystick") == Finding("joystick", FINE, str(device))


def test_folders_of_tracks_are_looked_through(here, monkeypatch):
    monkeypatch.setenv("DONKEYSIM_TRACKS", str(here))
    (here / "yard.toml").write_text("format = 1\n", encoding="utf-8")
    assert find("tracks").state == NOTE
    assert "yard.toml: the key 'name' is missing" in find("tracks").text
    monkeypatch.setenv("DONKEYSIM_TRACKS", str(here / "gone"))
    assert find("tracks").state == WRONG
    monkeypatch.delenv("DONKEYSIM_TRACKS")
    assert find("tracks").state == FINE
