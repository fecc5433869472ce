"""Files of pilots: what other programs wrote is read, what is broken is refused in one sentence."""

import base64
import contextlib
import json
import marshal
import os
import struct
import zipfile

import h5py
import numpy as np
import onnx
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper

from donkeysim.core.errors import DonkeySimError, PilotError
from donkeysim.learn.backend import import_keras
from donkeysim.learn.files.header import make_header
from donkeysim.learn.files.keras_files import read_h5
from donkeysim.learn.files.model_file import describe_model, load_model, read_network, save_model
from donkeysim.learn.files.network import pick_settings
from donkeysim.learn.files.onnx_writer import make_onnx
from donkeysim.learn.lite import write_lite
from donkeysim.learn.pilot import load_pilot
from stand_ins.untrained_models import DefaultConfig, SmallConfig, get_model, list_kinds, make_picture, predict

PICTURE = make_picture(7)


@pytest.fixture
def linear_h5(tmp_path):
    path = tmp_path / "linear.h5"
    save_model(get_model("linear"), path, "linear", DefaultConfig)
    return path


def edit_config(path, edit):
    """Change the description of the network in an .h5 file."""
    with h5py.File(path, "r+") as file:
        config = json.loads(file.attrs["model_config"])
        file.attrs["model_config"] = json.dumps(edit(config) or config)


def find_layer(config, name):
    return next(layer for layer in config["config"]["layers"] if layer["name"] == name)


@pytest.mark.parametrize("kind", list_kinds())
@pytest.mark.parametrize("ending", [".h5", ".keras"])
def test_a_model_that_was_saved_can_be_trained_further(kind, ending, tmp_path):
    model = get_model(kind, SmallConfig)
    path = tmp_path / f"pilot{ending}"
    save_model(model, path, kind, SmallConfig)
    again = load_model(path)
    inputs = [np.random.default_rng(2).random((1, *x.shape[1:]), dtype=np.float32) for x in model.inputs]
    for before, after in zip(predict(model, inputs), predict(again, inputs), strict=True):
        assert np.abs(before - after).max() <= 1e-6
    assert [type(layer).__name__ for layer in again.layers] == [type(layer).__name__ for layer in model.layers]


def test_an_h5_file_has_the_layout_that_keras_2_reads(linear_h5):
    with h5py.File(linear_h5) as file:
        assert file.attrs["keras_version"] == "2.15.0"
        assert file.attrs["backend"] == "tensorflow"
        config = json.loads(file.attrs["model_config"])
        weights = file["model_weights"]
        assert list(weights["conv2d_1"].attrs["weight_names"]) == [b"conv2d_1/kernel:0", b"conv2d_1/bias:0"]
        assert weights["conv2d_1/conv2d_1/kernel:0"].shape == (5, 5, 3, 24)
        assert weights["dropout"].attrs["weight_names"].size == 0
    assert config["class_name"] == "Functional"
    assert find_layer(config, "img_in")["config"]["batch_input_shape"] == [None, 120, 160, 3]
    assert config["config"]["output_layers"] == [["n_outputs0", 0, 0], ["n_outputs1", 0, 0]]


@pytest.mark.original("Pilots", "`.h5` of donkeycar 3 to 5", "drive and train further; known by their outputs")
def test_a_file_of_the_original_is_known_by_its_outputs(linear_h5):
    expected = load_pilot(linear_h5).run(PICTURE)
    with h5py.File(linear_h5, "r+") as file:
        del file.attrs["donkeysim"]
        file.create_group("optimizer_weights")["iteration:0"] = 12
    pilot = load_pilot(linear_h5)
    assert pilot.kind == "linear"
    assert pilot.run(PICTURE) == expected


def test_inputs_that_the_original_joins_with_tensorflows_own_function_are_read(tmp_path):
    path = tmp_path / "imu.h5"
    save_model(get_model("imu"), path, "imu", DefaultConfig)
    readings = np.linspace(-1, 1, 6)
    expected = load_pilot(path).run(PICTURE, readings)

    def join_as_the_original(config):
        layer = find_layer(config, "concatenate")
        sources = [[source[0], 0, 0, {"axis": 1}] for source in layer["inbound_nodes"][0]]
        own = {"name": "concatenate", "trainable": True, "dtype": "float32", "function": "concat"}
        layer |= {"class_name": "TFOpLambda", "config": own, "inbound_nodes": [sources]}

    edit_config(path, join_as_the_original)
    assert load_pilot(path).run(PICTURE, readings) == expected


