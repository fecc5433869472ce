"""Reading tubs: those of others, those of 2020, those of single files, and several at once."""

import json
import shutil
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from donkeysim.core.errors import TubError
from donkeysim.tub.folder import next_tub_path, open_tubs, split_paths, split_tubs
from donkeysim.tub.formats.convert import convert
from donkeysim.tub.reader import TubReader
from donkeysim.tub.writer import TubWriter
from tub.drives import INPUTS, TYPES, make_picture, make_record, write_tub


def write_tub_of_2020(path, count):
    """Write what early format 2 looked like: no session ids, copies of everything in the metadata line."""
    (path / "images").mkdir(parents=True)
    inputs, types = [*INPUTS, "timestamp"], [*TYPES, "str"]
    lines = []
    for index in range(count):
        Image.fromarray(make_picture(index)).save(path / "images" / f"{index}_cam_image_array_.jpg")
        values = {"cam/image_array": f"{index}_cam_image_array_.jpg", "user/angle": 0.5, "user/mode": "user"}
        lines.append(json.dumps({"_index": index, "_timestamp_ms": 1600000000000 + index, **values}) + "\n")
    (path / "catalog_0.catalog").write_text("".join(lines))
    (path / "._catalog_0.catalog").write_bytes(b"\0\5\26\7")
    table = {"created_at": 1.5, "line_lengths": [len(line) for line in lines], "path": "catalog_0.catalog_manifest"}
    (path / "catalog_0.catalog_manifest").write_text(json.dumps({**table, "start_index": 0}) + "\n")
    catalogs = {"paths": ["catalog_0.catalog"], "current_index": count, "max_len": 1000, "deleted_indexes": [0]}
    metadata = {"types": types, "inputs": inputs, "start": 1600000000.5}
    parts = (inputs, types, metadata, {"created_at": 1600000000.5}, catalogs)
    (path / "manifest.json").write_text("".join(json.dumps(part) + "\n" for part in parts))
    return path


def write_tub_of_single_files(path, count):
    """Write the format before 2."""
    path.mkdir(parents=True)
    meta = {"inputs": list(INPUTS), "types": list(TYPES), "start": 1550000000.25, "location": "attic"}
    (path / "meta.json").write_text(json.dumps(meta))
    for number in range(1, count + 1):
        name = f"{number}_cam-image_array_.jpg"
        Image.fromarray(make_picture(number)).save(path / name)
        values = {"cam/image_array": name, "user/angle": number / 10, "user/throttle": 0.2, "user/mode": "user"}
        (path / f"record_{number}.json").write_text(json.dumps({**values, "milliseconds": 50 * number}))
    return path


@pytest.mark.original("Tubs", "format 2 without session ids (2020)", "read and added to")
def test_a_tub_of_2020_is_read_and_added_to(tmp_path):
    path = write_tub_of_2020(tmp_path / "data", 3)
    records = list(TubReader(path))
    assert [(record.index, record.session_id, record.timestamp_ms) for record in records] == [
        (1, "", 1600000000001),
        (2, "", 1600000000002),
    ]
    assert records[0].load_image().shape == (12, 16, 3)
    with TubWriter(path) as writer:
        writer.write_record(make_record(3))
    today = time.strftime("%y-%m-%d")
    assert [record.session_id for record in TubReader(path)] == ["", "", f"{today}_0"]


@pytest.mark.original("Tubs", "`record_N.json` of donkeycar up to 3.1", "read; not written, as its programs are gone")
def test_a_tub_of_single_files_is_read_in_the_order_of_numbers(tmp_path):
    path = write_tub_of_single_files(tmp_path / "tub", 11)
    (path / "exclude.json").write_text("[2, 99]")
    (path / "record_4.json").write_text("{")
    tub = TubReader(path)
    records = list(tub)
    assert [record.index for record in records] == [1, 3, 5, 6, 7, 8, 9, 10, 11]
    assert tub.metadata == {"location": "attic"}
    assert tub.inputs == INPUTS
    assert records[0].timestamp_ms == 1550000000300
    assert records[0].values["user/angle"] == 0.1
    assert abs(int(records[0].load_image()[0, 0, 0]) - 7) < 3


