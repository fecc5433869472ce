"""Configurations are read as the original reads them, and every mistake is one sentence that says where it stands."""

import os
import re
import sys
from pathlib import Path

import pytest

from donkeysim.car import config
from donkeysim.car.config import (
    TEMPLATE_FOLDER,
    Config,
    load_config,
    make_default_config,
    read_defaults,
    read_unused_keys,
)
from donkeysim.car.keys import KINDS, TRANSFORMATIONS, USED_BY
from donkeysim.core.config import read_toml
from donkeysim.core.errors import SpecError
from donkeysim.envs.conf import read_conf
from donkeysim.world.lens import LARGEST_PICTURE, SMALLEST_SIDE

FOREIGN = """
import os
CAR_PATH = PACKAGE_PATH = os.path.dirname(os.path.realpath(__file__))
DATA_PATH = os.path.join(CAR_PATH, 'data')
CAMERA_TYPE = "PICAM"
DRIVE_TRAIN_TYPE = "PWM_STEERING_THROTTLE"
USE_JOYSTICK_AS_DEFAULT = True
CREATE_TENSOR_RT = False
DEFAULT_AI_FRAMEWORK = 'tensorflow'
DONKEY_GYM = False
DONKEY_SIM_PATH = "path to sim"
DRIVE_LOOP_HZ = 30
"""


def test_every_key_of_the_template_has_a_kind_and_takes_its_default():
    defaults = read_defaults(Path("car"))
    assert set(defaults) == set(KINDS)
    assert [name for name, value in defaults.items() if not KINDS[name].takes(value)] == []
    assert not set(defaults) & set(read_unused_keys())


def test_every_key_is_explained_in_one_line():
    text = (TEMPLATE_FOLDER / "config.py").read_text(encoding="utf-8")
    starts = [line for line in text.splitlines() if re.match(r"[A-Z_]+ = ", line)]
    assert [line for line in starts if "  # " not in line] == []


def test_a_folder_nobody_has_changed_loads_without_a_word(car_folder, caplog):
    config = car_folder.load()
    assert (config.IMAGE_W, config.DRIVE_LOOP_HZ, config.DONKEY_SIM_PATH) == (160, 20, "")
    assert os.path.realpath(config.DATA_PATH) == os.path.realpath(car_folder.path / "data")
    assert caplog.messages == []


def test_own_keys_win(car_folder):
    config = car_folder.load("import os\nDRIVE_LOOP_HZ = 10\nMODELS_PATH = os.path.join('a', 'b')\nlower = 1\n")
    assert config.DRIVE_LOOP_HZ == 10
    assert os.path.join("a", "b") == config.MODELS_PATH
    assert "lower" not in vars(config)


def test_another_file_can_be_named(car_folder, tmp_path_factory):
    (car_folder.path / "other.py").write_text("DRIVE_LOOP_HZ = 5\n")
    assert car_folder.load(myconfig="other.py").DRIVE_LOOP_HZ == 5
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "own.py"
    elsewhere.write_text("DRIVE_LOOP_HZ = 6\n")
    assert car_folder.load(myconfig=str(elsewhere)).DRIVE_LOOP_HZ == 6
    with pytest.raises(SpecError, match=r"there is no .*othr\.py"):
        car_folder.load(myconfig="othr.py")


def test_without_own_keys_the_defaults_hold(car_folder, caplog):
    assert load_config(str(car_folder.path / "config.py")).IMAGE_H == 120
    assert "myconfig.py" in caplog.text


def test_the_working_folder_is_searched(car_folder, monkeypatch):
    monkeypatch.chdir(car_folder.path)
    car_folder.load("IMAGE_W = 80")
    assert load_config().IMAGE_W == 80


def test_no_config_tells_how_to_make_one(tmp_path):
    with pytest.raises(SpecError, match=r"there is no .*config\.py; .*donkey createcar"):
        load_config(tmp_path / "config.py")