@pytest.mark.original("Pilots", "`x / 127.5 - 1`, `x + y` … between layers", "drive")
@pytest.mark.parametrize(
    ("function", "node", "factor"),
    [
        ("math.truediv", ["conv2d_1", 0, 0, {"y": 4.0, "name": None}], 0.25),
        ("math.multiply", ["_CONSTANT_VALUE", -1, 0.5, {"y": ["conv2d_1", 0, 0], "name": None}], 0.5),
        ("__operators__.add", ["conv2d_1", 0, 0, {"y": ["conv2d_1", 0, 0], "name": None}], 2.0),
    ],
)
def test_what_tensorflow_computes_between_layers_is_read(tmp_path, function, node, factor):
    """As tf.keras 2.4 to 2.15 writes it; a factor behind a ReLU is one of the weights before it."""
    path = tmp_path / "theirs.h5"
    save_model(get_model("linear"), path, "linear", DefaultConfig)

    def compute(config):
        own = {"name": "dropout", "trainable": True, "dtype": "float32", "function": function}
        find_layer(config, "dropout").update({"class_name": "TFOpLambda", "config": own, "inbound_nodes": [node]})

    edit_config(path, compute)
    with h5py.File(path, "r+") as file:
        for weight in file["model_weights/conv2d_1/conv2d_1"].values():
            weight[...] = weight[...] / factor
    save_model(get_model("linear"), tmp_path / "plain.h5", "linear", DefaultConfig)
    assert load_pilot(path).run(PICTURE) == pytest.approx(load_pilot(tmp_path / "plain.h5").run(PICTURE), abs=1e-5)


@pytest.mark.parametrize("axis", [2, 3])
def test_the_axis_along_which_tensorflow_joins_stands_beside_the_tensors(tmp_path, axis):
    path = tmp_path / "theirs.h5"
    save_model(get_model("linear"), path, "linear", DefaultConfig)

    def join(config):
        layer = find_layer(config, "dropout")
        node = [["conv2d_1", 0, 0, {"axis": axis}], ["conv2d_1", 0, 0, {"axis": axis}]]
        layer |= {"class_name": "TFOpLambda", "config": {"name": "tf.concat", "function": "concat"}}
        layer["inbound_nodes"] = [node]

    edit_config(path, join)
    assert read_network(path)[0].find("dropout").settings == {"axis": axis}


@pytest.mark.original("Pilots", "`latent` of donkeycar 3 and 4", "drives as `linear`")
@pytest.mark.parametrize("ending", [".h5", ".keras"])
def test_a_pilot_that_also_draws_its_picture_drives(ending, tmp_path):
    keras = import_keras()
    layers = keras.layers
    picture = keras.Input((24, 32, 3), name="img_in")
    seen = layers.Conv2D(4, 5, strides=4, activation="relu")(picture)
    drawn = layers.Dense(4)(layers.Conv2D(4, 1)(seen))  # named before those that drive
    drawn = layers.Conv2DTranspose(1, 3, strides=2, name="img_out")(drawn)
    seen = layers.Conv2D(4, 1)(layers.Conv2D(4, 1)(seen))
    answers = [layers.Dense(1, name=f"n_outputs{number}")(layers.Flatten()(seen)) for number in (0, 1)]
    model = keras.Model(picture, [drawn, *answers])
    model.save(tmp_path / f"latent{ending}")
    image = make_picture(5, (24, 32, 3))
    expected = [float(output.item()) for output in predict(model, image[None].astype(np.float32) / 255.0)[1:]]
    pilot = load_pilot(tmp_path / f"latent{ending}")
    assert (pilot.kind, list(pilot.run(image))) == ("linear", pytest.approx(expected, abs=1e-5))


@pytest.mark.original("Pilots", "stacks of layers of older Keras", "drive")
def test_a_stack_of_layers_of_an_older_keras_is_read(tmp_path):
    path = tmp_path / "old.h5"
    random = np.random.default_rng(0)
    layers = [
        ("Cropping2D", {"name": "crop", "cropping": [[40, 0], [0, 0]], "batch_input_shape": [None, 120, 160, 3]}),
        ("Convolution2D", {"name": "c", "filters": 4, "kernel_size": [5, 5], "strides": [4, 4], "activation": "relu"}),
        ("MaxPooling2D", {"name": "m", "pool_size": [2, 2], "strides": None, "padding": "valid"}),
        ("Flatten", {"name": "f"}),
        ("Dense", {"name": "d", "units": 2, "use_bias": False, "activation": "tanh"}),
    ]
    kernels = {"c": random.normal(size=(5, 5, 3, 4)) * 0.1, "d": random.normal(size=(9 * 19 * 4, 2)) * 0.1}
    with h5py.File(path, "w") as file:
        rows = [{"class_name": name, "config": config} for name, config in layers]
        file.attrs["model_config"] = json.dumps({"class_name": "Sequential", "config": rows}).encode()
        for name, kernel in kernels.items():
            weights = {"kernel:0": kernel, "bias:0": np.zeros(4)} if name == "c" else {"kernel:0": kernel}
            group = file.create_group(f"model_weights/{name}")
            group.attrs["weight_names"] = [f"{name}/{key}".encode() for key in weights]
            for key, value in weights.items():
                group[f"{name}/{key}"] = value
    pilot = load_pilot(path)
    outputs = predict(load_model(path), [PICTURE[None].astype(np.float32) / 255.0])
    assert pilot.kind == "linear"
    assert pilot.run(PICTURE) == pytest.approx(outputs[0].tolist(), abs=1e-5)


