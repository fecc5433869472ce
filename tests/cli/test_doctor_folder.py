"""`donkey doctor FOLDER`: everything is tried, what fails says why, and the others are tried nevertheless."""

import json
import shutil
import sys

import numpy as np
import pytest
from PIL import Image

from donkeysim.car.config import TEMPLATE_FOLDER
from donkeysim.cli.donkey import run
from donkeysim.cli.folder_checkup import check_folder, describe_counts
from donkeysim.core.errors import SpecError
from donkeysim.learn.pilot import BUILT_IN_PILOT
from donkeysim.tub.formats.convert import convert
from donkeysim.world.tracks.catalogue import find_tracks
from stand_ins.steered_tub import write_steered_tub
from stand_ins.untrained_models import DefaultConfig, get_model

JOYSTICK = """
from donkeycar.parts.controller import Joystick, JoystickController

class Pad(Joystick):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.axis_names = {0: "wheel", 1: "pedal"}

class MyJoystickController(JoystickController):
    def init_js(self):
        self.js = Pad(self.dev_fn)

    def init_trigger_maps(self):
        self.axis_trigger_map = {"wheel": self.set_steering, "pedal": self.set_throttle}
"""


def write_old_tub(folder):
    folder.mkdir()
    for number in range(12):
        Image.new("RGB", (8, 8)).save(folder / f"{number}_cam.png")
        record = {"cam/image_array": f"{number}_cam.png", "user/angle": number / 12, "user/throttle": 0.1}
        (folder / f"record_{number}.json").write_text(json.dumps(record))


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """One of everything, in order."""
    from donkeysim.learn.files.model_file import save_model

    folder = tmp_path_factory.mktemp("good")
    car = folder / "ann/mycar"
    (car / "models").mkdir(parents=True)
    shutil.copy(TEMPLATE_FOLDER / "config.py", car / "config.py")
    (car / "myconfig.py").write_text("DRIVE_LOOP_HZ = 10\n")
    (car / "manage.py").write_text("")
    (folder / "myconfig_bob.py").write_text("DRIVE_LOOP_HZ = 15\n")
    write_steered_tub(car / "data", 8)
    write_old_tub(folder / "old")
    convert(car / "data", folder / "drive.parquet")
    shutil.copy(BUILT_IN_PILOT, car / "models/a.onnx")
    for ending in (".h5", ".tflite"):
        save_model(get_model("linear"), car / f"models/a{ending}", "linear", DefaultConfig)
    shutil.copy(find_tracks()["flat"], folder / "flat.toml")
    (folder / "lens.toml").write_text('[lens]\nmodel = "plumb_bob"\n')
    turn = np.linspace(0.0, 2.0 * np.pi, 60, endpoint=False)
    np.savetxt(folder / "donkey_path.csv", np.column_stack([3.0 * np.cos(turn), 2.0 * np.sin(turn)]), delimiter=",")
    (folder / "laps.csv").write_text("lap,name\n1,ann\n")
    (folder / "times.csv").write_text("lap,time\n1,20.5\n2,19.5\n")
    (folder / "empty.csv").write_text("")
    (folder / "test_joystick.py").write_text("class MyJoystickController: pass\nraise RuntimeError\n")
    (folder / "other.py").write_text("# class MyJoystickController\nraise RuntimeError\n")
    (car / "my_joystick.py").write_text(JOYSTICK)
    (folder / "README.md").write_text("nothing")
    return folder


def list_verdicts(folder):
    return {verdict.path.relative_to(folder).as_posix(): verdict for verdict in check_folder(folder)}


def test_everything_of_a_folder_is_found_and_works(good):
    verdicts = list_verdicts(good)
    kinds = {name: verdict.kind for name, verdict in verdicts.items()}
    assert kinds == {
        "ann/mycar": "car",
        "myconfig_bob.py": "myconfig",
        "ann/mycar/data": "tub",
        "old": "tub",
        "drive.parquet": "dataset",
        **{f"ann/mycar/models/a{ending}": "pilot" for ending in (".onnx", ".h5", ".tflite")},
        "flat.toml": "track",
        "donkey_path.csv": "path",
        "ann/mycar/my_joystick.py": "joystick",
    }
    assert {name: verdict.reason for name, verdict in verdicts.items() if verdict.reason} == {}
    assert all(all(verdict.works.values()) for verdict in verdicts.values())
    assert verdicts["ann/mycar"].works == {"loads": True, "trains": True, "drives": True}
    assert verdicts["ann/mycar/models/a.h5"].works == {"loads": True, "trains": True, "drives": True}
    assert verdicts["ann/mycar/models/a.onnx"].works == {"loads": True, "drives": True}
    assert verdicts["old"].works == {"loads": True, "trains": True}


