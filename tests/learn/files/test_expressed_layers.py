"""Layers of other people's networks that pilots' files say by others: the answers are those of Keras."""

import json

import h5py
import numpy as np
import onnxruntime
import pytest

from donkeysim.core.errors import PilotError
from donkeysim.learn.backend import import_keras
from donkeysim.learn.files.model_file import describe_model, load_model, read_layers, save_model
from donkeysim.learn.files.network import LAYER_SETTINGS
from donkeysim.learn.files.onnx_writer import make_onnx
from donkeysim.learn.pilot import load_pilot
from stand_ins.untrained_models import SmallConfig, check_files, make_picture, predict

SEEN = make_picture(5, (24, 32, 3))

WRAPPERS = ("InputLayer", "TimeDistributed", "Bidirectional")

LAYERS = {
    "separable": lambda layers: layers.SeparableConv2D(6, 3, strides=2, activation="elu", depth_multiplier=2),
    "separable without bias": lambda layers: layers.SeparableConv2D(6, 3, padding="same", use_bias=False),
    "depthwise": lambda layers: layers.DepthwiseConv2D(3, depth_multiplier=2, activation="relu"),
    "leaky": lambda layers: layers.LeakyReLU(0.1),
    "relu": lambda layers: layers.ReLU(),
    "relu6": lambda layers: layers.ReLU(0.06),
    "leaky as relu": lambda layers: layers.ReLU(negative_slope=0.3),
    "elu": lambda layers: layers.ELU(),
    "softmax": lambda layers: layers.Softmax(),
    "global": lambda layers: layers.GlobalMaxPooling2D(),
    "noise": lambda layers: layers.GaussianNoise(0.2),
    "dropouts": lambda layers: layers.AlphaDropout(0.2),
    "model": lambda layers: make_part(layers),
    "stack": lambda layers: import_keras().Sequential([layers.Conv2D(4, 2), make_part(layers, 6, 9), layers.ReLU()]),
    "model twins": lambda layers: make_twins(layers),
    "every picture": lambda layers: layers.GaussianDropout(0.2),
    "augmented": lambda layers: lambda x: layers.RandomFlip()(layers.RandomContrast(0.2)(x)),
    "swish": lambda layers: layers.Conv2D(4, 3, activation="swish"),
    "hard swish": lambda layers: layers.Activation("hard_silu"),
    "relu6 by name": lambda layers: layers.Dense(4, activation="relu6"),
    "leaky by name": lambda layers: layers.Activation("leaky_relu"),
    "leaky as activation": lambda layers: layers.Conv2D(4, 3, activation=layers.LeakyReLU(0.2)),
    "normalized": lambda layers: layers.Normalization(mean=[0.1, 0.2, -0.3, 0.0], variance=[0.5, 2.0, 1.0, 0.2]),
    "seen and normalized": lambda layers: layers.Normalization(),
    "operators": lambda layers: lambda x: 2.0 * ((x + 0.5) / 4.0 - 0.25) * (1.0 - x) + x,
    "relu6 computed": lambda layers: lambda x: import_keras().activations.relu(x, max_value=0.06),
    "leaky computed": lambda layers: lambda x: import_keras().activations.relu(x, negative_slope=0.3),
    "excited": lambda layers: lambda x: excite(layers, x),
    "recurrent": lambda layers: lambda x: layers.GRU(5)(layers.Reshape((7, -1))(x)),
    "difference": lambda layers: lambda x: layers.Subtract()([x, layers.Conv2D(4, 1)(x)]),
    "mean": lambda layers: lambda x: layers.Average()(make_three(layers, x)),
    "greatest": lambda layers: lambda x: layers.Maximum()(make_three(layers, x)),
    "least": lambda layers: lambda x: layers.Minimum()(make_three(layers, x)),
    "greatest of channels": lambda layers: lambda x: layers.Maximum()([x, layers.GlobalMaxPooling2D(keepdims=True)(x)]),
    "compared": lambda layers: (
        lambda x: import_keras().ops.maximum(x - 0.1, x * x) - import_keras().ops.minimum(x, 0.2 * x)
    ),
    "prelu": lambda layers: layers.PReLU(),
    "prelu of channels": lambda layers: layers.PReLU(shared_axes=[1, 2]),
    "prelu of rows": lambda layers: lambda x: layers.TimeDistributed(layers.PReLU())(layers.Reshape((7, -1))(x)),
    "used again": lambda layers: lambda x: use_again(layers.Conv2D(4, 3, padding="same", activation="tanh"), x),
    "model used again": lambda layers: lambda x: use_again(make_part(layers), x),
    "stack used again": lambda layers: lambda x: use_again(import_keras().Sequential([layers.Conv2D(4, 1)]), x),
    "used again in a model": lambda layers: make_reuser(layers),
    "every picture, used again": lambda layers: (
        lambda x: use_again(layers.TimeDistributed(layers.Dense(40, activation="tanh")), layers.Reshape((7, 40))(x))
    ),
    "recurrent stack": lambda layers: lambda x: stack_grus(layers, layers.Reshape((-1, 40))(x)),
}


