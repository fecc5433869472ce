"""`donkey` finds its commands, and ends with the exit code that says how it went."""

import argparse
import contextlib
import os
import subprocess
import sys
from importlib import import_module

import pytest

from donkeysim.cli import donkey
from donkeysim.cli.donkey import COMMANDS, run
from donkeysim.drive.options import BROKEN_PIPE_CODE


def test_without_a_command_all_of_them_are_listed(capsys):
    assert run([]) == 0
    listed = capsys.readouterr().out
    assert all(f"  {name} " in listed for name in COMMANDS)


def test_the_module_of_the_commands_is_a_program_too():
    program = [sys.executable, "-m", "donkeysim.cli.donkey", "--version"]
    assert subprocess.run(program, capture_output=True, text=True, check=True).stdout.startswith("donkeysim ")


def test_whoever_reads_the_help_may_have_enough_of_it():
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w", encoding="utf-8") as pipe:
        program = [sys.executable, "-c", "from donkeysim.cli.donkey import main; main()", "--help"]
        done = subprocess.run(program, stdout=pipe, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (BROKEN_PIPE_CODE, "")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_tells_how_it_is_used(name, capsys):
    with pytest.raises(SystemExit) as end:
        run([name, "--help"])
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: donkey {name}")


@pytest.mark.parametrize("name", COMMANDS)
def test_what_takes_several_may_be_given_several_times(name):
    """`--track A --track B` as well as `--track A B`; the last one alone must not count."""
    parser = argparse.ArgumentParser()
    import_module(f"donkeysim.cli.commands.{name}").add_arguments(parser)
    several = [action for action in parser._actions if action.nargs == "+" and action.option_strings]
    assert [action.dest for action in several if type(action) is not argparse._ExtendAction] == []


def test_an_unknown_command_is_asked_wrongly(capsys):
    assert run(["trian"]) == 2
    assert "did you mean 'train'?" in capsys.readouterr().err


@pytest.mark.original(
    "Programs and other files",
    "`tubcheck`, `ui`, `contrain`, `findcar` of its `donkey`",
    "a sentence says what to do instead",
)
@pytest.mark.parametrize(
    ("words", "advice"),
    [
        ("tubcheck data", "there is no tubcheck here; donkey tubclean TUB --report"),
        ("tubweb", "there is no tubweb here; donkey tubclean TUB"),
        ("tubaugm --tub data", "AUGMENTATIONS"),
        ("train --tub data --model a.h5 --epochs=9", "set MAX_EPOCHS in myconfig.py"),
        ("findcar", "use donkeycar's"),
        ("calibrate --channel 0", "on the real car, by donkeycar's"),
    ],
)
def test_commands_of_the_original_are_told_with_what_to_do_instead(words, advice, capsys):
    with contextlib.suppress(SystemExit):
        assert run(words.split()) == 2
    told = capsys.readouterr().err
    assert advice in told
    assert told.count("\n") == 1


def test_an_unknown_option_is_asked_wrongly(capsys):
    with pytest.raises(SystemExit) as end:
        run(["train", "--modle", "a.h5"])
    assert end.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_ctrl_c_while_a_command_is_being_imported_ends_quietly(monkeypatch, capsys):
    def interrupt(_name):
        raise KeyboardInterrupt

    monkeypatch.setattr(donkey, "import_module", interrupt)
    assert run(["train"]) == 130
    assert capsys.readouterr().err == ""
