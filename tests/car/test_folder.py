"""A car folder holds what the original's does; what is the user's own stays."""

import os
import stat
import subprocess
import sys

import pytest

import donkeysim.car.folder
from donkeysim.car.config import TEMPLATE_FOLDER, load_config, read_defaults
from donkeysim.car.folder import create_car, update_car
from donkeysim.core.errors import SpecError

PROGRAMS = {"manage.py", "config.py", "myconfig.py", "train.py"}

# As people write it into the original's file, beside what its templates set.
OLD_OWN = (
    """\
# """
    + """
# CAR CONFIG

import os
DONKEY_GYM = True
DONKEY_SIM_PATH = "path to sim"
DONKEY_GYM_ENV_NAME = "donkey-generated-track-v0"
GYM_CONF = { "body_style" : "car01", "body_rgb" : (0, 0, 255), "car_name" : "me", "font_size" : 50}
WEB_CONTROL_PORT = int(os.getenv("WEB_CONTROL_PORT", 8887))  # which port to listen on
MAX_LOOPS=None\r
CREATE_TF_LITE = True
"""
)


def make(path, **options):
    said = []
    create_car(path, say=said.append, **options)
    return said


def test_a_new_folder_has_all_files_and_tells_of_each(tmp_path):
    said = make(tmp_path / "my car")
    folder = tmp_path / "my car"
    assert {item.name for item in folder.iterdir()} == PROGRAMS | {"models", "data", "logs"}
    assert said == [
        f"Creating car folder: {folder}",
        f"making dir  {folder}",
        "Creating data & model folders.",
        f"making dir  {folder / 'models'}",
        f"making dir  {folder / 'data'}",
        f"making dir  {folder / 'logs'}",
        "Copying car application template: complete",
        "Copying car config defaults. Put your own settings into myconfig.py.",
        "Copying train script.",
        "Copying my car config overrides",
        "Donkey setup complete.",
    ]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_programs_are_executable_by_their_owner_only(tmp_path):
    make(tmp_path)
    modes = {name: stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("manage.py", "train.py")}
    assert modes == {"manage.py": 0o700, "train.py": 0o700}


def test_own_config_is_all_of_config_behind_comments(tmp_path, caplog):
    make(tmp_path)
    lines = (tmp_path / "myconfig.py").read_text(encoding="utf-8").splitlines()
    assert all(line.startswith("#") or not line for line in lines)
    uncommented = "\n".join(line.removeprefix("#").removeprefix(" ") for line in lines[lines.index("# import os") :])
    names = {"__file__": str(tmp_path / "config.py")}
    exec(uncommented, names)
    assert {name: names[name] for name in names if name.isupper()} == read_defaults(tmp_path)
    load_config(tmp_path / "config.py")
    assert caplog.messages == []


def test_a_second_time_keeps_what_is_there(tmp_path):
    make(tmp_path)
    (tmp_path / "manage.py").write_text("mine")
    (tmp_path / "train.py").unlink()
    (tmp_path / "data" / "kept").write_text("x")
    said = make(tmp_path)
    assert (tmp_path / "manage.py").read_text() == "mine"
    assert (tmp_path / "train.py").exists()
    assert (tmp_path / "data" / "kept").exists()
    assert [line for line in said if "already exists" in line] == [
        "Car app already exists. Delete it and rerun createcar to replace.",
        "Car config already exists. Delete it and rerun createcar to replace.",
    ]


def test_overwriting_replaces_programs_but_never_own_keys(tmp_path):
    make(tmp_path)
    for name in PROGRAMS:
        (tmp_path / name).write_text("mine")
    make(tmp_path, overwrite=True)
    kept = {name for name in PROGRAMS if (tmp_path / name).read_text() == "mine"}
    assert kept == {"myconfig.py"}


def test_what_is_replaced_is_kept_under_another_name(tmp_path):
    make(tmp_path)
    for text in ("first", "second"):
        (tmp_path / "manage.py").write_text(text)
        said = make(tmp_path, overwrite=True)
    assert "Keeping the earlier manage.py as manage.py.old2." in said
    make(tmp_path, overwrite=True)
    assert {item.name: item.read_text() for item in tmp_path.glob("*.old*")} == {
        "manage.py.old": "first",
        "manage.py.old2": "second",
    }