def excite(layers, x):
    """A squeeze and excitation, as EfficientNet has it."""
    gate = layers.Dense(4, activation="sigmoid")(layers.GlobalAveragePooling2D(keepdims=True)(x))
    flat = layers.Reshape((1, 1, 4))(layers.GlobalAveragePooling2D()(x))
    return layers.Multiply()([x, gate, flat])


def make_three(layers, x):
    return [x, layers.Conv2D(4, 1)(x), layers.Conv2D(4, 3, padding="same")(x)]


def use_again(layer, x):
    """What a layer says three times, the last time of two others."""
    first = layer(x)
    second = layer(first)
    layers = import_keras().layers
    return layers.Concatenate()([second, layer(layers.Subtract()([first, second])), first])


def make_reuser(layers):
    """A model, used twice, with a layer and a model in it that are used more than once."""
    x = layers.Input((7, 10, 4))
    y = layers.Conv2D(4, 1)(use_again(layers.Conv2D(4, 1), layers.Conv2D(4, 1)(use_again(make_part(layers), x))))
    model = import_keras().Model(x, y, name="reuser")
    return lambda x: model(model(x))


def stack_grus(layers, x):
    x = layers.GRU(6, return_sequences=True, reset_after=False)(x)
    return layers.GRU(3, use_bias=False)(x)


def make_part(layers, height=7, width=10):
    """A model to be a layer of another, as those of `keras.applications` are; with a class of the other's layers."""
    x = layers.Input((height, width, 4))
    y = layers.BatchNormalization()(layers.Conv2D(4, 3, padding="same")(layers.DepthwiseConv2D(3, padding="same")(x)))
    return import_keras().Model(x, layers.Add()([x, y]), name="part_1.00")  # a dot, which PyTorch takes in no name


def make_twins(layers):
    """Two models in a model, with a layer of one name each, one of which is called as its model is."""
    keras = import_keras()
    parts = [keras.Sequential([layers.Input((7, 10, 4)), layers.Conv2D(4, 1, name="c")], name=name) for name in "bc"]
    return keras.Sequential([layers.Input((7, 10, 4)), *parts], name="stack_c")


def make_network(name):
    """A pilot with a layer in its middle, which sees numbers on both sides of 0 and of the small limits above."""
    keras = import_keras()
    layers = keras.layers
    picture = keras.Input(SEEN.shape, name="img_in")
    x = LAYERS[name](layers)(layers.Conv2D(4, 5, strides=3)(picture))
    x = layers.Dense(8, activation="tanh")(x if len(x.shape) == 2 else layers.Flatten()(x))
    model = keras.Model(picture, [layers.Dense(1, name="n_outputs0")(x), layers.Dense(1, name="n_outputs1")(x)])
    random = np.random.default_rng(4)
    for weight in model.weights:
        drawn = random.normal(0.0, 0.2, weight.shape)
        weight.assign(np.abs(drawn) if "variance" in weight.name else drawn)
    return model


@pytest.mark.original(
    "Pilots",
    "`SeparableConv2D`, `LeakyReLU`, `ReLU`, `ELU`, noise … of one's own",
    "drive; trained further as layers that say the same",
)
@pytest.mark.parametrize("name", LAYERS)
def test_a_network_with_such_a_layer_drives_and_is_trained_further_as_it_is(name, tmp_path):
    layers = check_files(make_network(name), SEEN, tmp_path)
    assert {type(layer).__name__ for layer in layers} <= {*WRAPPERS, *LAYER_SETTINGS}


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda layers: layers.ELU(0.5), "has settings of ELU that pilots here cannot have"),
        (lambda layers: layers.ReLU(6.0, negative_slope=0.1), "has settings of ReLU that pilots here cannot have"),
        (
            lambda layers: layers.LSTM(3, activation="swish", name="l"),
            "the LSTM 'l' has the activation si.*; it can have",
        ),
        (
            lambda layers: layers.GRU(3, activation="relu6", name="g"),
            "the GRU 'g' has the activation relu6; it can have",
        ),
        (
            lambda layers: (
                lambda x: layers.LSTM(3, name="l")(x, initial_state=[layers.Dense(3)(layers.Flatten()(x))] * 2)
            ),
            r"the layer 'l' \(LSTM\) takes 3 tensors; it may take one only, with no mask or initial state",
        ),
        (lambda layers: layers.Conv2DTranspose(3, 2), "of the class Conv2DTranspose, which pilots here cannot have"),
        (lambda layers: lambda x: 1.0 / x, r"computes 'true_divide.*' \(truedivide\), which pilots here cannot"),
    ],
)
def test_what_they_cannot_say_is_refused(make, told, tmp_path, monkeypatch):
    monkeypatch.setitem(LAYERS, "own", make)
    keras = import_keras()
    picture = keras.Input(
        (3, 8) if "RNN" in told or "it can have" in told or "LSTM" in told else (24, 32, 3), name="img_in"
    )
    x = make(keras.layers)(picture)
    keras.Model(picture, keras.layers.Dense(2)(keras.layers.Flatten()(x))).save(tmp_path / "theirs.h5")
    with pytest.raises(PilotError, match=told):
        load_pilot(tmp_path / "theirs.h5")


