"""A writer that dies at any byte, or finds the disk full there, loses at most the record being written."""

import json

import pytest

from donkeysim.core.errors import TubError
from donkeysim.tub.edit import change_deleted
from donkeysim.tub.reader import TubReader
from donkeysim.tub.writer import TubWriter
from tub.drives import INPUTS, TYPES, make_record, write_tub
from tub.strict import read_strictly
from tub.torn import make_full_tubs, make_torn_tubs

MID_CATALOG, NEW_CATALOG, FIRST_RECORD = 2, 3, 0


def check_sound(path, count):
    """Check that a closed tub has `count` records, in order, and tables that fit."""
    records = list(TubReader(path))
    assert [(record.index, record.position) for record in records] == [(index, index) for index in range(count)]
    assert all(record.load_image().shape == (12, 16, 3) for record in records)
    manifest = json.loads((path / "manifest.json").read_text().split("\n")[4])
    assert manifest["current_index"] == count
    for name in manifest["paths"]:
        table = json.loads((path / name).with_suffix(".catalog_manifest").read_text())
        assert table["line_lengths"] == [len(line) for line in (path / name).read_text().splitlines(keepends=True)]
    assert not list(path.glob("*.new"))
    assert [record["_index"] for record in read_strictly(path)] == list(range(count))


@pytest.mark.parametrize("before", [MID_CATALOG, NEW_CATALOG, FIRST_RECORD])
def test_a_tub_opens_wherever_its_writer_died_and_can_be_added_to(tmp_path, before):
    torn = 0
    for path, budget in make_torn_tubs(tmp_path, before):
        left = [record.index for record in TubReader(path)]
        assert left in (list(range(before)), list(range(before + 1))), budget
        if before:
            strict = [record["_index"] for record in read_strictly(path)]
            assert strict in (list(range(before)), list(range(before + 1))), budget
        write_tub(path, 3, first=len(left))
        check_sound(path, len(left) + 3)
        torn += 1
    assert torn > 50


@pytest.mark.parametrize("before", [MID_CATALOG, NEW_CATALOG, FIRST_RECORD])
def test_a_full_disk_is_reported_and_costs_no_earlier_record(tmp_path, before):
    for path, writer, error in make_full_tubs(tmp_path, before):
        if error is None:  # a moment with fewer digits than the one that the budgets were measured with
            assert writer.current_index == before + 1
            continue
        assert isinstance(error, TubError)
        assert "the disk is full" in str(error)
        left = [record.index for record in TubReader(path)]
        assert left in (list(range(before)), list(range(before + 1)))
        assert writer.current_index == len(left)
        if before:
            assert len(read_strictly(path)) >= before
        for number in range(3):
            writer.write_record(make_record(number))
        writer.close()
        check_sound(path, len(left) + 3)


def test_a_full_disk_at_the_end_is_no_reason_to_lose_records(tmp_path):
    for path, writer, _error in make_full_tubs(tmp_path, MID_CATALOG):
        writer.close()
        with TubWriter(path, INPUTS, TYPES) as again:
            again.write_record(make_record(0))
            count = again.current_index
        check_sound(path, count)


@pytest.mark.parametrize("name", ["manifest.json", "catalog_0.catalog", "catalog_0.catalog_manifest"])
def test_a_file_cut_off_at_any_byte_by_another_program_is_mended(tmp_path, name):
    whole = write_tub(tmp_path / "whole", 2)
    content = (whole / name).read_bytes()
    path = write_tub(tmp_path / "cut", 2)
    kept = {other: (path / other).read_bytes() for other in ("manifest.json", "catalog_0.catalog_manifest")}
    catalog = (path / "catalog_0.catalog").read_bytes()
    head = len(b"".join(content.splitlines(keepends=True)[:2])) if name == "manifest.json" else 0
    for size in range(head, len(content), 3):
        for other, data in {**kept, "catalog_0.catalog": catalog}.items():
            (path / other).write_bytes(data)
        (path / name).write_bytes((path / name).read_bytes()[:size])
        left = len(list(TubReader(path)))
        assert left == 2 or name == "catalog_0.catalog"
        with TubWriter(path, INPUTS, TYPES) as writer:
            assert writer.current_index == left
            writer.write_record(make_record(left))
        check_sound(path, left + 1)


def test_a_manifest_without_its_first_lines_is_refused_where_no_record_tells_them(tmp_path):
    path = write_tub(tmp_path / "data", 0)
    for content in (b"", b'["a"]\n', b"\xff\n\n", b'["a"]\n["float", "int"]\n'):
        (path / "manifest.json").write_bytes(content)
        for open_tub in (TubReader, TubWriter):
            with pytest.raises(TubError, match="first two lines"):
                open_tub(path)


