"""The page about dependencies says what pyproject.toml asks for, and under which licences it is."""

import re

from supply.licences import judge_installed, read_policy
from supply.pins import ROOT
from supply.sizes import list_direct, measure_size

PAGE = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| ([a-z0-9-]+) \| ([a-z, -]+) \| (.+) \| (.+) \| ([\d.]+) \|$", re.MULTILINE)


def test_every_direct_dependency_has_a_row_with_its_extras():
    assert {name: extras.split(", ") for name, extras, *_ in ROW.findall(PAGE)} == list_direct()


def test_the_licences_on_the_page_are_those_that_the_audit_finds():
    judged = {verdict.name: verdict.licence for verdict in judge_installed(read_policy())}
    told = {name: licence for name, _, _, licence, _ in ROW.findall(PAGE) if name in judged}
    assert len(told) > 40
    assert told == {name: judged[name] for name in told}


def test_a_package_has_a_size_and_one_that_is_not_installed_has_none():
    assert measure_size("numpy") > 10
    assert measure_size("never-heard-of") == 0