def test_the_command_prints_a_table_and_ends_well(good, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    assert run(["doctor", str(good)]) == 0
    shown = capsys.readouterr().out
    assert "loads" in shown.splitlines()[0]
    assert "3 × pilot: 3 load, 1 train, 3 drive" in shown
    assert "1 × car: 1 load, 1 train, 1 drive" in shown


def test_a_car_whose_simulator_is_on_another_machine_does_not_drive_here(tmp_path):
    (tmp_path / "myconfig.py").write_text('DONKEY_SIM_PATH = "/home/ann/DonkeySimLinux/donkey_sim.x86_64"\n')
    verdict = list_verdicts(tmp_path)["myconfig.py"]
    assert verdict.works == {"loads": True, "trains": True, "drives": False}
    assert "there is no simulator at /home/ann/DonkeySimLinux/donkey_sim.x86_64; give" in verdict.reason


BROKEN = {
    "real/config.py": ("car", "real", "DONKEY_GYM = False\nIMAGE_W = 160\n", "real hardware is not driven"),
    "myconfig.py": ("myconfig", "myconfig.py", "IMAGE_W = 'wide'\n", "IMAGE_W"),
    "two/myconfig.py": ("myconfig", "two/myconfig.py", "IMAGE_W = = 3\n", "line 1: this is not Python"),
    "three/myconfig.py": ("myconfig", "three/myconfig.py", "BATCH_SIZE = -1\n", "BATCH_SIZE"),
    "a.h5": ("pilot", "a.h5", "rubbish", "a.h5"),
    "a.trt": ("pilot", "a.trt", "rubbish", "must be converted first"),
    "models/a.pkl": ("pilot", "models/a.pkl", "rubbish", "must be converted first"),
    "a.parquet": ("dataset", "a.parquet", "rubbish", "a.parquet"),
    "data/manifest.json": ("tub", "data", "rubbish", "manifest.json"),
    "bad.toml": ("track", "bad.toml", "[path]\nsegmnts = 3\n", "bad.toml"),
    "line.csv": ("path", "line.csv", "0,0\n1,1\n", "line.csv"),
    "my_joystick.py": ("joystick", "my_joystick.py", "class MyJoystickController:\n    pass\n", "no class MyJoystick"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_fails_says_why_and_costs_the_others_nothing(name, tmp_path, capsys):
    kind, shown, content, sentence = BROKEN[name]
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(content)
    if name == "real/config.py":
        (tmp_path / "real/manage.py").write_text("")
    shutil.copy(BUILT_IN_PILOT, tmp_path / "zzz.onnx")
    verdicts = list_verdicts(tmp_path)
    assert verdicts.keys() == {shown, "zzz.onnx"}
    assert verdicts[shown].kind == kind
    assert sentence in verdicts[shown].reason
    assert "\n" not in verdicts[shown].reason
    assert not all(verdicts[shown].works.values())
    assert not verdicts["zzz.onnx"].reason
    assert run(["doctor", str(tmp_path)]) == 1


def test_a_pilot_drives_in_the_car_folder_that_it_lies_in(tmp_path):
    for name, text in (("small", "IMAGE_W = 80\n"), ("usual", ""), ("broken", "IMAGE_W = = 80\n")):
        (tmp_path / name / "models").mkdir(parents=True)
        shutil.copy(TEMPLATE_FOLDER / "config.py", tmp_path / name)
        (tmp_path / name / "myconfig.py").write_text(text)
        shutil.copy(BUILT_IN_PILOT, tmp_path / name / "models/a.onnx")
    verdicts = list_verdicts(tmp_path)
    small = verdicts["small/models/a.onnx"]
    assert small.works == {"loads": True, "drives": False}
    assert "made for pictures of 160x120 with 3 channels, but got 80x120 with 3" in small.reason
    assert not verdicts["usual/models/a.onnx"].reason
    assert not verdicts["broken/models/a.onnx"].reason
    assert verdicts["broken"].reason


def test_what_only_one_use_fails_on_is_told_of_that_use(tmp_path):
    (tmp_path / "myconfig.py").write_text("BATCH_SIZE = -1\n")
    (tmp_path / "b").mkdir()
    (tmp_path / "b/myconfig.py").write_text("DONKEY_GYM = False\n")
    verdicts = list_verdicts(tmp_path)
    assert verdicts["myconfig.py"].works == {"loads": True, "trains": False, "drives": True}
    assert verdicts["b/myconfig.py"].works == {"loads": True, "trains": True, "drives": False}


def test_a_fault_of_our_own_is_told_and_ends_nothing(tmp_path, monkeypatch, caplog):
    shutil.copy(BUILT_IN_PILOT, tmp_path / "a.onnx")
    shutil.copy(BUILT_IN_PILOT, tmp_path / "b.onnx")

    def fail(path):
        if path.name == "a.onnx":
            raise ZeroDivisionError("oh")
        return

    monkeypatch.setattr("donkeysim.learn.pilot.load_pilot", fail)
    monkeypatch.setattr("donkeysim.learn.pilot.try_pilot", lambda *_: None)
    first, second = check_folder(tmp_path)
    assert first.reason == "a fault of donkeysim, please report it: ZeroDivisionError: oh"
    assert "ZeroDivisionError" in caplog.text
    assert not second.reason


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_links_environments_and_pictures_are_not_walked(tmp_path):
    (tmp_path / "venv").mkdir()
    (tmp_path / "venv/pyvenv.cfg").write_text("")
    for place in ("venv", ".git"):
        (tmp_path / place).mkdir(exist_ok=True)
        (tmp_path / place / "a.h5").write_text("")
    (tmp_path / "here").symlink_to(tmp_path)
    assert list(check_folder(tmp_path)) == []


def test_no_folder_and_an_empty_one_are_told(tmp_path, capsys):
    with pytest.raises(SpecError, match="there is no folder"):
        list(check_folder(tmp_path / "nope"))
    assert run(["doctor", str(tmp_path / "nope")]) == 1
    assert run(["doctor", str(tmp_path)]) == 1
    assert "holds no car folder, tub" in capsys.readouterr().out
    assert describe_counts([]) == []
