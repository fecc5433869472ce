"""`donkeysim` alone starts what `make run` starts."""

import sys
from pathlib import Path

import pytest

from donkeysim.cli import donkey, donkey_sim

ROOT = Path(__file__).resolve().parents[2]


def test_without_words_it_starts_what_make_run_starts(monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(sys, "argv", ["donkeysim"])
    monkeypatch.setattr(donkey_sim, "main", asked.append)
    donkey.start()
    (words,) = asked
    assert f"donkey_sim {' '.join(words)} $(ARGS)" in (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "donkeysim --help" in capsys.readouterr().out


def test_with_words_it_is_donkey(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["donkeysim", "trian"])
    with pytest.raises(SystemExit) as end:
        donkey.start()
    assert end.value.code == 2
    assert "did you mean 'train'?" in capsys.readouterr().err
