"""Writing tubs: the bytes of the original, its rules, and clear refusals."""

import io
import json
import re
import subprocess
import sys
import time

import numpy as np
import pytest
from PIL import Image

from donkeysim.core.errors import TubError
from donkeysim.tub.reader import TubReader
from donkeysim.tub.writer import TubWriter
from tub.drives import INPUTS, TYPES, make_picture, make_record, write_tub


def list_files(path):
    return sorted(str(file.relative_to(path)) for file in path.rglob("*") if file.is_file())


def test_files_are_named_as_the_original_names_them(tmp_path):
    write_tub(tmp_path / "data", 3, max_catalog_len=2)
    assert list_files(tmp_path / "data") == [
        ".lock",
        "catalog_0.catalog",
        "catalog_0.catalog_manifest",
        "catalog_1.catalog",
        "catalog_1.catalog_manifest",
        *(f"images/{index}_cam_image_array_.jpg" for index in range(3)),
        "manifest.json",
    ]


def test_manifest_has_five_lines_in_the_original_key_order(tmp_path):
    with TubWriter(tmp_path, INPUTS, TYPES, [("location", "attic")]) as writer:
        writer.write_record(make_record(0))
        writer.write_record(make_record(1))
        writer.delete_last_n_records(1)
    lines = (tmp_path / "manifest.json").read_text().split("\n")
    today = time.strftime("%y-%m-%d")
    assert lines[0] == '["cam/image_array", "user/angle", "user/throttle", "user/mode"]'
    assert lines[1] == '["image_array", "float", "float", "str"]'
    assert lines[2] == '{"location": "attic"}'
    sessions = f'"sessions": {{"all_full_ids": ["{today}_0"], "last_id": 0, "last_full_id": "{today}_0"}}'
    assert re.fullmatch(rf'{{"created_at": \d+\.\d+, {re.escape(sessions)}}}', lines[3])
    assert lines[4] == '{"paths": ["catalog_0.catalog"], "current_index": 2, "max_len": 1000, "deleted_indexes": [1]}'
    assert lines[5:] == [""]


def test_catalog_line_is_sorted_json_and_its_length_is_noted(tmp_path):
    write_tub(tmp_path, 1)
    line = (tmp_path / "catalog_0.catalog").read_text()
    expected = (
        r'{"_index": 0, "_session_id": "[\d-]+_0", "_timestamp_ms": \d{13}, '
        r'"cam/image_array": "0_cam_image_array_.jpg", "user/angle": -1.0, "user/mode": "user", '
        r'"user/throttle": 0.25}\n'
    )
    assert re.fullmatch(expected, line)
    table = (tmp_path / "catalog_0.catalog_manifest").read_text()
    tail = f'"line_lengths": [{len(line)}], "path": "catalog_0.catalog_manifest", "start_index": 0}}\n'
    assert re.fullmatch(r'{"created_at": \d+\.\d+, ' + re.escape(tail), table)


def test_pictures_are_what_pillow_saves_by_default(tmp_path):
    write_tub(tmp_path, 1)
    buffer = io.BytesIO()
    Image.fromarray(make_picture(0)).save(buffer, format="JPEG")
    assert (tmp_path / "images" / "0_cam_image_array_.jpg").read_bytes() == buffer.getvalue()