def test_home_is_expanded(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    make("~/car")
    assert (tmp_path / "car" / "manage.py").is_file()


@pytest.mark.original(
    "Configuration and car folders",
    "a folder that the original made",
    "`donkey update` keeps `myconfig.py`, and old programs under another name",
)
def test_an_update_of_the_originals_folder_gives_our_car_with_its_own_keys(tmp_path, caplog):
    (tmp_path / "manage.py").write_text("import donkeycar as dk\n")
    (tmp_path / "config.py").write_text("DONKEY_GYM = False\nUSE_JOYSTICK_AS_DEFAULT = True\nCAMERA_TYPE = 'PICAM'\n")
    (tmp_path / "calibrate.py").write_text("theirs")
    (tmp_path / "myconfig.py").write_bytes(OLD_OWN.encode())
    said = []
    update_car(tmp_path, say=said.append)
    assert said[-1] == "Donkey setup complete."
    assert (tmp_path / "manage.py").read_text(encoding="utf-8") == (TEMPLATE_FOLDER / "manage.py").read_text(
        encoding="utf-8"
    )
    assert (tmp_path / "myconfig.py").read_bytes() == OLD_OWN.encode()
    config = load_config(tmp_path / "config.py")
    assert (config.DONKEY_SIM_PATH, config.GYM_CONF["body_style"]) == ("path to sim", "car01")
    assert config.USE_JOYSTICK_AS_DEFAULT is False
    assert caplog.messages == []


@pytest.mark.parametrize(("name", "says"), [("manage.py", True), ("myconfig.py", False)])
def test_an_update_says_which_settings_of_donkeycar_2_no_longer_count(tmp_path, name, says):
    """Its folders have no myconfig.py; later ones keep theirs."""
    (tmp_path / "config.py").write_text("DRIVE_LOOP_HZ = 60\nIMAGE_W = 160\nMY_OWN = 3\n", encoding="utf-8")
    (tmp_path / name).write_text("", encoding="utf-8")
    told = []
    update_car(tmp_path, say=told.append)
    sentence = "Of what the earlier config.py said otherwise, put what you want into myconfig.py: DRIVE_LOOP_HZ = 60."
    assert (sentence in told) is says


def test_an_update_elsewhere_is_refused_and_writes_nothing(tmp_path):
    (tmp_path / "config.py").write_text("X = 1\n")
    with pytest.raises(SpecError, match=r"is not a car folder: it has no config\.py, or neither"):
        update_car(tmp_path)
    assert [item.name for item in tmp_path.iterdir()] == ["config.py"]


@pytest.mark.original(
    "Configuration and car folders",
    "templates other than `complete` and `simulator`",
    "differs: refused, as they are of hardware",
)
@pytest.mark.parametrize(("template", "sentence"), [("basic", "unknown template 'basic'"), ("", "unknown template ''")])
def test_other_templates_are_refused_before_anything_is_written(tmp_path, template, sentence):
    with pytest.raises(SpecError, match=sentence):
        make(tmp_path / "car", template=template)
    assert not (tmp_path / "car").exists()


def test_a_file_in_the_way_is_said(tmp_path):
    (tmp_path / "car").write_text("")
    with pytest.raises(SpecError, match=r"cannot make the folder .*: a file is in the way"):
        make(tmp_path / "car")
    with pytest.raises(SpecError, match=r"cannot make the folder .*: a file is in the way"):
        make(tmp_path / "car" / "deeper")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "data").write_text("")
    with pytest.raises(SpecError, match=r"cannot make the folder .*data: a file is in the way"):
        make(tmp_path / "other")
    with pytest.raises(SpecError, match="--path is empty"):
        make("")


def test_a_folder_that_cannot_be_written_is_said(tmp_path, monkeypatch):
    def refuse(*_arguments, **_options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(donkeysim.car.folder.Path, "write_text", refuse)
    with pytest.raises(SpecError, match=r"cannot write .*manage\.py: Permission denied"):
        make(tmp_path / "car")


def test_a_full_disk_leaves_the_old_file_whole(tmp_path, monkeypatch):
    make(tmp_path)
    before = (tmp_path / "config.py").read_bytes()

    def write_half(self, text, **_options):
        self.write_bytes(text[: len(text) // 2].encode())
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(donkeysim.car.folder.Path, "write_text", write_half)
    with pytest.raises(SpecError, match="No space left on device"):
        make(tmp_path, overwrite=True)
    assert (tmp_path / "config.py").read_bytes() == before
    assert {item.name for item in tmp_path.iterdir()} == PROGRAMS | {"models", "data", "logs"}


def test_a_kill_in_an_update_leaves_a_car_with_all_its_files(tmp_path, monkeypatch):
    make(tmp_path)
    (tmp_path / "config.py").write_text("MINE = 1\n")

    def die(self, *_arguments, **_options):
        if self.name.startswith(".config"):
            raise KeyboardInterrupt
        self.write_bytes(b"")

    monkeypatch.setattr(donkeysim.car.folder.Path, "write_text", die)
    with pytest.raises(KeyboardInterrupt):
        make(tmp_path, overwrite=True)
    assert (tmp_path / "config.py").read_text() == (tmp_path / "config.py.old").read_text() == "MINE = 1\n"


def test_the_train_script_asks_for_a_model(tmp_path):
    make(tmp_path)
    run = subprocess.run([sys.executable, tmp_path / "train.py"], capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert "required: --model" in run.stderr


def test_the_train_script_passes_on_what_else_donkey_train_takes(tmp_path):
    make(tmp_path)
    words = ["--model", "a.h5", "--figure_format=pdf", "--myconfig", "other.py"]
    run = subprocess.run([sys.executable, tmp_path / "train.py", *words], capture_output=True, text=True, check=False)
    assert run.returncode == 2
    said = (
        "unrecognized arguments: --figure_format=pdf; the plot of the losses is a .png beside the pilot, leave it out;"
    )
    assert said in run.stderr


@pytest.mark.parametrize("program", ["train.py", "manage.py train"])
def test_training_without_tubs_reads_the_configs_data_path(tmp_path, program):
    make(tmp_path / "car")
    (tmp_path / "car/myconfig.py").write_text(f"DATA_PATH = {str(tmp_path / 'disk')!r}\n", encoding="utf-8")
    (tmp_path / "disk").mkdir()
    script, *words = program.split()
    command = [sys.executable, tmp_path / "car" / script, *words, "--model", tmp_path / "a.h5"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert f"{tmp_path / 'disk'} is not a tub" in run.stderr
