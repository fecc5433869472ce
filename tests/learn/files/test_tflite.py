"""`.tflite` files: what lies in them, what an interpreter says, and what they cannot hold."""

import contextlib
import sys
from dataclasses import replace

import hypothesis
import numpy as np
import pytest
from ai_edge_litert.interpreter import Interpreter
from hypothesis import strategies

from donkeysim.core.errors import DonkeySimError, PilotError
from donkeysim.learn.files.header import make_header
from donkeysim.learn.files.model_file import make_model
from donkeysim.learn.files.network import Layer, Network
from donkeysim.learn.files.onnx_writer import make_onnx
from donkeysim.learn.files.session import OnnxSession, TfliteSession
from donkeysim.learn.files.tflite_metadata import read_metadata
from donkeysim.learn.files.tflite_values import GraphRunner, quantize_graph
from donkeysim.learn.files.tflite_writer import make_graph, make_tflite, pack_graph
from donkeysim.learn.lite import write_lite
from donkeysim.learn.pilot import load_pilot
from stand_ins.untrained_models import DefaultConfig, predict

RNG = np.random.default_rng(3)
LAST = ("Dense", {"units": 2, "activation": "linear"}, ((8, 2), (2,)))


def draw(*shapes):
    return tuple(RNG.normal(0.0, 0.4, shape).astype(np.float32) for shape in shapes)


def chain(shape, *rows, name="tiny"):
    """Layers one behind the other, each (class, settings, shapes of weights(, is for every picture))."""
    layers = [Layer("InputLayer", "img_in", {"shape": shape}, ())]
    for index, (class_name, settings, shapes, *is_each) in enumerate(rows):
        weights, sources = draw(*shapes), (layers[-1].name,)
        if class_name == "BatchNormalization":
            weights = tuple(np.abs(weight) + 0.5 for weight in weights)
        layer = Layer(class_name, f"layer_{index}", settings, sources, weights)
        if is_each:
            layer = Layer("TimeDistributed", f"each_{index}", {}, sources, weights, replace(layer, weights=()))
        layers.append(layer)
    return Network(name, tuple(layers), ("img_in",), (layers[-1].name,))


def conv(filters, size, depth, **settings):
    rank = len(size)
    plain = {"filters": filters, "kernel_size": size, "activation": "relu", **settings}
    return f"Conv{rank}D", plain, ((*size, depth, filters), (filters,))


