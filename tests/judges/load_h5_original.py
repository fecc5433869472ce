"""What the judge's interpreter runs for `load_h5.py`: only the original and TensorFlow, nothing of donkeysim.

python load_h5_original.py tensorflow|donkeycar|write|sequences FOLDER

* tensorflow: load ours_<kind>.h5, write the raw outputs for the inputs of inputs_<kind>.npz.
* donkeycar: load ours_<kind>.h5 into the original's pilot, write what its `run` says to the pictures one after another.
* write: save theirs_<kind>.h5 and .keras, trained for a step (so that they hold an optimizer), and
  what they say, raw and as pilots.
* sequences: save the kinds that look back in sequences/<kind>_<length>_<turn>.h5, again and again in this one process,
  and beside each what it says (.npz). Also "gates", the rnn with the LSTM of TensorFlow 1.
"""

import logging
import os
import sys
from pathlib import Path
from types import SimpleNamespace

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
os.environ["KERAS_BACKEND"] = "tensorflow"

import numpy as np
import tensorflow as tf

logging.disable(logging.WARNING)
KINDS = ("linear", "categorical", "inferred", "memory", "imu", "behavior", "localizer", "rnn", "3d")
CONFIG = SimpleNamespace(
    IMAGE_H=120,
    IMAGE_W=160,
    IMAGE_DEPTH=3,
    DEFAULT_MODEL_TYPE="linear",
    MODEL_CATEGORICAL_MAX_THROTTLE_RANGE=0.8,
    SEQUENCE_LENGTH=3,
    BEHAVIOR_LIST=["Left_Lane", "Right_Lane"],
    NUM_LOCATIONS=10,
)


def answer_raw(folder):
    for kind in KINDS:
        model = tf.keras.models.load_model(folder / f"ours_{kind}.h5", compile=False)
        np.save(folder / f"tensorflow_{kind}.npy", compute_outputs(model, kind, folder))


def compute_outputs(model, kind, folder):
    with np.load(folder / f"inputs_{kind}.npz") as inputs:
        rows = [inputs[name] for name in model.input_names]
    outputs = model(rows, training=False)
    outputs = outputs if isinstance(outputs, list) else [outputs]
    return np.concatenate([np.asarray(output) for output in outputs], axis=1)


def answer_as_pilot(folder):
    from donkeycar.utils import get_model_by_type

    for kind in KINDS:
        pilot = get_model_by_type(kind, CONFIG)
        pilot.load(str(folder / f"ours_{kind}.h5"))
        np.save(folder / f"donkeycar_{kind}.npy", drive(pilot, kind, folder))


def drive(pilot, kind, folder):
    pictures = np.load(folder / "pictures.npy")
    others = np.load(folder / f"others_{kind}.npy")
    rows = zip(pictures, others, strict=True)
    return np.array([[float(np.squeeze(x)) for x in pilot.run(image, *([o] if o.size else []))] for image, o in rows])


def vary_weight(weight, random, kind):
    """A greater kernel, so that outputs differ from picture to picture; a bias or a statistic that is not 0 or 1.

    The outputs of memory are bounded: much greater kernels would make them all say the bound.
    """
    factor = 1.3 if kind == "memory" else 1.7
    return weight * factor if weight.ndim > 1 else weight + random.normal(0.0, 0.1, weight.shape) ** 2


def write(folder):
    from donkeycar.utils import get_model_by_type

    random = np.random.default_rng(5)
    for kind in KINDS:
        pilot = get_model_by_type(kind, CONFIG)
        model = pilot.interpreter.model
        pilot.compile()
        inputs = [random.random((4, *tensor.shape[1:]), dtype=np.float32) for tensor in model.inputs]
        targets = [random.random((4, *tensor.shape[1:]), dtype=np.float32) for tensor in model.outputs]
        model.train_on_batch(inputs, targets)
        model.set_weights([vary_weight(weight, random, kind) for weight in model.get_weights()])
        model.save(folder / f"theirs_{kind}.h5")
        model.save(folder / f"theirs_{kind}.keras")
        np.save(folder / f"theirs_{kind}.npy", drive(pilot, kind, folder))
        np.save(folder / f"theirs_outputs_{kind}.npy", compute_outputs(model, kind, folder))


def write_sequences(folder):
    import donkeycar
    from donkeycar.parts import keras as parts

    (folder / "sequences").mkdir()
    versions = f"donkeycar {donkeycar.__version__}, TensorFlow {tf.__version__}"
    (folder / "sequences" / "versions.txt").write_text(versions)
    newer, older = parts.LSTM, tf.compat.v1.keras.layers.LSTM
    for turn in range(2):
        for length in (3, 5):
            for kind in ("rnn", "3d", "memory"):
                save_sequence(folder, kind, length, f"{kind}_{length}_{turn}")
            parts.LSTM = older
            save_sequence(folder, "rnn", length, f"gates_{length}_{turn}")
            parts.LSTM = newer


def save_sequence(folder, kind, length, name):
    from donkeycar.utils import get_model_by_type

    random = np.random.default_rng(length)
    pilot = get_model_by_type(kind, SimpleNamespace(**dict(vars(CONFIG), SEQUENCE_LENGTH=length)))
    model = pilot.interpreter.model
    pilot.compile()
    pictures = np.load(folder / "pictures.npy")
    if kind != "memory":
        pictures = np.stack([pictures[index : index + length] for index in range(len(pictures) - length + 1)])
    others = random.random((len(pictures), 2 * length if kind == "memory" else 0), dtype=np.float32)
    scaled = pictures.astype(np.float32) / 255.0
    inputs = [scaled, others] if kind == "memory" else scaled
    targets = [random.random((len(pictures), *tensor.shape[1:]), dtype=np.float32) for tensor in model.outputs]
    model.train_on_batch(inputs, targets if len(targets) > 1 else targets[0])
    model.set_weights([vary_weight(weight, random, kind) for weight in model.get_weights()])
    outputs = model(inputs, training=False)
    outputs = np.concatenate(outputs, axis=1) if isinstance(outputs, (list, tuple)) else np.asarray(outputs)
    model.save(str(folder / "sequences" / f"{name}.h5"))
    np.savez(folder / "sequences" / f"{name}.npz", pictures=pictures, others=others, outputs=outputs)


if __name__ == "__main__":
    questions = {"tensorflow": answer_raw, "donkeycar": answer_as_pilot, "write": write, "sequences": write_sequences}
    questions[sys.argv[1]](Path(sys.argv[2]))
