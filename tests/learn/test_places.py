"""Pilots carry the names of the places where they were trained: from the tub into every kind of file."""

import json
import subprocess
import sys

import numpy as np
import pytest

from donkeysim.learn.files.header import make_header, read_header, write_header
from donkeysim.learn.files.model_file import save_model
from donkeysim.learn.files.places import read_cars, read_places
from donkeysim.learn.pilot import BUILT_IN_PILOT, load_pilot
from donkeysim.learn.train import train
from donkeysim.tub.manifest import MANIFEST_NAME, Manifest, format_manifest, read_manifest
from donkeysim.tub.writer import TubWriter
from stand_ins.steered_tub import draw_post, make_config, write_steered_tub
from stand_ins.untrained_models import DefaultConfig, get_model, make_picture


def write_tub_of(path, *places):
    """A tub with a few records more, driven at these places."""
    write_steered_tub(path, 40)
    with TubWriter(path) as tub:
        tub.note_car(f"car of {path.name}")
        rng = np.random.default_rng(1)
        for place in places:
            record = {"cam/image_array": draw_post(0.5, rng), "user/angle": 0.5, "user/throttle": 0.2}
            tub.write_record({**record, "user/mode": "user"}, place)
    return path


def test_a_pilot_knows_the_places_of_its_tubs_and_of_the_pilot_it_began_with(tmp_path):
    tubs = [write_tub_of(tmp_path / "a", "oval", "ring"), write_tub_of(tmp_path / "b", "ring", "hall")]
    tubs.append(write_tub_of(tmp_path / "unknown"))
    result = train(make_config(tmp_path, CREATE_TF_LITE=True), tubs, tmp_path / "first.h5")
    assert result.places == ("oval", "ring", "hall")
    assert read_places(tmp_path / "first.h5") == read_places(tmp_path / "first.onnx") == result.places
    assert [read_places(path) for path in result.lite_paths] == [result.places] * 2
    assert result.cars == ("car of a", "car of b")  # in the unknown one nothing was driven
    assert all(read_cars(path) == result.cars for path in (tmp_path / "first.onnx", *result.lite_paths))
    later = write_tub_of(tmp_path / "later", "yard", "ring")
    train(make_config(tmp_path), later, tmp_path / "second.keras", transfer=tmp_path / "first.h5")
    assert read_places(tmp_path / "second.keras") == ("oval", "ring", "hall", "yard")
    assert read_cars(tmp_path / "second.keras") == ("car of a", "car of b", "car of later")


@pytest.mark.parametrize("ending", [".h5", ".keras", ".onnx", ".tflite"])
def test_every_kind_of_file_says_its_places_and_drives(tmp_path, ending):
    path = tmp_path / f"pilot{ending}"
    save_model(get_model("linear"), path, "linear", DefaultConfig, ["oval", "große Halle"])
    assert read_places(path) == ("oval", "große Halle")
    assert len(load_pilot(path).run(make_picture())) == 2
    content = path.read_bytes()
    for size in (0, 1, 100, len(content) // 2, len(content) - 40):
        path.write_bytes(content[:size])
        assert read_places(path) in ((), ("oval", "große Halle"))


def test_a_file_that_says_nothing_or_is_none_knows_no_places(tmp_path):
    save_model(get_model("linear"), tmp_path / "old.h5", "linear", DefaultConfig)
    assert read_places(tmp_path / "old.h5") == ()
    for name in ("text.onnx", "text.h5", "text.keras", "text.tflite", "text.txt"):
        (tmp_path / name).write_text("no pilot")
        assert read_places(tmp_path / name) == ()
    assert read_places(tmp_path / "missing.onnx") == ()


def test_reading_the_places_loads_no_library_that_runs_networks():
    program = (
        "import sys; from pathlib import Path; from donkeysim.learn.files.places import read_places; "
        f"print(read_places(Path({str(BUILT_IN_PILOT)!r})));"
        "print({'torch', 'keras', 'onnx', 'onnxruntime'} & {*sys.modules})"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert said.split("\n")[:2] == ["('generated_track',)", "set()"]


def test_a_pilot_of_the_time_when_our_places_had_the_originals_names_knows_ours():
    header = json.loads(write_header(make_header("linear", DefaultConfig, ["warren", "oval"])))
    assert read_header(json.dumps(header)).places == ("warren", "oval")
    assert read_header(json.dumps(header | {"format": 1})).places == ("carpet_hall", "oval")


def test_a_tub_of_that_time_knows_them_and_goes_on_with_the_names_of_now(tmp_path):
    manifest = Manifest(["a"], ["float"], own_metadata={"places": ["warren", "oval"]})
    assert manifest.places == ("carpet_hall", "oval")
    manifest.add_place("")
    assert manifest.own_metadata == {"places": ["warren", "oval"]}
    manifest.add_place("warren")
    assert manifest.places == ("carpet_hall", "oval", "warren")
    (tmp_path / MANIFEST_NAME).write_bytes(format_manifest(manifest))
    assert read_manifest(tmp_path).places == manifest.places
