"""The command line of manage.py: the original's words, usage and exit codes."""

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from donkeysim.car.folder import create_car
from donkeysim.cli.donkey import run
from donkeysim.core.errors import SpecError
from donkeysim.drive.options import Options, parse_options, run_program


@pytest.mark.original("Programs and other files", "`manage.py drive` and its options", "as it is")
def test_the_originals_words_are_understood():
    options = parse_options(
        ["drive", "--model=models/a.h5", "--js", "--type", "rnn", "--meta=a:b", "--meta", "c:d", "--myconfig=other.py"]
    )
    assert options == Options(
        "drive", "models/a.h5", "rnn", True, "single", (("a", "b"), ("c", "d")), myconfig="other.py"
    )
    assert parse_options(["drive"]) == Options("drive")
    assert parse_options(["--model", "a.h5", "--js", "drive"]) == Options("drive", "a.h5", use_joystick=True)
    assert parse_options(["--model=a.h5", "train", "--tub", "data"]) == parse_options(
        ["train", "--model=a.h5", "--tub", "data"]
    )


def test_training_takes_tubs_in_both_ways():
    options = parse_options(["train", "--tubs=data,more", "--tub", "third", "--model", "a.h5", "--comment=first try"])
    assert options.tubs == ("data", "more", "third")
    assert options.list_train_words(Path("car")) == [
        *("train", "--tub", "data", "more", "third", "--config", str(Path("car/config.py")), "--myconfig"),
        *("myconfig.py", "--model", "a.h5", "--comment", "first try"),
    ]


def test_training_without_tubs_learns_from_what_the_config_names():
    """DATA_PATH may be on another disk; `donkey train` without --tub reads it."""
    assert "--tub" not in parse_options(["train", "--model=a"]).list_train_words(Path("car"))


def test_metadata_without_exactly_one_colon_is_left_out(caplog):
    assert parse_options(["drive", "--meta=a", "--meta=a:b:c", "--meta=a:b"]).metadata == (("a", "b"),)
    assert caplog.text.count("is left out") == 2


@pytest.mark.parametrize("words", [[], ["fly"], ["drive", "--modell=x"], ["train"], ["drive", "--camera=stereo"]])
def test_wrong_use_prints_the_usage_and_ends_with_1(words, capsys):
    with pytest.raises(SystemExit) as end:
        parse_options(words)
    assert end.value.code == 1
    assert "Usage:\n    manage.py drive" in capsys.readouterr().err


@pytest.mark.original(
    "Programs and other files", "`--chaos`, `--aug`, `--file` … of older versions", "a sentence says what to do instead"
)
@pytest.mark.parametrize(
    ("words", "advice"),
    [
        ("drive --chaos", "unrecognized arguments: --chaos; nothing steers at random"),
        ("drive --camera=stereo", "'stereo' is not there: a simulated car has one camera; leave it out"),
        ("train --model=a.h5 --aug --checkpoint=b.h5", "; name the pilot to begin with by --transfer; set AUGMENT"),
        ("train --model=a.h5 --file=tubs.txt", "; name the tubs themselves"),
    ],
)
def test_options_of_older_versions_are_told_with_what_to_do_instead(words, advice, capsys):
    with pytest.raises(SystemExit):
        parse_options(words.split())
    assert advice in capsys.readouterr().err.partition("\n")[0]
    if words.startswith("train"):
        with pytest.raises(SystemExit):
            run(words.split())
        assert advice in capsys.readouterr().err


@pytest.mark.parametrize("words", [["-h"], ["--help"], ["drive", "--help"]])
def test_help_ends_with_0(words, capsys):
    with pytest.raises(SystemExit) as end:
        parse_options(words)
    assert end.value.code == 0
    assert "Options of train:" in capsys.readouterr().out


def _raise(error):
    raise error


def test_errors_end_the_program_in_one_sentence(capsys):
    assert run_program(lambda: 0) == 0
    assert run_program(lambda: _raise(SpecError("the wheel is missing."))) == 1
    assert capsys.readouterr().err == "manage.py: the wheel is missing.\n"
    assert run_program(lambda: _raise(KeyboardInterrupt())) == 130


def test_a_full_disk_is_told_in_one_sentence_and_a_bug_is_not_hidden(capsys):
    full = OSError(errno.ENOSPC, "No space left on device", "plot.png")
    assert run_program(lambda: _raise(full), "donkey tubhist") == 1
    assert capsys.readouterr().err.startswith("donkey tubhist: No space left on device (plot.png); make room")
    with pytest.raises(FileNotFoundError):
        run_program(lambda: _raise(FileNotFoundError(errno.ENOENT, "No such file or directory")))


def test_a_track_is_taken_by_todays_manage_program_and_not_ignored_by_an_earlier_one(tmp_path, monkeypatch):
    program = tmp_path / "car" / "manage.py"
    create_car(program.parent, say=lambda _: None)
    monkeypatch.setattr("sys.argv", [str(program), "drive", "--track", "warren"])
    assert parse_options().track == "warren"
    program.write_text(program.read_text().replace("options.track", "None"))
    with pytest.raises(SpecError, match="donkey update"):
        parse_options()
    monkeypatch.setattr("sys.argv", [str(program), "drive"])
    assert parse_options().track is None


@pytest.mark.parametrize("text", ["BrokenPipeError(32, 'Broken pipe')", "OSError(22, 'Invalid argument')"])
def test_whoever_reads_the_output_may_have_enough_of_it_on_windows_too(text):
    """Windows, in PowerShell's `| select -first 3`, may call a pipe without a reader an invalid argument."""
    program = (
        "import sys; from donkeysim.drive.options import run_program; sys.platform = 'win32'\n"
        "class Pipe:\n"
        "    fileno = sys.stdout.fileno\n"
        f"    def flush(self): raise {text}\n"
        "def main(): sys.stdout = Pipe(); return 0\n"
        "sys.stderr.write(str(run_program(main)))\n"
        "sys.stdout = sys.__stdout__"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == "141"


def test_an_invalid_argument_that_is_no_output_is_told_on_windows():
    """Times before 1970, signals and seeks are invalid arguments there, too."""
    program = (
        "import sys; from donkeysim.drive.options import run_program; sys.platform = 'win32'\n"
        "def main(): raise OSError(22, 'Invalid argument')\n"
        "run_program(main)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Invalid argument" in done.stderr
