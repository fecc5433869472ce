"""`--car` and `--camera` say what drives, by the same words everywhere, and what is left says what drove."""

import json
from types import SimpleNamespace

import pytest

from donkeysim.cli import donkey
from donkeysim.cli.commands import rl
from donkeysim.cli.commands.rl import describe_evaluation
from donkeysim.cli.options import read_options
from donkeysim.cluster import stress
from donkeysim.learn.evaluate import Evaluation
from donkeysim.learn.files.places import read_cars
from donkeysim.rl.actor_file import save_pilot
from donkeysim.rl.ppo import Actor
from donkeysim.rl.setup import ObservationSpec
from donkeysim.rl.task import TrainingTask
from donkeysim.tub.manifest import read_manifest
from donkeysim.world.camera_file import load_camera
from donkeysim.world.specs import CameraSpec, load_car

OWN = 'base = "rc16"\nmass = 1.7\n'
ASKED = ["--car", "own.toml", "--camera", "pi_v2"]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    (tmp_path / "own.toml").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "words", [["sample", "--records", "1"], ["evaluate"], ["evaluate", "--stress"], ["rl", "--page", "0"]]
)
@pytest.mark.parametrize(
    ("option", "given", "message"),
    [("--car", "rc11", "did you mean 'rc16'"), ("--camera", "pi_v3", "pi_v2"), ("--car", "none.toml", "none.toml")],
)
def test_what_is_not_there_is_refused_before_anything_is_driven(words, option, given, message, here, capsys):
    assert donkey.run([*words, option, given]) == 1
    said = capsys.readouterr().err
    assert message in said
    assert [path.name for path in here.iterdir()] == ["own.toml"]


def test_a_sample_is_driven_by_the_car_that_was_asked_for_and_says_so(here):
    assert donkey.run(["sample", "--out", "tub", "--records", "12", *ASKED]) == 0
    assert donkey.run(["sample", "--out", "tub", "--records", "3"]) == 0
    manifest = read_manifest(here / "tub")
    assert manifest.cars == ("own.toml with camera pi_v2", "original")
    assert manifest.current_index == 15


def test_an_evaluation_drives_what_was_asked_for_and_names_it(here, monkeypatch):
    seen = []

    def drive(pilot, _scenes, _laps, conditions, *_, **__):
        seen.append(conditions.conf.experiment)
        run = SimpleNamespace(inference_time=0.0, simulated_time=1.0, wall_time=1.0, lap_times=(), ending="")
        return Evaluation(pilot.kind, 0, (run,), conditions.conf.experiment.describe_car())

    reports = []
    monkeypatch.setattr("donkeysim.learn.evaluate.evaluate", drive)
    monkeypatch.setattr("donkeysim.learn.report.write_report", lambda *given: reports.append(given[3]) or given[1])
    monkeypatch.setattr("donkeysim.cli.commands.evaluate.show_evaluation", lambda _: None)
    monkeypatch.setattr(Evaluation, "is_passed", True)
    assert donkey.run(["evaluate", *ASKED]) == 0
    assert (seen[0].car, seen[0].camera) == (str(here / "own.toml"), "pi_v2")  # other processes read it, too
    assert reports[0]["car"] == "own.toml with camera pi_v2"


def test_a_stress_test_names_its_car(here, monkeypatch):
    def drive(spec, _conditions, number):
        return stress.StressDrive(*spec.drives[number], 0.5, "stood still", 1.0, 0.1)

    monkeypatch.setattr(stress, "drive_one", drive)
    assert donkey.run(["evaluate", "--stress", "--seeds", "1", "--out", "s.html", *ASKED]) == 0
    assert json.loads((here / "s.json").read_text())["car"] == "own.toml with camera pi_v2"
    assert "own.toml with camera pi_v2" in (here / "s.html").read_text()


def test_learning_takes_car_and_camera_and_the_pilot_names_them(here):
    parser = donkey.CommandParser()
    rl.add_arguments(parser)
    task, _ = rl.read_request(parser.parse_args(["--car", "rc10", "--camera", "pi_v2", "--cars", "4"]))
    assert task.equipment == {"car": "rc10", "camera": "pi_v2"}
    outcome = SimpleNamespace(pilot="pilot.h5")
    assert describe_evaluation(task, outcome) == "donkey evaluate --model pilot.h5 --car rc10 --camera pi_v2"
    assert describe_evaluation(TrainingTask(), outcome) == "donkey evaluate --model pilot.h5"
    camera = task.make_setup().make_camera()
    assert (camera.lens, camera.position) == (load_camera("pi_v2").lens, load_car("rc10").camera.position)
    assert (camera.width, camera.height) == (160, 120)
    paths = save_pilot(Actor(ObservationSpec()), here / "pilot", ["ring"], [task.experiment.describe_car()])
    assert [read_cars(path) for path in paths] == [("rc10 with camera pi_v2",)] * 2


def test_learning_sees_what_it_always_saw_unless_asked():
    assert TrainingTask().make_setup().make_camera() == CameraSpec()


def test_a_camera_that_cuts_rows_off_is_refused_for_learning(here, capsys):
    (here / "cut.toml").write_text("crop_top = 40\n")
    assert donkey.run(["rl", "--page", "0", "--camera", "cut.toml"]) == 1
    assert "leave out crop_top" in capsys.readouterr().err


def test_the_simulator_reads_the_same_words():
    asked, usual = (read_options(words).simulation.experiment for words in (ASKED, []))
    assert (asked.car, asked.camera) == ("own.toml", "pi_v2")
    assert (usual.car, usual.camera) == ("original", "")
