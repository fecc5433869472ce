"""`donkey evaluate --real`: pilots beside recorded drives of every size and format, and what cannot be judged."""

import json
import logging

import numpy as np
import pytest
from PIL import Image

from donkeysim.cli.donkey import run
from donkeysim.learn import real_drives
from donkeysim.learn.architectures import build_model
from donkeysim.learn.files.header import HEADER_KEY, make_header
from donkeysim.learn.files.keras_files import write_h5
from donkeysim.learn.files.model_file import save_model
from donkeysim.learn.files.network import Layer, Network
from donkeysim.tub.formats.convert import convert
from donkeysim.tub.writer import TubWriter
from stand_ins.steered_tub import CHANNELS, SIZE, make_config, write_steered_tub

COUNT = 60


class TinyConfig:
    IMAGE_W, IMAGE_H, IMAGE_DEPTH = 2, 2, 3


def write_pilot(path, sign=1.0, config=TinyConfig):
    """Write a pilot that steers to the brighter side of the picture, or with -1 to the other."""
    across = sign * np.tile(np.repeat([-1.0, 1.0], 3), 2)[:, np.newaxis] / 6.0
    layers = (
        Layer("InputLayer", "img_in", {"shape": (2, 2, 3)}, ()),
        Layer("Flatten", "flattened", {}, ("img_in",)),
        Layer("Dense", "n_outputs0", {"units": 1}, ("flattened",), (across, np.zeros(1))),
        Layer("Dense", "n_outputs1", {"units": 1}, ("flattened",), (np.zeros((12, 1)), np.full(1, 0.3))),
    )
    network = Network("linear", layers, ("img_in",), ("n_outputs0", "n_outputs1"))
    write_h5(network, path, make_header("linear", config))
    return str(path)


