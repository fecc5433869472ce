"""A package or an asset whose licence nobody has allowed is named in a sentence."""

from email.message import Message

import pytest
from supply.licences import is_allowed, judge_installed, list_asset_faults, list_statements, read_policy

POLICY = read_policy()


def install(folder, name, *lines):
    """Lay down the metadata of a made-up package as pip does, and return its verdict."""
    place = folder / f"{name}-1.0.dist-info"
    place.mkdir()
    (place / "METADATA").write_text("\n".join(["Metadata-Version: 2.4", f"Name: {name}", "Version: 1.0", *lines, ""]))
    (verdict,) = judge_installed(POLICY, [str(folder)])
    return verdict


@pytest.mark.parametrize(
    "lines",
    [
        ["License-Expression: MIT OR GPL-3.0-only"],
        ["License: Apache 2.0"],
        ["Classifier: License :: OSI Approved :: BSD License"],
        ["License: MIT", "Classifier: License :: OSI Approved :: MIT License"],
    ],
)
def test_a_package_under_an_allowed_licence_may_be_used(tmp_path, lines):
    assert install(tmp_path, "made-up", *lines).fault == ""


@pytest.mark.parametrize(
    ("lines", "stated"),
    [
        (["License-Expression: AGPL-3.0-only"], "states the licence 'AGPL-3.0-only'"),
        (["License-Expression: MIT AND GPL-3.0-only"], "states the licence 'MIT AND GPL-3.0-only'"),
        (["License: Ask my lawyer"], "states the licence 'Ask my lawyer'"),
        (
            ["License: MIT", "Classifier: License :: OSI Approved :: GNU General Public License"],
            "states the licence 'GNU",
        ),
        (["License: UNKNOWN"], "states no licence"),
        (["Classifier: License :: Other/Proprietary License"], "states no licence"),
        ([], "states no licence"),
    ],
)
def test_a_package_under_another_licence_or_none_is_named_with_what_to_do(tmp_path, lines, stated):
    fault = install(tmp_path, "made-up", *lines).fault
    assert fault.startswith(f"made-up {stated}")
    assert "replace the package, or read its licence and enter it there" in fault


def test_a_package_is_no_longer_accepted_when_it_states_another_licence(tmp_path):
    assert "read its licence again" in install(tmp_path, "namex", "License: MIT").fault


def test_an_accepted_package_has_the_licence_that_was_read(tmp_path):
    verdict = install(tmp_path, "namex")
    assert (verdict.licence, verdict.fault) == ("Apache-2.0", "")


def test_the_text_of_a_licence_is_not_its_name():
    metadata = Message()
    metadata["License"] = "Copyright 2026\n        All rights reserved."
    metadata["Classifier"] = "License :: OSI Approved :: MIT License"
    assert list_statements(metadata) == ["MIT License"]


@pytest.mark.parametrize(
    ("licence", "allowed"),
    [
        ("MIT AND (GPL-2.0-only OR BSD-3-Clause)", True),
        ("(MIT AND GPL-2.0-only) OR AGPL-3.0-only", False),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("GPL-2.0-only WITH Classpath-exception-2.0", False),
        ("MIT AND", False),
        ("", False),
    ],
)
def test_a_licence_of_several_is_met_by_those_that_are_allowed(licence, allowed):
    assert is_allowed(licence, POLICY.licences) == allowed


def test_what_the_package_carries_is_listed_with_origin_and_licence():
    assert list_asset_faults(POLICY) == []


def test_an_asset_of_unknown_origin_and_an_entry_without_files_are_named(tmp_path):
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "letters.woff2").touch()
    first, *others = list_asset_faults(POLICY, tmp_path)
    assert first.startswith("web/letters.woff2 has 0 entries with an allowed licence")
    assert len(others) == len(POLICY.assets)
    assert "of which there are none: remove it" in others[0]
