"""Every code block of README and guide is run or listed as not run, and what can be read at once is read here."""

import argparse
import ast
import itertools
import json
import re
import tomllib
from functools import cache
from importlib import import_module

import msgspec
import pytest
from benchmarks.__main__ import CASES

from code_blocks import LANGUAGES, NOT_RUN, ROOT, Block, find_blocks, list_blocks, list_documents, strip_comment
from donkeysim.car.config import make_default_config
from donkeysim.cli.donkey import COMMANDS
from donkeysim.cli.options import _make_parser
from donkeysim.cluster.sweep.spec import read_sweep
from donkeysim.core.config import read_dataclass
from donkeysim.drive.joystick.custom import load_layout
from donkeysim.learn.files.header import read_header
from donkeysim.racing.rules.rule_book import load_rule_book
from donkeysim.wire import replies
from donkeysim.wire.reading import read_request
from donkeysim.world.camera_file import load_camera
from donkeysim.world.randomization import read_randomization
from donkeysim.world.specs import load_car
from donkeysim.world.tracks.track_file import TrackFile, choose_look, read_track
from sources import read_tree

TRANSLATIONS = sorted((ROOT / "docs" / "guide").glob("*.??.md"))
BLOCKS = [block for document in list_documents() for block in list_blocks(document)]
FORMAT = list_blocks("docs/tracks/format.md")
REPLIES = {kind.__struct_config__.tag: kind for kind in replies.Reply.__subclasses__()}
DRIVE_OPTIONS = set(re.findall(r"--\w+", (ROOT / "src/donkeysim/drive/manage_help.txt").read_text(encoding="utf-8")))
PROGRAMS = [path for room in ("src", "examples", "docs", "notebooks") for path in sorted((ROOT / room).rglob("*.py"))]
IN_DOCSTRING = re.compile(r"^\s*(?:For example: )?((?:donkey|donkey_sim|python3?|make) [^…:,]*)$", re.MULTILINE)
TYPED = re.compile(r"(?:donkey|donkey_sim|python|make) [^…]*")
TARGETS = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)


def choose(language):
    """Return the blocks of a language that are not listed as an example only."""
    return [block for block in BLOCKS if block.language == language and not block.is_listed]


def name_place(block):
    return block.place


def list_typed():
    """Yield each command of blocks and of the text between them, with where it stands."""
    for block in BLOCKS:
        yield from ((block.place, command) for command in block.list_commands())
    for document in list_documents():
        text = (ROOT / document).read_text(encoding="utf-8")
        marked = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE))
        yield from ((document, words) for words in marked if TYPED.fullmatch(words))