@pytest.mark.parametrize("is_first", [True, False])
def test_an_onnx_file_of_another_tool_takes_pictures_either_way_round(tmp_path, is_first):
    shape = [1, 3, 120, 160] if is_first else ["n", 120, 160, 3]
    axes = [2, 3] if is_first else [1, 2]
    picture = helper.make_tensor_value_info("input", TensorProto.FLOAT, shape)
    means = helper.make_tensor_value_info("means", TensorProto.FLOAT, [shape[0], 3])
    parts = helper.make_tensor_value_info("command", TensorProto.FLOAT, [shape[0], 2])
    constants = [helper.make_tensor(name, TensorProto.INT64, [1], [value]) for name, value in (("a", 0), ("b", 2))]
    constants.append(helper.make_tensor("last", TensorProto.INT64, [1], [1]))
    nodes = [
        helper.make_node("ReduceMean", ["input"], ["means"], axes=axes, keepdims=0),
        helper.make_node("Slice", ["means", "a", "b", "last"], ["command"]),
    ]
    graph = helper.make_graph(nodes, "g", [picture], [parts], constants, value_info=[means])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    path = tmp_path / "theirs.onnx"
    path.write_bytes(model.SerializeToString())
    expected = PICTURE.reshape(-1, 3).mean(axis=0)[:2] / 255.0
    assert load_pilot(path).run(PICTURE) == pytest.approx(expected.tolist(), abs=1e-5)


