"""Judge our pilots' files by the original: TensorFlow 2.15 and donkeycar 5.3.0, each in an environment of its own.

python tests/judges/load_h5.py --tensorflow PYTHON --donkeycar PYTHON --sequences PYTHON --old PYTHON

Ours to theirs: every kind's `.h5` is loaded by TensorFlow and by the original's pilot classes and must say the same.
Theirs to ours: every kind's `.h5` and `.keras`, saved by the original after a training step, must say the same in ours.
The kinds that look back (rnn, 3d, memory) are also read from other versions: two lengths, and several models made in
one process, which TensorFlow numbers; `--sequences` are interpreters with any donkeycar from 5.0.0 on and TensorFlow
2.2 to 2.15, `--old` those with TensorFlow 1 or Keras 2.0 to 2.3. Where answers lie over 1 apart,
that is their unit.
Pictures are half noise, half taken by the simulator's camera. Ends with exit code 1 if anything differs by over 1e-4.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from donkeysim.learn.architectures import build_model
from donkeysim.learn.files.model_file import load_model, save_model
from donkeysim.learn.kinds import KINDS
from donkeysim.learn.pilot import load_pilot, open_session
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import WorldSpec

SCRIPT = Path(__file__).with_name("load_h5_original.py")
OLD_SCRIPT = Path(__file__).with_name("load_h5_old.py")
TOLERANCE = 1e-4
PICTURE_COUNT = 12


class Config:
    """The defaults."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tensorflow", help="interpreter that has TensorFlow 2.15")
    parser.add_argument("--donkeycar", help="interpreter that has donkeycar 5.3.0 and TensorFlow 2.15")
    parser.add_argument("--sequences", nargs="*", default=[], help="interpreters that have a donkeycar from 5.0.0 on")
    parser.add_argument("--old", nargs="*", default=[], help="interpreters that have TensorFlow 1 or Keras 2.0 to 2.3")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_questions(folder)
        worst = 0.0
        if arguments.tensorflow:
            ask(arguments.tensorflow, "tensorflow", folder)
            worst = max(worst, *(compare_ours(folder, kind) for kind in KINDS))
        if arguments.donkeycar:
            ask(arguments.donkeycar, "donkeycar", folder)
            ask(arguments.donkeycar, "write", folder)
            worst = max(worst, *(compare_pilots(folder, kind) for kind in KINDS))
        for interpreter in arguments.sequences:
            ask(interpreter, "sequences", folder)
            worst = max(worst, compare_sequences(folder))
        for interpreter in arguments.old:
            subprocess.run([interpreter, str(OLD_SCRIPT), str(folder)], check=True, stdout=subprocess.DEVNULL)
            worst = max(worst, compare_sequences(folder))
    print(f"greatest difference: {worst:.1e} ({'at most' if worst <= TOLERANCE else 'MORE THAN'} {TOLERANCE:.0e})")
    return int(worst > TOLERANCE)


