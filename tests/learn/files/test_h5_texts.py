"""Damaged .h5 files are refused, or know no places; HDF5 would never come back from some of them."""

import zipfile

import h5py
import numpy as np
import pytest

from donkeysim.core.errors import PilotError
from donkeysim.learn.files.header import HEADER_KEY, make_header
from donkeysim.learn.files.keras_files import check_heaps, read_h5, read_keras, read_root_text, write_h5
from donkeysim.learn.files.network import Layer, Network
from donkeysim.learn.files.places import read_places
from stand_ins.untrained_models import DefaultConfig

LAYERS = (
    Layer("InputLayer", "img_in", {"shape": (2, 2, 3)}, ()),
    Layer("Flatten", "flattened", {}, ("img_in",)),
    Layer("Dense", "n_outputs0", {"units": 1}, ("flattened",), (np.ones((12, 1)), np.zeros(1))),
)


@pytest.fixture
def pilot(tmp_path):
    path = tmp_path / "pilot.h5"
    header = make_header("inferred", DefaultConfig, ["oval", "große Halle"])
    write_h5(Network("linear", LAYERS, ("img_in",), ("n_outputs0",)), path, header)
    return path


def find_free_room(content):
    """Where the size of the room left in the first heap stands."""
    at = content.find(b"GCOL") + 16
    while number := int.from_bytes(content[at : at + 2], "little"):
        assert number < 100
        at += 16 + -(-int.from_bytes(content[at + 8 : at + 16], "little") // 8) * 8
    return at + 8


@pytest.mark.timeout(30, method="thread")
def test_a_file_in_whose_heap_hdf5_would_step_on_by_nothing_is_refused(pilot):
    content = bytearray(pilot.read_bytes())
    at = find_free_room(content)
    content[at : at + 8] = bytes(8)
    pilot.write_bytes(content)
    assert read_places(pilot) in ((), ("oval", "große Halle"))
    with pytest.raises(PilotError, match=r"pilot\.h5: it is broken at byte \d+: an object of its heap has 0 bytes\."):
        read_h5(pilot)
    with zipfile.ZipFile(pilot.with_suffix(".keras"), "w") as archive:
        archive.writestr("config.json", '{"class_name": "Functional", "config": {"name": "a", "layers": []}}')
        archive.writestr("metadata.json", '{"keras_version": "3.0.0"}')
        archive.writestr("model.weights.h5", bytes(content))
    with pytest.raises(PilotError):
        read_keras(pilot.with_suffix(".keras"))


def test_a_type_of_numbers_where_a_layer_has_its_weights_is_refused(pilot):
    with h5py.File(pilot, "a") as file:
        layer = file["model_weights/n_outputs0"]
        name = layer.attrs["weight_names"][0]
        del layer[name]
        layer[name] = np.dtype("f4")
    with pytest.raises(PilotError, match="holds no numbers"):
        read_h5(pilot)


@pytest.mark.parametrize("text", ["short", "ü" * 70_000, "", np.bytes_(b"fixed")])
def test_texts_are_read_as_h5py_reads_them(tmp_path, text):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        for number in range(20):
            file.attrs[f"other {number}"] = "another text" * number
        file.attrs[HEADER_KEY] = text
        file.attrs["number"] = 3
    expected = bytes(text) if isinstance(text, bytes) else text.encode()
    with path.open("rb") as file:
        assert (read_root_text(file, HEADER_KEY) or b"") == expected
        assert read_root_text(file, "number") is None
        assert read_root_text(file, "none") is None
    check_heaps(path.read_bytes())


def test_a_file_of_a_later_layout_knows_no_places(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w", libver="latest") as file:
        file.attrs[HEADER_KEY] = "text"
    assert read_places(tmp_path / "a.h5") == ()


def test_a_file_damaged_anywhere_says_its_places_or_none(pilot):
    content = pilot.read_bytes()
    for at in [index for index, byte in enumerate(content) if byte][::3]:
        damaged = bytearray(content)
        damaged[at] ^= 0xFF
        pilot.write_bytes(damaged)
        assert all(isinstance(place, str) for place in read_places(pilot))