def test_zeros_before_the_numbers_of_records_cost_none(tmp_path):
    path = write_tub_of_single_files(tmp_path / "tub", 11)
    for number in range(1, 12):
        (path / f"record_{number}.json").rename(path / f"record_{number:06d}.json")
    assert [record.index for record in TubReader(path)] == list(range(1, 12))


@pytest.mark.original("Tubs", "the same without `meta.json`", "read by its records")
@pytest.mark.parametrize("first", [1, 7])
def test_a_tub_of_single_files_without_its_meta_is_read_by_its_records(tmp_path, first):
    path = write_tub_of_single_files(tmp_path / "tub", 9)
    (path / "meta.json").unlink()
    for number in range(1, first):
        (path / f"record_{number}.json").unlink()
    tub = TubReader(path)
    assert [record.index for record in tub] == list(range(first, 10))
    assert dict(zip(tub.inputs, tub.types, strict=True)) == {
        "cam/image_array": "image_array",
        "user/angle": "float",
        "user/throttle": "float",
        "user/mode": "str",
    }


def test_records_with_a_picture_are_those_that_can_be_seen(tmp_path, caplog):
    write_tub(tmp_path, 4)
    (tmp_path / "images/1_cam_image_array_.jpg").unlink()
    (tmp_path / "images/2_cam_image_array_.jpg").write_bytes(b"")
    assert [record.index for record in TubReader(tmp_path).iterate_seen()] == [0, 3]
    assert "lacks the pictures of 2 records: the others are used" in caplog.text


@pytest.mark.original("Tubs", "`--tub a,b`, `--tub a b`, `--tub 'tub*'`", "all three")
@pytest.mark.parametrize(
    "given", ["{0}/tub*", "{0}/tub_1 {0}/tub_2", "{0}/tub_1,{0}/tub_2", "{0}/tub_[12], ", ["{0}/tub_1", "{0}/tub_2"]]
)
def test_patterns_and_quoted_lists_of_tubs_are_expanded(tmp_path, given):
    for number in (2, 1):
        write_tub(tmp_path / f"tub_{number}", 1)
    words = given.format(tmp_path) if isinstance(given, str) else [word.format(tmp_path) for word in given]
    assert split_paths(words) == [tmp_path / "tub_1", tmp_path / "tub_2"]
    if isinstance(given, str):  # Windows' shell leaves the quotes
        assert split_paths(f"'{words}'") == [tmp_path / "tub_1", tmp_path / "tub_2"]
        assert split_paths(",".join(f'"{word}"' for word in words.split(","))) == split_paths(words)


def test_a_pattern_leaves_out_what_is_no_tub_and_empty_tubs_are_passed_over(tmp_path, caplog):
    write_tub(tmp_path / "data1", 1)
    write_tub(tmp_path / "data2", 0)
    (tmp_path / "data3").mkdir()
    assert [tub.path.name for tub in open_tubs(str(tmp_path / "data*"))] == ["data1"]
    assert "data3 is no tub; it is left out." in caplog.text
    assert "data2: it has no records." in caplog.text
    (tmp_path / "data1").rename(tmp_path / "other")
    with pytest.raises(TubError, match="there is nothing to read"):
        open_tubs(str(tmp_path / "data[12]"))


@pytest.mark.parametrize("name", ["a b", "a,b", "tub[1]", "tub*"])
def test_a_folder_is_found_whatever_its_name(tmp_path, name):
    write_tub(tmp_path / name, 1)
    assert split_paths(str(tmp_path / name)) == [tmp_path / name]


@pytest.mark.parametrize("given", ["nowhere*", "no where", "a,b"])
def test_what_fits_nothing_is_told_as_it_was_given(tmp_path, monkeypatch, given):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TubError, match="there is no tub"):
        open_tubs(given)


