"""Layers of other people's networks that look at rows, or turn and level them: the answers are those of Keras."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from donkeysim.core.errors import PilotError
from donkeysim.learn.backend import import_keras
from donkeysim.learn.files.layer_shapes import take_normalization
from donkeysim.learn.files.model_file import read_layers, save_model
from donkeysim.learn.files.network import Layer
from donkeysim.learn.pilot import load_pilot
from stand_ins.untrained_models import SmallConfig, check_files, make_picture, predict

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
    "level": lambda layers: layers.LayerNormalization(epsilon=1e-4),
    "level without scale": lambda layers: layers.LayerNormalization(scale=False),
    "level every row": lambda layers: layers.TimeDistributed(layers.LayerNormalization(center=False)),
    "level pictures": lambda layers: lambda x: layers.LayerNormalization(axis=[2, 3])(layers.Reshape((4, 4, 15))(x)),
    "level a flat row": lambda layers: lambda x: layers.LayerNormalization()(layers.Flatten()(x)),
    "convolution": lambda layers: layers.Conv1D(6, 4, strides=2, activation="swish"),
    "convolution of the same length": lambda layers: layers.Conv1D(6, 4, padding="same", dilation_rate=2, groups=2),
    "most": lambda layers: layers.MaxPooling1D(3, strides=2, padding="same"),
    "mean": lambda layers: layers.AveragePooling1D(3, strides=2),
    "mean of all": lambda layers: layers.GlobalAveragePooling1D(),
    "most of all": lambda layers: layers.GlobalMaxPooling1D(keepdims=True),
    "turned": lambda layers: lambda x: layers.LSTM(4)(layers.Permute((2, 1))(x)),
    "turned pictures": lambda layers: lambda x: layers.Permute((3, 1, 2))(layers.Reshape((4, 4, 15))(x)),
    "repeated": lambda layers: lambda x: layers.GRU(4)(layers.RepeatVector(3)(layers.Flatten()(x))),
    "repeated once": lambda layers: lambda x: layers.RepeatVector(1)(layers.Flatten()(x)),
    "enlarged": lambda layers: lambda x: layers.UpSampling2D((2, 3))(layers.Reshape((4, 4, 15))(x)),
    "model for every row": lambda layers: layers.TimeDistributed(make_part(layers)),
    "both used again": lambda layers: use_again(layers.Bidirectional(layers.GRU(15, return_sequences=True))),
}
for made in itertools.product(("LSTM", "GRU", "SimpleRNN"), ("concat", "sum", "ave", "mul"), (False, True)):
    LAYERS["both {} {} {}".format(*made)] = lambda layers, made=made: make_both(layers, *made)


def make_part(layers):
    keras = import_keras()
    row = layers.Input((30,))
    return keras.Model(row, layers.Subtract()([layers.LayerNormalization()(row), layers.Dense(30)(row)]))


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


@pytest.mark.original("Pilots", "`Bidirectional`, `SimpleRNN`, `Conv1D`, `LayerNormalization` …", "drive")
@pytest.mark.parametrize("name", LAYERS)
def test_a_network_with_such_a_layer_drives_and_is_trained_further_as_it_is(name, tmp_path):
    check_files(make_network(LAYERS[name]), SEEN, tmp_path)


@pytest.mark.parametrize("written", [".keras", ".tflite"])
def test_a_mean_at_the_edge_is_that_of_the_rows_that_are_there(written, tmp_path):
    """As in TensorFlow; Keras on PyTorch repeats the last row instead."""
    model = make_network(lambda layers: layers.AveragePooling1D(3, padding="same"))
    save_model(model, tmp_path / f"ours{written}", "linear", SmallConfig)
    rows = SEEN.reshape(8, 30) / 255.0
    means = np.concatenate([rows[:3].mean(0), rows[3:6].mean(0), rows[6:].mean(0)])
    kernel, bias = model.get_layer("answer").get_weights()
    assert load_pilot(tmp_path / f"ours{written}").run(SEEN) == pytest.approx(means @ kernel + bias, abs=1e-5)


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
        (lambda layers: layers.Conv1D(4, 3, padding="causal"), "has the padding 'causal'; only valid and same"),
        (lambda layers: layers.LayerNormalization(axis=1), r"normalises over axis \[1\]; only the last ones, in order"),
        (
            lambda layers: lambda x: layers.UpSampling2D(2, interpolation="bilinear")(layers.Reshape((4, 4, 15))(x)),
            "enlarges by 'bilinear'; only nearest can be written, or put a Resizing in its place",
        ),
        (
            lambda layers: layers.TimeDistributed(layers.RepeatVector(3)),
            r"the layer 'time_distributed\S*_row' is done to every row, which pilots here cannot have",
        ),
        (lambda layers: layers.SimpleRNN(4, activation="elu"), r"is not a plain one \(tanh or relu or sigmoid; gates"),
    ],
)
def test_what_they_cannot_say_is_refused(make, told, tmp_path):
    make_network(make).save(tmp_path / "theirs.keras")
    with pytest.raises(PilotError, match=told):
        load_pilot(tmp_path / "theirs.keras")


EACH_ROW = {
    "levelled": lambda layers: (
        lambda x: layers.LayerNormalization(center=False, scale=False)(layers.TimeDistributed(layers.Flatten())(x))
    ),
    "read": lambda layers: lambda x: layers.GRU(4)(layers.TimeDistributed(layers.Flatten())(x)),
    "turned": lambda layers: lambda x: layers.Conv2D(4, 2)(layers.TimeDistributed(layers.Permute((2, 1)))(x)),
    "shaped": lambda layers: lambda x: layers.Conv2D(4, 2)(layers.TimeDistributed(layers.Reshape((5, 3)))(x)),
}


@pytest.mark.parametrize("name", EACH_ROW)
def test_the_rows_of_a_picture_are_a_sequence_in_every_file(name, tmp_path):
    def make(layers):
        return lambda x: EACH_ROW[name](layers)(layers.Reshape((16, 5, 3))(x))

    model = make_network(make)
    expected = predict(model, SEEN[None].astype(np.float32) / 255.0)[0].ravel().tolist()
    for ending in (".onnx", ".tflite"):
        save_model(model, tmp_path / f"ours{ending}", "linear", SmallConfig)
        assert load_pilot(tmp_path / f"ours{ending}").run(SEEN) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    "make",
    [
        lambda layers: lambda x: layers.LayerNormalization(axis=1, center=False, scale=False)(x),
        lambda layers: lambda x: layers.Concatenate(axis=1)([x, x]),
    ],
)
@pytest.mark.parametrize("ending", [".onnx", ".tflite"])
def test_along_the_rows_is_refused_where_there_is_one_row_too(make, ending, tmp_path):
    model = make_network(lambda layers: lambda x: make(layers)(layers.Reshape((1, 240))(x)))
    with pytest.raises(PilotError, match=r"along axis 1; only|over axis \[?1\]?; only"):
        save_model(model, tmp_path / f"ours{ending}", "linear", SmallConfig)


def test_hard_gates_for_every_row_keep_what_they_say_in_h5(tmp_path):
    """Which has them in the terms of Keras 2."""
    gru = {"recurrent_activation": "hard_sigmoid", "reset_after": False}

    def make(layers):
        each = layers.TimeDistributed(layers.Bidirectional(layers.GRU(4, **gru)))
        return lambda x: each(layers.Reshape((8, 10, 3))(x))

    model = make_network(make)
    expected = predict(model, SEEN[None].astype(np.float32) / 255.0)[0].ravel().tolist()
    save_model(model, tmp_path / "ours.h5", "linear", SmallConfig)
    assert load_pilot(tmp_path / "ours.h5").run(SEEN) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("ending", [".h5", ".keras"])
@pytest.mark.parametrize("is_input", [False, True])
def test_an_output_that_is_said_twice_or_is_an_input_is_refused(is_input, ending, tmp_path):
    keras = import_keras()
    numbers = keras.Input((3,), name="numbers")
    said = keras.layers.Dense(1, name="said")(numbers)
    keras.Model(numbers, [said, numbers if is_input else said]).save(tmp_path / f"theirs{ending}")
    with pytest.raises(PilotError, match=r"the network says '(said|numbers)' more than once, or as it came in; build"):
        read_layers(tmp_path / f"theirs{ending}")


def test_axes_in_another_order_are_refused_as_keras_2_keeps_their_weights_in_it():
    square = np.arange(16, dtype=np.float32).reshape(4, 4)
    layer = Layer("LayerNormalization", "level", {"axis": [2, 3]}, (), (square, square))
    assert take_normalization(layer, (15, 4, 4))[1] is square
    with pytest.raises(PilotError, match=r"over axis \[3, 2\]; only the last ones, in order"):
        take_normalization(replace(layer, settings={"axis": [3, 2]}), (15, 4, 4))
