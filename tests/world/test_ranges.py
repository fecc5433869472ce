"""Ranges to draw from: off by default, read from files, dicts and presets; the impossible is told in a sentence."""

import math
from dataclasses import replace

import pytest

from donkeysim.core.errors import SpecError
from donkeysim.world.randomization import RandomizationSpec, find_unit, list_knobs, list_presets, read_randomization
from donkeysim.world.ranges import CarRanges, DelayRanges
from donkeysim.world.specs import WorldSpec


def test_nothing_is_drawn_unless_asked_for():
    assert not WorldSpec().randomization.is_on
    assert list_knobs(RandomizationSpec()) == ()
    assert read_randomization(None) == RandomizationSpec()


@pytest.mark.parametrize("name", list_presets())
def test_a_preset_draws_from_every_table(name):
    spec = read_randomization(name)
    assert spec.is_on
    tables = {knob.name.split(".")[0] for knob in list_knobs(spec)}
    without = set() if name == "real" else {"battery", "sensor"}  # the original's car has no battery
    assert tables == set(RandomizationSpec.__dataclass_fields__) - without
    assert hash(spec) == hash(read_randomization(name))


def test_a_file_and_its_tables_as_dicts_are_the_same(tmp_path):
    path = tmp_path / "ranges.toml"
    path.write_text("[car]\nmass = [0.9, 1.25]\n[delay]\naction = [0, 0.05]\n", encoding="utf-8")
    tables = {"car": {"mass": (0.9, 1.25)}, "delay": {"action": [0, 0.05]}}
    expected = RandomizationSpec(car=CarRanges(mass=(0.9, 1.25)), delay=DelayRanges(action=(0.0, 0.05)))
    assert read_randomization(path) == read_randomization(str(path)) == read_randomization(tables) == expected


def test_a_value_has_random_numbers_of_its_own_whatever_else_is_drawn():
    alone = list_knobs(RandomizationSpec(car=CarRanges(motor=(1.0, 2.0))))
    among = list_knobs(replace(read_randomization("wide"), car=CarRanges(motor=(1.0, 2.0))))
    assert alone[0] in among
    assert len({knob.stream for knob in among}) == len(among)


def test_a_tint_is_drawn_for_each_channel_and_units_are_known():
    knobs = list_knobs(read_randomization({"sun": {"tint": [0.9, 1.1]}, "camera": {"x": [0.0, 0.1]}}))
    assert [knob.name for knob in knobs] == ["sun.tint_red", "sun.tint_green", "sun.tint_blue", "camera.x"]
    assert (find_unit("camera.x"), find_unit("sun.tint_red"), find_unit("picture.exposure")) == ("m", "", "EV")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[car]\nmas = [1, 2]\n", "line 2: unknown key in [car] 'mas'; did you mean 'mass'?"),
        ("[sunn]\n", "line 1: unknown key 'sunn'; did you mean 'sun'?"),
        ("[car]\n\nmass = [2, 1]\n", "line 3: car.mass is (2.0, 1.0); it takes two numbers from 0.25 to 4, the lower"),
        ("[camera]\nfov = [0, nan]\n", "line 2: camera.fov is (0.0, nan)"),
        ("[camera]\nfov = [-inf, 0.1]\n", "line 2: camera.fov is (-inf, 0.1)"),
        ("[car]\nmass = 1.5\n", "line 2: car.mass is 1.5, but must be a list of 2 values"),
        ("[car]\nmass = [1, 2, 3]\n", "line 2: car.mass is [1, 2, 3], but must be a list of 2 values"),
        ("[car]\nmass = ['a', 2]\n", "line 2: car.mass[0] is 'a', but must be a number"),
        ("sun = 4\n", "line 1: sun is 4, but must be a table"),
        ("[delay]\naction = [0, 0.7]\naction_jitter = [0, 0.5]\n", "reach 1.2 s together; they take up to 1 s"),
        ("[road]\npatch_size = [0.1, 0.2]\n", "line 2: road.patch_size does nothing alone; say with road.patches"),
        ("[car\n", "is not a valid TOML file"),
    ],
)
def test_a_broken_file_is_told_with_its_place(tmp_path, text, sentence):
    path = tmp_path / "ranges.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError) as told:
        read_randomization(path)
    assert sentence in str(told.value)
    assert str(told.value).startswith(str(path))


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("mildd", "did you mean 'mild'?"),
        (3, "it takes a RandomizationSpec, a dict of its tables, a TOML file, or one of mild, real, wide"),
        ({"car": {"weight": (1, 2)}}, "unknown key in [car] 'weight'"),
    ],
)
def test_what_is_no_randomization_is_refused(given, sentence):
    with pytest.raises(SpecError) as told:
        read_randomization(given)
    assert sentence in str(told.value)


@pytest.mark.parametrize("given", [(1.0,), (2.0, 1.0), (math.nan, 1.0), (1.0, math.inf), ("1", "2"), 1.0])
def test_an_impossible_range_is_refused(given):
    with pytest.raises(SpecError, match=r"car.mass is .*; it takes two numbers from 0.25 to 4, the lower one first."):
        RandomizationSpec(car=CarRanges(mass=given))
