"""Records become examples: which, in which order, and what is said about those that are of no use."""

import json
import logging
import shutil
import sys

import numpy as np
import pytest

from donkeysim.car.config import load_config
from donkeysim.core.errors import DonkeySimError
from donkeysim.learn.dataset import make_examples, make_targets, make_vectors, read_records, split_examples
from donkeysim.learn.kinds import PilotSpec, get_kind
from stand_ins.steered_tub import write_steered_tub
from tub.mixed import delete_range

SPEC = PilotSpec(image_shape=(80, 80, 3))


@pytest.fixture(scope="module")
def tub(tmp_path_factory):
    path = tmp_path_factory.mktemp("tubs") / "data"
    write_steered_tub(path, 20, has_sensors=True)
    return path


def read(paths, kind="linear", keep=None):
    return read_records(paths, get_kind(kind), keep)


def list_examples(table, kind="linear", usable=None):
    usable = np.ones(len(table.records), dtype=bool) if usable is None else usable
    return make_examples(table, usable, get_kind(kind), SPEC)


def test_all_tubs_are_read_in_order(tub, tmp_path):
    other = write_steered_tub(tmp_path / "other", 5, seed=9)
    table = read([tub, tmp_path / "other"])
    assert len(table.records) == 25
    assert table.angle[20:] == pytest.approx(other)


@pytest.mark.original("Programs and other files", "`TRAIN_FILTER`", "as it is")
def test_a_filter_of_the_original_leaves_records_out(tub, caplog):
    caplog.set_level(logging.INFO)
    table = read([tub], keep=lambda record: record.underlying["user/angle"] > 0 and record.underlying["_index"] > 3)
    assert table.angle.min() > 0
    assert "TRAIN_FILTER left out" in caplog.text


def test_steering_in_other_units_is_told(tub, tmp_path, caplog):
    """As tubs have it that were made of degrees, of percents or of a servo's pulses."""
    read([tub])
    assert "goes from" not in caplog.text
    copy = shutil.copytree(tub, tmp_path / "data")
    catalog = copy / "catalog_0.catalog"
    lines = map(json.loads, catalog.read_text().splitlines())
    catalog.write_text("".join(json.dumps({**line, "user/angle": 45.0 * line["user/angle"]}) + "\n" for line in lines))
    read([copy])
    assert "the steering goes from -" in caplog.text
    assert "but a car takes -1 to 1" in caplog.text
    assert "the throttle goes" not in caplog.text


def test_a_filter_finds_what_it_imports_when_it_is_asked(tub, tmp_path):
    (tmp_path / "beside_the_filter.py").write_text("FROM = 5\n")
    lines = (
        "def TRAIN_FILTER(record):",
        "    import beside_the_filter as own",
        "    return record.underlying['_index'] >= own.FROM",
    )
    (tmp_path / "config.py").write_text("\n".join(lines))
    config = load_config(tmp_path / "config.py", driving=False)
    assert len(read([tub], keep=config.TRAIN_FILTER).records) == 15
    assert "beside_the_filter" not in sys.modules


def test_a_filter_that_leaves_nothing_is_named(tub):
    with pytest.raises(DonkeySimError, match="TRAIN_FILTER leaves none of the 20 records"):
        read([tub], keep=lambda record: False)


def test_a_sequence_never_spans_two_sessions_tubs_or_a_gap(tub, tmp_path):
    path = tmp_path / "data"
    write_steered_tub(path, 6)
    write_steered_tub(path, 6, seed=1)  # a second session
    write_steered_tub(tmp_path / "other", 4)
    delete_range(path, 1, 2)
    table = read([path, tmp_path / "other"])
    places = [(record.image_folder, record.session_id, record.index) for record in table.records]
    rows = list_examples(table, "rnn")
    for row in rows:
        folders, sessions, indexes = zip(*(places[index] for index in row), strict=True)
        assert len(set(folders)) == len(set(sessions)) == 1
        assert list(np.diff(indexes)) == [1, 1]
    assert len(rows) == 1 + 4 + 2


def test_a_record_without_a_picture_breaks_a_sequence(tub):
    table = read([tub])
    usable = np.ones(20, dtype=bool)
    usable[10] = False
    rows = list_examples(table, "3d", usable)
    assert 10 not in rows
    assert len(rows) == 8 + 7


def test_a_memory_pilot_sees_earlier_commands_oldest_first_and_not_its_answer(tub):
    table = read([tub], "memory")
    rows = list_examples(table, "memory")
    vectors = make_vectors(table, rows, get_kind("memory"))
    first = np.stack([table.angle[:3], table.throttle[:3]], axis=1).ravel()
    assert vectors.shape == (17, 6)
    assert vectors[0] == pytest.approx(first)
    assert make_targets(table, rows, get_kind("memory"), SPEC)["n_outputs0"][0, 0] == pytest.approx(table.angle[3])


@pytest.mark.parametrize(("kind", "width"), [("imu", 6), ("behavior", 2), ("linear", 0)])
def test_what_a_pilot_reads_beside_the_picture_comes_from_the_record(tub, kind, width):
    table = read([tub], kind)
    assert make_vectors(table, list_examples(table, kind), get_kind(kind)).shape == (20, width)


