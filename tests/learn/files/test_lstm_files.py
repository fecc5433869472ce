"""Files with LSTM layers as each generation of Keras wrote them say what a step-by-step LSTM in NumPy says."""

import json
import zipfile

import h5py
import numpy as np
import pytest

from donkeysim.core.errors import PilotError
from donkeysim.learn.backend import import_keras
from donkeysim.learn.files.model_file import load_model, save_model
from donkeysim.learn.pilot import load_pilot, open_session
from stand_ins.untrained_models import DefaultConfig, make_picture, predict

LENGTH, SIDE, UNITS = 3, 6, 5
DENSE_PARTS, LSTM_PARTS = ("kernel", "bias"), ("kernel", "recurrent_kernel", "bias")
PICTURES = np.stack([make_picture(seed, (SIDE, SIDE, 3)) for seed in range(LENGTH)])


def compute_sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def compute_hard_sigmoid(x):
    """That of Keras 1 and 2."""
    return np.clip(0.2 * x + 0.5, 0.0, 1.0)


def compute_newer_hard_sigmoid(x):
    """That of Keras 3."""
    return np.clip(x / 6.0 + 0.5, 0.0, 1.0)


def make_weights():
    """Weights by layer, great enough that gates reach the ends of a hard sigmoid."""
    random = np.random.default_rng(4)
    sizes = {"time_distributed_1": (3 * SIDE * SIDE, 4), "LSTM_seq": (4, UNITS), "LSTM_fin": (UNITS, UNITS)}
    weights = {}
    for name, (width, units) in {**sizes, "model_outputs": (UNITS, 2)}.items():
        gates = 4 if "LSTM" in name else 1
        shapes = [(width, gates * units), (units, gates * units), (gates * units,)]
        scale = 0.2 if name == "time_distributed_1" else 1.5
        weights[name] = [random.normal(0.0, scale, shape) for shape in (shapes if gates == 4 else shapes[::2])]
    return weights


def run_by_hand(weights, gate):
    kernel, bias = weights["time_distributed_1"]
    x = np.maximum((PICTURES.reshape(LENGTH, -1) / 255.0) @ kernel + bias, 0.0)
    for name in ("LSTM_seq", "LSTM_fin"):
        x = run_lstm(x, *weights[name], gate)
    kernel, bias = weights["model_outputs"]
    return x[-1] @ kernel + bias


def run_lstm(rows, kernel, recurrent, bias, gate):
    """What an LSTM says after each row."""
    said, cell, every = np.zeros(UNITS), np.zeros(UNITS), []
    for row in rows:
        into, forget, new, out = np.split(row @ kernel + said @ recurrent + bias, 4)
        cell = gate(forget) * cell + gate(into) * np.tanh(new)
        said = gate(out) * np.tanh(cell)
        every.append(said)
    return np.stack(every)


def describe_layers(gate):
    """Classes and settings as in the original's KerasLSTM, without its convolutions."""
    flatten = {"class_name": "Flatten", "config": {"name": "flattened"}}
    dense = {"class_name": "Dense", "config": {"name": "dense_1", "units": 4, "activation": "relu"}}
    lstm = {"units": UNITS, "activation": "tanh", "recurrent_activation": gate, "implementation": 1, "unroll": False}
    lstm |= {"stateful": False, "return_state": False, "time_major": False, "unit_forget_bias": True}
    return [
        ("TimeDistributed", {"name": "time_distributed", "layer": flatten}),
        ("TimeDistributed", {"name": "time_distributed_1", "layer": dense}),
        ("LSTM", {"name": "LSTM_seq", "return_sequences": True, **lstm}),
        ("Dropout", {"name": "dropout", "rate": 0.1}),
        ("LSTM", {"name": "LSTM_fin", "return_sequences": False, **lstm}),
        ("Dense", {"name": "model_outputs", "units": 2, "activation": "linear"}),
    ]


def describe_stack(layers, is_list):
    """A Sequential; before Keras 2.2.3 its configuration was the bare list."""
    rows = [{"class_name": name, "config": config} for name, config in layers]
    rows[0]["config"] |= {"batch_input_shape": [None, *PICTURES.shape]}
    return {"class_name": "Sequential", "config": rows if is_list else {"name": "sequential", "layers": rows}}