FLAT = ("Flatten", {}, ())
EACH = ("Flatten", {}, (), True)
NETWORKS = {
    "padding": chain((7, 9, 3), ("ZeroPadding2D", {"padding": ((1, 0), (2, 1))}, ()), conv(4, (3, 3), 3, strides=2)),
    "cropping": chain((8, 6, 3), ("Cropping2D", {"cropping": ((2, 1), (0, 3))}, ()), conv(2, (2, 2), 3)),
    "same": chain((8, 7, 1), conv(3, (3, 2), 1, strides=(2, 3), padding="same", activation="tanh")),
    "dilated": chain((9, 9, 3), conv(3, (3, 3), 3, dilation_rate=2, activation="sigmoid")),
    "dilated same": chain((9, 9, 3), conv(3, (3, 3), 3, dilation_rate=2, padding="same")),
    "global most": chain((6, 5, 3), conv(8, (3, 2), 3, activation="linear"), ("GlobalMaxPooling2D", {}, ())),
    "pools": chain(
        (9, 8, 2), ("MaxPooling2D", {"pool_size": 2}, ()), ("AveragePooling2D", {"pool_size": 3, "padding": "same"}, ())
    ),
    "larger": chain((5, 7, 3), ("Resizing", {"height": 8, "width": 11}, ()), conv(2, (3, 3), 3)),
    "smaller": chain((9, 12, 1), ("Resizing", {"height": 4, "width": 5, "interpolation": "bilinear"}, ()), FLAT),
    "nearest": chain((9, 12, 2), ("Resizing", {"height": 3, "width": 24, "interpolation": "nearest"}, ()), FLAT),
    "scaled": chain((4, 5, 3), ("Rescaling", {"scale": 2.0, "offset": -1.0}, ()), conv(2, (3, 3), 3)),
    "scaled each": chain((4, 5, 3), ("Rescaling", {"scale": [2.0, 0.5, 3.0], "offset": [0.0, 1.0, -1.0]}, ()), FLAT),
    "average": chain((5, 4, 8), ("GlobalAveragePooling2D", {}, ()), LAST),
    "normal": chain((2, 3, 4), ("BatchNormalization", {}, ((4,),) * 4), ("Activation", {"activation": "relu"}, ())),
    "softmax": chain((2, 2, 2), FLAT, ("Dense", {"units": 5, "activation": "softmax"}, ((8, 5), (5,)))),
    "time": chain(
        (4, 6, 5, 2),
        conv(3, (3, 2, 2), 2, strides=(2, 1, 1), padding="same"),
        ("MaxPooling3D", {"pool_size": (2, 2, 1)}, ()),
        FLAT,
    ),
    "valid time": chain((5, 4, 4, 1), conv(2, (2, 3, 3), 1, activation="elu"), ("Cropping3D", {"cropping": 1}, ())),
    "depthwise": chain((9, 8, 3), conv(6, (3, 2), 1, groups=3, strides=(2, 2), padding="same")),
    "groups": chain((9, 8, 4), conv(6, (3, 2), 2, groups=2, activation="tanh")),
    "gru": chain(
        (3, 4, 4, 2),
        (*conv(3, (2, 2), 2), True),
        EACH,
        ("GRU", {"units": 6, "return_sequences": True, "use_bias": False}, ((27, 18), (6, 18))),
        ("GRU", {"units": 5, "reset_after": False, "return_sequences": True}, ((6, 15), (5, 15), (15,))),
        ("GRU", {"units": 8, "recurrent_activation": "hard_sigmoid"}, ((5, 24), (8, 24), (2, 24))),
        LAST,
    ),
    "copies": chain((5, 7, 3), ("UpSampling2D", {"size": (2, 3)}, ()), conv(2, (3, 3), 3)),
    "rows turned": chain(
        (8, 6, 2),
        ("Reshape", {"target_shape": (-1, 12)}, ()),
        conv(4, (3,), 12, padding="same"),
        ("MaxPooling1D", {"pool_size": 2}, ()),
        ("Permute", {"dims": (2, 1)}, ()),
        ("SimpleRNN", {"units": 8, "merge_mode": "sum"}, ((4, 8), (8, 8), (8,)) * 2),
        LAST,
    ),
    "rows": chain(
        (4, 6, 2), ("Reshape", {"target_shape": (-1, 12)}, ()), ("LSTM", {"units": 8}, ((12, 32), (8, 32), (32,))), LAST
    ),
    "lstm": chain(
        (3, 4, 4, 2),
        (*conv(3, (2, 2), 2), True),
        EACH,
        ("LSTM", {"units": 6, "return_sequences": True}, ((27, 24), (6, 24), (24,))),
        ("LSTM", {"units": 8, "recurrent_activation": "hard_sigmoid"}, ((6, 32), (8, 32), (32,))),
        LAST,
    ),
}
NETWORKS["valid time"].layers[-1].settings["cropping"] = ((1, 1), (0, 1), (0, 0))


@pytest.mark.parametrize("name", list(NETWORKS))
def test_every_layer_says_in_litert_what_it_says_in_keras(name, tmp_path):
    network = NETWORKS[name]
    picture = RNG.random((1, *network.layers[0].settings["shape"]), dtype=np.float32)
    expected = predict(make_model(network), [picture])[0]
    graph = make_graph(network)
    (computed,) = GraphRunner(graph).run({"img_in": picture}).values()
    run = Interpreter(model_content=pack_graph(graph, network.name, None)).get_signature_runner()
    (said,) = run(img_in=picture).values()
    assert said.shape == np.asarray(expected)[None].shape[-said.ndim :]
    assert np.abs(said - expected).max() <= 1e-5
    assert np.abs(computed - expected).max() <= 1e-5