@pytest.mark.original(
    "Configuration and car folders",
    "other wrong values",
    "differs: refused with file and line instead of failing later",
)
@pytest.mark.parametrize(
    ("own", "sentence"),
    [
        ("IMAGE_W = '160'", "myconfig.py, line 1: IMAGE_W is '160', but takes a whole number from 16 to 3840."),
        ("\nIMAGE_W = True", "line 2: IMAGE_W is True, but takes a whole number"),
        ("IMAGE_DEPTH = 2", "IMAGE_DEPTH is 2, but takes one of 1, 3."),
        ("DRIVE_LOOP_HZ = 0", "DRIVE_LOOP_HZ is 0, but takes a number from 1 to 1000."),
        ("AI_THROTTLE_MULT = float('nan')", "AI_THROTTLE_MULT is nan, but takes a number"),
        ("DONKEY_GYM = 'yes'", "DONKEY_GYM is 'yes', but takes True or False."),
        ("WEB_INIT_MODE = 'pilot'", "takes one of 'user', 'local_angle', 'local'."),
        ("GYM_CONF = {1: 2}", "GYM_CONF is {1: 2}, but takes a dictionary with texts as keys."),
        ("TRANSFORMATIONS = ['CROPP']", "TRANSFORMATIONS is ['CROPP'], but takes a list, each one of 'CROP', "),
        ("TRANSFORMATIONS = 'CROP'", "TRANSFORMATIONS is 'CROP', but takes a list"),
        ("METADATA = [('a', 1)]", "METADATA is [('a', 1)], but takes a list, each a list of 2 values, each a text."),
        ("MAX_LOOPS = -1", "MAX_LOOPS is -1, but takes a whole number from 0, or None."),
        ("LOGGING_FORMAT = '%(nope'", "LOGGING_FORMAT is '%(nope', but takes a format of Python's logging"),
        ("DONKEY_SIM_PATH = ['x' * 500]", "xxx..., but takes a text."),
        (
            "IMAGE_W = 80\nIMAGE_H = (1",
            "myconfig.py, line 2: this is not Python: '(' was never closed: 'IMAGE_H = (1'.",
        ),
        ('DONKEY_SIM_PATH = "C:\\Users\\me\\sim.exe"', "put an r before the quotes of a path with backslashes"),
        ("DONKEY_GYM = True\n SIM_SEED = 1", "'SIM_SEED = 1'; begin it where the line before it begins."),
        ("WEB_INIT_MODE = “user”", "write quotes, commas and brackets as an English keyboard does."),
        ("IMAGE_W = 1 / 0", "myconfig.py, line 1: ZeroDivisionError: division by zero."),
        ("import sys; sys.exit(3)", "myconfig.py, line 1: SystemExit: 3."),
        ("GYM_CONF['car_name'] = 'x'", "line 1: NameError: name 'GYM_CONF' is not defined; this file does not see"),
        ("DONKEY_GYM = False", "line 1: DONKEY_GYM is False, but real hardware is not driven by this project"),
        ("\x00", "myconfig.py"),
    ],
)
def test_mistakes_are_one_sentence_with_their_place(car_folder, own, sentence):
    with pytest.raises(SpecError) as raised:
        car_folder.load(own)
    assert sentence in str(raised.value)
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 600


SPARED = [
    ("CANNY_APERTURE = 4", "CANNY_APERTURE is 4, but takes one of 3, 5, 7.", "transformations of pictures"),
    ("ROI_CROP_TOP = -5", "ROI_CROP_TOP is -5, but takes a whole number", "transformations of pictures"),
    ("SEQUENCE_LENGTH = 0", "SEQUENCE_LENGTH is 0, but takes a whole number", "rnn, 3d and memory pilots"),
    ("NUM_LOCATIONS = '10'", "NUM_LOCATIONS is '10', but takes a whole number", "localizer pilots"),
    ("BEHAVIOR_LIST = []", "BEHAVIOR_LIST is [], but takes a list", "behavior pilots"),
    ("SIM_PORT = '9091'", "SIM_PORT is '9091', but takes a whole number", "a simulator elsewhere"),
    ("FPS_DEBUG_INTERVAL = 0", "FPS_DEBUG_INTERVAL is 0, but takes a number", "SHOW_FPS"),
    (
        "AUG_BLUR_RANGE = 'x'",
        "AUG_BLUR_RANGE is 'x', but takes a list of 2 values, each a number from 0 to 100.",
        "the augmentation BLUR",
    ),
    ("TRAIN_FILTER = 3", "TRAIN_FILTER is 3, but takes a function, or None.", "training"),
    ("AUGMENTATIONS = ['FOG']", "AUGMENTATIONS is ['FOG'], but takes a list, each one of 'BRIGHTNESS', ", "training"),
    ("CONTROLLER_TYPE = 'ibus'", "CONTROLLER_TYPE is 'ibus', but takes one of 'ps3', ", "a joystick"),
    (
        "DEFAULT_MODEL_TYPE = 'resnet18'",
        "DEFAULT_MODEL_TYPE is 'resnet18', but takes one of 'linear', ",
        "a pilot whose kind is not given",
    ),
]


