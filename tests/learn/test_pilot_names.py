"""Pilots that stand side by side are told apart by names as short as they can be."""

from pathlib import Path

import pytest

from donkeysim.learn.database import find_pilot, name_pilots
from donkeysim.learn.pilot import ANYWHERE_PILOT, BUILT_IN_PILOT


@pytest.mark.parametrize(
    ("models", "names"),
    [
        (["m/a.h5", "m/b.onnx"], ["a", "b"]),
        (["m/a.h5", "m/a.onnx"], ["a.h5", "a.onnx"]),
        (["without/pilot.onnx", "with/pilot.onnx"], ["without", "with"]),
        (["pilot.onnx", "with/pilot.onnx"], ["/pilot", "with/pilot"]),
        (["one/a.h5", "two/a.h5", "two/b.h5"], ["one/a", "two/a", "two/b"]),
        (["one/pilot.h5", "one/pilot.onnx", "two/pilot.h5"], ["one/pilot.h5", "one/pilot.onnx", "two/pilot.h5"]),
        (["x/one/pilot.h5", "y/one/pilot.h5"], [str(Path("x/one/pilot.h5")), str(Path("y/one/pilot.h5"))]),
        ([str(BUILT_IN_PILOT), "generated_track.onnx"], ["built-in", "generated_track"]),
        ([str(ANYWHERE_PILOT), str(BUILT_IN_PILOT), "anywhere.onnx"], ["anywhere", "built-in", "anywhere"]),
        (["m/a.h5", "m/a.h5"], ["a"]),
    ],
)
def test_names_are_the_shortest_that_tell_pilots_apart(models, names):
    assert list(name_pilots(models).values()) == names


def test_two_words_are_pilots_and_everything_else_is_a_file():
    assert find_pilot("built-in") == BUILT_IN_PILOT
    assert find_pilot("anywhere") == ANYWHERE_PILOT
    assert find_pilot("m/a.h5") == Path("m/a.h5")
