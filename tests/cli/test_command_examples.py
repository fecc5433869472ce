"""The examples in the commands' help are commands that their parsers take."""

import re
from importlib import import_module

import pytest

from donkeysim.cli.donkey import COMMANDS, CommandParser

END = re.compile(r"[`;,]|: |\.$|\.\s")


def list_examples(name):
    """Lines `donkey …` in the help of a command, each up to where the sentence goes on."""
    text = import_module(f"donkeysim.cli.commands.{name}").__doc__
    found = [part for line in text.splitlines() for part in re.split(r"\bdonkey (?=[a-z]+\b)", line)[1:]]
    return [END.split(part)[0].split() for part in found]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_example_in_a_command_s_help_is_one_that_it_takes(name):
    for called, *words in list_examples(name):
        command = import_module(f"donkeysim.cli.commands.{called}")
        parser = CommandParser(prog=f"donkey {called}")
        command.add_arguments(parser)
        getattr(command, "parse_arguments", CommandParser.parse_args)(parser, words)


def test_examples_are_found():
    assert list_examples("generate") == [
        ["generate", "frames", "--track", "generated_track", "warehouse", "--frames", "100000"]
    ]
    assert len(list_examples("calibrate")) == 3
    assert sum(len(list_examples(name)) for name in COMMANDS) > 15
