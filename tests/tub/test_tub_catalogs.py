"""Catalogs that the manifest does not name: none is written over, and what goes on in them is found."""

import json

from donkeysim.tub.reader import TubReader
from tub.drives import write_tub
from tub.strict import read_strictly


def read_paths(path):
    return json.loads((path / "manifest.json").read_text().split("\n")[4])["paths"]


def take_out(path, name):
    """Delete a catalog and its name, as people do who sort out a bad drive by hand."""
    for file in path.glob(f"{name}*"):
        file.unlink()
    lines = (path / "manifest.json").read_text().split("\n")
    catalogs = json.loads(lines[4])
    catalogs["paths"].remove(name)
    lines[4] = json.dumps(catalogs)
    (path / "manifest.json").write_text("\n".join(lines))


def list_indexes(path):
    indexes = [record.index for record in TubReader(path)]
    assert indexes == [record["_index"] for record in read_strictly(path)]
    return indexes


def test_a_tub_whose_first_catalog_was_taken_out_keeps_the_others_when_it_is_added_to(tmp_path):
    path = write_tub(tmp_path / "data", 20, max_catalog_len=10)
    take_out(path, "catalog_0.catalog")
    write_tub(path, 15, first=20)
    assert list_indexes(path) == list(range(10, 35))
    assert read_paths(path) == ["catalog_1.catalog", "catalog_2.catalog", "catalog_3.catalog"]


def test_a_catalog_begun_by_a_killed_writer_is_found_behind_a_gap_in_the_numbers(tmp_path):
    path = write_tub(tmp_path / "data", 20, max_catalog_len=10)
    take_out(path, "catalog_0.catalog")
    before = (path / "manifest.json").read_bytes()
    write_tub(path, 1, first=20)
    (path / "manifest.json").write_bytes(before)
    assert len(TubReader(path)) == 11
    write_tub(path, 1, first=21)
    assert list_indexes(path) == list(range(10, 22))


def test_an_older_manifest_that_was_put_back_costs_no_record(tmp_path):
    path = write_tub(tmp_path / "data", 15, max_catalog_len=10)
    older = (path / "manifest.json").read_bytes()
    write_tub(path, 20, first=15)
    (path / "manifest.json").write_bytes(older)
    assert len(TubReader(path)) == 35
    write_tub(path, 10, first=35)
    assert list_indexes(path) == list(range(45))
    assert read_paths(path) == [f"catalog_{number}.catalog" for number in range(5)]


def test_a_catalog_of_another_drive_in_the_folder_is_left_as_it_is(tmp_path):
    path = write_tub(tmp_path / "data", 10, max_catalog_len=10)
    other = path / "catalog_1.catalog"
    other.write_text('{"_index": 500, "user/angle": 0.5}\n')
    write_tub(path, 5, first=10)
    assert list_indexes(path) == list(range(15))
    assert read_paths(path) == ["catalog_0.catalog", "catalog_2.catalog"]
    assert other.read_text() == '{"_index": 500, "user/angle": 0.5}\n'


def test_an_empty_catalog_that_the_manifest_does_not_name_leaves_no_gap(tmp_path):
    path = write_tub(tmp_path / "data", 10, max_catalog_len=10)
    (path / "catalog_1.catalog").touch()
    write_tub(path, 5, first=10)
    assert list_indexes(path) == list(range(15))
    assert read_paths(path) == ["catalog_0.catalog", "catalog_1.catalog"]