def write_questions(folder: Path) -> None:
    random = np.random.default_rng(1)
    noise = random.integers(0, 256, (PICTURE_COUNT // 2, 120, 160, 3), dtype=np.uint8)
    pictures = np.concatenate([noise, take_pictures(PICTURE_COUNT - len(noise))])
    np.save(folder / "pictures.npy", pictures)
    for kind in KINDS:
        width = {"imu": 6, "behavior": 2}.get(kind, 0)
        others = random.random((PICTURE_COUNT, width), dtype=np.float32)
        np.save(folder / f"others_{kind}.npy", others)
        model = build_model(kind, Config)
        for weight in model.weights:
            weight.assign(vary_weight(weight.numpy(), random))
        save_model(model, folder / f"ours_{kind}.h5", kind, Config)
        np.savez(folder / f"inputs_{kind}.npz", **make_inputs(kind, pictures, others, random))


def vary_weight(weight: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """A greater kernel, so that outputs differ from picture to picture; a bias or a statistic that is not 0 or 1."""
    if weight.ndim > 1:
        return weight * np.float32(1.7)
    return weight + random.normal(0.0, 0.1, weight.shape).astype(np.float32) ** 2


def take_pictures(count: int) -> np.ndarray:
    """Pictures of a car that rolls along generated_track."""
    simulator = Simulator(WorldSpec())
    car = simulator.add_car()
    simulator.drive_car(car, 0.3, 0.3)
    pictures = []
    for _ in range(count):
        simulator.step(240)
        simulator.render([car])
        pictures.append(simulator.get_picture(car).copy())
    return np.stack(pictures)


def make_inputs(kind: str, pictures: np.ndarray, others: np.ndarray, random: np.random.Generator) -> dict:
    """The raw inputs of a network by name: pictures in [0, 1]."""
    scaled = pictures.astype(np.float32) / 255.0
    if KINDS[kind].history == "pictures":
        return {"img_in": np.stack([scaled[index : index + 3] for index in range(len(scaled) - 2)])}
    further = {"imu": "imu_in", "behavior": "xbehavior_in"}
    if kind in further:
        return {"img_in": scaled, further[kind]: others}
    if kind == "memory":
        return {"img_in": scaled, "mem_in": random.random((len(scaled), 6), dtype=np.float32)}
    return {"img_in": scaled}


def ask(interpreter: str, question: str, folder: Path) -> None:
    subprocess.run([interpreter, str(SCRIPT), question, str(folder)], check=True, stdout=subprocess.DEVNULL)


def compare_ours(folder: Path, kind: str) -> float:
    ours = compute_outputs(folder / f"ours_{kind}.h5", kind)
    return tell(f"{kind:12} our .h5 in TensorFlow, outputs", ours, np.load(folder / f"tensorflow_{kind}.npy"))


def compute_outputs(path: Path, kind: str) -> np.ndarray:
    """All outputs of the network in a file, side by side."""
    session = open_session(path)
    with np.load(path.with_name(f"inputs_{kind}.npz")) as inputs:
        image, *others = (inputs[port.name] for port in session.inputs)
    pictures = np.rint(image * 255.0).astype(np.uint8)
    rows = [session.run(picture, [other[row] for other in others]) for row, picture in enumerate(pictures)]
    return np.stack([np.concatenate(row) for row in rows])


def compare_pilots(folder: Path, kind: str) -> float:
    ours = drive(folder, kind, "ours", ".h5")
    differences = [tell(f"{kind:12} our .h5 in donkeycar", ours, np.load(folder / f"donkeycar_{kind}.npy"))]
    theirs, outputs = (np.load(folder / f"theirs{part}_{kind}.npy") for part in ("", "_outputs"))
    for ending in (".h5", ".keras"):
        differences.append(tell(f"{kind:12} its {ending} in ours", drive(folder, kind, "theirs", ending), theirs))
        ours = compute_outputs(folder / f"theirs_{kind}{ending}", kind)
        differences.append(tell(f"{kind:12} its {ending} in ours, outputs", ours, outputs))
    return max(differences)


def drive(folder: Path, kind: str, whose: str, ending: str) -> np.ndarray:
    pilot = load_pilot(folder / f"{whose}_{kind}{ending}")
    assert pilot.kind == kind, f"{whose}_{kind}{ending} was taken for {pilot.kind}"
    pictures, others = np.load(folder / "pictures.npy"), np.load(folder / f"others_{kind}.npy")
    return np.array([pilot.run(image, *([o] if o.size else [])) for image, o in zip(pictures, others, strict=True)])


def compare_sequences(folder: Path) -> float:
    """Read all files in the folder `sequences` as pilots and as models to train further, and remove them."""
    kinds: dict[str, list[tuple[np.ndarray, ...]]] = {}
    for path in sorted((folder / "sequences").glob("*.h5")):
        with np.load(path.with_suffix(".npz")) as asked:
            pictures, others, theirs = asked["pictures"], asked["others"], asked["outputs"]
        kinds.setdefault(path.name.split("_")[0], []).append((theirs, *answer_both(path, pictures, others)))
    print((folder / "sequences" / "versions.txt").read_text())
    shutil.rmtree(folder / "sequences")
    return max(tell_both(kind, rows) for kind, rows in kinds.items())


def answer_both(path: Path, pictures: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The outputs of a file in onnxruntime and in Keras."""
    session, model = open_session(path), load_model(path)
    rows = [session.run(picture, [o] if o.size else []) for picture, o in zip(pictures, others, strict=True)]
    scaled = pictures.astype(np.float32) / 255.0
    outputs = model([scaled, others] if others.size else [scaled], training=False)
    outputs = outputs if isinstance(outputs, list) else [outputs]
    trained = np.concatenate([output.detach().cpu().numpy() for output in outputs], axis=1)
    return np.stack([np.concatenate(row) for row in rows]), trained


def tell_both(kind: str, files: list[tuple[np.ndarray, ...]]) -> float:
    """Print and return the greatest difference in a list of files, in units of a file's spread where that is over 1."""
    spreads = [float(np.ptp(theirs, axis=0).max()) for theirs, *_ in files]
    driven, trained = (
        max(float(np.abs(row[0] - row[i]).max()) / max(1.0, spread) for row, spread in zip(files, spreads, strict=True))
        for i in (1, 2)
    )
    spread = min(spreads)
    print(f"  {kind:8} {len(files)} files, spread {spread:.3f}, driven {driven:.1e}, trained further {trained:.1e}")
    return max(driven, trained)


def tell(what: str, ours: np.ndarray, theirs: np.ndarray) -> float:
    """Print and return the greatest difference."""
    assert ours.shape == theirs.shape, f"{what}: {ours.shape} against {theirs.shape}"
    difference = float(np.abs(ours - theirs).max())
    print(f"{what:40} {len(ours)} answers, spread {np.ptp(theirs, axis=0).max():.3f}, differ by {difference:.1e}")
    return difference


if __name__ == "__main__":
    sys.exit(main())