@pytest.mark.original(
    "Configuration and car folders", "wrong values of keys that this run does not use", "only warned about"
)
@pytest.mark.parametrize(("own", "sentence", "user"), SPARED)
def test_a_drive_goes_on_with_a_wrong_key_that_it_does_not_use(car_folder, caplog, own, sentence, user):
    """The mistake is told at once, and is the error of whoever needs the key after all."""
    config = car_folder.load(own)
    assert f"myconfig.py, line 1: {sentence}" in caplog.text
    assert f"It is for {user} only." in caplog.text
    with pytest.raises(SpecError) as raised:
        getattr(config, own.partition(" ")[0])
    assert sentence in str(raised.value)
    with pytest.raises(SpecError, match="but takes"):
        config.require(user)
    config.require("driving")


@pytest.mark.parametrize(("own", "user"), [("DRIVE_LOOP_HZ = 0", "driving"), ("GYM_CONF = 3", "driving")])
def test_training_goes_on_with_a_wrong_key_of_driving(car_folder, caplog, own, user):
    config = car_folder.load(own, driving=False)
    config.require("training")
    assert f"It is for {user} only." in caplog.text


@pytest.mark.original(
    "Configuration and car folders", "numbers beyond what the original limits", "limited, with a warning"
)
@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ("AI_LAUNCH_THROTTLE = 1.5", 1),
        ("AI_LAUNCH_THROTTLE = -9", -1),
        ("JOYSTICK_MAX_THROTTLE = 1.2", 1),
        ("AI_LAUNCH_DURATION = -1", 0),
    ],
)
def test_throttles_are_limited_as_by_the_original_and_that_is_told(car_folder, caplog, given, taken):
    name = given.partition(" ")[0]
    assert getattr(car_folder.load(given), name) == taken
    assert f"line 1: {name} is {given.rpartition(' ')[2]}, taken as {taken}." in caplog.text


@pytest.mark.original("Configuration and car folders", "`128.0` for a whole number", "taken as `128`")
def test_a_whole_number_may_be_written_with_a_point(car_folder, caplog):
    config = car_folder.load("BATCH_SIZE = 64.0\nIMAGE_W = 320.0\nMAX_LOOPS = 1e3")
    taken = (config.BATCH_SIZE, config.IMAGE_W, config.MAX_LOOPS)
    assert taken == (64, 320, 1000)
    assert {type(number) for number in taken} == {int}
    assert not caplog.text
    with pytest.raises(SpecError, match=r"IMAGE_W is 160\.5, but takes a whole number"):
        car_folder.load("IMAGE_W = 160.5")


@pytest.mark.original(
    "Configuration and car folders", "paths, levels and numbers as the original takes them", "as it is"
)
@pytest.mark.parametrize(
    ("own", "taken"),
    [
        ("from pathlib import Path\nDATA_PATH = Path('a') / 'b'", os.path.join("a", "b")),
        ("DRIVE_LOOP_HZ = 12.5", 12.5),
        ("WEB_CONTROL_PORT = '8887'", 8887),
        ("import logging\nLOGGING_LEVEL = logging.DEBUG", "DEBUG"),
        ("OPTIMIZER = 'Adam'", "adam"),
        ("EARLY_STOP_PATIENCE = 0", 0),
        ("NUM_LAST_LAYERS_TO_TRAIN = None", None),
        ("AUG_BLUR_RANGE = 3", (0, 3)),
        ("AUG_BRIGHTNESS_RANGE = (-0.1, 0.3)", (-0.1, 0.3)),
    ],
)
def test_what_the_original_takes_is_taken(car_folder, caplog, own, taken):
    name = own.splitlines()[-1].partition(" ")[0]
    config = car_folder.load(own)
    config.require("training", "the augmentation BRIGHTNESS", "the augmentation BLUR")
    assert getattr(config, name) == taken
    assert type(getattr(config, name)) is type(taken)
    assert not caplog.text


