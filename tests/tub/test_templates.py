"""Records of other templates: steering and throttle under other names are read as such by every command."""

import json
import shutil

import numpy as np
import pytest
from PIL import Image

from donkeysim.cli.donkey import run
from donkeysim.core.errors import DonkeySimError, TubError
from donkeysim.drive.tub_page import create_app
from donkeysim.learn.dataset import read_records
from donkeysim.learn.kinds import get_kind
from donkeysim.learn.pilot import BUILT_IN_PILOT
from donkeysim.tub.edit import refuse_old_format
from donkeysim.tub.film import FilmOptions, draw_frame
from donkeysim.tub.folder import split_paths
from donkeysim.tub.formats.convert import convert
from donkeysim.tub.reader import COMMAND_KEYS, TubReader, find_command_keys, read_command
from donkeysim.tub.writer import TubWriter
from tub.drives import make_picture

ANGLES = np.linspace(-1.0, 1.0, 12)


def write_tub(path, keys, **others):
    """A tub whose records name steering and throttle so."""
    inputs = {"cam/image_array": "image_array", **dict.fromkeys((*keys, *others), "float")}
    with TubWriter(path, list(inputs), list(inputs.values())) as writer:
        for number, angle in enumerate(ANGLES):
            picture = {"cam/image_array": make_picture(number)}
            writer.write_record(picture | dict(zip(keys, (float(angle), 0.25), strict=False)) | others)
    return path


@pytest.mark.original(
    "Tubs", "`steering`, `pilot/angle` … of other templates", "read as `user/angle`, which counts before them"
)
@pytest.mark.parametrize("keys", COMMAND_KEYS)
def test_every_template_s_commands_are_learnt_drawn_and_converted(tmp_path, keys):
    tub = write_tub(tmp_path / "data", keys)
    table = read_records([tub], get_kind("linear"))
    np.testing.assert_allclose(table.angle, ANGLES, atol=1e-6)
    assert set(table.throttle) == {0.25}
    record = next(iter(TubReader(tub)))
    assert read_command(record) == (-1.0, 0.25)
    picture = make_picture(0, 120, 160)
    plain, drawn = (draw_frame(record, picture, FilmOptions(shows_user=shown)) for shown in (False, True))
    assert (plain != drawn).any()
    for kind, name in (("minari", "drive-v0"), ("lerobot", "drive")):
        assert convert(tub, tmp_path / name, kind).count == len(ANGLES)
    info = json.loads((tmp_path / "drive/meta/info.json").read_text())
    assert info["features"]["action"]["shape"] == [2]


@pytest.mark.parametrize("keys", COMMAND_KEYS)
def test_the_tub_page_knows_which_numbers_are_the_commands(tmp_path, keys):
    from starlette.testclient import TestClient

    base = "http://127.0.0.1:8886"
    client = TestClient(create_app(write_tub(tmp_path / "data", keys)), base_url=base, headers={"Origin": base})
    assert client.get("/summary").json()["command"] == list(keys)


def test_the_driver_counts_before_the_car_and_the_car_before_a_pilot():
    for number, keys in enumerate(COMMAND_KEYS):
        later = {key for pair in COMMAND_KEYS[number:] for key in pair}
        assert find_command_keys(later) == keys
    assert find_command_keys({"user/angle", "pilot/throttle"}) == COMMAND_KEYS[0]


def test_a_tub_none_of_whose_records_say_what_was_done_is_told_what_it_holds(tmp_path):
    tub = write_tub(tmp_path / "data", (), **{"pos/x": 1.0, "pos/y": 2.0})
    with pytest.raises(DonkeySimError) as caught:
        read_records([tub], get_kind("linear"))
    text = str(caught.value)
    assert "none of the 12 records can be learned from: 'user/angle' is missing in record 0; they hold cam/" in text
    assert "steering and throttle" in text
    assert "Delete" not in text
    with pytest.raises(TubError, match="does not say what the driver did"):
        read_command(next(iter(TubReader(tub))))


def test_a_tub_none_of_whose_records_have_a_place_is_told_so(tmp_path):
    tub = write_tub(tmp_path / "data", COMMAND_KEYS[0])
    with pytest.raises(
        DonkeySimError,
        match=r"none of the 12 records .*'localizer/location' is missing in record 0; .*with localizer/location",
    ):
        read_records([tub], get_kind("localizer"))


def test_tubplot_compares_with_what_another_template_recorded(tmp_path, monkeypatch, capsys):
    write_tub(tmp_path / "data", ("steering", "throttle"))
    (tmp_path / "config.py").write_text("")
    shutil.copy(BUILT_IN_PILOT, tmp_path / "mine.onnx")
    monkeypatch.chdir(tmp_path)
    assert run(["tubplot", "--tub", "data", "--model", "mine.onnx", "--noshow"]) == 0, capsys.readouterr().err


