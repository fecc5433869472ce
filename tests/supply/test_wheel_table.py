"""Which wheels fit which system and Python is judged as pip judges it."""

import pytest
from supply.wheels import SYSTEMS, has_wheel, is_needed, list_tags, read_packages, report_wheels

from supply import wheels

EVERYWHERE = {(name, python) for name in ("Linux", "macOS", "Windows") for python in ("3.11", "3.14")}
LOCK = {
    "packages": [
        {"name": "six", "version": "1.17.0", "wheels": [{"url": "https://index/six-1.17.0-py2.py3-none-any.whl"}]},
        {"name": "pywin32", "version": "312", "marker": "sys_platform == 'win32'", "wheels": [{"name": "a"}]},
        {"name": "donkeysim", "directory": {"path": "."}},
    ]
}


@pytest.mark.parametrize(
    ("file", "fits"),
    [
        ("six-1.17.0-py2.py3-none-any.whl", EVERYWHERE),
        ("numba-0.68.1-cp314-cp314-win_amd64.whl", {("Windows", "3.14")}),
        ("numba-0.68.1-cp311-cp311-manylinux_2_27_x86_64.whl", {("Linux", "3.11")}),
        ("numba-0.68.1-cp311-cp311-manylinux_2_40_x86_64.whl", set()),
        ("numba-0.68.1-cp314-cp314t-win_amd64.whl", set()),
        ("cryptography-50.0.2-cp311-abi3-macosx_10_9_universal2.whl", {("macOS", "3.11"), ("macOS", "3.14")}),
        ("torch-2.9.0-cp311-none-macosx_11_0_arm64.whl", {("macOS", "3.11")}),
    ],
)
def test_a_wheel_fits_the_systems_and_pythons_of_its_tags(file, fits):
    cells = [(system, python) for system in SYSTEMS for python in ("3.11", "3.14")]
    found = {
        (system.name.split()[0], python) for system, python in cells if has_wheel([file], list_tags(system, python))
    }
    assert found == fits


def test_packages_are_asked_for_only_where_they_are_needed():
    six, pywin32 = read_packages(LOCK)
    assert [is_needed(six, system, "3.12") for system in SYSTEMS] == [True, True, True]
    assert [is_needed(pywin32, system, "3.12") for system in SYSTEMS] == [False, False, True]


def test_a_package_of_the_base_without_a_wheel_is_named_and_fails_the_report(monkeypatch, capsys):
    source_only = {"packages": [*LOCK["packages"], {"name": "slow", "version": "1.0"}]}
    monkeypatch.setattr(wheels, "resolve_packages", lambda extras: [*read_packages(source_only)][::2])
    assert report_wheels() == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(wheels.KINDS) * len(SYSTEMS) * len(wheels.PYTHONS)
    assert all(line.endswith("slow 1.0") for line in lines)
