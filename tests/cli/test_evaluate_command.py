"""`donkey evaluate` takes what the config says in every mode, and says what is not possible before anybody drives."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from donkeysim.cli import donkey
from donkeysim.cli.commands import evaluate as command
from donkeysim.cluster import matrix, stress
from donkeysim.core.errors import SpecError
from donkeysim.learn import evaluate
from donkeysim.learn.architectures import build_model
from donkeysim.learn.files.model_file import save_model
from donkeysim.learn.pilot import BUILT_IN_PILOT
from stand_ins.untrained_models import DefaultConfig, get_model, make_picture

MODES = [[], ["--seeds", "1"], ["--stress"]]


@pytest.fixture(autouse=True)
def pilots(monkeypatch, tmp_path):
    """All pilots that would have driven; each evaluation ends when its first one is about to."""
    monkeypatch.chdir(tmp_path)
    found = []

    def stop(pilot, *_, **__):
        found.append(pilot)
        raise SpecError("here it drives.")

    for module in (evaluate, matrix, stress):
        monkeypatch.setattr(module, "evaluate", stop)
    return found


def test_a_myconfig_without_a_config_that_it_changes_is_refused(tmp_path, capsys):
    (tmp_path / "mine.py").write_text("DRIVE_LOOP_HZ = 10\n")
    assert donkey.run(["evaluate", "--myconfig", "mine.py"]) != 0
    assert "config.py; make a car folder" in capsys.readouterr().err


@pytest.mark.parametrize("mode", MODES)
def test_a_pilot_whose_file_does_not_say_it_takes_its_greatest_throttle_from_the_config(mode, tmp_path, pilots):
    get_model("categorical").save(tmp_path / "theirs.keras")
    (tmp_path / "slow.py").write_text("MODEL_CATEGORICAL_MAX_THROTTLE_RANGE = 0.2\n")
    for words in ([], ["--config", "slow.py"]):
        donkey.run(["evaluate", "--model", "theirs.keras", *mode, *words])
    usual, slow = (pilot.run(make_picture())[1] for pilot in pilots)
    assert usual > 0.0
    assert slow == pytest.approx(0.25 * usual)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("given", ["*.onnx", "one.onnx,two.onnx", "one.onnx two.onnx"])
def test_patterns_and_lists_of_pilots_are_expanded(mode, given, tmp_path, monkeypatch):
    for name in ("one", "two"):
        shutil.copy(BUILT_IN_PILOT, tmp_path / f"{name}.onnx")
    found = []

    def stop(_arguments, models, *_):
        found.extend(models)
        return 0

    monkeypatch.setattr(command, "run_matrix", stop)
    monkeypatch.setattr(command, "run_stress", stop)
    assert donkey.run(["evaluate", "--model", given, *mode]) == 0
    assert found == [Path("one.onnx"), Path("two.onnx")]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("config", "fits"), [("", True), ("DRIVE_LOOP_HZ = 10\n", False)])
def test_outside_of_a_car_folder_the_camera_fits_the_pilot(mode, config, fits, tmp_path, monkeypatch):
    told = []

    def stop(_pilot, _tracks, _laps, conditions, *_, **__):
        told.append(conditions.fits_pilot)
        raise SpecError("here it drives.")

    for module in (evaluate, matrix, stress):
        monkeypatch.setattr(module, "evaluate", stop)
    if config:
        (tmp_path / "config.py").write_text(config)
    donkey.run(["evaluate", *mode])
    assert told == [fits]


@pytest.mark.parametrize(
    ("words", "ending"),
    [
        (["--out", "m.json"], ".html"),
        (["--out", "m"], ".html"),
        (["--seeds", "1", "--out", "m.html"], ".json"),
        (["--model", "built-in", "built-in", "--out", "m.html"], ".json"),
        (["--stress", "--out", "m.json"], ".html"),
    ],
)
def test_a_report_in_another_kind_of_file_is_refused_before_anybody_drives(words, ending, pilots, tmp_path, capsys):
    assert donkey.run(["evaluate", *words]) == 1
    said = capsys.readouterr().err
    assert f"--out {words[-1]} is not valid here" in said
    assert f"ends in {ending}" in said
    assert not pilots
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "words", [["--out", "m.HTML"], ["--seeds", "1", "--out", "m.json"], ["--stress", "--out", "a.html"]]
)
def test_a_report_in_the_right_kind_of_file_is_taken(words, pilots):
    donkey.run(["evaluate", *words])
    assert pilots


@pytest.mark.parametrize("count", [0, -1])
@pytest.mark.parametrize("mode", [[], ["--stress"]])
def test_no_starts_are_refused(count, mode, pilots, capsys):
    assert donkey.run(["evaluate", *mode, "--seeds", str(count)]) == 1
    assert f"from {count} starts are not valid" in capsys.readouterr().err
    assert not pilots


@pytest.mark.parametrize("mode", [["--seeds", "1"], ["--stress"], ["--model", "built-in", "built-in"]])
def test_a_seed_beside_starts_that_have_seeds_of_their_own_is_refused(mode, pilots, capsys):
    assert donkey.run(["evaluate", "--seed", "5", *mode]) == 1
    assert "--seed 5" in capsys.readouterr().err
    assert not pilots


@pytest.mark.parametrize("mode", MODES)
def test_a_pilot_whose_training_has_diverged_is_refused_before_anybody_drives(mode, tmp_path, pilots, capsys):
    model = build_model("linear", DefaultConfig)
    weights = model.weights[-1]
    weights.assign(np.full(weights.shape, np.nan, np.float32))
    save_model(model, tmp_path / "gone.h5", "linear", DefaultConfig)
    assert donkey.run(["evaluate", "--model", "gone.h5", *mode]) == 1
    said = capsys.readouterr().err
    assert "gone.h5 answers" in said
    assert "to a black picture: its training has diverged" in said
    assert not pilots
