"""Asks the original about `.tflite` files: donkeycar 5.3.0, TensorFlow 2.15 and tflite-runtime; nothing of donkeysim.

python load_tflite.py cars|write FOLDER

* cars: run ours_<kind>.tflite and ours_<kind>.int8.tflite. What TensorFlow's Keras says to ours_<kind>.h5, and what its
  interpreter and that of a Raspberry Pi say, raw, go to raw_<kind>.npz, with what a file in integers says that
  TensorFlow made itself; what the original's pilots say to the pictures one after another to pilot_<kind>.npy and
  pilot_<kind>.int8.npy.
* write: convert the original's own pilots to theirs_<kind>.tflite, and note what its pilots say with these files
  (theirs_<kind>.npy), or nothing where its runtime does not take them.
"""

import sys
from pathlib import Path

import numpy as np
import tensorflow as tf
import tflite_runtime.interpreter as runtime
from donkeycar.parts.interpreter import keras_to_tflite
from donkeycar.utils import get_model_by_type
from load_h5_original import CONFIG, KINDS, compute_outputs, drive, vary_weight


def run_cars(folder):
    for kind in KINDS:
        model = tf.keras.models.load_model(folder / f"ours_{kind}.h5", compile=False)
        said = {"keras": compute_outputs(model, kind, folder)}
        for name, make in (("tensorflow", tf.lite.Interpreter), ("runtime", runtime.Interpreter)):
            for form in ("", ".int8"):
                interpreter = make(model_path=str(folder / f"ours_{kind}{form}.tflite"))
                said[name + form] = run_rows(interpreter, kind, folder, model.output_names)
        if kind not in ("rnn", "3d"):  # made of operations that no interpreter has
            interpreter = tf.lite.Interpreter(model_content=convert_to_integers(model, kind, folder))
            said["theirs.int8"] = run_rows(interpreter, kind, folder, model.output_names)
        np.savez(folder / f"raw_{kind}.npz", **said)
        for form in ("", ".int8"):
            pilot = get_model_by_type(f"tflite_{kind}", CONFIG)
            pilot.load(str(folder / f"ours_{kind}{form}.tflite"))
            np.save(folder / f"pilot_{kind}{form}.npy", drive(pilot, kind, folder))


def convert_to_integers(model, kind, folder):
    """Return the file in integers that TensorFlow makes of a model, for the same questions as ours."""

    def list_examples():
        with np.load(folder / f"inputs_{kind}.npz") as inputs:
            rows = {name: inputs[name] for name in inputs.files}
        for index in range(len(rows["img_in"])):
            yield {name: values[index : index + 1] for name, values in rows.items()}

    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = list_examples
    return converter.convert()


def run_rows(interpreter, kind, folder, names):
    run = interpreter.get_signature_runner()
    with np.load(folder / f"inputs_{kind}.npz") as inputs:
        rows = {name: inputs[name] for name in inputs.files}
    count = len(next(iter(rows.values())))
    said = [run(**{name: values[index : index + 1] for name, values in rows.items()}) for index in range(count)]
    return np.array([np.concatenate([row[name][0] for name in names]) for row in said])


def write(folder):
    random = np.random.default_rng(5)
    for kind in KINDS:
        path = str(folder / f"theirs_{kind}.tflite")
        model = get_model_by_type(kind, CONFIG).interpreter.model
        model.set_weights([vary_weight(weight, random, kind) for weight in model.get_weights()])
        keras_to_tflite(model, path)
        pilot = get_model_by_type(f"tflite_{kind}", CONFIG)
        try:
            pilot.load(path)
            np.save(folder / f"theirs_{kind}.npy", drive(pilot, kind, folder))
        except (RuntimeError, ValueError) as error:
            print(f"the original cannot run its own {kind}: {str(error).splitlines()[0]}", file=sys.stderr)


if __name__ == "__main__":
    {"cars": run_cars, "write": write}[sys.argv[1]](Path(sys.argv[2]))
