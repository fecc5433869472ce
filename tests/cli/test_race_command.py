"""`donkey race`: what it prints and what it refuses; races themselves are in tests/racing."""

import pytest

from donkeysim.cli.donkey import run
from donkeysim.core.errors import SpecError
from donkeysim.racing.rules.rule_book import list_rule_books


def test_rule_books_are_listed(capsys):
    assert run(["race", "rules"]) == 0
    listed = capsys.readouterr().out
    assert all(f"{name} " in listed for name in list_rule_books())


@pytest.mark.parametrize("name", list_rule_books())
def test_a_rule_book_is_explained(name, capsys):
    assert run(["race", "rules", name]) == 0
    told = capsys.readouterr().out
    assert "source: " in told
    assert f"{name}.toml" in told
    assert "\n  race: " in told


@pytest.mark.parametrize(
    ("pilot", "track", "is_warned"),
    [("built-in", "warren", True), ("built-in", "generated_track", False), ("fast", "warren", False)],
)
@pytest.mark.parametrize("command", [["race"], ["race", "tournament"], ["race", "host"]])
def test_a_pilot_that_does_not_know_the_track_is_warned_of(command, pilot, track, is_warned, caplog, monkeypatch):
    monkeypatch.setattr("donkeysim.cli.race_cars.make_plan", stop_here)
    monkeypatch.setattr("donkeysim.cli.commands.race.make_plan", stop_here)
    assert run([*command, "--pilot", f"Anna={pilot}", "--track", track]) != 0
    warning = "Anna knows generated_track only and may leave the road on warren; train it there, or take one of fast,"
    assert (warning in caplog.text) == is_warned


def stop_here(*_):
    raise SpecError("that is far enough.")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["race"], "nobody races; name pilots"),
        (["race", "--pilot", "A=fast", "--pilot", "A=steady"], "two pilots are called 'A'"),
        (["race", "--pilot", "fast", "--rules", "f1tenht"], "did you mean 'f1tenth'"),
        (["race", "--pilot", "fast", "--laps", "0"], "--laps is 0; it takes 1 to 10000"),
        (["race", "--pilot", "fast", "--seed", "-1"], "the seed is -1"),
        (["race", "--pilot", "fast", "--seed", str(10**23)], f"it takes 0 to {2**63 - 1}"),
        (["race", "host", "--seed", str(2**63)], f"it takes 0 to {2**63 - 1}"),
        (["race", "--pilot", "fast", "--laps", str(10**23)], "it takes 1 to 10000"),
        (["race", "--pilot", "nowhere.onnx"], "nowhere.onnx"),
        (["race", "verify", "nowhere.dlog"], "cannot be read"),
        (["race", "amend", "nowhere.dlog", "--undo", "1"], "cannot be read"),
        (["race", "export", "nowhere.dlog", "--html"], "cannot be read"),
        (["race", "export", "nowhere.dlog"], "give --mcap, --parquet or --html"),
        (["race", "export", "nowhere.dlog", "--html", "--camera", "Anna"], "give --mcap, too"),
        (["replay", "nowhere.dlog", "--size", "64x64"], "give --film with a file"),
        (["race", "league", "nowhere"], "there is no folder"),
        (["race", "league", ".", "--points", "a"], "it takes numbers with commas"),
        (["race", "league", ".", "--points", "10,nan"], "it takes numbers with commas"),
    ],
)
def test_what_is_not_possible_is_told_in_a_sentence(words, told, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert run(words) != 0
    complaint = capsys.readouterr().err
    assert told in complaint
    assert "Traceback" not in complaint
    assert not list(tmp_path.iterdir()), "nothing is left behind"