@pytest.mark.parametrize(
    ("own", "sentence"),
    [
        ("WEB_CONTROL_PORT = 'http'", "WEB_CONTROL_PORT is 'http', but takes"),
        ("DRIVE_LOOP_HZ = float('nan')", "DRIVE_LOOP_HZ is nan, but takes"),
        ("LOGGING_LEVEL = 7", "LOGGING_LEVEL is 7, but takes one of"),
        ("AUGMENTATIONS = ['BRIGHTNESS']\nAUG_BRIGHTNESS_RANGE = (0.3, -0.1)", "two from -1 to 1, the lower one first"),
    ],
)
def test_other_values_are_refused(car_folder, own, sentence):
    with pytest.raises(SpecError, match=re.escape(sentence)):
        car_folder.load(own).require("the augmentation BRIGHTNESS")


def test_a_file_finds_what_lies_beside_it(car_folder, tmp_path_factory, monkeypatch):
    """As when manage.py, which lies there, too, reads it."""
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    (car_folder.path / "beside_my_config.py").write_text("WIDTH = 96", encoding="utf-8")
    path = list(sys.path)
    assert car_folder.load("from beside_my_config import WIDTH\nIMAGE_W = WIDTH").IMAGE_W == 96
    (car_folder.path / "beside_my_config.py").write_text("WIDTH = 1920", encoding="utf-8")  # as in another folder
    assert car_folder.load("from beside_my_config import WIDTH\nIMAGE_W = WIDTH").IMAGE_W == 1920
    assert sys.path == path


def test_packages_of_an_environment_inside_the_folder_stay_imported(car_folder, monkeypatch):
    """NumPy, for example, cannot be imported twice."""
    packages = car_folder.path / ".venv" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "package_inside.py").write_text("WIDTH = 96", encoding="utf-8")
    monkeypatch.syspath_prepend(packages)
    assert car_folder.load("import package_inside\nIMAGE_W = package_inside.WIDTH").IMAGE_W == 96
    assert "package_inside" in sys.modules


def test_a_negative_greatest_throttle_inverts_the_stick(car_folder, caplog):
    assert car_folder.load("JOYSTICK_MAX_THROTTLE = -0.25").JOYSTICK_MAX_THROTTLE == -0.25
    assert not caplog.text


def test_every_key_that_only_some_runs_use_is_a_key():
    assert set(USED_BY) <= set(KINDS)


@pytest.mark.original(
    "Configuration and car folders", "the folder of a real car", "trains; does not drive, as there is no hardware here"
)
def test_training_takes_the_folder_of_a_real_car(car_folder):
    assert car_folder.load("DONKEY_GYM = False", driving=False).DONKEY_GYM is False


@pytest.mark.original("Configuration and car folders", "keys of forks", "kept for one's own parts, and logged")
def test_unknown_keys_are_told_once_with_the_nearest(car_folder, caplog):
    config = car_folder.load("DRIVE_LOOP_HERZ = 3\nMY_PART_GAIN = 2\nCUSTOM_EDGE_MODULE = 'a.py'\n")
    assert config.MY_PART_GAIN == 2
    assert len(caplog.messages) == 2
    assert "line 1: the key DRIVE_LOOP_HERZ is not known; did you mean DRIVE_LOOP_HZ?" in caplog.messages[0]
    assert "line 2: the key MY_PART_GAIN is not known; " in caplog.messages[1]


@pytest.mark.parametrize("name", ["SERVO_I", "PI_HOSTNAME", "MY_PID"])
def test_a_key_that_resembles_none_gets_no_hint(car_folder, caplog, name):
    """At half a likeness SERVO_I would be VERBOSE_TRAIN."""
    car_folder.load(f"{name}_X = 3")
    assert "did you mean" not in caplog.text


@pytest.mark.original(
    "Configuration and car folders", "keys of hardware", "without effect; logged where they were changed"
)
def test_keys_that_cannot_be_honoured_are_told_only_when_touched(car_folder, caplog):
    car_folder.load(
        "CREATE_TENSOR_RT = False\nHAVE_IMU = False\nDEFAULT_AI_FRAMEWORK = 'tensorflow'\nPCA9685_I2C_ADDR = 0x40"
    )
    assert caplog.messages == []
    car_folder.load("CREATE_TENSOR_RT = True\nHAVE_IMU = True\n")
    assert [re.sub(r".*line", "line", message) for message in caplog.messages] == [
        "line 1: CREATE_TENSOR_RT has no effect: TensorRT files are not made; the .onnx file runs on any processor.",
        "line 2: HAVE_IMU has no effect: a simulated car only has the simulator's sensors, "
        "see SIM_RECORD_LOCATION and the like.",
    ]


