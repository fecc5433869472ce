"""What is said of a pilot right after its training: how it drives where its tub was driven."""

from pathlib import Path

import pytest

from donkeysim.car.config import make_default_config
from donkeysim.cli.commands import train
from donkeysim.learn.pilot import BUILT_IN_PILOT
from donkeysim.learn.train import TrainingResult
from donkeysim.world.tracks.catalogue import find_tracks


def foretell(places, model=BUILT_IN_PILOT, loss=0.0025, **changes):
    history = {"loss": [1.0], "val_loss": [1.0], "val_n_outputs0_loss": [loss]}
    result = TrainingResult(Path(model), None, None, 1, 1.0, history, (80, 20), 1.0, False, places)
    return list(train.foretell(make_default_config(changes=changes), result))


@pytest.fixture(autouse=True)
def one_lap(monkeypatch):
    monkeypatch.setattr(train, "LAPS", 1)
    monkeypatch.setattr(train, "STARTS", 2)


def test_a_good_pilot_is_told_its_laps():
    error, drive = foretell(("generated_track",))
    assert "its steering is 0.05 off (root mean square" in error
    assert drive.startswith("In generated_track it drove 1 clean lap from 2 of 2 starts; a lap takes 2")


def test_a_pilot_that_leaves_the_road_is_told_where_and_what_to_do():
    lines = foretell(("warren",))
    assert lines[1].startswith("In warren it drove 1 clean lap from 0 of 2 starts")
    assert lines[2].startswith("  From start 0: off the road to the ") or "touched" in lines[2]
    assert "donkey evaluate --tracks warren --seed 0" in lines[2]
    assert lines[-1].startswith("Record more there")


def test_the_configurations_own_track_file_is_driven_in():
    """As for tubs of real cars, which know no place."""
    own = str(find_tracks()["generated_track"])
    assert foretell((), DONKEY_GYM_ENV_NAME=own)[1].startswith(f"In {own} it drove 1 clean lap from 2 of 2 starts")


@pytest.fixture
def driven_in(monkeypatch):
    """Where it would be driven, if that did not take a second each time."""
    places = []
    monkeypatch.setattr(train, "_drive", lambda config, result, place: places.append(place) or [])
    return places


@pytest.mark.parametrize("places", [("random_place",), ("generated_track",)])
def test_the_own_track_file_comes_before_the_place_of_its_name_and_random_ones(places, driven_in):
    """As for tubs of one's own track, which know it by name alone."""
    own = str(find_tracks()["generated_track"])
    assert foretell(places, DONKEY_GYM_ENV_NAME=own)[1].startswith(f"In {own} it drove")
    assert driven_in == [own]


def test_another_place_that_is_known_comes_before_it(driven_in):
    own = str(find_tracks()["generated_track"])
    assert foretell(("warren",), DONKEY_GYM_ENV_NAME=own)[1].startswith("In warren it drove")
    assert driven_in == ["warren"]


@pytest.mark.parametrize("name", ["donkey-my-own-track-v0", "donkey-warren-track-v0"])
def test_an_environment_that_is_no_track_file_says_nothing_of_a_real_cars_tub(name):
    assert "its tubs name no place" in foretell((), DONKEY_GYM_ENV_NAME=name)[1]


def test_what_cannot_be_driven_is_said():
    assert "nowhere" in foretell(("nowhere",))[1]
    assert "its tubs name no place" in foretell(())[1] == foretell(("random_place",))[1]