def describe_graph(layers, shape_key="batch_input_shape"):
    rows = [{"class_name": "InputLayer", "config": {"name": "img_in", shape_key: [None, *PICTURES.shape]}}]
    rows += [{"class_name": name, "config": config} for name, config in layers]
    for before, row in zip([None, *rows], rows, strict=False):
        row |= {"name": row["config"]["name"], "inbound_nodes": []}
        if before:
            row["inbound_nodes"] = [[[before["name"], 0, 0, {}]]]
    ends = {"input_layers": [["img_in", 0, 0]], "output_layers": [["model_outputs", 0, 0]]}
    return {"class_name": "Functional", "config": {"name": "lstm", "layers": rows, **ends}}


def write_file(path, version, description, name_weight):
    weights = make_weights()
    with h5py.File(path, "w") as file:
        file.attrs["keras_version"] = version
        file.attrs["model_config"] = json.dumps(description)
        for layer, values in weights.items():
            names = [name_weight(layer, part) for part in (LSTM_PARTS if "LSTM" in layer else DENSE_PARTS)]
            group = file.create_group(f"model_weights/{layer}")
            group.attrs["weight_names"] = [name.encode() for name in names]
            for name, value in zip(names, values, strict=True):
                group[name] = value.astype(np.float32)
    return path


def name_in_cell(number=""):
    """Names in and behind TensorFlow 2.2, numbered by the models made before in the same process."""

    def name_weight(layer, part):
        cell = f"/lstm_cell{number}" if "LSTM" in layer else ""
        return f"{layer}{number and '_3'}{cell}/{part}:0"

    return name_weight


GENERATIONS = {
    "Keras 2.0": (b"2.0.9", "hard_sigmoid", lambda x: describe_stack(x, True), "{}/{}:0".format),
    "TensorFlow 1": (b"2.2.4-tf", "hard_sigmoid", lambda x: describe_stack(x, False), "{}/{}:0".format),
    "TensorFlow 1, a later model": (
        b"2.2.4-tf",
        "hard_sigmoid",
        lambda x: describe_stack(x, False),
        "{}_2/{}:0".format,
    ),
    "Keras 2.3": (b"2.3.1", "sigmoid", lambda x: describe_stack(x, False), "{}/{}:0".format),
    "TensorFlow 2.2": (b"2.3.0-tf", "sigmoid", describe_graph, name_in_cell()),
    "TensorFlow 2.2, a later model": (b"2.3.0-tf", "sigmoid", describe_graph, name_in_cell("_6")),
    "a file of TensorFlow 1, saved by 2.15": ("2.15.0", "hard_sigmoid", describe_graph, name_in_cell()),
    "Keras 3": ("3.15.1", "sigmoid", lambda x: describe_graph(x, "batch_shape"), "{}/x/{}".format),
    "Keras 3, hard": ("3.15.1", "hard_sigmoid", lambda x: describe_graph(x, "batch_shape"), "{}/x/{}".format),
}


@pytest.mark.original("Pilots", "`rnn` and `3d` of Keras 2.0 to 3", "drive")
@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_file_of_each_generation_says_what_an_lstm_by_hand_says(generation, tmp_path):
    version, gate, describe, name_weight = GENERATIONS[generation]
    path = write_file(tmp_path / "rnn.h5", version, describe(describe_layers(gate)), name_weight)
    hard = compute_newer_hard_sigmoid if version[0] == "3" else compute_hard_sigmoid
    expected = run_by_hand(make_weights(), hard if gate == "hard_sigmoid" else compute_sigmoid)
    assert load_pilot(path).kind == "rnn"
    (said,) = open_session(path).run(PICTURES, [])
    assert said == pytest.approx(expected, abs=2e-6)
    (trained,) = predict(load_model(path), [PICTURES[np.newaxis].astype(np.float32) / 255.0])
    assert trained == pytest.approx(expected, abs=2e-6)


def test_the_three_gates_are_told_apart():
    gates = (compute_sigmoid, compute_hard_sigmoid, compute_newer_hard_sigmoid)
    said = [run_by_hand(make_weights(), gate) for gate in gates]
    assert min(np.abs(said[i] - said[j]).max() for i, j in ((0, 1), (0, 2), (1, 2))) > 0.01


@pytest.fixture
def old_path(tmp_path):
    version, gate, describe, name_weight = GENERATIONS["TensorFlow 1"]
    return write_file(tmp_path / "old.h5", version, describe(describe_layers(gate)), name_weight)