@pytest.mark.parametrize("name", [name for name in NETWORKS if name not in ("valid time",)])
def test_integers_say_about_the_same(name):
    network = NETWORKS[name]
    shape = network.layers[0].settings["shape"]
    pictures = RNG.random((16, 1, *shape), dtype=np.float32)
    graph = make_graph(network)
    runner = GraphRunner(graph)
    expected = [next(iter(runner.run({"img_in": picture}).values())) for picture in pictures]
    file = pack_graph(quantize_graph(graph, runner.ranges), network.name, None)
    interpreter = Interpreter(model_content=file)
    kinds = {tensor["dtype"] for tensor in interpreter.get_tensor_details()}
    run = interpreter.get_signature_runner()
    said = [next(iter(run(img_in=picture).values())) for picture in pictures]
    span = max(float(np.ptp(expected)), 0.1)
    assert np.abs(np.array(said) - np.array(expected)).max() <= 0.06 * span
    assert np.int8 in kinds
    assert run.get_input_details()["img_in"]["dtype"] == np.float32


def test_outputs_keep_their_order_whatever_their_names(tmp_path):
    """Keras numbers its layers, and programs sort names as texts."""
    ends = [Layer("Dense", name, {"units": 1}, ("layer_0",), draw((8, 1), (1,))) for name in ("dense_9", "dense_10")]
    head = chain((2, 2, 2), FLAT)
    network = replace(head, layers=(*head.layers, *ends), outputs=("dense_9", "dense_10"))
    picture = RNG.integers(0, 256, (2, 2, 2), dtype=np.uint8)
    expected = np.ravel(predict(make_model(network), [picture[None].astype(np.float32) / 255.0]))
    said = TfliteSession(make_tflite(network, None), tmp_path / "pilot.tflite").run(picture, [])
    assert np.abs(np.ravel(said) - expected).max() <= 1e-5


def test_a_sequence_of_sequences_is_refused_in_one_sentence():
    network = chain((2, 3, 4), ("Conv1D", {"filters": 2, "kernel_size": 2}, ((2, 4, 2), (2,)), True))
    with pytest.raises(PilotError, match=r"the layer 'layer_0' is done to a sequence of sequences, which \.tflite"):
        make_tflite(network, None)


def test_what_divides_by_a_scatter_is_not_said_in_integers(tmp_path):
    network = chain((2, 2, 2), FLAT, ("LayerNormalization", {}, ((8,), (8,))), LAST)
    with pytest.raises(PilotError, match="a LayerNormalization cannot be said in 8-bit integers; write the"):
        write_lite(network, None, tmp_path / "pilot.tflite", object())


@pytest.mark.parametrize("name", list(NETWORKS))
def test_every_layer_says_in_onnx_what_it_says_in_keras(name, tmp_path):
    network = NETWORKS[name]
    picture = RNG.integers(0, 256, network.layers[0].settings["shape"], dtype=np.uint8)
    expected = predict(make_model(network), [picture[None].astype(np.float32) / 255.0])[0]
    (said,) = OnnxSession(make_onnx(network, None), tmp_path / "tiny.onnx").run(picture, [])
    assert np.abs(said.ravel() - expected.ravel()).max() <= 1e-5