def test_what_a_pattern_fits_inside_a_tub_names_the_tub(tmp_path):
    """`--tub data/*`, as for a folder of tubs, where data is itself one; and a file that is none of a tub."""
    tub = write_tub(tmp_path / "data", 1)
    (tmp_path / "drive.rar").write_bytes(b"x")
    with pytest.raises(TubError, match=r"catalog_0\.catalog is a file of a tub; give the tub's folder, .*data\.$"):
        open_tubs(sorted(map(str, tub.glob("[!.]*"))))
    with pytest.raises(TubError, match=r"drive\.rar is a file; unpack it"):
        open_tubs(str(tmp_path / "drive.rar"))


def test_a_tub_of_single_files_is_never_written_to(tmp_path):
    path = write_tub_of_single_files(tmp_path / "tub", 1)
    before = sorted(path.iterdir())
    with pytest.raises(TubError, match="format before 2"):
        TubWriter(path, INPUTS, TYPES)
    assert sorted(path.iterdir()) == before


def test_reading_changes_nothing_and_sees_records_written_meanwhile(tmp_path):
    with TubWriter(tmp_path, INPUTS, TYPES) as writer:
        writer.write_record(make_record(0))
        before = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}
        assert len(TubReader(tmp_path)) == 1
        assert {path: path.read_bytes() for path in tmp_path.rglob("*.*")} == before
        writer.write_record(make_record(1))
        assert len(TubReader(tmp_path)) == 2


def test_grey_pictures_come_back_with_one_channel(tmp_path):
    with TubWriter(tmp_path, INPUTS, TYPES) as writer:
        writer.write_record({"cam/image_array": make_picture(3)[:, :, :1]})
        writer.write_record({"cam/image_array": make_picture(3)[:, :, 0]})
    assert [record.load_image().shape for record in TubReader(tmp_path)] == [(12, 16, 1)] * 2


def test_pictures_in_a_folder_beside_records_of_single_files_are_read(tmp_path):
    tub = write_tub_of_single_files(tmp_path / "tub", 2)
    (tub / "images").mkdir()
    for number, folder in ((1, "images/"), (2, "C:\\car\\tub\\")):
        record = tub / f"record_{number}.json"
        record.write_text(record.read_text().replace(f'"{number}_cam', f"{json.dumps(folder)[:-1]}{number}_cam"))
    (tub / "1_cam-image_array_.jpg").rename(tub / "images/1_cam-image_array_.jpg")
    assert [record.load_image().shape for record in TubReader(tub)] == [(12, 16, 3)] * 2


def test_broken_and_missing_pictures_are_named(tmp_path):
    write_tub(tmp_path, 3)
    first, second, third = TubReader(tmp_path)
    first.locate_image().write_bytes(first.read_image()[:100])
    second.locate_image().unlink()
    third.values["cam/image_array"] = "../manifest.json"
    for record, text in (
        (first, "0_cam_image_array_.jpg is broken"),
        (second, "cannot be read"),
        (third, "no picture"),
    ):
        with pytest.raises(TubError, match=text):
            record.load_image()


@pytest.mark.original("Tubs", "pictures in folders within `images`", "read")
def test_pictures_in_folders_within_that_of_pictures_are_read_and_those_elsewhere_are_not(tmp_path):
    """As in tubs that people put together of several, a folder for each."""
    tub = write_tub(tmp_path / "data", 5)
    (tub / "images/left").mkdir()
    (tub / "images/0_cam_image_array_.jpg").rename(tub / "images/left/0.jpg")
    records = list(TubReader(tub))
    wanted = records[1].read_image()
    records[1].locate_image().rename(tub / "images/left/1.jpg")
    for name in ("left/1.jpg", "left\\1.jpg"):
        records[1].values["cam/image_array"] = name
        assert records[1].read_image() == wanted
    if sys.platform != "win32":
        (tub / "images/link").symlink_to(tmp_path)
    (tmp_path / "1.jpg").write_bytes(wanted)
    for name in (
        "left/../1.jpg",
        "/left/1.jpg",
        "left//",
        "C:/1.jpg",
        "link/1.jpg",
        "",
        "..",
        f"{tmp_path}/1.jpg",
        "a/b",
    ):
        records[2].values["cam/image_array"] = name
        with pytest.raises(TubError, match=r"no picture|cannot be read"):
            records[2].read_image()
    name = "3_cam_image_array_.jpg"
    for folder in ("images/", "/home/pi/mycar/data/images/", "C:\\car\\data\\images\\"):
        records[3].values["cam/image_array"] = folder + name
        assert records[3].locate_image() == tub / "images" / name
    catalog = tub / "catalog_0.catalog"
    catalog.write_text(catalog.read_text().replace('"0_cam_image_array_.jpg"', '"left/0.jpg"'))
    convert(tub, tmp_path / "copy", "tub")
    copied = next(iter(TubReader(tmp_path / "copy"))).locate_image()
    assert (copied.parent, copied.read_bytes()) == (tmp_path / "copy/images", (tub / "images/left/0.jpg").read_bytes())


