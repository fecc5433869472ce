"""Pilots as `.tflite`: judged by TensorFlow, the original and its car, and driven; results are printed as JSON lines.

TFLITE_PYTHON names an interpreter (Python 3.11 at most) that has donkeycar 5.3.0, tensorflow-cpu 2.15, tflite-runtime
and opencv-python-headless below 4.12; without it an environment is made, which needs the internet.
"""

import json
import os
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from donkeysim.cli.donkey import run
from donkeysim.core.errors import PilotError
from donkeysim.drive.sample import record_sample
from donkeysim.learn.files.header import make_header
from donkeysim.learn.files.model_file import read_network
from donkeysim.learn.files.session import TfliteSession
from donkeysim.learn.files.tflite_values import GraphRunner, quantize_graph
from donkeysim.learn.files.tflite_writer import make_graph, pack_graph
from donkeysim.learn.kinds import KINDS
from donkeysim.learn.pilot import load_pilot
from donkeysim.tub.reader import TubReader
from e2e.simulator_process import SimulatorProcess
from judges.load_h5 import Config, write_questions
from soak.test_datasets import find_python

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]

TESTS = Path(__file__).parents[1]
JUDGE = TESTS / "judges/load_tflite.py"
NEEDS = ("donkeycar==5.3.0", "tensorflow-cpu==2.15.*", "tflite-runtime", "opencv-python-headless<4.12")
TOLERANCE = 1e-5
BINS = ("categorical", "behavior")
OWN = """
DONKEY_GYM = True
DONKEY_SIM_PATH = "remote"
DONKEY_GYM_ENV_NAME = "donkey-generated-track-v0"
WEB_INIT_MODE = "local"
WEB_CONTROL_PORT = 18887
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    return find_python(tmp_path_factory.mktemp("original"), "TFLITE_PYTHON", *NEEDS)


def ask(python, question, folder):
    done = subprocess.run([python, JUDGE, question, folder], capture_output=True, text=True, env=plain_environment())
    assert done.returncode == 0, done.stderr[-2000:]
    print("\n".join(line for line in done.stderr.splitlines() if line.startswith("the original cannot")))


def plain_environment(**variables):
    return {**{name: value for name, value in os.environ.items() if name != "PYTHONPATH"}, **variables}


def write_files(folder, kind):
    """Write a pilot's `.h5` once more as both files for cars; its integers are made for the questions themselves."""
    network, _ = read_network(folder / f"ours_{kind}.h5")
    graph, header = make_graph(network), make_header(kind, Config)
    runner = GraphRunner(graph)
    with np.load(folder / f"inputs_{kind}.npz") as inputs:
        rows = {name: inputs[name] for name in inputs.files}
    count = len(next(iter(rows.values())))
    chosen = ({name: values[index : index + 1] for name, values in rows.items()} for index in range(count))
    said = [runner.run(row) for row in chosen]
    (folder / f"ours_{kind}.tflite").write_bytes(pack_graph(graph, network.name, header))
    integers = pack_graph(quantize_graph(graph, runner.ranges), network.name, header)
    (folder / f"ours_{kind}.int8.tflite").write_bytes(integers)
    return np.array([np.concatenate([row[name][0] for name in network.outputs]) for row in said])


def drive(pilot, folder, kind):
    rows = zip(np.load(folder / "pictures.npy"), np.load(folder / f"others_{kind}.npy"), strict=True)
    return np.array([pilot.run(picture, *([other] if other.size else [])) for picture, other in rows])


def measure(said, expected):
    """Greatest difference; where answers lie over 1 apart, that is the unit."""
    return float((np.abs(said - expected).max(axis=0) / np.maximum(np.ptp(expected, axis=0), 1.0)).max())


def test_every_kind_says_the_same_in_every_runtime_and_in_the_originals_pilots(python, tmp_path):
    write_questions(tmp_path)
    computed = {kind: write_files(tmp_path, kind) for kind in KINDS}
    ask(python, "cars", tmp_path)
    for kind in KINDS:
        with np.load(tmp_path / f"raw_{kind}.npz") as raw:
            said = {name: raw[name] for name in raw.files}
        expected = said.pop("keras")
        figures = {name: measure(values, expected) for name, values in said.items()}
        figures["computed"] = measure(computed[kind], expected)
        ours = drive(load_pilot(tmp_path / f"ours_{kind}.tflite"), tmp_path, kind)
        figures["litert"] = measure(ours, drive(load_pilot(tmp_path / f"ours_{kind}.h5"), tmp_path, kind))
        figures["pilot"] = measure(np.load(tmp_path / f"pilot_{kind}.npy"), ours)
        print(json.dumps({"kind": kind, **{name: float(f"{value:.1e}") for name, value in figures.items()}}))
        integers = {name: value for name, value in figures.items() if name.endswith("int8")}
        assert max(value for name, value in figures.items() if name not in integers) <= TOLERANCE
        assert max(integers.values()) <= max(1.5 * integers.get("theirs.int8", 0.0), 0.1)  # kernels are random
        coarse = drive(load_pilot(tmp_path / f"ours_{kind}.int8.tflite"), tmp_path, kind)
        if kind not in BINS:  # a bin is another one or not
            assert measure(np.load(tmp_path / f"pilot_{kind}.int8.npy"), coarse) <= 0.1