@pytest.mark.parametrize("ending", [".h5", ".keras"])
def test_a_stack_that_begins_with_a_model_is_read(ending, tmp_path):
    keras = import_keras()
    layers = keras.layers
    model = keras.Sequential([make_part(layers, 12, 16), layers.GlobalAveragePooling2D(), layers.Dense(2)])
    model.save(tmp_path / f"theirs{ending}")
    seen = make_picture(6, (12, 16, 4))
    expected = predict(model, seen[None].astype(np.float32) / 255.0)[0].ravel().tolist()
    assert load_pilot(tmp_path / f"theirs{ending}").run(seen) == pytest.approx(expected, abs=1e-5)


def test_a_network_for_pictures_of_any_size_is_told_how_to_be_built_again(tmp_path):
    keras = import_keras()
    picture = keras.Input((None, None, 3), name="img_in")
    x = keras.layers.GlobalAveragePooling2D()(picture)
    keras.Model(picture, keras.layers.Dense(2)(x)).save(tmp_path / "theirs.keras")
    with pytest.raises(PilotError, match=r"takes pictures of any size \(None, None, 3\); build it again"):
        load_pilot(tmp_path / "theirs.keras")


def test_layers_within_models_whose_names_have_slashes_are_told_apart(tmp_path):
    """As TensorFlow 2 writes MobileNetV3; Keras 3 takes them in no name."""
    keras = import_keras()
    layers = keras.layers
    x = layers.Input((8, 8, 3))
    y = layers.DepthwiseConv2D(1, name="block-depthwise")(x)
    part = keras.Model(x, layers.BatchNormalization(name="block-depthwise-norm")(y), name="part")
    picture = keras.Input((8, 8, 3), name="img_in")
    model = keras.Model(picture, layers.Dense(2)(layers.Flatten()(part(picture))))
    seen, path = make_picture(6, (8, 8, 3)), tmp_path / "theirs.h5"
    expected = predict(model, seen[None].astype(np.float32) / 255.0)[0].ravel().tolist()
    model.save(path)
    with h5py.File(path, "r+") as file:
        file.attrs["model_config"] = file.attrs["model_config"].replace("block-", "block/").replace("wise-n", "wise/n")
        group = file["model_weights/part"]
        names = [name.decode() if isinstance(name, bytes) else name for name in group.attrs["weight_names"]]
        renamed = [name.replace("block-", "block/").replace("wise-n", "wise/n") for name in names]
        for name, new in zip(names, renamed, strict=True):
            group[new] = group[name][...]
        group.attrs["weight_names"] = renamed
    assert load_pilot(path).run(seen) == pytest.approx(expected, abs=1e-5)
    assert "part_block_depthwise_norm" in [layer.name for layer in load_model(path).layers]


def test_a_gate_of_channels_is_that_of_its_own_picture_in_a_batch():
    keras = import_keras()
    layers = keras.layers
    picture = keras.Input((12, 16, 3), name="img_in")
    gated = layers.Multiply()([picture, layers.GlobalAveragePooling2D()(picture)])
    model = keras.Model(picture, layers.Dense(2, name="answer")(layers.Flatten()(gated)))
    seen = np.stack([make_picture(number, (12, 16, 3)) for number in range(4)])
    expected = np.stack([predict(model, each[None].astype(np.float32) / 255.0)[0] for each in seen])
    session = onnxruntime.InferenceSession(make_onnx(describe_model(model), None))
    assert session.run(None, {"img_in": seen})[0] == pytest.approx(expected, abs=1e-5)