def draw_sides(angle, height=24, width=32):
    """A picture whose sides differ in brightness by the angle."""
    picture = np.full((height, width, 3), round(127 - 120 * angle / 2), np.uint8)
    picture[:, width // 2 :] = round(127 + 120 * angle / 2)
    return picture


def make_angles(count=COUNT):
    return 0.9 * np.sin(np.arange(count) / 3.0)


def write_drive(path, angles=None, **size):
    names, kinds = zip(*CHANNELS, strict=True)
    with TubWriter(path, names, kinds) as tub:
        for angle in make_angles() if angles is None else angles:
            picture = draw_sides(angle, **size)
            tub.write_record(dict(zip(names, (picture, float(angle), 0.3, "user"), strict=True)))
    return path


def write_old_drive(path):
    path.mkdir()
    for number, angle in enumerate(make_angles()):
        Image.fromarray(draw_sides(angle)).save(path / f"{number}_cam.png")
        record = {"cam/image_array": f"{number}_cam.png", "user/angle": angle, "user/throttle": 0.3}
        (path / f"record_{number}.json").write_text(json.dumps(record))
    return path


def write_grey_drive(path):
    write_drive(path)
    for file in (path / "images").iterdir():
        Image.open(file).convert("L").save(file)
    return path


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """The working folder; and the ceilings that were trained are kept in another than the user's."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda *_, **__: str(tmp_path / "cache"))


def read_drives(name="real.json"):
    with open(name, encoding="utf-8") as file:
        return json.load(file)["drives"]


def evaluate(*words):
    return run(["evaluate", *map(str, words)])


def test_several_pilots_on_several_drives(tmp_path, capsys):
    pilots = [write_pilot(tmp_path / "good.h5"), write_pilot(tmp_path / "mirrored.h5", -1.0)]
    drives = [write_drive(tmp_path / "one"), write_drive(tmp_path / "two", make_angles(30), height=60, width=160)]
    assert evaluate("--model", *pilots, "--real", *drives, "--ceiling", 0) == 0
    said = capsys.readouterr().out
    assert "mirrored: It steers to the other side" in said
    assert "Pictures of 160x60 are stretched to 2x2 for good" in said
    found = read_drives()
    assert [drive["records"] for drive in found] == [60, 30]
    for drive in found:
        floor, good, mirrored = drive["rows"]
        assert (floor["role"], floor["correlation"]) == ("floor", 0.0)
        assert good["correlation"] > 0.99
        assert good["right_side"] == 1.0
        assert mirrored["correlation"] < -0.99
        assert len(good["worst"]) == (3 if drive["records"] == 60 else 1)
    page = (tmp_path / "real.html").read_text(encoding="utf-8")
    assert page.count("<section>") == 2
    assert page.count("data:image/jpeg;base64,") == sum(
        len(row["worst"]) for drive in found for row in drive["rows"][1:]
    )
    assert "Where mirrored is most wrong" in page


@pytest.mark.parametrize("kind", ["old", "grey", "lerobot", "minari", "mcap", "parquet"])
def test_drives_of_all_formats_are_read(kind, tmp_path):
    if kind == "old":
        drive = write_old_drive(tmp_path / "drive")
    elif kind == "grey":
        drive = write_grey_drive(tmp_path / "drive")
    else:
        drive = tmp_path / {"mcap": "drive.mcap", "parquet": "drive.parquet"}.get(kind, "drive-v0")
        convert(write_drive(tmp_path / "data"), drive, kind)
    assert evaluate("--model", write_pilot(tmp_path / "p.h5"), "--real", drive, "--ceiling", 0) == 0
    (found,) = read_drives()
    assert found["records"] == COUNT
    assert found["rows"][1]["correlation"] > 0.99
    assert ("grey" in found["picture"]) == (kind == "grey")


def test_the_ceiling_is_trained_once_on_each_half_and_how_long_that_takes_is_told(tmp_path, monkeypatch, caplog):
    caplog.set_level(logging.INFO, "donkeysim")
    (tmp_path / "small.py").write_text(f"IMAGE_W = IMAGE_H = {SIZE}\nBATCH_SIZE = 16\nMAX_EPOCHS = 3\n")
    write_steered_tub(tmp_path / "data", 240)
    save_model(build_model("linear", make_config(tmp_path)), tmp_path / "p.onnx", "linear", make_config(tmp_path))
    trained = []
    train = real_drives.train

    def count(config, *words, **others):
        trained.append(config)
        return train(config, *words, **others)

    monkeypatch.setattr(real_drives, "train", count)
    words = ("--config", "small.py", "--model", "p.onnx", "--real", "data")
    for _ in range(2):
        assert evaluate(*words) == 0
        assert len(trained) == 2
        assert caplog.text.count("for the ceiling, up to 3 min each; --ceiling 0 leaves that out") == 1
    (tmp_path / "data" / "images" / "3_cam_image_array_.jpg").unlink()
    trained.clear()
    assert evaluate(*words, "--ceiling", "1e-9") == 0
    (first,), (second,), (third,) = (read_drives(name) for name in ("real.json", "real_2.json", "real_3.json"))
    assert [row["role"] for row in first["rows"]] == ["floor", "pilot", "ceiling"]
    assert first["rows"] == second["rows"]
    assert (third["skipped"]["no_picture"], third["records"], len(trained)) == (1, 239, 2)
    assert [first["rows"][0]["way"], first["rows"][2]["way"]] == [None, None]
    assert first["rows"][2]["error"] < first["rows"][0]["error"]


def test_a_short_drive_has_no_ceiling(tmp_path, capsys):
    assert evaluate("--model", write_pilot(tmp_path / "p.h5"), "--real", write_drive(tmp_path / "data")) == 0
    said = capsys.readouterr().out
    assert "No ceiling: 60 records are too few for a ceiling" in said
    assert "record 200 or more" in said


def test_a_pilot_that_was_trained_with_transformations_is_pointed_out(tmp_path, capsys, caplog):
    class Cropping(TinyConfig):
        TRANSFORMATIONS = ("CROP",)

    write_pilot(tmp_path / "p.h5", config=Cropping)
    assert evaluate("--model", "p.h5", "--real", write_drive(tmp_path / "data"), "--ceiling", 0) == 0
    sentence = "was trained with CROP, but is shown pictures with no transformations"
    assert f"p {sentence}" in capsys.readouterr().out
    assert f"p.h5 {sentence}" in caplog.text, "as in drives"


def test_of_a_pilot_of_donkeycar_nobody_says_what_it_was_trained_with(tmp_path, capsys):
    """Its file does not tell; that it was trained without transformations would be a guess."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(write_pilot(tmp_path / "p.h5"), "r+") as file:
        del file.attrs[HEADER_KEY]
    (tmp_path / "config.py").write_text("TRANSFORMATIONS = ['RESIZE']\nRESIZE_WIDTH = RESIZE_HEIGHT = 2\n")
    words = ("--model", "p.h5", "--real", write_drive(tmp_path / "data"), "--ceiling", 0, "--config", "config.py")
    assert evaluate(*words) == 0
    assert "was trained with" not in capsys.readouterr().out


def write_without_pictures(path):
    for file in (write_drive(path) / "images").iterdir():
        file.unlink()


def write_broken(path):
    for number, file in enumerate(sorted((write_drive(path) / "images").iterdir())):
        if number % 2:
            file.write_bytes(file.read_bytes()[:100])


def write_unsteered(path):
    names, kinds = zip(*CHANNELS[:1], strict=True)
    with TubWriter(path, names, kinds) as tub:
        tub.write_record({names[0]: draw_sides(0.0)})


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda path: None, "there is no tub"),
        (lambda path: path.mkdir(), "no drive: it has no manifest.json"),
        (lambda path: write_drive(path, []), "no record of data can be judged: 0 records"),
        (write_without_pictures, "60 records without a picture that can be read"),
        (write_unsteered, "1 without the driver's command"),
        (lambda path: path.write_bytes(b"nothing"), "neither MCAP nor Parquet"),
    ],
)
def test_what_cannot_be_judged_is_refused_in_a_sentence(make, sentence, tmp_path, capsys):
    make(tmp_path / "data")
    assert evaluate("--model", write_pilot(tmp_path / "p.h5"), "--real", "data", "--ceiling", 0) == 1
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1
    assert not (tmp_path / "real.html").exists()