def test_files_that_the_original_makes_drive_here(python, tmp_path):
    write_questions(tmp_path)
    ask(python, "write", tmp_path)
    for kind in KINDS:
        path = tmp_path / f"theirs_{kind}.tflite"
        if kind in ("rnn", "3d"):  # made of operations that only a whole TensorFlow has
            with pytest.raises(PilotError, match=r"donkey models --tflite"):
                load_pilot(path, f"tflite_{kind}")
            continue
        said = drive(load_pilot(path, f"tflite_{kind}"), tmp_path, kind)
        difference = measure(said, np.load(path.with_suffix(".npy")))
        print(json.dumps({"theirs": kind, "difference": float(f"{difference:.1e}")}))
        assert difference <= TOLERANCE


@pytest.fixture(scope="module")
def car(tmp_path_factory):
    """A car folder with a tub of an expert's laps and a pilot that learned from them."""
    folder = tmp_path_factory.mktemp("home") / "car"
    assert run(["createcar", "--path", str(folder)]) == 0
    with (folder / "myconfig.py").open("a", encoding="utf-8") as file:
        file.write("MAX_EPOCHS = 12\nUSE_EARLY_STOP = False\n")
    record_sample(folder / "data", lap_count=6)
    before = Path.cwd()
    os.chdir(folder)
    try:
        assert run(["train", "--tub", "data", "--model", "models/mypilot.h5"]) == 0
        yield folder
    finally:
        os.chdir(before)


def test_both_files_drive_laps_and_integers_are_near_and_quick(car, capsys):
    trained = (car / "models/mypilot.int8.tflite").read_bytes()
    assert run(["models", "--tflite", "models/mypilot.h5", "--tub", "data"]) == 0
    assert (car / "models/mypilot.int8.tflite").read_bytes() == trained
    sessions = {name: open_file(car, name) for name in ("mypilot.tflite", "mypilot.int8.tflite")}
    pictures = [record.load_image() for record in TubReader(car / "data")][::5]
    said, times = {}, {name: [] for name in sessions}
    for picture in pictures:  # by turns, as the machine is not always as fast
        for name, session in sessions.items():
            begun = time.thread_time()  # others work here, too
            said.setdefault(name, []).append(np.concatenate(session.run(picture, [])))
            times[name].append(time.thread_time() - begun)
    exact, coarse = map(np.array, said.values())
    medians = [float(np.median(values)) for values in times.values()]
    error = np.abs(coarse - exact)
    figures = {
        "records": len(pictures),
        "mean_error": [round(float(value), 5) for value in error.mean(axis=0)],
        "greatest_error": [round(float(value), 5) for value in error.max(axis=0)],
        "milliseconds": [round(1e3 * value, 3) for value in medians],
        "latency_ratio": round(medians[0] / medians[1], 2),
        "bytes": [(car / "models" / name).stat().st_size for name in sessions],
    }
    with capsys.disabled():
        print("\n" + json.dumps(figures))
    assert error[:, 0].mean() <= 0.01
    for name in sessions:
        assert run(["evaluate", "--model", f"models/{name}", "--laps", "3"]) == 0
        with capsys.disabled():
            print(capsys.readouterr().out)


def open_file(car, name):
    path = car / "models" / name
    return TfliteSession(path.read_bytes(), path)


@pytest.mark.parametrize("name", ["mypilot.tflite", "mypilot.int8.tflite"])
def test_a_car_folder_of_the_original_drives_laps_with_them(python, car, name, tmp_path):
    script = "from donkeycar.management.base import execute_from_command_line as run; run()"
    folder = tmp_path / "car"
    subprocess.run([python, "-c", script, "createcar", "--path", folder], check=True, env=plain_environment())
    with (folder / "myconfig.py").open("a", encoding="utf-8") as file:
        file.write(OWN)
    log = tmp_path / "drive.log"
    with SimulatorProcess() as simulator:
        words = [python, "manage.py", "drive", "--model", car / "models" / name, "--type", "tflite_linear"]
        address = ":".join(map(str, simulator.address))
        path = os.pathsep.join(map(str, (TESTS / "judges/original_gym", TESTS)))
        environment = plain_environment(SIM_ADDRESS=address, DRIVE_LOG=str(log), PYTHONPATH=path)
        with (tmp_path / "manage.log").open("w") as output:
            app = subprocess.Popen(words, cwd=folder, env=environment, stdout=output, stderr=output)
            try:
                steps = wait_for_laps(app, log, 2)
            finally:
                app.kill()  # the original's app may not end by itself while a part of it waits
                app.wait(60)
    greatest = max(abs(step["cte"]) for step in steps)
    print(json.dumps({"original_drives": name, "laps": steps[-1]["laps"], "cte_greatest_m": round(greatest / 8, 3)}))
    assert greatest / 8 < 0.3


def wait_for_laps(app, log, count, seconds=600.0):
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        assert app.poll() is None, (log.parent / "manage.log").read_text()[-2000:]
        lines = log.read_text().splitlines()[:-1] if log.exists() else []
        steps = [json.loads(line) for line in lines]
        if steps and len(steps[-1]["laps"]) >= count:
            return steps
        time.sleep(1.0)
    raise AssertionError(f"no {count} laps in {seconds} s: {(log.parent / 'manage.log').read_text()[-2000:]}")
