"""Networks of every kind, built once per test run, with weights that make outputs differ from picture to picture."""

import functools
import random

import numpy as np
import pytest

from donkeysim.learn.architectures import build_model
from donkeysim.learn.files.model_file import load_model, save_model
from donkeysim.learn.kinds import KINDS
from donkeysim.learn.pilot import load_pilot

PARAMETER_COUNTS = {
    "linear": 817_028,
    "categorical": 268_311,
    "inferred": 816_977,
    "memory": 817_266,
    "imu": 820_796,
    "behavior": 829_263,
    "localizer": 817_538,
    "rnn": 441_924,
    "3d": 950_274,
}

OTHER_WIDTHS = {"imu": 6, "behavior": 2}


class DefaultConfig:
    """A configuration that leaves every key at its default."""


class SmallConfig:
    """Grey pictures of 96x80, other lengths."""

    IMAGE_W, IMAGE_H, IMAGE_DEPTH = 96, 80, 1
    SEQUENCE_LENGTH = 4
    MEM_DEPTH = 1
    BEHAVIOR_LIST = ("left", "middle", "right")
    NUM_LOCATIONS = 5
    MODEL_CATEGORICAL_MAX_THROTTLE_RANGE = 0.5
    TRANSFORMATIONS = ("CROP",)


def get_model(kind, config=DefaultConfig):
    """The model of a kind; never change it."""
    return _build_once(kind, config)


@functools.cache
def _build_once(kind, config):
    state = random.getstate()
    random.seed(3)  # Keras asks Python's own generator: in one run of twenty a categorical pilot gave no throttle
    model = build_model(kind, config)
    random.setstate(state)
    rng = np.random.default_rng(3)
    for weight in model.weights:
        values = weight.numpy()
        weight.assign(values * 1.3 if values.ndim > 1 else values + rng.random(values.shape) * 0.05)
    return model


def make_picture(seed=0, shape=(120, 160, 3)):
    """Noise, uint8."""
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def predict(model, inputs):
    """The outputs of a model for arrays with a batch axis, as a list of arrays without it."""
    outputs = model(inputs, training=False)
    outputs = outputs if isinstance(outputs, list) else [outputs]
    return [output.detach().numpy()[0] for output in outputs]


READ_AND_WRITTEN = {".h5": (".keras", ".tflite"), ".keras": (".h5", ".onnx")}
"""What a network of either file is written as again: every kind once, as each of them takes a while."""


def check_files(model, seen, folder):
    """Assert that a network answers as Keras does when it was saved, and once more from all files it is written to.

    Returns:
        The layers that it is trained further with.
    """
    expected = np.concatenate([output.ravel() for output in predict(model, seen[None].astype(np.float32) / 255.0)])
    layers = []
    for ending, others in READ_AND_WRITTEN.items():
        model.save(folder / f"theirs{ending}")
        assert load_pilot(folder / f"theirs{ending}").run(seen) == pytest.approx(expected, abs=1e-5)
        again = load_model(folder / f"theirs{ending}")
        layers += again.layers
        for written in others:
            save_model(again, folder / f"ours{written}", "linear", SmallConfig)
            assert load_pilot(folder / f"ours{written}").run(seen) == pytest.approx(expected, abs=1e-5)
    return layers


def list_kinds():
    """Names of all kinds."""
    return tuple(KINDS)