@pytest.mark.parametrize("kind", [TensorProto.FLOAT, TensorProto.FLOAT16])
def test_inputs_and_outputs_of_an_onnx_file_may_come_in_any_order(kind, tmp_path):
    numbers = helper.make_tensor_value_info("imu_in", kind, [1, 6])
    picture = helper.make_tensor_value_info("img_in", kind, [1, 12, 16, 3])
    ends = [helper.make_tensor_value_info(name, kind, [1, 1]) for name in ("throttle_out", "steering_out")]
    nodes = [
        helper.make_node("ReduceMean", ["imu_in"], ["steering_out"], axes=[1], keepdims=1),
        helper.make_node("ReduceMean", ["img_in"], ["mean"], axes=[1, 2], keepdims=0),
        helper.make_node("ReduceMean", ["mean"], ["throttle_out"], axes=[1], keepdims=1),
    ]
    graph = helper.make_graph(nodes, "g", [numbers, picture], ends)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    (tmp_path / "theirs.onnx").write_bytes(model.SerializeToString())
    pilot = load_pilot(tmp_path / "theirs.onnx")
    assert pilot.kind == "imu"
    answer = pilot.run(np.full((12, 16, 3), 51, np.uint8), 0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
    assert answer == pytest.approx((0.25, 0.2), abs=1e-3)


@pytest.mark.parametrize("ending", [".h5", ".keras", ".tflite"])
def test_a_throttle_that_comes_before_the_angle_is_no_angle(ending, tmp_path):
    keras = import_keras()
    x = keras.layers.Flatten()(picture := keras.Input((24, 32, 3)))
    outputs = [keras.layers.Dense(1, name=name, kernel_initializer="zeros")(x) for name in ("throttle", "steering")]
    model = keras.Model(picture, outputs)
    for layer, value in zip(model.layers[-2:], (0.75, -0.5), strict=True):
        layer.bias.assign([value])
    model.save(path := tmp_path / f"theirs{ending.replace('.tflite', '.h5')}")
    if ending == ".tflite":
        path = write_lite(*read_network(path), path, None)[0]
    assert load_pilot(path).run(make_picture(3, (24, 32, 3))) == pytest.approx((-0.5, 0.75))


def test_a_file_that_takes_several_pictures_at_once_names_their_channels(tmp_path):
    graph = helper.make_graph(
        [helper.make_node("ReduceMean", ["input"], ["command"], axes=[2, 3], keepdims=0)],
        "g",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, [1, 2, 12, 16])],
        [helper.make_tensor_value_info("command", TensorProto.FLOAT, [1, 2])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    (tmp_path / "theirs.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(PilotError, match=r"for pictures of 16x12 with 2 channels, .* cameras here have 1 or 3"):
        load_pilot(tmp_path / "theirs.onnx").run(PICTURE)


@pytest.mark.original("Pilots", "`.onnx` with its weights in `.onnx.data`, as PyTorch exports it", "drives")
def test_an_onnx_file_whose_weights_lie_beside_it_drives_wherever_one_works(linear_h5, tmp_path):
    folder = tmp_path / "models"
    folder.mkdir()
    model = onnx.load_from_string(make_onnx(*read_h5(linear_h5)))
    onnx.save(model, folder / "p.onnx", save_as_external_data=True, location="p.onnx.data")
    assert load_pilot(folder / "p.onnx").run(PICTURE) == load_pilot(linear_h5).run(PICTURE)
    (folder / "p.onnx.data").unlink()
    with pytest.raises(PilotError, match=r"p\.onnx has its weights in another file, mostly p\.onnx\.data"):
        load_pilot(folder / "p.onnx")


def test_an_onnx_file_can_be_read_by_old_runtimes_and_names_itself():
    header = make_header("categorical", SmallConfig, ["oval"], ["rc10"])
    model = onnx.load_from_string(make_onnx(describe_model(get_model("categorical", SmallConfig)), header))
    onnx.checker.check_model(model, full_check=True)
    assert (model.ir_version, model.opset_import[0].version) == (8, 13)
    properties = {entry.key: entry.value for entry in model.metadata_props}
    assert json.loads(properties["donkeysim"]) == {
        "kind": "categorical",
        "image_shape": [80, 96, 1],
        "input_names": [],
        "throttle_range": 0.5,
        "transformations": ["CROP"],
        "post_transformations": [],
        "places": ["oval"],
        "cars": ["rc10"],
        "format": 2,
    }


def test_the_same_network_gives_the_same_onnx_bytes():
    network = describe_model(get_model("rnn"))
    assert make_onnx(network, None) == make_onnx(network, None)


@pytest.mark.parametrize("ending", [".h5", ".keras", ".onnx"])
def test_a_newer_format_is_refused(ending, tmp_path, monkeypatch):
    monkeypatch.setattr("donkeysim.learn.files.model_file.make_header", make_newer_header)
    path = tmp_path / f"pilot{ending}"
    save_model(get_model("linear"), path, "linear", DefaultConfig)
    with pytest.raises(
        PilotError, match=r"has the format 3, but this version of donkeysim reads up to 2; get a newer donkeysim"
    ):
        load_pilot(path)


def make_newer_header(*told):
    header = make_header(*told)
    return type(header)(**{**vars(header), "format": 3})


@pytest.mark.original(
    "Pilots",
    "`.savedmodel`, `.trt`, `.pth`, `.json` with `.weights`",
    "refused; [how to convert them](pilots.md#from-other-formats)",
)
@pytest.mark.parametrize(
    ("ending", "hint"),
    [
        (".savedmodel", "tf2onnx.convert --saved-model"),
        (".trt", r"give the \.h5"),
        (".pth", "torch.onnx.export"),
        (".pkl", "in fastai: torch.onnx.export"),
        (".pb", "tf2onnx.convert --graphdef"),
        (".json", r"model\.save"),
        (".zip", "a policy of Stable-Baselines3, export it"),
    ],
)
def test_a_file_that_must_be_converted_says_how(ending, hint, tmp_path):
    with pytest.raises(PilotError, match=f"pilot{ending} must be converted first; .*{hint}"):
        load_pilot(tmp_path / f"pilot{ending}")


@pytest.mark.parametrize("beside", [".h5", ".keras", ".onnx", ".tflite"])
@pytest.mark.parametrize("ending", [".savedmodel", ".trt", ".json"])
def test_a_file_that_must_be_converted_names_the_pilots_of_its_name_that_drive(beside, ending, tmp_path):
    (tmp_path / f"pilot{beside}").write_bytes(b"")
    (tmp_path / "other.onnx").write_bytes(b"")
    with pytest.raises(PilotError, match=rf"must be converted first; or take .*pilot\{beside}, which lies beside it"):
        load_pilot(tmp_path / f"pilot{ending}")


def make_small(size):
    """Layers as people write them, for pictures of a size (width, height), up to what comes before the outputs."""
    keras = import_keras()
    layers = keras.layers
    picture = keras.Input((size[1], size[0], 3), name="img_in")
    x = layers.Resizing(33, 100)(layers.Rescaling(2.0, offset=-1.0)(picture))
    x = layers.Flatten()(layers.Conv2D(4, 5, strides=4, activation="relu")(x))
    return picture, layers.Dense(8, activation="relu")(x), layers


@pytest.mark.original(
    "Pilots",
    "networks of one's own, of any picture size",
    "drive, of the [layers listed](pilots.md#a-network-of-your-own)",
)
@pytest.mark.parametrize("size", [(160, 120), (80, 30), (160, 80)])
@pytest.mark.parametrize("ending", [".h5", ".keras"])
def test_a_network_that_resizes_and_rescales_says_what_it_says_in_keras(ending, size, tmp_path):
    keras = import_keras()
    picture, x, layers = make_small(size)
    model = keras.Model(picture, [layers.Dense(1, name="n_outputs0")(x), layers.Dense(1, name="n_outputs1")(x)])
    model.save(tmp_path / f"theirs{ending}")
    seen = make_picture(3, (size[1], size[0], 3))
    pilot = load_pilot(tmp_path / f"theirs{ending}")
    expected = [float(output.item()) for output in predict(model, seen[None].astype(np.float32) / 255.0)]
    assert pilot.run(seen) == pytest.approx(expected, abs=1e-5)
    assert pilot.image_shape == seen.shape


@pytest.mark.parametrize("setting", ["crop_to_aspect_ratio", "pad_to_aspect_ratio", "antialias"])
def test_a_resizing_that_would_say_something_else_is_refused(setting):
    with pytest.raises(PilotError, match=f"'small' has the setting {setting}, which pilots here cannot have"):
        pick_settings("Resizing", {"height": 3, "width": 4, setting: True}, "small")


@pytest.mark.original("Pilots", "pilots of donkeycar 2, which look at 0 to 255", "drive")
@pytest.mark.parametrize("kind", ["linear", "categorical"])
def test_a_pilot_of_donkeycar_2_looks_at_bytes_and_gives_its_throttle_as_a_number(kind, tmp_path):
    keras = import_keras()
    picture, x, layers = make_small((160, 120))
    angle = layers.Dense(15, activation="softmax") if kind == "categorical" else layers.Dense(1)
    angle.name = "angle_out"
    model = keras.Model(picture, [angle(x), layers.Dense(1, activation="relu", name="throttle_out")(x)])
    random = np.random.default_rng(4)
    for weight in model.weights:  # none below 0: no answer is the small rest of large ones
        weight.assign(random.uniform(0.0, 0.1, weight.shape))
    path = tmp_path / "old.h5"
    model.save(path)
    with h5py.File(path, "r+") as file:
        file.attrs["keras_version"] = "2.1.6-tf"
    first, throttle = predict(model, PICTURE[None].astype(np.float32))
    assert throttle.item() > 1.0
    expected = (first.argmax() / 7.0 - 1.0 if kind == "categorical" else first.item(), throttle.item())
    for named in (None, kind):
        pilot = load_pilot(path, named)
        assert pilot.kind == kind
        assert pilot.run(PICTURE) == pytest.approx(expected, rel=1e-4)
    written = write_lite(*read_network(path), path, None)
    assert load_pilot(written[0]).run(PICTURE) == pytest.approx(expected, rel=1e-4)
    save_model(load_model(path), tmp_path / "new.h5", kind, DefaultConfig)
    assert load_pilot(tmp_path / "new.h5").run(PICTURE) == pytest.approx(expected, rel=1e-4)


def make_old(path, version, first, throttle=None):
    """Write a pilot with the outputs of donkeycar 2 and 3 as a version of Keras; returns its model."""
    keras = import_keras()
    layers = keras.layers
    picture = keras.Input((24, 32, 3), name="img_in")
    seen = layers.Conv2D(4, 5, strides=2, activation="relu", name="conv2d_1")(first(layers)(picture))
    x = layers.Flatten()(seen)
    throttle = throttle or layers.Dense(1)
    throttle.name = "throttle_out"
    model = keras.Model(picture, [layers.Dense(15, activation="softmax", name="angle_out")(x), throttle(x)])
    model.save(path)
    with h5py.File(path, "r+") as file:
        file.attrs["keras_version"] = version
    return model


def test_layers_of_a_pilot_of_donkeycar_2_keep_their_names_and_mean_pictures_from_0_to_1(tmp_path):
    """So that one that is trained from it starts with them."""
    path = tmp_path / "old.h5"
    model = make_old(path, "2.0.8", lambda layers: lambda x: layers.ZeroPadding2D(1)(layers.Cropping2D(2)(x)))
    again = load_model(path)
    assert [layer.name for layer in again.layers] == [layer.name for layer in model.layers]
    (kernel, bias), (old_kernel, old_bias) = (each.get_layer("conv2d_1").get_weights() for each in (again, model))
    assert np.allclose(kernel, old_kernel * 255.0, rtol=1e-6)
    assert np.array_equal(bias, old_bias)


def test_a_pilot_of_donkeycar_2_that_begins_with_another_layer_gets_pictures_from_0_to_255(tmp_path):
    model = make_old(tmp_path / "old.h5", "2.0.8", lambda layers: layers.BatchNormalization(name="norm"))
    picture = make_picture(3, (24, 32, 3))
    angle, throttle = predict(model, picture[None].astype(np.float32))
    expected = (angle.argmax() / 7.0 - 1.0, throttle.item())
    assert load_pilot(tmp_path / "old.h5").run(picture) == pytest.approx(expected, rel=1e-4)


def test_a_categorical_pilot_of_donkeycar_3_looks_at_pictures_from_0_to_1(tmp_path):
    throttle = import_keras().layers.Dense(20, activation="softmax")
    model = make_old(tmp_path / "three.h5", "2.2.4-tf", lambda layers: layers.Dropout(0.1), throttle)
    kernel = load_model(tmp_path / "three.h5").get_layer("conv2d_1").get_weights()[0]
    assert np.array_equal(kernel, model.get_layer("conv2d_1").get_weights()[0])


def test_a_missing_pilot_is_answered_with_those_beside_it(linear_h5):
    with pytest.raises(PilotError, match=r"there is no pilot .*lineal\.h5; in .* there are: linear\.h5"):
        load_pilot(linear_h5.with_name("lineal.h5"))
    for number in range(20):
        linear_h5.with_name(f"m{number:02}.onnx").touch()
    with pytest.raises(PilotError, match=r"there are: linear\.h5, m00.*m10\.onnx and 9 more\."):
        load_pilot(linear_h5.with_name("lineal.h5"))
    folder = linear_h5.with_name("saved")
    folder.mkdir()
    (folder / "saved_model.pb").touch()
    for path in (folder, folder / "saved_model.pb"):
        with pytest.raises(PilotError, match=r"tf2onnx\.convert --saved-model .*saved "):
            load_pilot(path)
    with pytest.raises(PilotError, match=r"they end in \.h5, \.keras, \.onnx, \.tflite"):
        load_pilot(linear_h5.with_name("linear.png"))


@pytest.mark.parametrize("ending", [".h5", ".keras", ".onnx", ".tflite"])
@pytest.mark.parametrize("content", [b"", b"\x00" * 100, b"PK\x03\x04 no zip", b"\x89HDF\r\n\x1a\n no hdf"])
def test_a_file_of_rubbish_is_refused_in_one_sentence(ending, content, tmp_path):
    path = tmp_path / f"pilot{ending}"
    path.write_bytes(content)
    with pytest.raises(PilotError, match="pilot") as caught:
        load_pilot(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("ending", [".h5", ".keras", ".onnx", ".tflite"])
@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is empty; copy or download it again"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0", "only says where Git LFS keeps it"),
        (b"\n<!DOCTYPE html>\n<html>", "is a web page; download the pilot itself"),
        (b"<html lang=en>", "is a web page"),
    ],
)
def test_what_was_downloaded_in_place_of_a_pilot_is_named(ending, content, told, tmp_path):
    path = tmp_path / f"pilot{ending}"
    path.write_bytes(content)
    with pytest.raises(PilotError, match=told):
        load_pilot(path)