@pytest.mark.original("Tubs", "types of inputs", "as in the original; what is not finite is refused")
def test_every_type_is_converted_as_the_original_does(tmp_path):
    types = {"f": "float", "i": "int", "b": "boolean", "s": "str", "a": "nparray", "l": "list", "v": "vector"}
    with TubWriter(tmp_path, list(types), list(types.values())) as writer:
        given = {
            "f": np.float32(0.5),
            "i": 3.9,
            "b": 1,
            "s": "Straße",
            "a": np.ones((2, 2)),
            "l": (1, 2.5),
            "v": np.arange(2),
        }
        writer.write_record({**given, "unknown": 1})
        writer.write_record(dict.fromkeys(given))
    first, second = TubReader(tmp_path)
    assert first.values == {
        "f": 0.5,
        "i": 3,
        "b": True,
        "s": "Straße",
        "a": [[1.0, 1.0], [1.0, 1.0]],
        "l": [1, 2.5],
        "v": [0, 1],
    }
    assert second.values == {}


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("float", float("nan")),
        ("float", float("inf")),
        ("float", "fast"),
        ("int", float("inf")),
        ("str", 3),
        ("list", [0.0, [float("nan")]]),
        ("nparray", [1]),
        ("image_array", np.zeros((4, 4, 3))),
        ("image_array", np.zeros((4, 4, 2), np.uint8)),
        ("image_array", np.zeros((0, 4, 3), np.uint8)),
    ],
)
def test_a_value_that_does_not_fit_is_refused_before_anything_is_written(tmp_path, kind, value):
    with TubWriter(tmp_path, ["cam/image_array", "x"], ["image_array", kind]) as writer:
        writer.write_record({"cam/image_array": make_picture(0)})
        before = list_files(tmp_path)
        with pytest.raises(TubError, match="x "):
            writer.write_record({"cam/image_array": make_picture(0), "x": value})
        assert list_files(tmp_path) == before
        assert writer.write_record({"cam/image_array": make_picture(0)}) == 1


def test_a_new_catalog_begins_after_max_len_records_in_all_sessions(tmp_path):
    for first in (0, 3, 4):
        write_tub(tmp_path, 3, max_catalog_len=3, first=first)
    starts = [json.loads((tmp_path / f"catalog_{n}.catalog_manifest").read_text())["start_index"] for n in range(3)]
    assert starts == [0, 3, 6]
    assert [record.index for record in TubReader(tmp_path)] == list(range(9))


def test_sessions_count_drives_with_records(tmp_path):
    for count in (1, 0, 2):
        write_tub(tmp_path, count)
    today = time.strftime("%y-%m-%d")
    assert TubReader(tmp_path).sessions == (f"{today}_0", f"{today}_1")
    assert [record.session_id for record in TubReader(tmp_path)] == [f"{today}_0", f"{today}_1", f"{today}_1"]


def test_appending_takes_the_stored_inputs_when_none_are_given(tmp_path):
    write_tub(tmp_path, 1)
    with TubWriter(tmp_path) as writer:
        assert writer.inputs == INPUTS
        writer.write_record(make_record(1))
    assert len(TubReader(tmp_path)) == 2


@pytest.mark.original(
    "Tubs", "a drive with other inputs into an old tub", "differs: refused, as its records would not fit"
)
def test_appending_with_other_inputs_names_the_difference(tmp_path):
    write_tub(tmp_path, 1)
    with pytest.raises(
        TubError, match=r"pilot/angle \(float\) is new; user/mode \(str\) is missing; user/angle is int"
    ):
        TubWriter(
            tmp_path,
            ["cam/image_array", "user/angle", "user/throttle", "pilot/angle"],
            ["image_array", "int", "float", "float"],
        )
    with TubWriter(tmp_path, INPUTS[::-1], TYPES[::-1]) as writer:
        assert writer.inputs == INPUTS


def test_stored_metadata_wins(tmp_path):
    for place in ("attic", "garden"):
        with TubWriter(tmp_path, INPUTS, TYPES, [("location", place)]) as writer:
            writer.write_record(make_record(0))
    assert TubReader(tmp_path).metadata == {"location": "attic"}


def test_erasing_takes_the_last_living_records(tmp_path):
    with TubWriter(tmp_path, INPUTS, TYPES) as writer:
        for number in range(10):
            writer.write_record(make_record(number))
        assert writer.delete_last_n_records(3) == 3
        assert writer.delete_last_n_records(2) == 2
        writer.write_record(make_record(10))
        assert writer.delete_last_n_records(2) == 2
        assert len(writer) == 4
        assert writer.delete_last_n_records(100) == 4
        assert writer.delete_last_n_records(1) == 0
    assert len(TubReader(tmp_path)) == 0


