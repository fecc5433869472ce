"""Pictures reach a network in its size, from memory or from files, and broken ones are named."""

import logging

import numpy as np
import pytest

from donkeysim.car.config import make_default_config
from donkeysim.core.errors import DonkeySimError
from donkeysim.learn import pictures
from donkeysim.learn.pictures import PictureStore, make_preparation
from donkeysim.tub.reader import TubReader
from stand_ins.steered_tub import SIZE, write_steered_tub

SHAPE = (SIZE, SIZE, 3)
HALF = {"RESIZE_WIDTH": SIZE // 2, "RESIZE_HEIGHT": SIZE}


@pytest.fixture
def tub(tmp_path):
    write_steered_tub(tmp_path / "data", 12)
    return tmp_path / "data"


def load(tub, shape=SHAPE, transform=None, policy="ARRAY"):
    store = PictureStore(list(TubReader(tub)), shape, transform, policy)
    return store, store.load(lambda *_: None)


def test_every_policy_gives_the_same_pictures(tub):
    indexes = np.array([[3, 4], [0, 11]])
    arrays, files, nothing = (
        load(tub, policy=policy)[0].take_many(indexes) for policy in ("ARRAY", "BINARY", "NOCACHE")
    )
    assert arrays.shape == (2, 2, *SHAPE)
    assert np.array_equal(arrays, files)
    assert np.array_equal(arrays, nothing)


def test_only_the_policy_without_memory_reads_files_again(tub):
    stores = {policy: load(tub, policy=policy)[0] for policy in ("ARRAY", "BINARY", "NOCACHE")}
    for path in (tub / "images").iterdir():
        path.unlink()
    stores["ARRAY"].take(0)
    stores["BINARY"].take(0)
    with pytest.raises(DonkeySimError, match="cannot be read"):
        stores["NOCACHE"].take(0)


@pytest.mark.parametrize(("memory", "policy"), [(1 << 30, "ARRAY"), (300_000, "BINARY"), (1000, "NOCACHE")])
def test_less_is_kept_when_memory_is_short(tub, monkeypatch, caplog, memory, policy):
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(pictures, "find_available_memory", lambda: memory)
    assert load(tub)[0].policy == policy
    assert ("do not fit into memory" in caplog.text) == (policy != "ARRAY")


@pytest.mark.parametrize("content", [b"", b"\xff\xd8 no picture", b"text"])
def test_broken_pictures_are_skipped_and_named(tub, caplog, content):
    paths = sorted((tub / "images").iterdir())
    for path in paths[:7]:
        path.write_bytes(content)
    _, usable = load(tub)
    assert usable.sum() == 5
    assert caplog.text.count("skipped") == pictures.NAMED_PICTURES + 1
    assert "2 more broken pictures" in caplog.text
    assert "images" in caplog.text


def test_a_cut_off_picture_is_broken(tub):
    path = TubReader(tub)
    first = next(iter(path)).locate_image()
    first.write_bytes(first.read_bytes()[:300])
    assert not load(tub)[1][0]


def test_pictures_take_the_configured_size_and_depth(tub, caplog):
    caplog.set_level(logging.INFO)
    assert load(tub, (30, 40, 3))[0].take(0).shape == (30, 40, 3)
    assert "pictures of 80x80x3 are resized to 40x30" in caplog.text
    assert load(tub, (SIZE, SIZE, 1))[0].take(0).shape == (SIZE, SIZE, 1)


def test_transformations_of_another_size_are_refused(tub):
    with pytest.raises(DonkeySimError, match="give pictures of 40x80x3, but the pilot takes 80x80x3"):
        load(tub, transform=make_preparation(make_default_config(changes=HALF), ["RESIZE"], SHAPE))