@pytest.mark.parametrize("ending", [".h5", ".keras", ".tflite"])
@pytest.mark.parametrize("name", ["pilot.h5", "pilot.keras", "pilot.tflite", "pilot.onnx", "pilot.zip", "pilot"])
def test_a_file_is_what_is_in_it_whatever_its_name(ending, name, tmp_path):
    model = get_model("linear")
    (tmp_path / "other").mkdir()
    save_model(model, right := tmp_path / f"other/right{ending}", "linear", DefaultConfig)
    right.rename(tmp_path / name)
    assert load_pilot(tmp_path / name).kind == "linear"
    save_model(model, tmp_path / f"pilot{ending}", "linear", DefaultConfig)
    assert load_pilot(tmp_path / f"pilot{ending}").kind == "linear"


def test_a_file_is_written_as_it_is_called_whatever_lies_there(linear_h5):
    linear_h5.rename(linear_h5.with_name("linear.onnx"))
    save_model(get_model("linear"), linear_h5.with_name("linear.onnx"), "linear", DefaultConfig)
    onnx.load(linear_h5.with_name("linear.onnx"))


@pytest.mark.parametrize("ending", [".h5", ".keras", ".onnx"])
@settings(max_examples=25, deadline=None)
@given(st.floats(0, 1), st.integers(0, 255), st.floats(0.02, 1))
@example(place=1.0, value=128, share=1.0)  # no UTF-8 where ONNX has the header
def test_a_damaged_file_is_read_or_refused_but_never_crashes(ending, place, value, share):
    content = bytearray(list_contents()[ending])
    content[min(int(place * len(content)), len(content) - 1)] ^= value
    path = list_contents()["folder"] / f"damaged{ending}"
    path.write_bytes(content[: int(share * len(content))])
    with contextlib.suppress(DonkeySimError):
        load_pilot(path)