@pytest.mark.parametrize("ending", [".h5", ".keras", ".onnx"])
def test_an_old_pilot_that_is_saved_again_says_the_same(ending, old_path, tmp_path):
    path = tmp_path / f"new{ending}"
    save_model(load_model(old_path), path, "rnn", DefaultConfig)
    (said,) = open_session(path).run(PICTURES, [])
    assert said == pytest.approx(run_by_hand(make_weights(), compute_hard_sigmoid), abs=2e-6)


def test_a_file_for_keras_2_holds_the_weights_of_keras_2(old_path, tmp_path):
    path = tmp_path / "new.h5"
    save_model(load_model(old_path), path, "rnn", DefaultConfig)
    with h5py.File(path) as new:
        layer = next(x for x in json.loads(new.attrs["model_config"])["config"]["layers"] if x["name"] == "LSTM_fin")
        assert layer["config"]["recurrent_activation"] == "hard_sigmoid"
        values = [new["model_weights/LSTM_fin"][f"LSTM_fin/lstm_cell/{part}:0"] for part in LSTM_PARTS]
        for value, expected in zip(values, make_weights()["LSTM_fin"], strict=True):
            assert np.asarray(value) == pytest.approx(expected, rel=1e-6)


def test_a_keras_zip_of_tensorflow_has_the_gates_of_keras_2(old_path, tmp_path):
    ours, theirs = tmp_path / "ours.keras", tmp_path / "theirs.keras"
    model = load_model(write_file(old_path, "3.15.1", describe_graph(describe_layers("hard_sigmoid")), "{}/{}".format))
    save_model(model, ours, "rnn", DefaultConfig)
    with zipfile.ZipFile(ours) as source, zipfile.ZipFile(theirs, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            target.writestr(name, b'{"keras_version": "2.15.0"}' if name == "metadata.json" else content)
    for path, gate in ((ours, compute_newer_hard_sigmoid), (theirs, compute_hard_sigmoid)):
        (said,) = open_session(path).run(PICTURES, [])
        assert said == pytest.approx(run_by_hand(make_weights(), gate), abs=2e-6)


@pytest.mark.parametrize("key", ["stateful", "return_state", "time_major"])
def test_an_lstm_that_would_say_something_else_is_refused(key, tmp_path):
    layers = describe_layers("sigmoid")
    layers[4][1][key] = True
    path = write_file(tmp_path / "rnn.h5", "2.15.0", describe_graph(layers), name_in_cell())
    with pytest.raises(PilotError, match=rf"rnn\.h5: the layer 'LSTM_fin' has the setting {key}"):
        load_pilot(path)


@pytest.mark.parametrize(("layer", "name"), [(1, "time_distributed_1"), (4, "LSTM_fin"), (5, "model_outputs")])
def test_a_hard_sigmoid_elsewhere_is_refused(layer, name, tmp_path):
    layers = describe_layers("sigmoid")
    config = layers[layer][1]
    config.get("layer", {"config": config})["config"]["activation"] = "hard_sigmoid"
    path = write_file(tmp_path / "rnn.h5", "2.15.0", describe_graph(layers), name_in_cell())
    for load in (load_pilot, load_model):
        with pytest.raises(PilotError, match=rf"the layer '{name}' has the activation hard_sigmoid, which"):
            load(path)


def test_a_stack_of_donkeycar_3_that_crops_sequences_is_read(tmp_path):
    keras = import_keras()
    layers = keras.layers
    images = keras.Input((2, 40, 60, 3), name="img_in")
    x = layers.Cropping3D(((0, 0), (20, 10), (0, 3)))(images)
    x = layers.Conv3D(4, 3, strides=(1, 3, 3), padding="same", activation="relu")(x)
    x = layers.MaxPooling3D((1, 2, 2))(x)
    model = keras.Model([images], [layers.Dense(2, name="outputs")(layers.Flatten()(x))])
    path = tmp_path / "3d.h5"
    save_model(model, path, "3d", DefaultConfig)
    pictures = np.stack([make_picture(seed, (40, 60, 3)) for seed in range(2)])
    (said,) = open_session(path).run(pictures, [])
    (expected,) = predict(model, [pictures[np.newaxis].astype(np.float32) / 255.0])
    assert said == pytest.approx(expected, abs=1e-5)
    assert load_pilot(path).kind == "3d"