def test_broken_pictures_are_skipped_and_counted(tmp_path, capsys):
    write_broken(tmp_path / "data")
    assert evaluate("--model", write_pilot(tmp_path / "p.h5"), "--real", "data", "--ceiling", 0) == 0
    assert "30 records without a readable picture skipped" in capsys.readouterr().out
    assert read_drives()[0]["records"] == 30


def test_one_record_is_enough(tmp_path):
    write_drive(tmp_path / "data", [0.5])
    assert evaluate("--model", write_pilot(tmp_path / "p.h5"), "--real", "data") == 0
    assert read_drives()[0]["rows"][1]["right_side"] == 1.0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--real", "data", "--model", "nowhere.onnx"], "nowhere.onnx"),
        (["--real", "data", "--laps", "3"], "--laps is for driving in the simulator"),
        (["--real", "data", "--stress"], "--stress is for driving in the simulator"),
        (["--real", "data", "--ceiling", "-1"], "--ceiling -1 is not valid"),
        (["--real", "data", "--ceiling", "nan"], "--ceiling nan is not valid"),
        (["--real", "data", "--out", "real.txt"], "ends in .html"),
        (["--ceiling", "1"], "--ceiling is for --real"),
    ],
)
def test_wrong_words_are_refused_before_anything_is_read(words, sentence, tmp_path, capsys):
    write_drive(tmp_path / "data", [0.5])
    assert evaluate(*words) != 0
    assert sentence in capsys.readouterr().err
