"""Rule books are found, read and refused with a sentence that says where."""

import dataclasses
import re
import textwrap
from pathlib import Path

import pytest

from donkeysim.core.errors import SpecError
from donkeysim.racing.rules.incident import INCIDENTS
from donkeysim.racing.rules.rule_book import (
    Penalty,
    Qualifying,
    Race,
    RuleBook,
    StartRules,
    Watch,
    find_rule_book,
    list_rule_books,
    load_rule_book,
)

CLUB = """\
title = "Club"
summary = "A lap."
source = "us"
date = "2026-11-22"

[race]
laps = 1

[[penalty]]
incidents = ["obstacle"]
seconds = 2.0
"""


def write(tmp_path, text):
    path = tmp_path / "club.toml"
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("name", list_rule_books())
def test_every_rule_book_names_its_source_and_date_and_explains_itself(name):
    book = load_rule_book(name)
    assert book.title
    assert book.summary.endswith(".")
    assert book.source
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", book.date)
    assert len(book.explained) >= 4
    assert all(len(sentence) < 200 for sentence in book.explained)


def test_a_clubs_own_is_read_by_path(tmp_path):
    book = load_rule_book(write(tmp_path, CLUB))
    assert (book.title, book.race.laps, book.penalty[0].seconds) == ("Club", 1, 2.0)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("laps = 1", "lap = 1", r"club.toml, line 7: unknown key in \[race\] 'lap'; did you mean 'laps'"),
        ('"obstacle"', '"obstacel"', r"line 10.*unknown incident 'obstacel'; did you mean 'obstacle'"),
        ("seconds = 2.0", "seconds = -2.0", "line 11.*seconds is -2; it takes 0 or more"),
        ("laps = 1", 'order = "tiem"', "did you mean 'time'"),
        ("laps = 1", "laps = 0", "laps is 0; this needs a limit"),
        ("laps = 1", "warm_up_laps = 1", 'with warm_up_laps it must be "line"'),
        ("[race]", '[start]\ngrid = "qualifying"\n[race]', r"no table \[qualifying\]"),
        ("[race]", '[qualifying]\nlimit = 9.0\nby = "total"\n[race]', "this needs laps"),
        ("seconds = 2.0", "slow_time = 2.0", "needs a slow_speed"),
    ],
)
def test_mistakes_are_told_with_their_place(tmp_path, old, new, told):
    with pytest.raises(SpecError, match=told):
        load_rule_book(write(tmp_path, CLUB.replace(old, new)))


def test_unknown_books_name_the_nearest():
    with pytest.raises(SpecError, match="did you mean 'f1tenth'"):
        find_rule_book("f1tenht")
    with pytest.raises(SpecError, match=r"there is no rule book .*nowhere.toml"):
        find_rule_book("nowhere.toml")


def test_the_document_names_every_key_every_incident_and_every_book():
    text = (Path(__file__).parents[3] / "docs" / "race" / "rule_books.md").read_text(encoding="utf-8")
    tables = {"race", "start", "watch", "qualifying", "penalty"}
    for kind in (RuleBook, Qualifying, StartRules, Race, Watch, Penalty):
        keys = {field.name for field in dataclasses.fields(kind)} - (tables if kind is RuleBook else set())
        assert [key for key in sorted(keys) if f"`{key}`" not in text] == []
    for name, meaning in INCIDENTS.items():
        assert f"| `{name}` | {meaning}" in text
    kinds = [name.replace("robo_racing_", "…_") if name != "robo_racing_sprint" else name for name in list_rule_books()]
    assert [name for name in kinds if f"`{name}`" not in text] == []