def test_unknown_types_are_refused(tmp_path):
    with pytest.raises(TubError, match="did you mean 'float'"):
        TubWriter(tmp_path / "data", ["a"], ["floaty"])
    with pytest.raises(TubError, match="one type for each input"):
        TubWriter(tmp_path / "data", ["a"], [])
    assert not (tmp_path / "data").exists()


def test_a_second_writer_is_refused_until_the_first_ends(tmp_path):
    write_tub(tmp_path, 1)
    with TubWriter(tmp_path), pytest.raises(TubError, match=r"written to by another program \(process \d+\)"):
        TubWriter(tmp_path)
    script = f"import time; from donkeysim.tub.writer import TubWriter; w = TubWriter({str(tmp_path)!r}); " + (
        "print('open', flush=True); time.sleep(60)"
    )
    holder = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    try:
        assert holder.stdout.readline().strip() == b"open"
        with pytest.raises(TubError, match=f"process {holder.pid}"):
            TubWriter(tmp_path)
    finally:
        holder.kill()
        holder.communicate()
    write_tub(tmp_path, 1)
    assert len(TubReader(tmp_path)) == 2


def test_a_closed_writer_says_so(tmp_path):
    writer = TubWriter(tmp_path, INPUTS, TYPES)
    writer.close()
    writer.close()
    with pytest.raises(TubError, match="is closed"):
        writer.write_record(make_record(0))


def test_an_empty_tub_opens_and_has_no_catalog(tmp_path):
    write_tub(tmp_path, 0)
    assert list_files(tmp_path) == [".lock", "manifest.json"]
    assert len(TubReader(tmp_path)) == 0


def test_a_tub_without_records_takes_other_inputs(tmp_path):
    write_tub(tmp_path, 0)
    with TubWriter(tmp_path, [*INPUTS, "pos/cte"], [*TYPES, "float"], [("place", "attic")]) as writer:
        writer.write_record({**make_record(0), "pos/cte": 0.5})
    tub = TubReader(tmp_path)
    assert [record.values["pos/cte"] for record in tub] == [0.5]
    assert tub.metadata == {"place": "attic"}


def test_the_end_says_how_many_of_the_recorded_ones_are_left(tmp_path, caplog):
    caplog.set_level("INFO")
    write_tub(tmp_path, 5)
    assert caplog.messages == [f"closed the tub {tmp_path} with 5 records"]
    with TubWriter(tmp_path) as writer:
        writer.delete_last_n_records(2)
    assert caplog.messages[-1] == f"closed the tub {tmp_path} with 3 records; 2 of the 5 recorded are deleted"


@pytest.mark.parametrize(
    ("picture", "size"),
    [(make_picture(0, 24, 32), "32x24"), (make_picture(0)[:, :, 0], "16x12 grey"), (make_picture(0), None)],
)
def test_pictures_of_another_size_than_the_tubs_are_told_once_and_recorded(tmp_path, caplog, picture, size):
    write_tub(tmp_path, 2)
    with TubWriter(tmp_path) as writer:
        for _ in range(2):
            writer.write_record({**make_record(2), "cam/image_array": picture})
    told = [f"the tub {tmp_path} holds pictures of 16x12 and now gets some of {size};"] if size else []
    assert [message.split("; ")[0] + ";" for message in caplog.messages] == told
    assert [record.load_image().shape[:2] for record in TubReader(tmp_path)][2:] == [picture.shape[:2]] * 2


def test_a_stored_picture_that_is_missing_is_no_reason_not_to_record(tmp_path):
    path = write_tub(tmp_path, 1)
    (path / "images" / "0_cam_image_array_.jpg").unlink()
    write_tub(path, 1)
    assert len(TubReader(path)) == 2
