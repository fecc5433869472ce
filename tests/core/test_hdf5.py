"""Data of other files in an HDF5 file are found, wherever they are and however they got there."""

import h5py
import numpy as np
import pytest

from donkeysim.core.errors import PilotError, TubError
from donkeysim.core.files import find_outside_data
from donkeysim.learn.files.keras_files import read_h5
from donkeysim.tub.formats.convert import convert


def link(group, other):
    group["linked"] = h5py.ExternalLink(str(other), "/secret")


def store_outside(group, other):
    group.create_dataset("stored", (4,), "u1", external=[(str(other), 0, 4)])


def make_virtual(group, other):
    layout = h5py.VirtualLayout(shape=(4,), dtype="u1")
    layout[:] = h5py.VirtualSource(str(other), "/secret", shape=(4,))
    group.create_virtual_dataset("virtual", layout)


WAYS = [(link, "linked"), (store_outside, "stored"), (make_virtual, "virtual")]


@pytest.fixture
def other(tmp_path):
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["secret"] = np.arange(4, dtype="u1")
    return tmp_path / "other.h5"


@pytest.mark.parametrize(("way", "name"), WAYS)
def test_data_of_another_file_are_found_at_any_depth(tmp_path, other, way, name):
    with h5py.File(tmp_path / "own.h5", "w") as file:
        inner = file.create_group("a/b")
        inner["plain"], file["soft"] = np.arange(3), h5py.SoftLink("/a/b/plain")
        inner["round"] = file["a"]
        assert find_outside_data(file) == ""
        way(inner, other)
        assert find_outside_data(file) in (f"/a/b/{name}", f"/a/b/round/b/{name}")


@pytest.mark.parametrize(("way", "name"), WAYS)
def test_a_pilot_and_a_dataset_with_such_data_are_refused(tmp_path, other, way, name):
    with h5py.File(tmp_path / "pilot.h5", "w") as file:
        way(file.create_group("model_weights"), other)
    with pytest.raises(PilotError, match=f"the numbers of '/model_weights/{name}' are in another file"):
        read_h5(tmp_path / "pilot.h5")


@pytest.mark.parametrize(("way", "name"), WAYS)
def test_a_minari_dataset_with_such_data_is_refused(tmp_path, other, minari_dataset, way, name):
    with h5py.File(minari_dataset / "data/main_data.hdf5", "a") as file:
        way(file["episode_0"], other)
    with pytest.raises(TubError, match=f"the data of '/episode_0/{name}' are in another file"):
        convert(minari_dataset, tmp_path / "tub", "tub")
    assert not (tmp_path / "tub").exists()


@pytest.fixture
def minari_dataset(tmp_path):
    from tub.drives import write_tub

    convert(write_tub(tmp_path / "data", 4), tmp_path / "drive-v0", "minari")
    return tmp_path / "drive-v0"
