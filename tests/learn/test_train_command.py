"""`donkey train` and `donkey models` in a car folder: what they write, print and end with."""

import io
import json
import runpy
import signal
import subprocess
import sys

import numpy as np
import pytest
from rich.console import Console

from donkeysim.car.folder import create_car
from donkeysim.cli.commands import train
from donkeysim.cli.donkey import run
from donkeysim.learn.files.header import make_header
from donkeysim.learn.files.keras_files import write_h5
from donkeysim.learn.files.network import Layer, Network
from donkeysim.learn.files.places import read_places
from stand_ins.steered_tub import SIZE, write_steered_tub
from stand_ins.untrained_models import DefaultConfig

SMALL = f"IMAGE_W = {SIZE}\nIMAGE_H = {SIZE}\nBATCH_SIZE = 32\nMAX_EPOCHS = 1\n"


LAYERS = (
    Layer("InputLayer", "img_in", {"shape": (2, 2, 3)}, ()),
    Layer("Flatten", "flattened", {}, ("img_in",)),
    Layer("Dense", "n_outputs0", {"units": 1}, ("flattened",), (np.ones((12, 1)), np.zeros(1))),
)


@pytest.fixture
def car(tmp_path, monkeypatch):
    """A car folder with a small tub, which is the working folder."""
    folder = tmp_path / "car"
    create_car(folder, say=lambda text: None)
    (folder / "myconfig.py").write_text(SMALL)
    write_steered_tub(folder / "data", 40)
    monkeypatch.chdir(folder)
    return folder


def test_the_pages_command_trains(car, capsys):
    assert run(["train", "--tub", "./data", "--model", "models/mypilot.h5"]) == 0
    said = capsys.readouterr().out
    assert "Epoch 1/1: loss" in said
    assert "mypilot.onnx" in said
    assert sorted(path.name for path in (car / "models").iterdir()) == [
        "database.json",
        "mypilot.h5",
        "mypilot.int8.tflite",
        "mypilot.onnx",
        "mypilot.png",
        "mypilot.tflite",
    ]


def test_without_tubs_all_drives_of_a_folder_are_learnt_from(car, capsys):
    for number in (1, 2):
        write_steered_tub(car / f"disk/tub_{number}_26-01-01", 20)
    (car / "myconfig.py").write_text(SMALL + "DATA_PATH = 'disk'\n")
    assert run(["train", "--model", "models/mypilot.h5"]) == 0
    (entry,) = json.loads((car / "models" / "database.json").read_text())
    assert entry["Tubs"].count("26-01-01") == 2


def test_the_bar_names_what_is_going_on(monkeypatch):
    from donkeysim.learn.fit import EpochResult  # Keras takes seconds, which the other workers need not spend

    bars = []

    class KeptProgress(train.Progress):
        def __init__(self, *columns, **options):
            super().__init__(*columns, **options)
            bars.append(self)

    monkeypatch.setattr(train, "Progress", KeptProgress)
    monkeypatch.setattr(train, "console", Console(file=io.StringIO(), force_terminal=True))
    named = []
    with train.show_training() as (report, tell):
        for total, number in ((3, 0), (2, 1), (2, 2)):
            for done in range(1, total + 1):
                report(done, total)
                named.append(bars[0].tasks[0].description)
            if number:
                tell(EpochResult(number, {"loss": 1.0, "val_loss": 1.0}, False, 100.0, 100))
        named.append(bars[0].tasks[0].description)  # files are still to be written
    assert named == ["Pictures"] * 3 + ["Epoch 1"] * 2 + ["Epoch 2"] * 3


def test_models_writes_an_earlier_pilot_for_a_car(car, capsys):
    network = Network("linear", LAYERS, ("img_in",), ("n_outputs0",))
    (car / "models").mkdir(exist_ok=True)
    write_h5(network, car / "models/tiny.h5", make_header("inferred", DefaultConfig, ["oval"]))
    assert run(["models", "--tflite", "models/tiny.h5"]) == 0
    assert "Wrote models/tiny.tflite" in capsys.readouterr().out.replace("\\", "/")
    assert read_places(car / "models/tiny.tflite") == ("oval",)
    assert run(["models", "--tflite", "models/tiny.h5"]) == 0, "its own file is written anew"
    for words, sentence in (
        (["--tflite", "models/tiny.tflite"], "give the .h5 or .keras file"),
        (["--tub", "data"], "--tub goes with --tflite FILE"),
        (["--tflite", "models/tiny.h5", "--tub", "data"], "the pilot takes 2x2x3, but the tub"),
    ):
        assert run(["models", *words]) == 1
        assert sentence in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("content", [b"", b"\x1c\0\0\0TFL3" + bytes(64), b"\x1c\0\0\0TFL3"])
def test_models_keeps_a_file_that_somebody_else_wrote(car, capsys, content):
    network = Network("linear", LAYERS, ("img_in",), ("n_outputs0",))
    (car / "models").mkdir(exist_ok=True)
    write_h5(network, car / "models/tiny.h5", make_header("inferred", DefaultConfig, ["oval"]))
    (car / "models/tiny.tflite").write_bytes(content)
    assert run(["models", "--tflite", "models/tiny.h5"]) == 1
    assert "is there already and not of donkeysim, so it is kept" in " ".join(capsys.readouterr().err.split())
    assert (car / "models/tiny.tflite").read_bytes() == content


def test_models_lists_what_was_trained(car, capsys):
    assert run(["models"]) == 0
    assert "No pilot has been trained" in capsys.readouterr().out
    assert run(["train", "--tub", "data", "--comment", "first try", "--framework", "tensorflow"]) == 0
    said = capsys.readouterr().out
    assert "Keras on PyTorch" in said
    assert run(["models", "--group"]) == 0
    said = capsys.readouterr().out
    assert "tub_group_1" in said
    assert "linear" in said


def test_train_py_of_the_car_folder_is_the_same(car, monkeypatch):
    words = ["--tubs=data", "--model=models/p.h5", "--type=inferred", "--comment=c"]
    monkeypatch.setattr(sys, "argv", ["train.py", *words])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path("train.py", run_name="__main__")
    assert ended.value.code == 0
    (entry,) = json.loads((car / "models" / "database.json").read_text())
    assert (entry["Type"], entry["Comment"], entry["Name"]) == ("inferred", "c", "p.h5")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--tub", "nowhere"], "there is no tub"),
        (["--type", "lineal"], "did you mean 'linear'?"),
        (["--model", "models/p.trt"], "not as .trt; give --model"),
        (["--transfer", "models/no.h5"], "there is no pilot"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_code_1(car, capsys, words, sentence):
    assert run(["train", "--tub", "data", *words]) == 1
    said = capsys.readouterr().err
    assert sentence in said
    assert "Traceback" not in said


@pytest.mark.soak
@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to one process")
def test_ctrl_c_ends_training_with_the_best_pilot_so_far(car):
    (car / "myconfig.py").write_text(SMALL.replace("MAX_EPOCHS = 1", "MAX_EPOCHS = 100000\nUSE_EARLY_STOP = False"))
    words = [sys.executable, "-m", "donkeysim", "train", "--tub", "data", "--model", "models/p.h5"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("Epoch 2/"):
                process.send_signal(signal.SIGINT)
                break
        said, complained = process.communicate(timeout=60)
    assert process.returncode == 130, complained
    assert "Stopped by Ctrl-C; the best pilot so far was kept." in said
    assert "Traceback" not in complained
    assert (car / "models" / "p.h5").is_file()
    assert (car / "models" / "p.onnx").is_file()