@pytest.mark.parametrize("key", ["ROI_CROP_TOP", "ROI_TRAPEZE_UL"])
def test_a_border_that_nothing_blacks_out_is_told(car_folder, caplog, key):
    """In donkeycar 2 and 3 there was no list of transformations: ROI_CROP_TOP alone cropped."""
    car_folder.load(f"{key} = 40")
    car_folder.write_config(f"DONKEY_GYM = True\n{key} = 40\n")
    car_folder.load()
    told = [text.partition(", line ")[2] for text in caplog.messages if key in text]
    says = f"{key} has no effect: {key.split('_')[1]} is in none of TRANSFORMATIONS, POST_TRANSFORMATIONS, "
    assert told == [f"1: {says}AUGMENTATIONS.", f"2: {says}AUGMENTATIONS."]


@pytest.mark.parametrize(
    "own",
    [
        "ROI_CROP_TOP = 40\nTRANSFORMATIONS = ['CROP']",
        "ROI_CROP_TOP = 40\nAUGMENTATIONS = ['CROP']",
        "ROI_TRAPEZE_UL = 30\nPOST_TRANSFORMATIONS = ['TRAPEZE_EDGE']",
        "ROI_CROP_TOP = 40\nTRANSFORMATIONS = ['CUSTOM_HALF']",
        "ROI_CROP_TOP = 0\nROI_TRAPEZE_UL = 20",
    ],
)
def test_a_border_that_is_used_or_none_is_not_told(car_folder, caplog, own):
    car_folder.load(own)
    assert caplog.messages == []


def test_every_unused_key_stands_once_with_a_reason_and_a_default():
    groups = read_toml(Path(config.__file__).with_name("unused_keys.toml"))["group"]
    assert [group for group in groups if group.keys() != {"reason", "defaults"}] == []
    names = [name for group in groups for name in group["defaults"]]
    assert len(names) == len(set(names)) == len(read_unused_keys())
    assert [name for name, key in read_unused_keys().items() if not (name.isupper() and key.defaults)] == []


def test_a_list_in_place_of_an_unused_keys_tuple_is_its_default_too(car_folder, caplog):
    car_folder.load("COLOR_THRESHOLD_LOW = [0, 50, 50]\nTARGET_PIXEL = None\nPATH_OFFSET = (255, 255)\n")
    assert caplog.messages == []
    car_folder.load("COLOR_THRESHOLD_LOW = (0, 50, 51)\nTARGET_PIXEL = 0\nPATH_OFFSET = (255.0, 0)\n")
    assert len(caplog.messages) == 3


def test_defaults_of_every_unused_key_are_silent(car_folder, caplog):
    lines = [f"{name} = {key.defaults[0]!r}" for name, key in read_unused_keys().items()]
    car_folder.load("\n".join(lines))
    assert caplog.messages == []


@pytest.mark.original(
    "Configuration and car folders", "`config.py` of another version", "read; a joystick as the default stays off"
)
def test_the_originals_file_is_read_with_one_advice(car_folder, caplog):
    car_folder.write_config(FOREIGN)
    config = car_folder.load("DONKEY_GYM = True\n")
    assert (config.DRIVE_LOOP_HZ, config.IMAGE_W, config.WEB_CONTROL_HOST) == (30, 160, "127.0.0.1")
    assert config.USE_JOYSTICK_AS_DEFAULT is False
    assert len(caplog.messages) == 2
    assert "donkey update" in caplog.messages[0]
    assert "USE_JOYSTICK_AS_DEFAULT is left off" in caplog.messages[1]
    assert car_folder.load("DONKEY_GYM = True\nUSE_JOYSTICK_AS_DEFAULT = True\n").USE_JOYSTICK_AS_DEFAULT is True


@pytest.mark.parametrize(("size", "is_told"), [((240, 320), True), ((120, 160), False)])
def test_a_size_of_pictures_in_the_words_of_donkeycar_2_is_told(car_folder, caplog, size, is_told):
    """Its users had no myconfig.py: what they changed stands in config.py, the rest of which is not told."""
    car_folder.write_config(f"DONKEY_GYM = True\nCAMERA_RESOLUTION = {size}\nSTEERING_LEFT_PWM = 1\n")
    car_folder.load()
    says = "config.py, line 2: CAMERA_RESOLUTION has no effect: the picture's size is IMAGE_W, IMAGE_H and IMAGE_DEPTH."
    assert [text for text in caplog.messages if text.endswith(says)] == caplog.messages[1:]
    assert len(caplog.messages) == 1 + is_told


