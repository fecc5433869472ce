"""Reading TOML into dataclasses: mistakes name the line and the nearest valid name."""

import time
from dataclasses import dataclass, field

import pytest

from donkeysim.core.config import locate_key, read_dataclass, read_toml
from donkeysim.core.errors import SpecError


@dataclass(frozen=True)
class Wheel:
    radius: float
    driven: bool = True


@dataclass(frozen=True)
class Car:
    mass: float
    name: str = "x"
    wheels: tuple[Wheel, ...] = ()
    size: tuple[float, float] = (1.0, 2.0)
    front: Wheel | None = None
    extra: Wheel = field(default_factory=lambda: Wheel(1.0))


def write(tmp_path, text):
    path = tmp_path / "car.toml"
    path.write_text(text, encoding="utf-8")
    return path


def read(path):
    return read_dataclass(Car, read_toml(path), path)


def test_nested_tables_become_dataclasses(tmp_path):
    path = write(tmp_path, "mass = 3\nsize = [1, 2.5]\n[[wheels]]\nradius = 1\n[front]\nradius = 2.0\ndriven = false\n")
    assert read(path) == Car(3.0, wheels=(Wheel(1.0),), size=(1.0, 2.5), front=Wheel(2.0, False))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mas = 3\n", "line 1: unknown key 'mas'; did you mean 'mass'?"),
        ("mass = 3\n[[wheels]]\nradus = 1\n", "line 3: unknown key in [wheels[0]] 'radus'; did you mean 'radius'?"),
        ("mass = 'heavy'\n", "line 1: mass is 'heavy', but must be a number."),
        ("mass = true\n", "line 1: mass is True, but must be a number."),
        ("mass = 1\nsize = [1]\n", "line 2: size is [1], but must be a list of 2 values."),
        ("mass = 1\nfront = 3\n", "line 2: front is 3, but must be a table."),
        ("name = 'y'\n", "the key 'mass' is missing"),
        ("mass = = 1\n", "line 1"),
    ],
)
def test_mistakes_are_explained(tmp_path, text, expected):
    with pytest.raises(SpecError) as caught:
        read(write(tmp_path, text))
    assert expected in str(caught.value)
    assert "car.toml" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = " + "9" * 5000, "is not a valid TOML file: "),
        ("a = '" + "x" * 1_000_000 + "'", "is longer than 1,000,000 bytes"),
        (".".join("a" * 100_000) + " = 1", "has a key with more than 32 dots"),
        ("a = " + "[" * 100_000, "too deep inside one another"),
    ],
)
def test_files_that_would_take_minutes_or_gigabytes_are_refused_at_once(tmp_path, text, expected):
    path = tmp_path / "odd.toml"
    path.write_text(text)
    begin = time.process_time()
    with pytest.raises(SpecError, match=expected) as raised:
        read_toml(path)
    assert time.process_time() - begin < 2.0
    assert len(str(raised.value)) < 300


def test_a_file_may_begin_with_the_mark_that_some_editors_write(tmp_path):
    path = tmp_path / "car.toml"
    path.write_bytes(b"\xef\xbb\xbfmass = 'heavy'\r\nsize = [1, 2]\r\n")
    assert read_toml(path) == {"mass": "heavy", "size": [1, 2]}
    assert locate_key(path, "mass").endswith("car.toml, line 1")


@pytest.mark.parametrize("place", [r"C:\Users\ada\ring.csv", r"C:\maps\ring.csv"])
def test_a_path_with_backslashes_is_told_how_to_write_it(tmp_path, place):
    path = tmp_path / "track.toml"
    path.write_text(f'file = "{place}"\n')
    with pytest.raises(SpecError, match=r"line 1, column \d+\); in double quotes, write paths with / in place of .\.$"):
        read_toml(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(SpecError, match=r"cannot read .*none\.toml"):
        read_toml(tmp_path / "none.toml")
