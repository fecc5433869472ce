"""Tubs that can be read but hold what no car writes: they cost a record or a sentence, never a traceback."""

import io
import json
import os
import runpy
import shutil

import pytest
from PIL import Image

from donkeysim.cli.donkey import run
from donkeysim.core.errors import DonkeySimError, TubError
from donkeysim.learn.dataset import read_records
from donkeysim.learn.kinds import get_kind
from donkeysim.learn.pilot import BUILT_IN_PILOT
from donkeysim.tub.overview import read_overview
from donkeysim.tub.reader import TubReader
from donkeysim.tub.values import read_number
from donkeysim.tub.writer import TubWriter
from tub.drives import write_tub

DIGITS = "9" * 400


@pytest.fixture
def folder(tmp_path, monkeypatch):
    write_tub(tmp_path / "data", 30)
    (tmp_path / "config.py").write_text("DRIVE_LOOP_HZ = 10\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put_angle(folder, text):
    catalog = folder / "data/catalog_0.catalog"
    catalog.write_text(catalog.read_text().replace('"user/angle": -1.0', f'"user/angle": {text}', 1))


def put_own(folder, text):
    manifest = folder / "data/manifest.json"
    lines = manifest.read_text().split("\n")
    lines[3] = text
    manifest.write_text("\n".join(lines))


@pytest.mark.parametrize("text", ["Infinity", "NaN", DIGITS, "1e999"])
def test_a_value_that_is_no_number_is_left_out_of_plots_and_of_learning(folder, capsys, caplog, text):
    put_angle(folder, text)
    assert run(["tubhist", "--tub", "data", "--out", "a.png"]) == 0
    assert run(["tubplot", "--tub", "data", "--model", "built-in", "--noshow"]) == 0
    assert "Traceback" not in capsys.readouterr().err
    assert run(["makemovie", "--tub", "data"]) == 0
    assert read_overview(TubReader("data")).count == 30
    assert len(read_records([folder / "data"], get_kind("linear")).records) == 29
    assert "1 record left out: 'user/angle' is" in caplog.text


@pytest.mark.parametrize("text", ['"-0.75"', '"+.5"', '"1e-1"', '"1."'])
def test_a_number_written_as_text_is_a_number(folder, text):
    """As in tubs of programs that write all fields as text; donkeycar 3 read them by float()."""
    put_angle(folder, text)
    assert read_records([folder / "data"], get_kind("linear")).angle[0] == float(json.loads(text))


@pytest.mark.parametrize("text", ["1_0", "inf", "nan", "0x1", "1e9999", "", " 1", "½"])
def test_other_text_is_none(text):
    assert read_number(text) is None


def test_deletions_stand_where_the_list_of_catalogs_is_missing(folder):
    manifest = folder / "data/manifest.json"
    lines = manifest.read_text().split("\n")
    lines[4] = '{"max_len": 1000, "deleted_indexes": [3, 4, "x"]}'
    manifest.write_text("\n".join(lines))
    assert [record.index for record in TubReader(folder / "data")] == [0, 1, 2, *range(5, 30)]


@pytest.mark.parametrize("text", ["1e308", "[" * 50_000 + "]" * 50_000])
def test_numbers_without_an_axis_and_records_without_a_bottom_cost_only_themselves(folder, capsys, text):
    put_angle(folder, text)
    for words in ("tubhist --tub data --out a.png", "tubclean data --report", "convert data b.mcap"):
        assert run(words.split()) == 0, words
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["mcap", "parquet", "lerobot", "tub"])
def test_an_index_or_a_time_that_none_can_be_is_passed_over(folder, capsys, kind):
    catalog = folder / "data/catalog_0.catalog"
    lines = catalog.read_text().splitlines()
    lines[3] = json.dumps(json.loads(lines[3]) | {"_index": 10**12, "_timestamp_ms": 10**30})
    catalog.write_text("\n".join(lines) + "\n")
    assert [record.index for record in TubReader("data")][3] == 3
    assert run(["convert", "data", "out" if kind in ("lerobot", "tub") else f"out.{kind}", "--to", kind]) == 0
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["mcap", "parquet", "lerobot", "tub"])
def test_pictures_that_are_none_are_left_out_of_what_is_converted_and_counted(folder, capsys, kind):
    torn = (folder / "data/images/6_cam_image_array_.jpg").read_bytes()[:-4]
    for number, content in ((4, b""), (5, b"no picture"), (6, torn)):
        (folder / f"data/images/{number}_cam_image_array_.jpg").write_bytes(content)
    assert run(["convert", "data", "out" if kind in ("lerobot", "tub") else f"out.{kind}", "--to", kind]) == 0
    assert "27 records" in capsys.readouterr().out


