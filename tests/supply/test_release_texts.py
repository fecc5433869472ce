"""A release changes the version wherever it stands and dates the changelog; what cannot be one is refused."""

from pathlib import Path

import pytest
from supply.pins import ROOT
from supply.release import PLACES, check_version, raise_version, read_version

CHANGELOG = Path("CHANGELOG.md")


@pytest.mark.parametrize("path", PLACES, ids=str)
def test_the_version_is_raised_in_one_line_of_each_file(path):
    before = (ROOT / path).read_text(encoding="utf-8").splitlines()
    after = raise_version("\n".join(before), path, "9.8.7").splitlines()
    assert [new for old, new in zip(before, after, strict=True) if old != new] == [PLACES[path].format("9.8.7")]


def test_all_places_have_the_same_version_now():
    version = read_version((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert all(line.format(version) in (ROOT / path).read_text(encoding="utf-8") for path, line in PLACES.items())


def test_what_is_new_goes_under_the_version_and_leaves_an_empty_heading():
    text = raise_version("# Changelog\n\n## Unreleased\n\n* More.\n", CHANGELOG, "0.2.0", "2026-11-23")
    assert text == "# Changelog\n\n## Unreleased\n\n## 0.2.0 (2026-11-23)\n\n* More.\n"
    with pytest.raises(ValueError, match="nothing under `## Unreleased`"):
        raise_version(text, CHANGELOG, "0.3.0")


@pytest.mark.parametrize("given", ["0.1.0", "0.0.9", "1.0", "later", "v1.0.0.0"])
def test_a_version_that_is_none_or_not_later_is_refused_with_an_example(given):
    with pytest.raises(ValueError, match=r"say for example 0\.2\.0"):
        check_version(given, "0.1.0")


def test_a_later_version_is_taken():
    assert check_version("0.1.1", "0.1.0") == "0.1.1"