def list_contents(kept={}):  # noqa: B006 — the files are written once
    """Bytes of a small pilot in every kind of file."""
    if not kept:
        import tempfile
        from pathlib import Path

        folder = Path(tempfile.mkdtemp())
        for ending in (".h5", ".keras", ".onnx"):
            save_model(get_model("categorical", SmallConfig), folder / f"p{ending}", "categorical", SmallConfig)
            kept[ending] = (folder / f"p{ending}").read_bytes()
        kept["folder"] = folder
    return kept


def test_weights_alone_are_refused(linear_h5):
    with h5py.File(linear_h5, "r+") as file:
        del file.attrs["model_config"]
    with pytest.raises(PilotError, match="no description of the network"):
        load_pilot(linear_h5)


def test_weights_that_do_not_fit_their_layer_are_refused(linear_h5):
    with h5py.File(linear_h5, "r+") as file:
        group = file["model_weights/dense_1"]
        del group["dense_1/kernel:0"]
        group["dense_1/kernel:0"] = np.zeros((7, 100), np.float32)
    with pytest.raises(PilotError, match=r"linear\.h5: the layer 'dense_1' has weights of the shapes \[\(7, 100\)"):
        load_pilot(linear_h5)
    with pytest.raises(PilotError, match="dense_1"):
        load_model(linear_h5)


def test_a_layer_that_holds_code_is_never_run(linear_h5):
    def add_code(config):
        find_layer(config, "dropout")["class_name"] = "Lambda"

    edit_config(linear_h5, add_code)
    for load in (load_pilot, load_model):
        with pytest.raises(
            PilotError, match=r"'dropout' is a Lambda, whose code is never run here; build .* Rescaling"
        ):
            load(linear_h5)


def test_parts_that_unpack_to_gigabytes_are_refused(linear_h5, tmp_path, monkeypatch):
    save_model(load_model(linear_h5), tmp_path / "linear.keras", "linear", DefaultConfig)
    with h5py.File(linear_h5, "r+") as file:
        del file["model_weights/dense_1/dense_1/kernel:0"]
        file["model_weights/dense_1"].create_dataset("dense_1/kernel:0", (1 << 20, 1 << 20), "f4", compression="gzip")
    assert linear_h5.stat().st_size < 1 << 24
    with pytest.raises(PilotError, match=r"kernel:0' has \d+ bytes; a pilot's part may have"):
        read_h5(linear_h5)
    monkeypatch.setattr("donkeysim.learn.files.header.PART_MOST", 1000)
    with pytest.raises(PilotError, match=r"'config\.json' has \d+ bytes; a pilot's part may have 1000"):
        load_pilot(tmp_path / "linear.keras")


