"""Recurrent layers of other people's networks, either way and both ways: the answers are those of Keras."""

import itertools

import numpy as np
import pytest

from donkeysim.core.errors import PilotError
from donkeysim.learn.backend import import_keras
from donkeysim.learn.files.model_file import load_model, save_model
from donkeysim.learn.pilot import load_pilot
from stand_ins.untrained_models import SmallConfig, make_picture, predict

SEEN = make_picture(5, (8, 10, 3))


def make_both(layers, class_name, mode, is_every):
    return layers.Bidirectional(getattr(layers, class_name)(5, return_sequences=is_every), merge_mode=mode)


LAYERS = {
    "backwards": lambda layers: layers.LSTM(5, go_backwards=True),
    "every row backwards": lambda layers: layers.GRU(5, go_backwards=True, return_sequences=True),
    "simple": lambda layers: layers.SimpleRNN(5),
    "simple of relu": lambda layers: layers.SimpleRNN(5, activation="relu", use_bias=False, return_sequences=True),
    "simple backwards": lambda layers: layers.SimpleRNN(5, activation="sigmoid", go_backwards=True),
    "both of older gates": lambda layers: layers.Bidirectional(layers.GRU(4, reset_after=False, use_bias=False)),
    "both, given": lambda layers: layers.Bidirectional(
        layers.LSTM(4), backward_layer=layers.LSTM(4, go_backwards=True)
    ),
    "both in a model": lambda layers: import_keras().Sequential([layers.Bidirectional(layers.LSTM(4), name="both")]),
    "both used again": lambda layers: use_again(layers.Bidirectional(layers.GRU(15, return_sequences=True))),
}
for made in itertools.product(("LSTM", "GRU", "SimpleRNN"), ("concat", "sum", "ave", "mul"), (False, True)):
    LAYERS["both {} {} {}".format(*made)] = lambda layers, made=made: make_both(layers, *made)


def use_again(layer):
    return lambda x: layer(layer(x))


def make_network(make):
    keras = import_keras()
    picture = keras.Input(SEEN.shape, name="img_in")
    x = make(keras.layers)(keras.layers.Reshape((8, 30))(picture))
    model = keras.Model(picture, keras.layers.Dense(2, name="answer")(keras.layers.Flatten()(x)))
    random = np.random.default_rng(4)
    for weight in model.weights:
        weight.assign(random.normal(0.0, 0.4, weight.shape))
    return model


@pytest.mark.original("Pilots", "`Bidirectional`, `SimpleRNN`, `go_backwards`", "drive and train further")
@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("ending", [".h5", ".keras"])
def test_a_network_with_such_a_layer_drives_and_is_trained_further_as_it_is(name, ending, tmp_path):
    model, path = make_network(LAYERS[name]), tmp_path / f"theirs{ending}"
    model.save(path)
    expected = predict(model, SEEN[None].astype(np.float32) / 255.0)[0].ravel().tolist()
    assert load_pilot(path).run(SEEN) == pytest.approx(expected, abs=1e-5)
    again = load_model(path)
    for written in (".h5", ".keras", ".onnx", ".tflite"):
        save_model(again, tmp_path / f"ours{written}", "linear", SmallConfig)
        assert load_pilot(tmp_path / f"ours{written}").run(SEEN) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (
            lambda layers: layers.Bidirectional(layers.LSTM(4), backward_layer=layers.GRU(4, go_backwards=True)),
            r"the Bidirectional 'bidirectional\S*' joins LSTM and GRU by 'concat'; it must hold one layer",
        ),
        (
            lambda layers: layers.Bidirectional(layers.LSTM(4), backward_layer=layers.LSTM(3, go_backwards=True)),
            "alike both ways, and join by concat, sum, mul, ave",
        ),
        (
            lambda layers: layers.Bidirectional(layers.GRU(4, go_backwards=True), backward_layer=layers.GRU(4)),
            "GRU by 'concat'; .* forwards first",
        ),
        (
            lambda layers: lambda x: layers.Concatenate()(layers.Bidirectional(layers.GRU(4), merge_mode=None)(x)),
            "joins GRU and GRU by None; it must",
        ),
        (lambda layers: layers.SimpleRNN(4, activation="elu"), r"is not a plain one \(tanh or relu or sigmoid; gates"),
    ],
)
def test_what_they_cannot_say_is_refused(make, told, tmp_path):
    make_network(make).save(tmp_path / "theirs.keras")
    with pytest.raises(PilotError, match=told):
        load_pilot(tmp_path / "theirs.keras")
