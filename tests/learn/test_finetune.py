"""A policy of `donkey rl` goes on learning from a person's drives: as it is, without learning to repeat the driver."""

import numpy as np
import onnxruntime
import pytest

from donkeysim.core.errors import DonkeySimError
from donkeysim.learn.files.header import make_header
from donkeysim.learn.files.model_file import load_model, read_network
from donkeysim.learn.files.onnx_writer import make_onnx
from donkeysim.learn.finetune import FIXED, detect_policy, is_policy, separate_recall
from donkeysim.learn.kinds import KINDS
from donkeysim.learn.pilot import PACKAGE_LAYERS, PACKAGE_PILOTS, load_pilot
from donkeysim.learn.train import convert_pilot, train
from stand_ins.steered_tub import draw_post, make_config, write_steered_tub

ANYWHERE, SIZE = PACKAGE_LAYERS["anywhere"], {"size": 160, "height": 120}
PICTURES = {"IMAGE_W": 160, "IMAGE_H": 120}


@pytest.fixture(scope="module")
def tub(tmp_path_factory):
    path = tmp_path_factory.mktemp("tubs") / "data"
    write_steered_tub(path, 160, **SIZE)
    return path


@pytest.fixture(scope="module")
def tuned(tub, tmp_path_factory):
    folder = tmp_path_factory.mktemp("car")
    config = make_config(folder, **PICTURES, MAX_EPOCHS=8, USE_EARLY_STOP=False, CREATE_TF_LITE=True)
    return train(config, tub, folder / "mine.h5", transfer="anywhere")


def ask(network, pictures, commands):
    session = onnxruntime.InferenceSession(make_onnx(network, make_header("memory", make_config("."), ())))
    return np.hstack(session.run(None, {"img_in": pictures, "mem_in": commands}))


def test_both_files_of_the_package_are_one_policy():
    rng = np.random.default_rng(0)
    pilots = load_pilot(PACKAGE_PILOTS["anywhere"]), load_pilot(ANYWHERE)
    for picture in rng.integers(0, 256, (4, 120, 160, 3), np.uint8):
        first, second = (pilot.run(picture) for pilot in pilots)
        assert first == pytest.approx(second, abs=1e-5)


def test_its_memory_becomes_a_layer_and_its_answers_stay():
    network, _ = read_network(ANYWHERE)
    separate = separate_recall(network)
    assert is_policy(separate)
    assert detect_policy(separate) == "memory"
    rng = np.random.default_rng(1)
    pictures, commands = rng.integers(0, 256, (5, 120, 160, 3), np.uint8), rng.uniform(-1, 1, (5, 6)).astype(np.float32)
    assert ask(separate, pictures, commands) == pytest.approx(ask(network, pictures, commands), abs=1e-5)
    assert separate_recall(separate) == separate


def test_it_learns_from_the_pictures_and_keeps_its_memory_as_it_is(tuned, tub):
    assert tuned.places[0] == "random_place"
    before, after = separate_recall(read_network(ANYWHERE)[0]), load_model(tuned.model_path)
    for layer in before.layers:
        if layer.weights:
            own = after.get_layer(layer.name).get_weights()
            same = all(np.array_equal(*pair) for pair in zip(layer.weights, own, strict=True))
            assert same == (layer.name in FIXED)
    assert min(tuned.history["val_n_outputs0_loss"]) < 0.1  # a third for who always answers the mean


@pytest.mark.parametrize("ending", [".h5", ".onnx", ".tflite", ".int8.tflite"])
def test_what_was_tuned_steers_in_every_file(tuned, ending):
    pilot, rng = load_pilot(tuned.model_path.with_suffix(ending)), np.random.default_rng(5)
    assert pilot.kind == "memory"
    angles = np.repeat(np.linspace(-0.8, 0.8, 9), 4)
    answers = [pilot.run(draw_post(angle, rng, **SIZE))[0] for angle in angles]
    assert np.corrcoef(angles, answers)[0, 1] > 0.9


def test_it_is_written_for_a_car_as_it_is(tub, tmp_path):
    written = convert_pilot("anywhere", make_config(tmp_path, **PICTURES, MODELS_PATH=str(tmp_path)), [tub])
    assert [path.name for path in written] == ["anywhere.tflite", "anywhere.int8.tflite"]
    rng, pilots = np.random.default_rng(6), [load_pilot(path) for path in (ANYWHERE, *written)]
    for angle in np.linspace(-0.8, 0.8, 7):
        picture = draw_post(angle, rng, **SIZE)
        for pilot in pilots:
            pilot.reset()
        whole, floats, integers = (pilot.run(picture) for pilot in pilots)
        assert floats == pytest.approx(whole, abs=1e-4)
        assert integers == pytest.approx(whole, abs=0.1)


def test_it_can_be_tuned_once_more(tuned, tub, tmp_path):
    again = train(
        make_config(tmp_path, **PICTURES, MAX_EPOCHS=1), tub, tmp_path / "again.h5", transfer=tuned.model_path
    )
    assert again.history["val_loss"][0] < tuned.history["val_loss"][0]


@pytest.mark.parametrize(
    ("changes", "options", "sentence"),
    [
        ({}, {"transfer": "built-in"}, "holds a finished graph; those that can be trained further are: anywhere"),
        ({"IMAGE_W": 80, "IMAGE_H": 80}, {"transfer": "anywhere"}, "takes pictures of 160x120x3; set IMAGE_W = 160"),
        ({}, {"transfer": "anywhere", "kind": "linear"}, "shares no layer"),
    ],
)
def test_what_cannot_be_tuned_is_said_at_once(changes, options, sentence, tub, tmp_path):
    with pytest.raises(DonkeySimError, match=sentence):
        train(make_config(tmp_path, **PICTURES | changes), tub, tmp_path / "no.h5", **options)
    assert not (tmp_path / "no.h5").exists()


def test_kinds_of_policies_are_kinds_of_pilots():
    assert {"memory", "3d"} <= set(KINDS)