def test_layers_that_go_round_in_a_circle_are_refused(linear_h5):
    def turn_round(config):
        find_layer(config, "conv2d_1")["inbound_nodes"] = [[["dense_1", 0, 0, {}]]]

    edit_config(linear_h5, turn_round)
    with pytest.raises(PilotError, match="not connected to an input"):
        read_h5(linear_h5)


def test_a_network_that_is_no_pilot_is_described(linear_h5):
    def drop_outputs(config):
        config["config"]["output_layers"] = [["dense_1", 0, 0]]

    edit_config(linear_h5, drop_outputs)
    with h5py.File(linear_h5, "r+") as file:
        del file.attrs["donkeysim"]
    with pytest.raises(PilotError, match=r"takes img_in\[120x160x3\] and gives dense_1\[100\]"):
        load_pilot(linear_h5)


def test_an_onnx_pilot_has_no_layers_to_train_further(tmp_path):
    path = tmp_path / "pilot.onnx"
    save_model(get_model("linear"), path, "linear", DefaultConfig)
    with pytest.raises(PilotError, match=r"give the \.h5 or \.keras file"):
        load_model(path)


def test_writing_replaces_the_file_whole_or_not_at_all(linear_h5, monkeypatch):
    before = linear_h5.read_bytes()

    def fail(network, path, header):
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("donkeysim.learn.files.keras_files.write_h5", fail)
    with pytest.raises(PilotError, match=r"cannot write .*linear\.h5: No space left on device"):
        save_model(get_model("linear"), linear_h5, "linear", DefaultConfig)
    assert linear_h5.read_bytes() == before
    assert os.listdir(linear_h5.parent) == ["linear.h5"]


def test_a_keras_file_opens_in_keras_itself(tmp_path):
    import keras

    path = tmp_path / "pilot.keras"
    save_model(get_model("memory", SmallConfig), path, "memory", SmallConfig)
    assert (
        keras.models.load_model(path, compile=False).count_params() == get_model("memory", SmallConfig).count_params()
    )
    with zipfile.ZipFile(path) as archive:
        assert json.loads(archive.read("donkeysim.json"))["kind"] == "memory"


HALF = struct.pack("<d", 127.5)
ONE = struct.pack("<d", 1.0)
COMPILED = {
    "3.5": (5, b"|\0\0d\1\0\x1bd\2\0\x18S", b")\3Ng" + HALF + b"g" + ONE),
    "3.7": (5, b"|\0d\1\x1b\0d\2\x18\0S\0", b")\3Ng" + HALF + b"\xe9\1\0\0\0"),
    "3.10": (6, b"|\0d\1\x1b\0d\2\x18\0S\0", b"\xa9\3N\xe7" + HALF + b"\xe7" + ONE),
    "3.12": (5, b"\x97\0|\0d\1z\x0b\0\0d\2z\x0a\0\0S\0", b")\3N\xe7" + HALF + b"\xe7" + ONE),
    "3.13": (5, b"\x95\0U\0S\1-\x0b\0\0S\2-\x0a\0\0$\0", b")\3N\xe7" + HALF + b"\xe7" + ONE),
    "2 * x": (6, b"d\1|\0\x14\0d\2\x18\0S\0", b")\3Ni\2\0\0\0i\1\0\0\0"),
}
"""What several Pythons make of `lambda x: x / 127.5 - 1`, and one of `lambda x: 2 * x - 1`: how many numbers come
before the steps, the steps, and the constants."""


def compile_by(name):
    """Return a compiled function as Keras keeps it."""
    count, steps, constants = COMPILED[name]
    numbers = struct.pack(f"<{count}I", 1, *[0] * (count - 1))
    return base64.encodebytes(b"\xe3" + numbers + struct.pack("<cI", b"s", len(steps)) + steps + constants).decode()


def put_lambda(path, function):
    """Make a Lambda of the Rescaling in a network."""

    def edit(config):
        layer = next(layer for layer in config["config"]["layers"] if layer["class_name"] == "Rescaling")
        layer["class_name"] = "Lambda"
        layer["config"] = {"name": layer["config"]["name"], "function": function, "function_type": "lambda"}

    edit_config(path, edit)


def make_stack(*first, units=2, size=(60, 80)):
    """Return a network of one's own with random weights."""
    keras = import_keras()
    layers = keras.layers
    rest = [layers.Conv2D(4, 5, strides=4, activation="relu"), layers.Flatten(), layers.Dense(units, name="commands")]
    model = keras.Sequential([keras.Input((*size, 3)), *[make(layers) for make in first], *rest])
    random = np.random.default_rng(3)
    for weight in model.weights:
        weight.assign(random.uniform(0.01, 0.1, weight.shape))
    return model