@pytest.mark.parametrize(("kind", "key"), [("imu", "imu/acl_x"), ("behavior", "behavior/"), ("localizer", "location")])
def test_records_without_a_kinds_keys_are_refused_by_the_key(tmp_path, kind, key):
    write_steered_tub(tmp_path / "plain", 3)
    with pytest.raises(DonkeySimError, match=key):
        read([tmp_path / "plain"], kind)


def test_an_empty_tub_is_told_from_a_full_one(tmp_path):
    write_steered_tub(tmp_path / "empty", 0)
    with pytest.raises(DonkeySimError, match=r"there are no records in .*empty; drive and record first"):
        read([tmp_path / "empty"])
    with pytest.raises(DonkeySimError, match="no tub was given"):
        read([])


def test_drives_without_steering_are_refused(tmp_path):
    write_steered_tub(tmp_path / "straight", angles=np.zeros(12))
    with pytest.raises(DonkeySimError, match="in 12 records the steering never changes"):
        read([tmp_path / "straight"])


def test_records_without_an_angle_are_left_out_and_counted(tub, tmp_path, caplog):
    copy = shutil.copytree(tub, tmp_path / "data")
    catalog = copy / "catalog_0.catalog"
    lines = [json.loads(line) for line in catalog.read_text().splitlines()]
    for number, value in ((4, None), (5, "left"), (11, True)):
        lines[number]["user/angle"] = value
    catalog.write_text("".join(json.dumps(line) + "\n" for line in lines))
    table = read([copy], "imu")
    assert [record.index for record in table.records] == [*range(4), *range(6, 11), *range(12, 20)]
    assert np.flatnonzero(~table.follows).tolist() == [0, 4, 9]  # what stood between two records is gone
    assert table.channels.shape == (17, 6)
    assert "3 records left out: 'user/angle' is missing in record 4." in caplog.text


def rewrite(tub, path, change):
    """Return a copy of a tub whose records are changed, given number and values."""
    copy = shutil.copytree(tub, path)
    catalog = copy / "catalog_0.catalog"
    lines = [json.loads(line) for line in catalog.read_text().splitlines()]
    for number, values in enumerate(lines):
        change(number, values)
    catalog.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return copy


def test_records_without_what_a_kind_reads_are_left_out_in_one_sentence(tub, tmp_path, caplog):
    copy = rewrite(tub, tmp_path / "data", lambda number, values: number == 4 and values.pop("imu/acl_x"))
    assert len(read([copy], "imu").records) == 19
    assert "1 record left out: the records have no IMU's readings" in caplog.text
    assert ".." not in caplog.text


def test_what_is_unusable_in_all_records_is_named_as_what_the_kind_reads(tub, tmp_path):
    copy = rewrite(tub, tmp_path / "data", lambda _, values: values.update({"imu/acl_x": "much"}))
    with pytest.raises(
        DonkeySimError, match=r"'imu/acl_x' is 'much' in record 0; .*Pilots learn from .*, imu/gyr_z; r"
    ):
        read([copy], "imu")


def test_lists_within_lists_are_read_in_order(tub, tmp_path):
    key = get_kind("behavior").channels[0]
    copy = rewrite(tub, tmp_path / "data", lambda _, values: values.update({key: [[1, 0], [[0.5]]]}))
    assert read([copy], "behavior").channels[3].tolist() == [1.0, 0.0, 0.5]


def test_a_filter_sees_what_the_original_shows_it(tub):
    """`TRAIN_FILTER` gets a TubRecord there: fields, picture, folder and configuration."""
    seen = []

    def keep(record):
        picture = record.image()
        assert picture.dtype == np.uint8
        assert np.array_equal(np.asarray(record.image(as_nparray=False)), picture)
        assert np.array_equal(record.image(lambda pixels: 255 - pixels), 255 - picture)
        assert np.array_equal(record.image(cached=False), picture)  # of donkeycar 4
        seen.append((record.base_path, record.config, record.underlying["_index"]))
        return record.underlying["_index"] != 3

    table = read_records([tub], get_kind("linear"), keep, "config")
    assert len(table.records) == 19
    assert seen[0] == (str(tub), "config", 0)


def test_a_broken_picture_that_a_filter_looks_at_costs_its_record_alone(tub, caplog):
    next(tub.glob("images/5_*")).write_bytes(b"broken")
    assert len(read([tub], keep=lambda record: record.image().any()).records) == 19
    assert "is broken" in caplog.text


def test_the_split_is_the_seeds_and_loses_nothing():
    one, same, other = (split_examples(100, 0.8, seed) for seed in (3, 3, 4))
    assert (len(one[0]), len(one[1])) == (80, 20)
    assert sorted(np.concatenate(one)) == list(range(100))
    assert np.array_equal(one[0], same[0])
    assert not np.array_equal(one[0], other[0])


@pytest.mark.parametrize("count", [0, 1])
def test_too_few_examples_to_validate_with_are_refused(count):
    with pytest.raises(DonkeySimError, match=f"{count} examples are too few"):
        split_examples(count, 0.8, 0)


def test_too_short_sessions_are_refused_for_sequences(tmp_path):
    write_steered_tub(tmp_path / "short", 2)
    with pytest.raises(DonkeySimError, match="learns from 3 records in a row"):
        list_examples(read([tmp_path / "short"], "rnn"), "rnn")