LOG_ROWS = {
    "plain": (lambda name: f"/home/you/Desktop/data/IMG/{name}", "", ""),
    "of Windows": (lambda name: f"C:\\Users\\you\\data\\IMG\\{name}", "", "\ufeff"),
    "with names": (lambda name: f"IMG/{name}", " ", "Center,Left,Right,Steering,Throttle,Brake,Speed\n"),
}
"""How Udacity's simulator names pictures, what follows its commas, and what stands above its first row."""


def write_log(folder, kind, rows=30):
    """Write a drive as Udacity's simulator does."""
    name, blank, above = LOG_ROWS[kind]
    (folder / "IMG").mkdir(parents=True)
    lines = []
    for number in range(rows):
        names = [
            f"{side}_2016_12_01_13_30_{48 + number // 10}_{number % 10}00.jpg" for side in ("center", "left", "right")
        ]
        for place, file in enumerate(names):
            Image.fromarray(make_picture(3 * number + place)).save(folder / "IMG" / file)
        lines.append(f",{blank}".join([*map(name, names), f"{number / rows - 0.5}", "0.25", "0", "20.1"]))
    (folder / "driving_log.csv").write_text(above + "\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.mark.original("Tubs", "`driving_log.csv` and `IMG` of Udacity's simulator", "read, the middle camera")
@pytest.mark.parametrize("kind", LOG_ROWS)
def test_a_drive_of_udacity_s_simulator_is_a_tub_to_read(tmp_path, kind):
    folder = write_log(tmp_path / "drive", kind)
    tub = TubReader(folder)
    records = list(tub)
    assert (len(tub), tub.inputs[0], tub.types[0]) == (30, "cam/image_array", "image_array")
    assert read_command(records[0]) == (-0.5, 0.25)
    assert [records[10].timestamp_ms - records[place].timestamp_ms for place in (0, 9, 11)] == [1000, 100, -100]
    assert records[1].follows(records[0])
    expected = np.asarray(Image.open(folder / "IMG/center_2016_12_01_13_30_48_100.jpg"))
    assert (records[1].load_image() == expected).all()
    assert len(read_records([folder], get_kind("linear")).angle) == 30
    assert convert(folder, tmp_path / "tub", "tub").count == 30
    assert len(TubReader(tmp_path / "tub")) == 30
    shutil.make_archive(str(tmp_path / "packed"), "zip", tmp_path, "drive")
    assert len(TubReader(split_paths(str(tmp_path / "packed.zip"))[0])) == 30
    with pytest.raises(TubError, match="there are tubs inside it, give one of them: drive, packed/drive, tub"):
        TubReader(tmp_path)
    with pytest.raises(TubError, match="can be read but not changed; donkey convert makes one"):
        refuse_old_format(folder)


TABLES = {
    "own names": ("image,angle,throttle", "{name},{angle},0.25", ""),
    "within a folder": ("time;Filename;steering;throttle", "7;images/{name};{angle};0.25", "images"),
    "of another machine": ('"path"\t"user/angle"\t"user/throttle"', "C:\\me\\{name}\t{angle}\t0.25", "IMG"),
}


@pytest.mark.original("Tubs", "tables (CSV) of pictures, steering and throttle", "read, by the names of their columns")
@pytest.mark.parametrize("kind", TABLES)
def test_a_table_of_pictures_and_commands_is_a_tub_to_read(tmp_path, kind):
    heading, row, inner = TABLES[kind]
    (pictures := tmp_path / "drive" / inner).mkdir(parents=True)
    (tmp_path / "drive" / "a.csv").write_text("lap,seconds\n1,9.5\n", encoding="utf-8")
    for number in range(30):
        Image.fromarray(make_picture(number)).save(pictures / f"{number}.png")
    rows = [row.format(name=f"{number}.png", angle=number / 30 - 0.5) for number in range(30)]
    (tmp_path / "drive" / "labels.csv").write_text("\n".join([heading, *rows]), encoding="utf-8-sig")
    records = list(TubReader(tmp_path / "drive"))
    assert [read_command(record) for record in records] == [(number / 30 - 0.5, 0.25) for number in range(30)]
    assert (records[7].load_image() == make_picture(7)).all()
    shutil.make_archive(str(tmp_path / "packed"), "zip", tmp_path, "drive")
    assert len(TubReader(split_paths(str(tmp_path / "packed.zip"))[0])) == 30
    (tmp_path / "drive" / "labels.csv").write_text("image,seconds\n1.png,9.5\n", encoding="utf-8")
    with pytest.raises(TubError, match="is not a tub"):
        TubReader(tmp_path / "drive")


def test_a_log_with_broken_rows_loses_those_only(tmp_path):
    folder = write_log(tmp_path / "drive", "plain")
    path = folder / "driving_log.csv"
    lines = path.read_text().splitlines()
    lines[3] = lines[3].split(",")[0]
    lines[4] = "center_x.jpg,,,left,fast,0,0"
    path.write_text("\n".join(lines) + "\n\nIMG/cen")
    assert len(read_records([folder], get_kind("linear")).angle) == 28
    assert len(list(TubReader(folder).iterate_seen())) == 29
