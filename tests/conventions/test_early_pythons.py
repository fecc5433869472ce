"""The first releases of Python 3.11, which Debian 12 and Raspberry Pi OS still have, run the package too."""

import ast
import re

from sources import PACKAGE, list_nodes

REPEATED_GROUP = re.compile(r"(?<!\\)\)(?:[*+?]|\{\d*,?\d*\})\+")
"""A group that is repeated possessively: 3.11.0 to 3.11.4 take the half of a way through it for the whole."""


def list_patterns(path):
    for node in list_nodes(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
            yield node.value if isinstance(node.value, str) else node.value.decode("latin-1")


def test_the_check_sees_groups_and_nothing_else():
    found = [bool(REPEATED_GROUP.search(text)) for text in ("(ab)*+", "(a)++", "(a){2,}+", "[ab]*+", "(a)+", r"\)*+")]
    assert found == [True, True, True, False, False, False]


def test_no_expression_repeats_a_group_possessively():
    found = {
        f"{path.relative_to(PACKAGE).as_posix()}: {pattern}"
        for path in PACKAGE.rglob("*.py")
        for pattern in list_patterns(path)
        if REPEATED_GROUP.search(pattern)
    }
    assert found == set()