def test_no_other_picture_is_taken_for_one_in_a_folder(tmp_path):
    tub = write_tub(tmp_path / "data", 2)
    record = next(iter(TubReader(tub)))
    own = record.locate_image()
    name = own.name
    (tub / "images/left").mkdir()
    for named in (f"left/{name}", f"images/left/{name}", f"/home/pi/data/images/left/{name}"):
        record.values["cam/image_array"] = named
        assert record.locate_image() == tub / "images/left" / name, "though it is missing there"
    record.values["cam/image_array"] = f"left/{'n' * 300}.jpg"
    with pytest.raises(TubError, match="cannot be read"):
        record.read_image()
    if sys.platform != "win32":
        own.rename(tub / "images" / "a\\b.jpg")
        record.values["cam/image_array"] = "a\\b.jpg"
        assert record.load_image().shape[2] == 3


def test_folders_of_the_car_are_left_out_of_names_in_records_of_single_files(tmp_path):
    tub = write_tub_of_single_files(tmp_path / "tub", 2)
    for number, folder in ((1, "../tub_3/"), (2, "data\\..\\tub\\")):
        record = tub / f"record_{number}.json"
        record.write_text(record.read_text().replace(f'"{number}_cam', f"{json.dumps(folder)[:-1]}{number}_cam"))
    assert [record.load_image().shape for record in TubReader(tub)] == [(12, 16, 3)] * 2


values = st.fixed_dictionaries(
    {},
    optional={
        "f": st.floats(allow_nan=False, allow_infinity=False),
        "i": st.integers(),
        "b": st.booleans(),
        "s": st.text(),
        "l": st.lists(st.one_of(st.integers(), st.floats(-1, 1), st.text(max_size=3))),
    },
)


@pytest.mark.original("Tubs", "format 2 of donkeycar 4 and 5", "read and written, byte for byte")
@settings(max_examples=50, deadline=None)
@given(records=st.lists(values, max_size=8), max_catalog_len=st.integers(1, 4))
def test_what_is_written_is_read(tmp_path_factory, records, max_catalog_len):
    path = tmp_path_factory.mktemp("round")
    types = {"f": "float", "i": "int", "b": "boolean", "s": "str", "l": "list"}
    with TubWriter(path, list(types), list(types.values()), max_catalog_len=max_catalog_len) as writer:
        for record in records:
            writer.write_record(record)
    assert [record.values for record in TubReader(path)] == records


