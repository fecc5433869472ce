"""A pilot says what its network says, whatever file it lies in."""

import shutil
import subprocess
import sys

import numpy as np
import pytest

from donkeysim.core.errors import PilotError, describe_install
from donkeysim.learn.files.model_file import ENDINGS, save_model
from donkeysim.learn.files.places import read_places
from donkeysim.learn.kinds import KINDS, decode_outputs, read_spec
from donkeysim.learn.pilot import convert_to_grey, load_pilot
from stand_ins.untrained_models import (
    OTHER_WIDTHS,
    DefaultConfig,
    SmallConfig,
    get_model,
    list_kinds,
    make_picture,
    predict,
)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A function that gives the file of a kind with an ending, written once."""
    folder = tmp_path_factory.mktemp("pilots")

    def get(kind, ending, config=DefaultConfig):
        path = folder / f"{config.__name__}_{kind}{ending}"
        if not path.exists():
            save_model(get_model(kind, config), path, kind, config)
        return path

    return get


def gather_inputs(kind, pictures, other, commands):
    """What the network of a kind should see after some pictures and commands."""
    scaled = [picture.astype(np.float32) / 255.0 for picture in pictures]
    if KINDS[kind].history == "pictures":
        padded = [scaled[0]] * (3 - len(scaled)) + scaled
        return [np.stack(padded[-3:])[None]]
    further = [np.array(commands, dtype=np.float32).ravel()[-6:][None]] if kind == "memory" else []
    return [scaled[-1][None], *further, *([other[None]] if other.size else [])]


@pytest.mark.parametrize("kind", list_kinds())
def test_every_file_says_what_the_network_says(kind, saved):
    pilots = [load_pilot(saved(kind, ending)) for ending in ENDINGS]
    assert [pilot.kind for pilot in pilots] == [kind] * len(ENDINGS)
    other = np.random.default_rng(1).random(OTHER_WIDTHS.get(kind, 0), dtype=np.float32)
    pictures, commands = [], [(0.0, 0.0)] * 3
    for seed in range(5):
        pictures.append(make_picture(seed))
        outputs = predict(get_model(kind), gather_inputs(kind, pictures, other, commands))
        expected = decode_outputs(KINDS[kind], outputs, read_spec(DefaultConfig))
        commands.append(expected[:2])
        for pilot in pilots:
            assert pilot.run(pictures[-1], *([other] if other.size else [])) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("kind", ["rnn", "3d", "memory"])
def test_a_reset_pilot_has_forgotten_what_it_saw(kind, saved):
    pilot = load_pilot(saved(kind, ".onnx"))
    first = pilot.run(make_picture(1))
    assert pilot.run(make_picture(2)) != pilot.run(make_picture(1))
    pilot.reset()
    assert pilot.run(make_picture(1)) == first


def test_a_picture_handed_over_may_be_used_again_by_the_camera(saved):
    pilot = load_pilot(saved("rnn", ".onnx"))
    pictures = [make_picture(seed) for seed in range(3)]
    expected = [pilot.run(picture) for picture in pictures][-1]
    pilot.reset()
    buffer = np.empty_like(pictures[0])
    for picture in pictures:
        buffer[:] = picture
        answer = pilot.run(buffer)
    assert answer == expected


def test_an_imu_pilot_takes_six_numbers_or_an_array(saved):
    pilot = load_pilot(saved("imu", ".onnx"))
    readings = [0.1, -0.2, 9.8, 0.0, 0.3, 1.0]
    assert len(pilot.input_names) == 6
    assert pilot.run(make_picture(), *readings) == pilot.run(make_picture(), np.array(readings))
    with pytest.raises(PilotError, match=r"reads 6 numbers beside the picture .*imu/acl_x.* but got 2 numbers"):
        pilot.run(make_picture(), 1.0, 2.0)
    with pytest.raises(PilotError, match="but got something else"):
        pilot.run(make_picture())


def test_a_picture_of_another_size_is_refused_naming_both_sizes(saved):
    pilot = load_pilot(saved("linear", ".onnx"))
    with pytest.raises(PilotError, match="160x120 with 3 channels, but got 64x48 with 3"):
        pilot.run(make_picture(shape=(48, 64, 3)))
    with pytest.raises(PilotError, match="but got 160x120 with 1"):
        pilot.run(make_picture(shape=(120, 160)))


@pytest.mark.parametrize("kind", ["linear", "rnn"])
def test_a_pilot_for_grey_pictures_takes_colour_too(kind, saved):
    from PIL import Image

    pilot = load_pilot(saved(kind, ".onnx", SmallConfig))
    colour = make_picture(shape=(80, 96, 3))
    grey = np.asarray(Image.fromarray(colour).convert("L"))
    assert (convert_to_grey(colour)[..., 0] == grey).all()
    assert pilot.image_shape == (80, 96, 1)
    first = pilot.run(colour)
    pilot.reset()
    assert pilot.run(grey) == first


def test_the_file_knows_the_throttle_of_its_bins_better_than_the_configuration(saved):
    path = saved("categorical", ".h5", SmallConfig)
    picture = make_picture(shape=(80, 96, 1))
    assert load_pilot(path).run(picture) == load_pilot(path, config=DefaultConfig).run(picture)
    throttle_bin = load_pilot(path).run(picture)[1] / (0.5 / 20)
    assert throttle_bin == pytest.approx(round(throttle_bin), abs=1e-9)


def test_a_type_that_the_network_is_not_is_refused(saved):
    with pytest.raises(PilotError, match="not a pilot of the type categorical, it looks like linear"):
        load_pilot(saved("linear", ".h5"), kind="categorical")
    with pytest.raises(PilotError, match="not a pilot of the type rnn"):
        load_pilot(saved("linear", ".onnx"), kind="rnn")
    assert load_pilot(saved("linear", ".h5"), kind="tflite_linear").kind == "linear"


@pytest.mark.parametrize("name", ["mypilot", "pilot.hdf5"])
def test_a_pilot_is_known_by_its_content(name, saved, tmp_path):
    """Donkeycar 2 wrote pilots by the name that was given, as a rule without an ending."""
    shutil.copy(saved("linear", ".h5"), tmp_path / name)
    assert load_pilot(tmp_path / name).kind == "linear"
    assert read_places(tmp_path / name) == read_places(saved("linear", ".h5"))


def test_a_base_install_drives_with_onnx_alone(saved):
    script = """
import sys
for name in ("torch", "keras", "h5py", "onnx", "onnxscript", "cv2", "matplotlib"):
    sys.modules[name] = None
import numpy as np
from donkeysim.learn.pilot import load_pilot
print(len(load_pilot(sys.argv[1]).run(np.zeros((120, 160, 3), np.uint8))))
try:
    load_pilot(sys.argv[2])
except Exception as error:
    print(type(error).__name__, error)
"""
    paths = [str(saved("linear", ending)) for ending in (".onnx", ".h5")]
    run = subprocess.run([sys.executable, "-c", script, *paths], capture_output=True, text=True, check=True)
    first, second = run.stdout.splitlines()
    assert first == "2"
    assert second.startswith("DonkeySimError")
    assert second.endswith(f"install it {describe_install('learn')}")


def test_reading_an_h5_file_needs_neither_keras_nor_torch(saved):
    script = """
import sys
from donkeysim.learn.pilot import load_pilot
load_pilot(sys.argv[1])
print([name for name in ("keras", "torch", "tensorflow") if name in sys.modules])
"""
    run = subprocess.run(
        [sys.executable, "-c", script, str(saved("linear", ".h5"))], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"
