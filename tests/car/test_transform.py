"""Pictures are transformed as the configuration lists it; what cannot be done is said in a sentence."""

import sys

import numpy as np
import pytest

from donkeysim.car.config import make_default_config
from donkeysim.car.keys import TRANSFORMATIONS
from donkeysim.car.transform import make_steps, make_transform
from donkeysim.core.errors import DonkeySimError, ShapeError, SpecError

# What each takes before it: HSV and BGR are three channels like RGB.
GREY = {"GRAY2RGB", "GRAY2BGR"}


@pytest.fixture(scope="module")
def image():
    rows, columns = np.mgrid[0:120, 0:160]
    colours = np.stack([rows * 2, columns, (rows * columns) % 256], axis=2)
    return colours.astype(np.uint8)


def transform(image, names, **changes):
    return make_steps(make_default_config(changes=changes), names)(image)


def test_nothing_listed_changes_nothing(image):
    assert make_transform(make_default_config())(image) is image


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_every_name_gives_a_picture_and_leaves_its_input_alone(image, name):
    given = image[:, :, :1].copy() if name in GREY else image.copy()
    before = given.copy()
    result = transform(given, [name])
    assert result.dtype == np.uint8
    assert result.ndim == 3
    assert result.shape[2] == (1 if name in {"CANNY"} or name.endswith("2GRAY") else 3)
    np.testing.assert_array_equal(given, before)


def test_the_order_is_the_lists_and_the_configuration_stays(image):
    lists = {"TRANSFORMATIONS": ["CROP", "RGB2GRAY"], "POST_TRANSFORMATIONS": ["GRAY2RGB"]}
    config = make_default_config(changes=lists)
    once, twice = make_transform(config)(image), make_transform(config)(image)
    assert once.shape == (120, 160, 3)
    np.testing.assert_array_equal(once, twice)
    assert (config.TRANSFORMATIONS, config.POST_TRANSFORMATIONS) == (["CROP", "RGB2GRAY"], ["GRAY2RGB"])


def test_crop_blacks_out_the_border_and_keeps_the_size(image):
    changes = {"ROI_CROP_TOP": 45, "ROI_CROP_BOTTOM": 10, "ROI_CROP_LEFT": 7, "ROI_CROP_RIGHT": 3}
    result = transform(image, ["CROP"], **changes)
    assert result.shape == image.shape
    assert not result[:45].any()
    assert not result[111:].any()
    assert not result[:, :7].any()
    assert not result[:, 158:].any()
    np.testing.assert_array_equal(result[45:111, 7:158], image[45:111, 7:158])


def test_a_crop_of_everything_is_refused(image):
    with pytest.raises(SpecError, match=r"they leave nothing of a picture 160 wide and 120 high\."):
        transform(image, ["CROP"], ROI_CROP_TOP=80, ROI_CROP_BOTTOM=41)


def test_one_transform_takes_pictures_of_several_sizes(image):
    step = make_steps(make_default_config(), ["CROP", "TRAPEZE_EDGE"])
    assert step(image).shape == (120, 160, 3)
    assert step(np.repeat(image, 2, axis=0)).shape == (240, 160, 3)


def test_swapping_channels_needs_no_opencv(image, monkeypatch):
    forbid_opencv(monkeypatch)
    np.testing.assert_array_equal(transform(image, ["CROP", "RGB2BGR", "BGR2RGB"], ROI_CROP_TOP=0), image)


@pytest.mark.parametrize("name", ["CANNY", "TRAPEZE", "RESIZE"])
def test_a_missing_opencv_is_said_when_the_car_is_made(name, monkeypatch):
    forbid_opencv(monkeypatch)
    with pytest.raises(DonkeySimError, match=rf'{name} needs OpenCV; install it .*pip install ".*\[learn\]"'):
        make_steps(make_default_config(), [name])


def test_steps_that_do_not_fit_each_other_are_said(image):
    with pytest.raises(ShapeError, match="GRAY2RGB takes pictures of depth 1, but was given 3"):
        transform(image, ["GRAY2RGB"])
    with pytest.raises(ShapeError, match=r"RGB2HSV cannot be applied to a picture \[120, 160, 1\]"):
        transform(image, ["RGB2GRAY", "RGB2HSV"])


def test_an_even_gaussian_blur_is_refused():
    with pytest.raises(SpecError, match="BLUR_KERNEL is even, but a Gaussian blur takes an odd one"):
        make_steps(make_default_config(changes={"BLUR_KERNEL": 4}), ["BLUR"])
    with pytest.raises(SpecError, match="BLUR_KERNEL_Y is even"):
        make_steps(make_default_config(changes={"BLUR_KERNEL_Y": 4}), ["BLUR"])
    make_steps(make_default_config(changes={"BLUR_KERNEL": 4, "BLUR_GAUSSIAN": False}), ["BLUR"])


