"""Augmentations change pictures at random, within their range, in training only."""

import numpy as np
import pytest

from donkeysim.core.errors import SpecError
from donkeysim.learn.batches import Examples, iterate_batches, make_augmentation
from stand_ins.steered_tub import make_config


def make(folder, *names, **changes):
    return make_augmentation(make_config(folder, AUGMENTATIONS=list(names), **changes))


def run_often(augment, picture, count=400):
    rng = np.random.default_rng(0)
    return [augment(picture, rng) for _ in range(count)]


def test_nothing_asked_for_is_nothing_done(tmp_path):
    assert make(tmp_path) is None


def test_brightness_stays_in_its_range_and_touches_half_of_the_pictures(tmp_path):
    grey = np.full((4, 5, 3), 100, dtype=np.uint8)
    levels = np.array([picture.mean() for picture in run_often(make(tmp_path, "BRIGHTNESS"), grey)])
    assert 0.4 < np.mean(levels == 100) < 0.6
    assert levels.min() >= 100 * 0.8 - 51 - 1
    assert levels.max() <= 100 * 1.2 + 51 + 1
    assert levels.std() > 10


def test_a_pair_of_brightnesses_is_a_range(tmp_path):
    grey = np.full((4, 5, 3), 100, dtype=np.uint8)
    brighter = make(tmp_path, "BRIGHTNESS", AUG_BRIGHTNESS_RANGE=(0.1, 0.2))
    levels = np.array([picture.mean() for picture in run_often(brighter, grey)])
    assert set(levels[levels < 135]) == {100.0}  # half of the pictures stay; 110 + 25 is the least of the others
    assert levels.max() <= 100 * 1.2 + 51 + 1


def test_brightness_ends_at_black_and_white(tmp_path):
    picture = np.array([[[0, 255, 128]]], dtype=np.uint8)
    for changed in run_often(make(tmp_path, "BRIGHTNESS", AUG_BRIGHTNESS_RANGE=0.9), picture, 50):
        assert changed[0, 0, 0] <= changed[0, 0, 2] <= changed[0, 0, 1]


@pytest.mark.original("Configuration and car folders", "augmentations of donkeycar 4 (`MULTIPLY`)", "as it is")
def test_multiply_changes_every_picture_within_its_range(tmp_path):
    grey = np.full((4, 5, 3), 100, dtype=np.uint8)
    levels = np.array([picture.mean() for picture in run_often(make(tmp_path, "MULTIPLY"), grey)])
    assert (levels.min() >= 50, levels.max() <= 150) == (True, True)
    assert (levels.min() < 53, levels.max() > 147) == (True, True)
    far = run_often(make(tmp_path, "MULTIPLY", AUG_MULTIPLY_RANGE=(3.0, 4.0)), grey, 5)
    assert {picture.max() for picture in far} == {255}


def test_a_crop_among_the_augmentations_is_that_of_the_transformations(tmp_path):
    picture = np.random.default_rng(1).integers(1, 256, (120, 160, 3), dtype=np.uint8)
    for changed in run_often(make(tmp_path, "CROP", ROI_CROP_TOP=30), picture, 5):
        assert not changed[:30].any()
        assert np.array_equal(changed[30:], picture[30:])


def test_blur_smooths_and_keeps_the_mean(tmp_path):
    picture = np.random.default_rng(1).integers(0, 256, (40, 40, 3), dtype=np.uint8)
    changed = [result for result in run_often(make(tmp_path, "BLUR"), picture, 60) if result.std() != picture.std()]
    assert len(changed) > 15
    assert min(result.std() for result in changed) < 0.3 * picture.std()
    assert all(abs(result.mean() - picture.mean()) < 2 for result in changed)


def test_a_grey_picture_keeps_its_axis(tmp_path):
    picture = np.random.default_rng(1).integers(0, 256, (40, 40, 1), dtype=np.uint8)
    assert {result.shape for result in run_often(make(tmp_path, "BLUR", "BRIGHTNESS"), picture, 20)} == {(40, 40, 1)}


@pytest.mark.parametrize(("key", "value"), [("AUG_BRIGHTNESS_RANGE", 1.5), ("AUG_BLUR_RANGE", (3, 1))])
def test_impossible_ranges_are_refused_by_their_key(tmp_path, key, value):
    with pytest.raises(SpecError, match=key):
        make(tmp_path, "BRIGHTNESS", "BLUR", **{key: value})


class Store:
    """Pictures of one grey each, the number of the record."""

    def take_many(self, indexes):
        return np.broadcast_to(indexes[..., None, None, None], (*indexes.shape, 2, 2, 3)).astype(np.uint8)


def make_numbered(count, augment=None):
    numbers = np.arange(count, dtype=np.float32)[:, None]
    empty = np.zeros((count, 0), dtype=np.float32)
    rows = np.arange(count)[:, None]
    return Examples(Store(), rows, False, empty, {"angle": numbers}, augment=augment)


def list_epoch(examples, epoch, seed=0):
    batches = list(iterate_batches(examples, 16, seed, epoch))
    return np.concatenate([batch.pictures[:, 0, 0, 0] for batch in batches]), batches


def test_an_epoch_has_each_example_once_in_an_order_of_its_own():
    examples = make_numbered(50)
    first, second, again = (list_epoch(examples, epoch)[0] for epoch in (1, 2, 1))
    assert sorted(first) == list(range(50))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, second)
    assert not np.array_equal(first, list_epoch(examples, 1, seed=5)[0])
    assert np.array_equal(list_epoch(examples, None)[0], np.arange(50))


def test_pictures_and_targets_stay_together():
    for batch in list_epoch(make_numbered(50), 3)[1]:
        assert np.array_equal(batch.pictures[:, 0, 0, 0], batch.targets["angle"][:, 0])


def test_augmentations_are_drawn_anew_in_every_epoch(tmp_path):
    examples = make_numbered(50, make(tmp_path, "BRIGHTNESS"))
    first, second = (np.sort(list_epoch(examples, epoch)[0]) for epoch in (1, 2))
    assert not np.array_equal(first, np.arange(50))
    assert not np.array_equal(first, second)


def test_a_failure_while_gathering_reaches_the_caller():
    class Broken:
        def take_many(self, indexes):
            raise SpecError("no picture")

    examples = Examples(Broken(), np.arange(4)[:, None], False, np.zeros((4, 0), np.float32), {})
    with pytest.raises(SpecError, match="no picture"):
        list(iterate_batches(examples, 2, 0, 1))