def test_several_tubs_are_given_by_words_or_commas(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b", "c,d"):
        write_tub(tmp_path / name, 1)
    assert [tub.path.name for tub in open_tubs(["a,b", "c,d"])] == ["a", "b", "c,d"]
    assert [tub.path.name for tub in open_tubs("a, b,")] == ["a", "b"]
    assert split_paths("~/data")[0].is_absolute()


def test_what_is_no_tub_or_empty_is_named(tmp_path):
    (tmp_path / "folder").mkdir()
    write_tub(tmp_path / "empty", 0)
    with TubWriter(write_tub(tmp_path / "deleted", 1)) as writer:
        writer.delete_last_n_records(1)
    for name, text in (
        ("nowhere", "there is no tub"),
        ("folder", "is not a tub: it has no manifest.json; record a drive into it first"),
        ("empty", "it has no records"),
        ("deleted", "all its records are deleted"),
    ):
        with pytest.raises(TubError, match=text):
            open_tubs([str(tmp_path / name)])
    write_tub_of_single_files(tmp_path / "an_old_one", 2)
    with pytest.raises(TubError, match="tubs inside it, give one of them: an_old_one, deleted, empty"):
        TubReader(tmp_path)
    with pytest.raises(TubError, match="no tub is given"):
        open_tubs([])


@pytest.mark.parametrize("left", [None, b"", b'["user/angle",'])
def test_a_tub_without_its_manifest_is_what_its_catalogs_hold(tmp_path, caplog, left):
    path = write_tub(tmp_path / "tub", 12, max_catalog_len=5)
    whole = TubReader(path)
    records = [record.values for record in whole]
    manifest = path / "manifest.json"
    manifest.unlink() if left is None else manifest.write_bytes(left)
    (tub,) = open_tubs([str(path)])
    assert (sorted(tub.inputs), len(tub.types)) == (sorted(whole.inputs), len(whole.types))
    assert dict(zip(tub.inputs, tub.types, strict=True)) == dict(zip(whole.inputs, whole.types, strict=True))
    assert [record.values for record in tub] == records
    assert "deleted ones may be back" in caplog.text
    (path / "catalog_1.catalog").unlink()
    assert [record.index for record in TubReader(path)] == [0, 1, 2, 3, 4, 10, 11]


def test_an_empty_catalog_without_a_manifest_is_no_tub_and_becomes_one(tmp_path):
    (tmp_path / "catalog_0.catalog").touch()
    (tmp_path / "catalog_1.catalog").mkdir()
    with pytest.raises(TubError, match=r"is not a tub: it has no manifest\.json"):
        TubReader(tmp_path)
    shutil.rmtree(tmp_path / "catalog_1.catalog")
    write_tub(tmp_path, 2)
    assert len(TubReader(tmp_path)) == 2


def test_a_drive_goes_on_in_a_tub_that_lost_its_manifest(tmp_path):
    path = write_tub(tmp_path / "tub", 3)
    (path / "manifest.json").unlink()
    with TubWriter(path) as writer:
        writer.delete_last_n_records(1)
        writer.write_record(make_record(3))
    tub = TubReader(path)
    assert [record.index for record in tub] == [0, 1, 3]
    assert (path / "manifest.json").read_bytes().count(b"\n") == 5
    today = time.strftime("%y-%m-%d")
    assert [record.session_id for record in tub] == [f"{today}_0", f"{today}_0", f"{today}_1"]
    assert tub.sessions == (f"{today}_0", f"{today}_1")


def test_drives_lie_in_a_folder_or_in_the_tubs_in_it(tmp_path):
    """`AUTO_CREATE_NEW_TUB` makes the latter; who trains without --tub means all of them."""
    assert split_tubs(str(tmp_path)) == [tmp_path], "nothing there, as whoever opens it says"
    tubs = [write_tub(tmp_path / name, 2) for name in ("tub_1_26-01-01", "tub_2_26-01-02")]
    (tmp_path / "notes.txt").touch()
    (tmp_path / "films").mkdir()
    assert split_tubs(str(tmp_path)) == tubs
    write_tub(tmp_path, 2)
    assert split_tubs(str(tmp_path)) == [tmp_path]


def test_new_tubs_are_numbered_past_the_highest(tmp_path):
    today = time.strftime("%y-%m-%d")
    assert next_tub_path(tmp_path / "data") == tmp_path / "data" / f"tub_1_{today}"
    for name in ("tub_9_20-01-02", "tub_11_20-01-02", "tub_x", "images"):
        (tmp_path / name).mkdir()
    assert next_tub_path(tmp_path).name == f"tub_12_{today}"