@pytest.mark.original("Pilots", "Lambda layers of sums, `x / 127.5 - 1`", "drive; others are refused, as they are code")
@pytest.mark.parametrize("name", COMPILED)
@pytest.mark.parametrize("is_new", [True, False])
def test_a_lambda_that_is_a_sum_is_read(name, is_new, tmp_path):
    scale = 2.0 if name == "2 * x" else 1.0 / 127.5
    model = make_stack(
        lambda layers: layers.Cropping2D(((20, 0), (0, 0))), lambda layers: layers.Rescaling(scale, -1.0)
    )
    model.save(tmp_path / "theirs.h5")
    code = compile_by(name)
    function = {"class_name": "__lambda__", "config": {"code": code}} if is_new else [code, None, None]
    put_lambda(tmp_path / "theirs.h5", function)
    picture = make_picture(3, (60, 80, 3))
    seen = picture / 255.0 if name == "2 * x" else picture
    expected = predict(model, seen[None].astype(np.float32))[0].ravel()
    assert load_pilot(tmp_path / "theirs.h5").run(picture) == pytest.approx(expected, rel=1e-4)
    (again,) = predict(load_model(tmp_path / "theirs.h5"), [picture[None].astype(np.float32) / 255.0])
    assert again == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(
    "function",
    [
        None,
        "preprocess_input",
        ["Y29kZQ==", None, None],
        ["no base64", None, None],
        *([base64.b64encode(marshal.dumps(compile(text, "", "eval").co_consts[0])).decode(), None, None] for text in (
            "lambda x: x * x",
            "lambda x, y=2: x / y",
            "lambda x: open(x)",
            "lambda x: x / 0.0",
            "lambda x: 3.0",
            "lambda x: -x",
        )),
    ],
)  # fmt: skip
def test_a_lambda_that_says_anything_else_is_refused(function, tmp_path):
    make_stack(lambda layers: layers.Rescaling(0.5)).save(tmp_path / "theirs.h5")
    put_lambda(tmp_path / "theirs.h5", function)
    with pytest.raises(PilotError, match="is a Lambda, whose code is never run here"):
        load_pilot(tmp_path / "theirs.h5")


FIRST = {"by 255": lambda layers: layers.Rescaling(1.0 / 255.0), "mean": lambda layers: layers.BatchNormalization()}


@pytest.mark.original("Pilots", "networks of one's own that look at 0 to 255", "drive")
@pytest.mark.parametrize("first", FIRST)
@pytest.mark.parametrize("ending", [".h5", ".keras"])
def test_a_network_that_scales_pictures_from_0_to_255_itself_gets_them(first, ending, tmp_path):
    model = make_stack(lambda layers: layers.Cropping2D(((20, 0), (0, 0))), FIRST[first])
    if first == "mean":
        model.layers[1].set_weights([np.full(3, value) for value in (1.0, 0.0, 120.0, 3600.0)])
    model.save(tmp_path / f"theirs{ending}")
    picture = make_picture(3, (60, 80, 3))
    expected = predict(model, picture[None].astype(np.float32))[0].ravel()
    pilot = load_pilot(tmp_path / f"theirs{ending}")
    assert pilot.run(picture) == pytest.approx(expected, rel=1e-4)
    written = write_lite(*read_network(tmp_path / f"theirs{ending}"), tmp_path / "theirs.h5", None)
    assert load_pilot(written[0]).run(picture) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("is_ours", [True, False])
def test_a_network_that_a_donkeycar_trained_gets_pictures_from_0_to_1_whatever_it_makes_of_them(is_ours, tmp_path):
    keras = import_keras()
    own = make_stack(FIRST["by 255"], units=8)
    x = own(picture := keras.Input((60, 80, 3), name="img_in"))
    model = keras.Model(picture, [keras.layers.Dense(1, name=f"n_outputs{number}")(x) for number in range(2)])
    if is_ours:
        model = own = make_stack(FIRST["by 255"])
        save_model(own, tmp_path / "a.h5", "linear", DefaultConfig)
    else:
        model.save(tmp_path / "a.h5")
    seen = make_picture(3, (60, 80, 3))
    expected = [float(x) for part in predict(model, seen[None].astype(np.float32) / 255.0) for x in np.ravel(part)]
    assert load_pilot(tmp_path / "a.h5").run(seen) == pytest.approx(expected, rel=1e-4)


def test_numbers_beside_the_picture_with_a_mean_above_1_are_left_as_they_are(tmp_path):
    keras = import_keras()
    numbers, picture = keras.Input((6,), name="imu_in"), keras.Input((24, 32, 3), name="img_in")
    normal = keras.layers.BatchNormalization()(numbers)
    seen = keras.layers.Flatten()(keras.layers.Conv2D(2, 5, strides=4)(picture))
    model = keras.Model([numbers, picture], keras.layers.Dense(2)(keras.layers.Concatenate()([normal, seen])))
    norm = next(layer for layer in model.layers if isinstance(layer, keras.layers.BatchNormalization))
    norm.set_weights([np.full(6, value) for value in (1.0, 0.0, 9.8, 4.0)])
    model.save(tmp_path / "imu.h5")
    image, channels = make_picture(3, (24, 32, 3)), np.arange(6, dtype=np.float32)
    (expected,) = predict(model, [channels[None], image[None].astype(np.float32) / 255.0])
    assert load_pilot(tmp_path / "imu.h5").run(image, *channels) == pytest.approx(expected, rel=1e-4)