def test_pictures_that_are_none_are_left_out_of_a_plot(folder, capsys, caplog):
    picture = folder / "data/images/4_cam_image_array_.jpg"
    picture.write_bytes(picture.read_bytes()[:-4])
    shutil.copy(BUILT_IN_PILOT, "p.onnx")
    assert run(["tubplot", "--tub", "data", "--model", "p.onnx", "--noshow"]) == 0
    assert "with 29 records" in capsys.readouterr().out
    assert "lacks the picture of 1 record" in caplog.text


def test_what_follows_a_whole_picture_does_no_harm(folder):
    picture = folder / "data/images/4_cam_image_array_.jpg"
    picture.write_bytes(picture.read_bytes() + bytes(20))
    assert len(list(TubReader("data").iterate_seen())) == 30


def test_only_finite_numbers_are_numbers():
    assert read_number(3) == 3.0
    assert [read_number(value) for value in (True, None, float("inf"), float("nan"), int(DIGITS))] == [None] * 5


@pytest.mark.parametrize(
    "own",
    [
        '{"created_at": null}',
        '{"sessions": ["a"]}',
        '{"sessions": {"all_full_ids": null}}',
        '{"sessions": {"last_id": null, "all_full_ids": []}}',
    ],
)
def test_a_fourth_line_of_other_types_costs_nothing(folder, own):
    put_own(folder, own)
    assert len(TubReader("data")) == 30
    write_tub(folder / "data", 1)
    with TubWriter("data") as writer:  # nobody has kept the lock
        assert writer.current_index == 31
    assert len(TubReader("data").sessions) == 1
    assert json.loads((folder / "data/manifest.json").read_text().split("\n")[3])["sessions"]["last_id"] == 0


def test_a_picture_too_large_to_be_one_is_broken(folder, monkeypatch):
    buffer = io.BytesIO()
    Image.new("L", (64, 64)).save(buffer, "PNG")
    (folder / "data/images/0_cam_image_array_.jpg").write_bytes(buffer.getvalue())
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1000)
    with pytest.raises(TubError, match=r"is broken: .*exceeds limit"):
        next(iter(TubReader("data"))).load_image()


def test_a_train_filter_that_fails_is_named_with_file_and_line(folder):
    path = folder / "mine.py"
    path.write_text('\nTRAIN_FILTER = lambda r: r.underlying["nope"] > 0\n')
    keep = runpy.run_path(str(path))["TRAIN_FILTER"]
    with pytest.raises(DonkeySimError, match=r"mine\.py, line 2: KeyError: 'nope'; TRAIN_FILTER fails so at record 0"):
        read_records([folder / "data"], get_kind("linear"), keep)


def put_picture(folder, make):
    """Put something else in the place of a picture."""
    picture = folder / "data/images/3_cam_image_array_.jpg"
    picture.unlink()
    make(picture)
    return picture


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="Windows has no such links and pipes")
@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_a_picture_that_is_no_file_of_the_tub_is_never_read(folder, kind, caplog):
    (folder / "secret.txt").write_text("TOP SECRET")
    ways = {"link": lambda path: path.symlink_to(folder / "secret.txt"), "pipe": os.mkfifo}
    put_picture(folder, ways[kind])
    record = list(TubReader("data"))[3]
    told = {"link": "it is a link; copy the file itself there", "pipe": "it is no file"}[kind]
    with pytest.raises(TubError, match=rf"cannot be read \({told}\)"):
        record.read_image()
    assert run(["convert", "data", "copy", "--to", "tub"]) == 0
    assert not [path for path in (folder / "copy").rglob("*") if path.is_file() and b"SECRET" in path.read_bytes()]
    assert "lacks pictures of 1 record" in caplog.text


def test_a_picture_that_claims_more_pixels_than_a_camera_has_is_broken(folder):
    def write_huge(path):
        Image.new("L", (9000, 9000)).save(path, "PNG")

    put_picture(folder, write_huge)
    record = list(TubReader("data"))[3]
    with pytest.raises(TubError, match="9000x9000 pixels are more than a picture of a drive has"):
        record.load_image()
