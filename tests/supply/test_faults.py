"""Answers about known faults are told as they are, also when nobody answered."""

import json
import subprocess

import msgspec
from supply.faults import Report, describe_report, report_faults
from supply.pins import CONSTRAINTS, RLLIB, read_pins

from supply import faults

HARMED = {"name": "rich", "version": "15.0.0", "vulns": [{"id": "PYSEC-1", "fix_versions": ["15.0.1"], "aliases": []}]}
HELPLESS = {"name": "rich", "version": "15.0.0", "vulns": [{"id": "PYSEC-2", "fix_versions": []}]}
SOUND = {"name": "rich", "version": "15.0.0", "vulns": []}
UNHEARD = {"name": "rich", "skip_reason": "Dependency not found"}


def describe(*answers, names=("rich",), complaint=""):
    """Return the sentences about a service's answers."""
    report = msgspec.json.decode(json.dumps({"dependencies": answers, "fixes": []}), type=Report)
    return describe_report(report, set(names), complaint)


def test_a_known_fault_is_told_with_the_version_that_is_free_of_it():
    (line,) = describe(HARMED)
    assert line.startswith("rich 15.0.0 has the known fault PYSEC-1: enter 15.0.1 in constraints.txt")


def test_a_fault_that_no_version_mends_is_told_too():
    assert "no version is free of it yet" in describe(HELPLESS)[0]


def test_nothing_is_told_of_packages_without_faults():
    assert describe(SOUND) == []


def test_packages_that_the_service_does_not_know_count_as_not_judged():
    (line,) = describe(UNHEARD, {**SOUND, "name": "numpy"}, names=("rich", "numpy"))
    assert "said nothing about 1 of 2 packages" in line
    assert "Dependency not found" in line


def test_a_service_that_cannot_be_reached_fails_the_audit_in_one_sentence(monkeypatch, capsys):
    def fail(pins):
        return subprocess.CompletedProcess([], 1, "", "Traceback\nConnectionError: no such host\n")

    monkeypatch.setattr(faults, "ask_for_faults", fail)
    assert report_faults() == 1
    count = len({pin.name for pin in read_pins(CONSTRAINTS, RLLIB)})
    (line,) = capsys.readouterr().out.splitlines()
    assert f"said nothing about {count} of {count} packages" in line
    assert "ConnectionError: no such host" in line


def test_the_audit_passes_when_the_service_answered_for_every_pin(monkeypatch, capsys):
    def answer(pins):
        told = {"dependencies": [{"name": pin.name, "version": pin.version, "vulns": []} for pin in pins]}
        return subprocess.CompletedProcess([], 0, json.dumps(told), "")

    monkeypatch.setattr(faults, "ask_for_faults", answer)
    assert report_faults() == 0
    assert "No faults are known" in capsys.readouterr().out