def cut_catalog(path, number, count):
    """Leave a catalog's first lines and a half of the next one, as a copy that broke off does."""
    catalog = path / f"catalog_{number}.catalog"
    lines = catalog.read_bytes().splitlines(keepends=True)
    catalog.write_bytes(b"".join(lines[:count]) + lines[count][:9])


def test_records_that_catalogs_have_lost_are_counted_by_whoever_opens_the_tub(tmp_path, caplog):
    path = write_tub(tmp_path / "data", 23, max_catalog_len=10)
    TubReader(path)
    assert caplog.messages == []
    cut_catalog(path, 0, 4)
    cut_catalog(path, 2, 0)
    said = "has lost 9 records: catalog_0.catalog holds 4 of 10, catalog_2.catalog holds 0 of 3."
    for open_tub in (TubReader, lambda path: TubWriter(path).close()):
        caplog.clear()
        open_tub(path)
        assert [said in message for message in caplog.messages].count(True) == 1
    caplog.clear()
    assert len(TubReader(path)) == 14  # the writer has put it in order
    assert caplog.messages == []


def test_what_a_killed_writer_leaves_counts_no_loss(tmp_path, caplog):
    for path, _ in make_torn_tubs(tmp_path, MID_CATALOG):
        caplog.clear()
        TubReader(path)
        assert "has lost" not in caplog.text


@pytest.mark.parametrize("with_table", [True, False])
def test_a_missing_catalog_costs_its_own_records(tmp_path, caplog, with_table):
    path = write_tub(tmp_path / "data", 5, max_catalog_len=2)
    change_deleted(path, lambda *_: {3, 4})
    (path / "catalog_1.catalog").unlink()
    if not with_table:
        (path / "catalog_1.catalog_manifest").unlink()
    tub = TubReader(path)
    assert [record.index for record in tub] == [0, 1], "of the others one was deleted before, and still is"
    assert tub.lost_count == 2
    assert "has lost 2 records: catalog_1.catalog holds 0 of 2. The others are used" in caplog.text


def test_nothing_is_written_behind_a_missing_catalog(tmp_path):
    path = write_tub(tmp_path / "data", 5, max_catalog_len=2)
    (path / "catalog_1.catalog").unlink()
    with pytest.raises(TubError, match=r"lacks a part: catalog_1\.catalog"):
        TubWriter(path)


def test_a_broken_line_in_the_middle_is_skipped_and_counted(tmp_path):
    path = write_tub(tmp_path / "data", 3)
    lines = (path / "catalog_0.catalog").read_bytes().splitlines(keepends=True)
    lines[1] = lines[1][:40] + b"\n"
    (path / "catalog_0.catalog").write_bytes(b"".join(lines))
    assert [(record.index, record.position) for record in TubReader(path)] == [(0, 0), (2, 2)]
    write_tub(path, 1)
    assert [record["_index"] for record in read_strictly(path)] == [0, 2, 3]


def test_the_original_s_empty_catalog_at_the_end_is_taken_out(tmp_path):
    path = write_tub(tmp_path / "data", 2, max_catalog_len=2)
    text = (path / "manifest.json").read_text()
    (path / "manifest.json").write_text(text.replace('"catalog_0.catalog"', '"catalog_0.catalog", "catalog_1.catalog"'))
    (path / "catalog_1.catalog").touch()
    (path / "catalog_1.catalog_manifest").write_text("{")
    assert len(TubReader(path)) == 2
    write_tub(path, 3)
    check_sound(path, 5)


def test_deleted_positions_that_do_not_exist_do_not_delete_new_records(tmp_path):
    path = write_tub(tmp_path / "data", 2)
    text = (path / "manifest.json").read_text()
    (path / "manifest.json").write_text(text.replace('"deleted_indexes": []', '"deleted_indexes": [1, 2, 3]'))
    write_tub(path, 2)
    assert [record.index for record in TubReader(path)] == [0, 2, 3]


def test_marks_of_deletion_stay_with_their_records_when_a_catalog_has_lost_its_end(tmp_path):
    path = write_tub(tmp_path / "data", 30, max_catalog_len=10)
    change_deleted(path, lambda deleted, count: {2, 7, 13, 29})
    cut_catalog(path, 0, 4)
    left = [0, 1, 3, *range(10, 13), *range(14, 29)]
    before = TubReader(path)
    assert [record.index for record in before] == left
    TubWriter(path).close()
    after = TubReader(path)
    assert [record.index for record in after] == left
    assert before.deleted_indexes == after.deleted_indexes == {2, 7, 23}