def make_eye(kind):
    """A part that looks at every picture of a sequence, with a layer that means another axis, or joins unequal ones."""
    keras = import_keras()
    layers = keras.layers
    frame = keras.Input((12, 16, 3), name="frame")
    x = layers.Conv2D(4, 3, strides=2, name="conv1")(frame)
    if kind == "gate":
        x = layers.Multiply()([x, layers.GlobalAveragePooling2D()(x)])
    elif kind == "excited":
        x = excite(layers, x)
    elif kind == "join":
        x = layers.Concatenate(axis=3)([x, layers.Conv2D(2, 1)(x)])
    elif kind == "norm":
        x = layers.BatchNormalization(axis=3)(layers.Activation("tanh")(x))
    return keras.Model(frame, layers.Flatten()(layers.MaxPooling2D()(x)), name="eye")


@pytest.mark.parametrize("kind", ["gate", "excited", "join", "norm"])
def test_what_is_done_to_every_picture_of_a_sequence_means_the_axes_of_one(kind, tmp_path):
    keras = import_keras()
    layers = keras.layers
    pictures = keras.Input((3, 12, 16, 3), name="img_in")
    x = layers.GRU(5)(layers.TimeDistributed(make_eye(kind))(pictures))
    model = keras.Model(pictures, layers.Dense(2, name="model_outputs")(x))
    seen = make_picture(6, (12, 16, 3))
    expected = predict(model, np.repeat(seen[None, None], 3, axis=1).astype(np.float32) / 255.0)[0].ravel().tolist()
    model.save(tmp_path / "theirs.keras")
    again = load_model(tmp_path / "theirs.keras")
    for written in (".h5", ".keras", ".onnx", ".tflite"):
        save_model(again, tmp_path / f"ours{written}", "rnn", SmallConfig)
        pilot = load_pilot(tmp_path / f"ours{written}")
        assert pilot.run(seen) == pytest.approx(expected, abs=1e-5)
    save_model(model, tmp_path / "described.onnx", "rnn", SmallConfig)  # whose layers lie in a model in a layer
    assert load_pilot(tmp_path / "described.onnx").run(seen) == pytest.approx(expected, abs=1e-5)


def test_a_part_that_joins_rows_with_pictures_of_a_sequence_is_refused(tmp_path):
    keras = import_keras()
    layers = keras.layers
    frame = keras.Input((12, 16, 3), name="frame")
    x = layers.Add(name="sum")([frame, layers.Reshape((16, 3))(layers.MaxPooling2D((12, 1))(frame))])
    pictures = keras.Input((3, 12, 16, 3), name="img_in")
    x = layers.TimeDistributed(keras.Model(frame, layers.Flatten()(x), name="eye"))(pictures)
    keras.Model(pictures, layers.Dense(2)(layers.LSTM(4)(x))).save(tmp_path / "theirs.h5")
    with pytest.raises(PilotError, match=r"the layer '.*_sum' joins 2 axes with 3; reshape what it takes"):
        load_pilot(tmp_path / "theirs.h5")


def test_a_gru_of_a_keras_that_knew_one_kind_only_is_of_that_kind(tmp_path):
    """Keras 2.0 and 2.1 write no `reset_after`."""
    keras = import_keras()
    picture = keras.Input((12, 16, 1), name="img_in")
    x = keras.layers.GRU(5, reset_after=False, name="gru")(keras.layers.Reshape((12, 16))(picture))
    model, path = keras.Model(picture, keras.layers.Dense(2)(x)), tmp_path / "old.h5"
    seen = make_picture(6, (12, 16, 1))
    expected = predict(model, seen[None].astype(np.float32) / 255.0)[0].ravel().tolist()
    model.save(path)
    with h5py.File(path, "r+") as file:
        file.attrs["model_config"] = file.attrs["model_config"].replace('"reset_after": false, ', "")
        assert "reset_after" not in file.attrs["model_config"]
    assert load_pilot(path).run(seen) == pytest.approx(expected, abs=1e-5)


