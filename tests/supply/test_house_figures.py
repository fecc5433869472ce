"""The figures of `python -m supply house`: what is counted, and that no class name means two things."""

from supply.house import list_repeated_classes, measure_house, print_house, read_sources

TEXT = '''"""What it is."""

import os
import sys


class Run:
    """A run."""

    def go(self):
        """Go."""
        return os, sys  # both
'''


def write(folder, name, text):
    (folder / name).write_text(text, encoding="utf-8")


def test_no_class_name_means_two_things():
    assert list_repeated_classes(read_sources()) == {}


def test_lines_imports_comments_and_names_are_counted(tmp_path):
    write(tmp_path, "one.py", TEXT)
    write(tmp_path, "two.py", TEXT.replace("(self)", "(self, gymnasium)"))
    write(tmp_path, "batch.py", "class Batch(gymnasium.vector.VectorEnv[int]):\n    pass\n\n\ndef make():\n    pass\n")
    found = {figure.name: figure for figure in measure_house(read_sources(tmp_path))}
    assert (found["lines"].value, found["files"].value) == (2 * 12 + 6, 3)
    assert (found["class names used twice or more"].value, found["class names used twice or more"].note) == (1, "Run")
    assert found["files of one short definition"].value == 2
    assert found["imports, of code lines"].value == 100.0 * 4 / (2 * 5 + 4)
    assert found["comments per code line"].value == 100.0 * 2 / (2 * 5 + 4)
    assert (found["environment stacks"].value, found["environment stacks"].note) == (1, "Batch")
    assert (found["longest function, lines"].value, found["longest function, lines"].note) == (2, "two.go")


def test_the_table_says_what_is_not_yet_as_it_should_be(capsys):
    assert print_house() == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 8
    assert all(" at most " in line or " at least " in line for line in lines)
