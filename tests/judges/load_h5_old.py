"""What an interpreter with Keras 2.0 to 2.3, or else TensorFlow 1, runs for `load_h5.py`: nothing of donkeysim.

python load_h5_old.py FOLDER

The rnn and 3d of donkeycar 3, which was never on PyPI, are stacks of layers: the rnn's LSTM has what that Keras gives
it by default. Files and answers lie in sequences/ as those of `load_h5_original.py sequences`. Python 3.6 and newer.
"""

import os
import sys
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["KERAS_BACKEND"] = "tensorflow"

import numpy as np

try:
    import keras
except ImportError:
    from tensorflow import keras

layers = keras.layers


def build_rnn(length):
    each = layers.TimeDistributed
    stack = [each(layers.Conv2D(24, 5, strides=2, activation="relu"), input_shape=(length, 120, 160, 3))]
    for size, stride in ((5, 2), (3, 2), (3, 1)):
        stack += [each(layers.Dropout(0.3)), each(layers.Conv2D(32, size, strides=stride, activation="relu"))]
    stack += [each(layers.MaxPooling2D()), each(layers.Flatten()), each(layers.Dense(100, activation="relu"))]
    stack += [layers.LSTM(128, return_sequences=True, name="LSTM_seq"), layers.Dropout(0.1)]
    stack += [layers.LSTM(128, name="LSTM_fin"), layers.Dropout(0.1)]
    stack += [layers.Dense(units, activation="relu") for units in (128, 64, 10)]
    return keras.models.Sequential([*stack, layers.Dense(2, name="model_outputs")])


def build_3d(length):
    stack = [layers.Cropping3D(((0, 0), (50, 10), (0, 0)), input_shape=(length, 120, 160, 3))]
    for filters, strides in ((16, (1, 3, 3)), (32, 1), (64, 1), (128, 1)):
        stack += [layers.Conv3D(filters, 3, strides=strides, padding="same"), layers.Activation("relu")]
        stack.append(layers.MaxPooling3D((1, 2, 2)))
    stack.append(layers.Flatten())
    for _ in range(2):
        stack += [layers.Dense(256), layers.BatchNormalization(), layers.Activation("relu"), layers.Dropout(0.5)]
    return keras.models.Sequential([*stack, layers.Dense(2)])


def vary_weight(weight, random, factor):
    """A greater kernel, so that outputs differ from picture to picture; a bias or a statistic that is not 0 or 1."""
    return weight * factor if weight.ndim > 1 else weight + random.normal(0.0, 0.1, weight.shape) ** 2


def save(model, length, pictures, factor, base):
    random = np.random.RandomState(length)
    model.compile(optimizer="rmsprop", loss="mse")
    pictures = np.stack([pictures[index : index + length] for index in range(len(pictures) - length + 1)])
    scaled = pictures.astype(np.float32) / 255.0
    model.train_on_batch(scaled, random.random_sample((len(pictures), 2)))
    model.set_weights([vary_weight(weight, random, factor) for weight in model.get_weights()])
    model.save(base + ".h5")
    others = np.zeros((len(pictures), 0), dtype=np.float32)
    np.savez(base + ".npz", pictures=pictures, others=others, outputs=model.predict(scaled))


def write(folder):
    pictures = np.load(str(folder / "pictures.npy"))
    (folder / "sequences").mkdir()
    (folder / "sequences" / "versions.txt").write_text("Keras " + keras.__version__)
    for turn in range(2):
        for length in (3, 5):
            for kind, build, factor in (("rnn", build_rnn, 1.7), ("3d", build_3d, 1.2)):
                save(build(length), length, pictures, factor, str(folder / "sequences" / f"{kind}_{length}_{turn}"))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