def list_typed_in_docstrings():
    """Yield each command that stands on a line of its own in a docstring, with its file."""
    for path in PROGRAMS:
        for node in ast.walk(read_tree(path)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                lines = map(strip_comment, (ast.get_docstring(node) or "").splitlines())
                found = (IN_DOCSTRING.fullmatch(line) for line in lines)
                yield from ((path.relative_to(ROOT).as_posix(), match[1]) for match in found if match)


@cache
def list_options(command):
    """Return the options of `donkey COMMAND` and of its own commands."""
    parser = argparse.ArgumentParser()
    import_module(f"donkeysim.cli.commands.{command}").add_arguments(parser)
    below = [action.choices.values() for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return {option for one in [parser, *itertools.chain(*below)] for option in one._option_string_actions}


def find_mistake(words):
    """Return what is wrong with a command as it is written, "" when nothing is."""
    for part in re.split(r" && ", words):
        program, *rest = part.split()
        options = {word.partition("=")[0] for word in rest if word.startswith("--")}
        if program == "donkey" and rest and rest[0] not in COMMANDS and rest[0].islower():
            return "" if rest[0] == "ui" else f"there is no donkey {rest[0]}"  # the original's, named as such
        if program == "donkey" and rest and rest[0] in COMMANDS:
            passed_on = {"sim": set(list_server_options()), "drive": DRIVE_OPTIONS}
            missing = options - list_options(rest[0]) - passed_on.get(rest[0], set())
        elif program == "donkey_sim":
            missing = options - set(list_server_options())
        elif rest[:1] == ["manage.py"]:
            missing = options - DRIVE_OPTIONS
        else:
            missing = set()
        if missing:
            return f"has no {sorted(missing)}"
    return find_mistake_in_checkout(words.split())


@cache
def list_server_options():
    return tuple(_make_parser()._option_string_actions)


def find_mistake_in_checkout(words):
    """Return what is wrong with a command for those who work on the project."""
    if words[0] == "make" and words[1] not in TARGETS and not words[1].startswith("."):
        return f"there is no target {words[1]}"
    if words[:3] == ["python", "-m", "benchmarks"] and set(words[3:]) - {*CASES, "CASE"}:
        return f"there is no case {words[3:]}"
    if words[0] == "python" and words[1].count("/") and not (ROOT / words[1]).exists():
        return f"there is no file {words[1]}"
    if words[:2] == ["python", "-m"] and words[2].startswith(("donkeysim", "supply.")):
        return find_mistake_in_program(words[2:])
    chosen = re.search(r'-k (\w+)"', " ".join(words))
    if chosen and not any(chosen[1] in text for text in list_test_names()):
        return f"there is no test {chosen[1]}"
    return ""


def find_mistake_in_program(words):
    """Return what is wrong with `python -m` a module of ours: does it do anything, with these options?"""
    path = ROOT / ("src" if words[0].startswith("donkeysim") else "") / words[0].replace(".", "/")
    path = path / "__main__.py" if path.is_dir() else path.with_suffix(".py")
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    if "__main__" not in text and path.name != "__main__.py":
        return f"{words[0]} is no program"
    missing = [word for word in words[1:] if word.startswith("--") and f'"{word}"' not in text]
    return f"has no {missing}" if missing else ""


@cache
def list_test_names():
    found = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")]
    return tuple(name for text in found for name in re.findall(r"^def (test_\w+)", text, flags=re.MULTILINE))


@pytest.mark.parametrize("path", TRANSLATIONS, ids=lambda path: path.name)
def test_a_translation_has_the_blocks_of_its_original(path):
    def list_lines(path):
        blocks = find_blocks(path.name, path.read_text(encoding="utf-8"))
        return [(block.language, [strip_comment(line) for line in block.text.splitlines()]) for block in blocks]

    assert list_lines(path) == list_lines(path.with_name(f"{path.name.split('.')[0]}.md")) != []


def test_every_block_says_what_it_is():
    text = "".join((ROOT / document).read_text(encoding="utf-8") for document in list_documents())
    assert len(re.findall(r"^\s*```", text, flags=re.MULTILINE)) == 2 * len(BLOCKS), "a fence is indented or left open"
    assert [block.place for block in BLOCKS if block.language not in LANGUAGES] == []
    assert len(BLOCKS) > 100


def test_what_is_only_shown_holds_nothing_to_type():
    shown = [block for block in BLOCKS if block.language == "text"]
    assert [block.place for block in shown if re.search(r"^(\$|pip|make|python) ", block.text, re.MULTILINE)] == []


def test_what_is_not_run_still_stands_in_the_documents():
    starts = {(block.document, line) for block in BLOCKS for line in (block.first_line, *block.list_commands())}
    assert set(NOT_RUN) - starts == set()


def test_every_command_has_the_options_that_it_is_typed_with():
    typed = [*list_typed()]
    assert len(typed) > 150
    mistakes = [(place, words, find_mistake(words)) for place, words in typed]
    assert [mistake for mistake in mistakes if mistake[2]] == []


def test_every_command_in_a_docstring_does_something():
    typed = [*list_typed_in_docstrings()]
    assert ("examples/torch_ppo.py", "python examples/torch_ppo.py --drive pilot.pt") in typed
    mistakes = [(file, words, find_mistake(words)) for file, words in typed]
    assert [mistake for mistake in mistakes if mistake[2]] == []


@pytest.mark.parametrize(
    "words",
    [
        "donkey trane",
        "donkey sample --lap 3",
        "donkey_sim --scenes x",
        "python manage.py drive --modell x",
        "make rnu",
        "python -m benchmarks wires",
        "python docs/nothing.py",
        "python -m donkeysim.drive.vehicle",
        "python -m supply.pilot --outt FILE",
        'make soak ARGS="-k no_such_test_anywhere"',
        "donkey tracks new a && donkey tracks previw --ports 3",
    ],
)
def test_a_command_that_does_not_exist_is_noticed(words):
    assert find_mistake(words)


@pytest.mark.parametrize("block", choose("python"), ids=name_place)
def test_programs_can_be_compiled_and_settings_are_taken(block):
    names = {}
    if not block.is_settings:
        compile(block.text, block.place, "exec")
        return
    exec(block.text, names)
    make_default_config(changes={name: value for name, value in names.items() if name.isupper()})


@pytest.mark.parametrize("block", choose("toml"), ids=name_place)
def test_tables_are_read_by_what_reads_them(block, tmp_path):
    path = tmp_path / "oval.toml"
    if block.document == "docs/envs/randomization.md":
        path.write_text(block.text, encoding="utf-8")
        assert read_randomization(path).car.mass == (0.9, 1.2)
        return
    if block.document == "docs/physics.md":
        path.write_text(block.text, encoding="utf-8")
        assert load_car(str(path)).steer_gain == 0.41
        return
    if block.document == "docs/race/rule_books.md":
        path.write_text(block.text, encoding="utf-8")
        assert load_rule_book(str(path)).penalty[1].out_after == 3
        return
    if block.document == "docs/camera.md":
        path.write_text(block.text, encoding="utf-8")
        assert load_camera(str(path)).lens.model == "plumb_bob"
        return
    if block.document == "docs/guide/sweep.md":
        path.write_text(block.text, encoding="utf-8")
        assert read_sweep(path).spec.budgets == [2, 6, 18]
        return
    path.write_text(FORMAT[0].text, encoding="utf-8")
    read_track(path)
    table = tomllib.loads(FORMAT[0].text) | tomllib.loads(block.text)
    assert read_dataclass(TrackFile, choose_look(table, next(iter(table.get("looks", {})), "")), path).name == "oval"


@pytest.mark.parametrize("block", choose("json"), ids=name_place)
def test_messages_and_headers_are_read_by_what_reads_them(block):
    value = json.loads(block.text.replace("…", ""))
    if block.document == "docs/pilots.md":
        assert read_header(block.text).kind == value["kind"]
    elif block.document == "docs/guide/README.md":
        assert value["msg_type"]  # the rest: tests/wire
    elif value.get("msg_type") in REPLIES and "time_step" not in value:  # a `step_mode` goes both ways
        msgspec.convert(value, REPLIES[value["msg_type"]], strict=True)
    elif "msg_type" in value:
        assert read_request(value).note == ""


def test_the_joystick_of_ones_own_is_read(tmp_path):
    (block,) = [block for block in list_blocks("docs/guide/joystick.md") if "class MyJoystick" in block.text]
    path = tmp_path / "my_joystick.py"
    path.write_text(block.text, encoding="utf-8")
    assert load_layout(path).buttons


def test_a_block_is_found_with_what_is_typed_in_it():
    (block,) = find_blocks("x.md", "a\n```console\n$ donkey models   # all\nseen\n$ make '#'\n```\n")
    assert (block.line, block.language, block.list_commands()) == (2, "console", ["donkey models", "make '#'"])
    assert strip_comment("# only this") == ""
    assert Block("x.md", 1, "python", "A = 1\n").is_settings
    assert not Block("x.md", 1, "python", "a = 1\n").is_settings