@pytest.mark.original("Pilots", "`TimeDistributed` models before a `GRU`", "drive")
@pytest.mark.parametrize("ending", [".h5", ".keras"])
def test_a_model_that_looks_at_every_picture_of_a_sequence_drives(ending, tmp_path):
    keras = import_keras()
    layers = keras.layers
    frame = keras.Input((12, 16, 3), name="frame")
    x = layers.LeakyReLU()(layers.Conv2D(4, 3, strides=2, name="conv1")(frame))
    x = layers.Add()([x, layers.Conv2D(4, 1, activation="swish")(x)])
    eye = keras.Model(frame, layers.Flatten()(layers.SeparableConv2D(3, 3)(x)), name="eye")
    pictures = keras.Input((3, 12, 16, 3), name="img_in")
    x = layers.GRU(5)(layers.TimeDistributed(eye)(pictures))
    model = keras.Model(pictures, layers.Dense(2, name="model_outputs")(x))
    model.save(tmp_path / f"theirs{ending}")
    seen = make_picture(6, (12, 16, 3))
    expected = predict(model, np.repeat(seen[None, None], 3, axis=1).astype(np.float32) / 255.0)[0].ravel().tolist()
    pilot = load_pilot(tmp_path / f"theirs{ending}")
    assert pilot.kind == "rnn"
    assert pilot.run(seen) == pytest.approx(expected, abs=1e-5)
    save_model(load_model(tmp_path / f"theirs{ending}"), tmp_path / "ours.onnx", "rnn", SmallConfig)
    assert load_pilot(tmp_path / "ours.onnx").run(seen) == pytest.approx(expected, abs=1e-5)


def say_as_keras_2(config):
    """Say which tensors layers take as Keras 2 does, which counts the uses of a model from 1."""
    entries = config["config"]["layers"]
    first = {entry["name"]: int(entry["class_name"] in ("Functional", "Sequential")) for entry in entries}
    for entry in entries:
        nodes = []
        for node in entry["inbound_nodes"]:
            tensors = node["args"][0] if isinstance(node["args"][0], list) else node["args"]
            histories = [tensor["config"]["keras_history"] for tensor in tensors]
            nodes.append([[name, use + first[name], 0, {}] for name, use, _ in histories])
        entry["inbound_nodes"] = nodes
        if entry["class_name"] == "Functional":
            say_as_keras_2(entry)


@pytest.mark.original(
    "Pilots", "layers and models that are used more than once", "drive; trained further, each has its own weights"
)
@pytest.mark.parametrize("name", [name for name in LAYERS if "used again" in name])
def test_keras_2_counts_the_uses_of_models_from_1(name, tmp_path):
    model, path = make_network(name), tmp_path / "theirs.h5"
    expected = [float(output.item()) for output in predict(model, SEEN[None].astype(np.float32) / 255.0)]
    model.save(path)
    with h5py.File(path, "r+") as file:
        config = json.loads(file.attrs["model_config"])
        say_as_keras_2(config)
        file.attrs["model_config"] = json.dumps(config)
    assert load_pilot(path).run(SEEN) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("ending", [".h5", ".keras"])
def test_uses_of_a_layer_may_be_the_ends_of_a_network(ending, tmp_path):
    keras = import_keras()
    layers = keras.layers
    picture = keras.Input((7, 10, 4), name="img_in")
    answer = keras.Sequential([layers.GlobalAveragePooling2D(), layers.Dense(1)], name="answer")
    inner = layers.Input((7, 10, 4))
    model_answer = keras.Model(inner, layers.Dense(1)(layers.Flatten()(inner)), name="model_answer")
    turned = layers.Conv2D(4, 1)(picture)
    used = layers.Reshape((1, 1, 1))(model_answer(picture))
    ends = [model_answer(layers.Multiply()([turned, used])), answer(turned), answer(picture), model_answer(turned)]
    model = keras.Model(picture, [ends[0], ends[1]] if ending == ".h5" else [ends[3], ends[2]])
    wanted = keras.Model(picture, [layers.Concatenate()(ends[:2]), layers.Concatenate()(ends[2:])])
    seen = make_picture(6, (7, 10, 4))
    for pilot in (model, wanted):
        expected = np.ravel(predict(pilot, seen[None].astype(np.float32) / 255.0))
        pilot.save(tmp_path / f"theirs{ending}")
        session = onnxruntime.InferenceSession(make_onnx(read_layers(tmp_path / f"theirs{ending}"), None))
        assert np.ravel(session.run(None, {"img_in": seen[None]})) == pytest.approx(expected, abs=1e-5)


def test_a_layer_one_of_whose_uses_nothing_takes_is_refused(tmp_path):
    path = tmp_path / "theirs.h5"
    make_network("used again").save(path)
    with h5py.File(path, "r+") as file:
        config = json.loads(file.attrs["model_config"])
        entry = next(entry for entry in config["config"]["layers"] if len(entry["inbound_nodes"]) > 1)
        entry["inbound_nodes"].append(entry["inbound_nodes"][0])
        file.attrs["model_config"] = json.dumps(config)
    with pytest.raises(PilotError, match=r"the uses of conv2d\S* do not fit each other; the file is broken"):
        load_pilot(path)