def test_a_real_cars_file_tells_what_to_do(car_folder):
    car_folder.write_config(FOREIGN)
    with pytest.raises(SpecError, match=r"config\.py, line 10: DONKEY_GYM is False, but real hardware"):
        car_folder.load()


def test_a_missing_key_names_the_nearest():
    config = make_default_config()
    with pytest.raises(AttributeError, match=r"no key IMAGE_WIDTH; did you mean IMAGE_W\?"):
        _ = config.IMAGE_WIDTH
    assert getattr(config, "NOT_THERE_AT_ALL_XYZ", 7) == 7


def test_a_config_shows_its_keys(car_folder):
    config = Config({"B": 1, "A": "x"})
    assert str(config) == "[('A', 'x'), ('B', 1)]"
    config.C = 3
    assert config.to_dict() == {"A": "x", "B": 1, "C": 3}
    assert config.locate("A") == "A"
    loaded = car_folder.load("IMAGE_W = 80\n\nIMAGE_W = 90\n")
    assert loaded.locate("IMAGE_W").endswith("myconfig.py, line 3: IMAGE_W")
    assert re.search(r"config\.py, line \d+: PACKAGE_PATH$", loaded.locate("PACKAGE_PATH"))


def test_changes_of_the_defaults_are_checked():
    assert make_default_config("car", {"IMAGE_W": 80}).DATA_PATH.endswith(os.path.join("car", "data"))
    with pytest.raises(SpecError, match="IMAGE_W is 0"):
        make_default_config(changes={"IMAGE_W": 0})


def test_files_in_other_encodings_and_from_windows_are_read(car_folder):
    (car_folder.path / "myconfig.py").write_bytes("# -*- coding: latin-1 -*-\r\nSIM_HOST = 'ä'\r\n".encode("latin-1"))
    assert load_config(car_folder.path / "config.py").SIM_HOST == "ä"
    (car_folder.path / "myconfig.py").write_bytes("SIM_HOST = 'ä'\r\n".encode("latin-1"))
    with pytest.raises(SpecError, match=r"myconfig\.py, line 1: .*; save the file as UTF-8\.$"):
        load_config(car_folder.path / "config.py")


def test_a_line_that_windows_powershell_wrote_is_told_of(car_folder):
    with (car_folder.path / "myconfig.py").open("ab") as own:
        own.write("DRIVE_LOOP_HZ = 10\r\n".encode("utf-16-le"))
    with pytest.raises(SpecError, match=r"myconfig\.py has bytes that are 0, as `>>` of .*; save it as UTF-8\.$"):
        load_config(car_folder.path / "config.py")


def test_names_of_transformations_are_unique():
    assert len(set(TRANSFORMATIONS)) == len(TRANSFORMATIONS)


def test_a_bad_environment_variable_is_named_with_its_value(car_folder, monkeypatch):
    monkeypatch.setenv("WEB_CONTROL_PORT", "abc")
    with pytest.raises(SpecError, match=r"config\.py, line \d+: ValueError.*variable WEB_CONTROL_PORT is 'abc'\.$"):
        car_folder.load()


def test_the_address_of_a_page_is_checked(car_folder):
    assert car_folder.load("WATCH_PAGE_URL = 'http://192.0.2.7:9093'").WATCH_PAGE_URL == "http://192.0.2.7:9093"
    with pytest.raises(SpecError, match=r"WATCH_PAGE_URL is 'javascript:alert.*takes an address such as"):
        car_folder.load("WATCH_PAGE_URL = 'javascript:alert(1)'")


def test_pictures_may_be_as_large_as_the_camera_draws_them(car_folder):
    widest, highest = LARGEST_PICTURE
    config = car_folder.load(f"IMAGE_W = {widest}\nIMAGE_H = {highest}")
    assert read_conf({"cam_resolution": (config.IMAGE_H, config.IMAGE_W, 3)}).cam_resolution == (highest, widest, 3)
    for key, most in (("IMAGE_W", widest), ("IMAGE_H", highest)):
        for value in (SMALLEST_SIDE - 1, most + 1):
            with pytest.raises(
                SpecError, match=rf"line 1: {key} is {value}, but takes a whole number from 16 to {most}"
            ):
                car_folder.load(f"{key} = {value}")
