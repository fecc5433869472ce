"""Networks of every kind, built once per test run, with weights that make outputs differ from picture to picture."""

import functools
import random

import numpy as np

from donkeysim.learn.architectures import build_model
from donkeysim.learn.kinds import KINDS

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


def list_kinds():
    """Names of all kinds."""
    return tuple(KINDS)
