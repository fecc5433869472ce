"""People with faults drive whole laps, each in a way that its records show; same seed, same drive."""

import functools

import numpy as np
import pytest

from donkeysim.cli.donkey import run
from donkeysim.core.errors import SpecError
from donkeysim.drive.sample import record_sample
from donkeysim.drivers.person import DrivingStyle, Person, load_styles
from driving import CAR, Course, load_track


class Hands:
    """A person whose steering is kept."""

    def __init__(self, person):
        self.person, self.steer = person, []

    def drive(self, ledger, car):
        action = self.person.drive(ledger, car)
        self.steer.append(action.steer)
        return action


@functools.cache
def drive(name, seed=0):
    course = Course(load_track())
    hands = Hands(Person(course.scene, CAR, load_styles()[name], seed))
    return course.drive(hands, laps=1, seconds=70.0), np.array(hands.steer)


def shake(name):
    """Return how much the steering goes to and fro from one moment to the next."""
    return float(np.abs(np.diff(drive(name)[1], 2)).mean())


@pytest.mark.parametrize("name", load_styles())
def test_everybody_drives_a_lap(name):
    seen, _ = drive(name)
    assert len(seen.laps) == 1
    assert seen.off_road <= 10
    assert not seen.hits


def test_the_same_seed_is_the_same_drive_and_another_is_another():
    first, again, other = (
        Person(load_track(), CAR, load_styles()["weaving"], seed)._drift(0.0, 1.0, 1.0) for seed in (1, 1, 2)
    )
    assert first == again != other


def test_faults_show_in_the_steering():
    assert shake("trembling") > 3.0 * shake("steady")
    fastest = {name: np.abs(drive(name)[1][4:] - drive(name)[1][:-4]).max() for name in ("steady", "slow-hands")}
    assert fastest["slow-hands"] < 0.8 * fastest["steady"]
    keys = drive("keys")[1]
    assert np.allclose(keys / 0.25, np.rint(keys / 0.25))


def test_who_cuts_drives_a_shorter_lap_than_who_drives_wide():
    assert drive("cutting")[0].distance < drive("steady")[0].distance < drive("wide")[0].distance


def test_an_unknown_name_is_refused_and_help_names_all(tmp_path, capsys):
    with pytest.raises(SpecError, match=r"steddy.*steady"):
        record_sample(tmp_path / "data", driver="steddy")
    with pytest.raises(SystemExit):
        run(["sample", "--help"])
    helped = " ".join(capsys.readouterr().out.split())
    assert all(name in helped for name in ("teacher", *load_styles()))


def test_each_style_differs_from_the_plain_one_or_is_it():
    assert [name for name, style in load_styles().items() if style == DrivingStyle(style.what)] == ["steady"]