def test_an_unknown_name_has_its_nearest():
    with pytest.raises(SpecError, match="unknown transformation 'CROPP'; did you mean 'CROP'"):
        make_steps(make_default_config(), ["CROPP"])


OWN = """
class Invert:
    def __init__(self, config):
        self.most = config.IMAGE_W

    def run(self, image):
        return 255 - image

class Broken:
    def __init__(self, config):
        pass

    def run(self, image):
        return None

class Failing(Broken):
    def run(self, image):
        return image[1000]

class Real(Broken):
    def run(self, image):
        return 1.7 * image

class Keyless(Broken):
    def __init__(self, config):
        self.width = config.IMAGE_WW

class WithoutConfig:
    def __init__(self):
        pass

class WithoutRun:
    def __init__(self, config):
        pass
"""


@pytest.mark.original("Configuration and car folders", "`CUSTOM` transformations", "as it is")
def test_own_classes_are_steps_too(image, tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    config = make_default_config(tmp_path, {"CUSTOM_INVERT_MODULE": "own.py", "CUSTOM_INVERT_CLASS": "Invert"})
    np.testing.assert_array_equal(make_steps(config, ["CUSTOM_INVERT"])(image), 255 - image)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, "CUSTOM_X is your own transformation: set CUSTOM_X_MODULE"),
        ({"CUSTOM_X_MODULE": "none.py", "CUSTOM_X_CLASS": "A"}, "CUSTOM_X_MODULE is 'none.py', but there is no such"),
        ({"CUSTOM_X_MODULE": "own.txt", "CUSTOM_X_CLASS": "A"}, "CUSTOM_X_MODULE is 'own.txt', which is not a Python"),
        ({"CUSTOM_X_MODULE": "own.py", "CUSTOM_X_CLASS": "A"}, "CUSTOM_X_CLASS is 'A', but .* has no such class"),
        ({"CUSTOM_X_MODULE": "bad.py", "CUSTOM_X_CLASS": "A"}, r"bad\.py, line 2: ZeroDivisionError: division by zero"),
        ({"CUSTOM_X_MODULE": "cv.py", "CUSTOM_X_CLASS": "A"}, r"cv\.py, line 1: .*; install donkeycar into the same"),
    ],
)
def test_mistakes_in_own_steps_are_sentences(tmp_path, changes, sentence):
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "own.txt").write_text("")
    (tmp_path / "bad.py").write_text("x = 1\ny = x / 0\n")
    (tmp_path / "cv.py").write_text("from donkeycar.parts.cv import ImgCropMask\n")
    with pytest.raises(SpecError, match=sentence):
        make_steps(make_default_config(tmp_path, changes), ["CUSTOM_X"])


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("Keyless", r"own\.py, line \d+: AttributeError: .* has no key IMAGE_WW; did you mean IMAGE_W\?$"),
        ("WithoutConfig", r"own\.py: TypeError: .* takes 1 positional argument but 2 were given"),
        ("WithoutRun", r"own\.py: AttributeError: 'WithoutRun' object has no attribute 'run'"),
        ("Failing", r"own\.py, line \d+: IndexError: index 1000 is out of bounds"),
    ],
)
def test_own_classes_that_fail_are_told_with_file_and_line(image, tmp_path, monkeypatch, name, sentence):
    """They are found from the folder, as people write them."""
    (tmp_path / "own.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    config = make_default_config(".", {"CUSTOM_X_MODULE": "own.py", "CUSTOM_X_CLASS": name})
    with pytest.raises(DonkeySimError, match=sentence):
        make_steps(config, ["CUSTOM_X"])(image)


def test_an_own_step_may_give_floats_as_the_originals(image, tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    config = make_default_config(tmp_path, {"CUSTOM_X_MODULE": "own.py", "CUSTOM_X_CLASS": "Real"})
    changed = make_steps(config, ["CUSTOM_X"])(image)
    assert changed.dtype == np.uint8
    np.testing.assert_array_equal(changed, np.clip(np.rint(1.7 * image), 0, 255))


def test_an_own_step_that_gives_nothing_is_named(image, tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    config = make_default_config(tmp_path, {"CUSTOM_X_MODULE": "own.py", "CUSTOM_X_CLASS": "Broken"})
    with pytest.raises(ShapeError, match="the transformation CUSTOM_X gave NoneType rather than a picture"):
        make_steps(config, ["CUSTOM_X"])(image)


def forbid_opencv(monkeypatch):
    monkeypatch.setitem(sys.modules, "cv2", None)