@pytest.mark.original("Pilots", "`.tflite` for the original's app", "written; read with the extra `tflite`")
def test_a_file_has_the_names_that_the_originals_app_looks_for():
    head = Network(
        "memory",
        (
            Layer("InputLayer", "mem_in", {"shape": (6,)}, ()),
            Layer("InputLayer", "img_in", {"shape": (2, 2, 2)}, ()),
            Layer("Flatten", "flat", {}, ("img_in",)),
            Layer("Concatenate", "both", {"axis": -1}, ("flat", "mem_in")),
            Layer("Dense", "n_outputs0", {"units": 1}, ("both",), draw((14, 1), (1,))),
            Layer("Dense", "n_outputs1", {"units": 1}, ("both",), draw((14, 1), (1,))),
        ),
        ("mem_in", "img_in"),
        ("n_outputs0", "n_outputs1"),
    )
    interpreter = Interpreter(model_content=make_tflite(head, None))
    (signature,) = interpreter.get_signature_list().items()
    assert signature == ("serving_default", {"inputs": ["img_in", "mem_in"], "outputs": ["n_outputs0", "n_outputs1"]})
    names = [end["name"] for end in interpreter.get_input_details()]
    assert names == ["serving_default_img_in:0", "serving_default_mem_in:0"]
    assert [list(end["shape"]) for end in interpreter.get_output_details()] == [[1, 1], [1, 1]]


@pytest.mark.parametrize(
    ("layer", "reason"),
    [
        (conv(4, (1, 1), 2, activation="selu"), "activation 'selu', which .tflite files here cannot hold"),
        (conv(4, (1, 1), 2, padding="full"), "padding 'full'"),
        (conv(4, (1, 1), 5), "the file is broken"),
        (("Dense", {}, ()), "does not fit"),
        (("Resizing", {"height": 3, "width": 3, "interpolation": "bicubic"}, ()), "only bilinear and nearest"),
        (("BatchNormalization", {"axis": 1}, ((2,),) * 4), "only the last one"),
        (("Reshape", {"target_shape": (3, -1)}, ()), "of 8 numbers; the file is broken"),
    ],
)
def test_what_such_a_file_cannot_hold_is_refused_in_one_sentence(layer, reason):
    with pytest.raises(PilotError, match=reason) as caught:
        make_tflite(chain((2, 2, 2), layer), None)
    assert "\n" not in str(caught.value)


@pytest.fixture
def small(tmp_path):
    """A pilot that says its angle and throttle from eight bytes."""
    network = chain((2, 2, 2), FLAT, LAST)
    path = tmp_path / "small.tflite"
    path.write_bytes(make_tflite(network, make_header("linear", DefaultConfig, ["oval"])))
    return network, path


def test_a_pilots_picture_is_scaled_as_in_its_other_files(small):
    network, path = small
    picture = RNG.integers(0, 256, (2, 2, 2), dtype=np.uint8)
    session, other = TfliteSession(path.read_bytes(), path), OnnxSession(make_onnx(network, None), path)
    assert (session.image_shape, session.header.places) == ((2, 2, 2), ("oval",))
    assert np.abs(session.run(picture, [])[0] - other.run(picture, [])[0]).max() <= 1e-5
    assert load_pilot(path, "tflite_linear").kind == "linear"


def test_without_litert_one_sentence_says_how_to_install_it(small, monkeypatch):
    monkeypatch.setitem(sys.modules, "ai_edge_litert.interpreter", None)
    with pytest.raises(DonkeySimError, match=r"\.tflite file needs LiteRT; install it .*\[tflite\]"):
        load_pilot(small[1])


def test_a_broken_file_is_refused_wherever_it_breaks(small):
    content = small[1].read_bytes()
    for size in range(0, len(content), 70):
        small[1].write_bytes(content[:size])
        with pytest.raises(PilotError, match=r"small\.tflite"):
            load_pilot(small[1])


@hypothesis.given(strategies.integers(8, 2000), strategies.integers(1, 255))
@hypothesis.settings(
    max_examples=50, deadline=None, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture]
)
def test_a_hurt_file_is_read_or_refused(small, place, bits):
    content = bytearray(small[1].read_bytes())
    content[place % len(content)] ^= bits
    with contextlib.suppress(PilotError):
        read_metadata(bytes(content), "donkeysim")
