"""Deleting and restoring records: marks by position, saved at once, never a record removed."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from donkeysim.core.errors import TubError
from donkeysim.tub.edit import change_deleted
from donkeysim.tub.reader import TubReader
from donkeysim.tub.writer import TubWriter
from tub.drives import INPUTS, TYPES, make_record, write_tub
from tub.mixed import delete_range
from tub.strict import read_strictly


def list_alive(path):
    return [record.index for record in TubReader(path)]


def restore_range(path, first, last):
    return change_deleted(path, lambda deleted, _count: deleted - set(range(first, last + 1)))


def erase_last(path, count):
    with TubWriter(path) as writer:
        writer.delete_last_n_records(count)


def test_ranges_are_deleted_and_restored_with_both_ends(tmp_path):
    path = write_tub(tmp_path / "data", 10)
    assert delete_range(path, 2, 5) == {2, 3, 4, 5}
    assert list_alive(path) == [0, 1, 6, 7, 8, 9]
    assert restore_range(path, 3, 4) == {2, 5}
    erase_last(path, 3)
    assert TubReader(path).deleted_indexes == {2, 5, 7, 8, 9}
    erase_last(path, 2)
    assert TubReader(path).deleted_indexes == {2, 4, 5, 6, 7, 8, 9}
    assert restore_range(path, -5, 100) == set()
    assert list_alive(path) == list(range(10))


def test_a_range_beyond_the_end_does_not_delete_records_to_come(tmp_path):
    path = write_tub(tmp_path / "data", 3)
    assert delete_range(path, 2, 100) == {2}
    write_tub(path, 1)
    assert list_alive(path) == [0, 1, 3]


def test_a_tub_being_recorded_is_not_changed_from_outside(tmp_path):
    with TubWriter(tmp_path, INPUTS, TYPES) as writer:
        writer.write_record(make_record(0))
        with pytest.raises(TubError, match="written to by another program"):
            delete_range(tmp_path, 0, 0)
    assert list_alive(tmp_path) == [0]


def test_a_folder_that_is_no_tub_stays_untouched(tmp_path):
    with pytest.raises(TubError, match="is not a tub"):
        delete_range(tmp_path, 0, 0)
    assert not list(tmp_path.iterdir())


@st.composite
def drives(draw):
    """Return steps of a tub's life: (name, two numbers)."""
    names = st.sampled_from(["write", "reopen", "delete", "restore", "erase"])
    return draw(st.lists(st.tuples(names, st.integers(0, 12), st.integers(0, 12)), max_size=12))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=drives(), max_catalog_len=st.integers(1, 5))
def test_any_life_of_a_tub_keeps_what_was_written_and_not_deleted(tmp_path_factory, steps, max_catalog_len):
    path = tmp_path_factory.mktemp("life") / "data"
    total, deleted, number = 0, set(), 0
    write_tub(path, 0, max_catalog_len)
    for name, first, second in steps:
        if name == "write":
            with TubWriter(path) as writer:
                for number in range(first):
                    writer.write_record({"user/angle": number / 8, "user/mode": "user"})
            total += first
        elif name == "delete":
            delete_range(path, first, second)
            deleted |= set(range(first, min(second + 1, total)))
        elif name == "restore":
            restore_range(path, first, second)
            deleted -= set(range(first, second + 1))
        elif name == "erase":
            erase_last(path, first)
            deleted |= set(
                [index for index in range(total) if index not in deleted][max(0, total - len(deleted) - first) :]
            )
    alive = [index for index in range(total) if index not in deleted]
    assert list_alive(path) == alive
    assert len(TubReader(path)) == len(alive)
    assert TubReader(path).deleted_indexes == deleted
    if total:
        assert [record["_index"] for record in read_strictly(path)] == alive
