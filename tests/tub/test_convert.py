"""Tubs as datasets of other programs and back; what is written is held against the formats' written specifications."""

import json
import shutil

import h5py
import numpy as np
import pyarrow.parquet as parquet
import pytest
from mcap.reader import make_reader
from PIL import Image

from donkeysim.cli.donkey import run
from donkeysim.core.errors import TubError
from donkeysim.tub.formats.convert import choose_kind, convert, recognise
from donkeysim.tub.formats.lerobot import LeRobotOptions
from donkeysim.tub.reader import TubReader
from donkeysim.tub.writer import TubWriter
from tub.mixed import DELETED, HEIGHT, INPUTS, WIDTH, delete_range, make_record, write_drive
from tub.strict import read_strictly

NAMES = {"tub": "copy", "lerobot": "lerobot", "minari": "drive-v0", "mcap": "drive.mcap", "parquet": "drive.parquet"}
EVERYTHING, LIVING = ("tub", "mcap", "parquet"), ("lerobot", "minari")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """One tub, everything it becomes, and the tubs that these become."""
    folder = tmp_path_factory.mktemp("made")
    write_drive(folder / "data")
    for kind, name in NAMES.items():
        convert(folder / "data", folder / name, kind)
        convert(folder / name, folder / f"{kind}-back", "tub")
    return folder


def list_records(records):
    return [(record.index, record.session_id, record.timestamp_ms, record.values) for record in records]


def list_pictures(records):
    return [record.read_image() for record in records]


@pytest.mark.parametrize("kind", EVERYTHING)
def test_what_a_format_has_room_for_comes_back_as_it_was(made, kind):
    before, after = TubReader(made / "data"), TubReader(made / f"{kind}-back")
    assert list_records(after.iterate_all()) == list_records(before.iterate_all())
    assert list_pictures(after.iterate_all()) == list_pictures(before.iterate_all())
    assert after.deleted_indexes == before.deleted_indexes == DELETED
    for told in ("inputs", "types", "metadata", "own_metadata", "max_len"):
        assert getattr(after, told) == getattr(before, told)


@pytest.mark.parametrize("kind", LIVING)
def test_datasets_of_episodes_bring_living_records_back_bit_for_bit(made, kind):
    before, after = TubReader(made / "data"), TubReader(made / f"{kind}-back")
    nameless = [(*told[:3], {**told[3], "cam/image_array": ""}) for told in list_records(before)]
    assert [(*told[:3], {**told[3], "cam/image_array": ""}) for told in list_records(after)] == nameless
    assert list_pictures(after) == list_pictures(before)
    assert (after.sessions, after.metadata, after.types) == (before.sessions, before.metadata, before.types)


@pytest.mark.parametrize("kind", NAMES)
def test_a_tub_that_was_converted_back_reads_as_strictly_as_the_originals_do(made, kind):
    assert len(read_strictly(made / f"{kind}-back")) == 7
    with TubWriter(made / f"{kind}-back", list(INPUTS), list(INPUTS.values())) as writer:
        assert writer.current_index == 9  # the next drive goes on behind the last record


def test_a_lerobot_dataset_has_the_files_and_columns_of_version_3(made):
    root = made / "lerobot"
    info = json.loads((root / "meta/info.json").read_text())
    expected = {"codebase_version": "v3.0", "fps": 20, "total_episodes": 3, "total_frames": 7, "total_tasks": 1}
    assert {name: info[name] for name in expected} == expected
    assert info["splits"] == {"train": "0:3"}
    assert info["features"]["observation.image"]["shape"] == [HEIGHT, WIDTH, 3]
    assert info["features"]["action"] == {"dtype": "float32", "shape": [2], "names": ["angle", "throttle"]}
    table = parquet.read_table(root / info["data_path"].format(chunk_index=0, file_index=0))
    assert set(table.column_names) == set(info["features"])
    assert table["episode_index"].to_pylist() == [0, 0, 1, 2, 2, 2, 2]  # split by deletions and by sessions
    assert table["index"].to_pylist() == list(range(7))
    assert table["timestamp"].to_pylist() == pytest.approx([0, 0.05, 0, 0, 0.05, 0.1, 0.15])
    assert table["observation.state"].to_pylist()[1] == table["action"].to_pylist()[0]
    tasks = parquet.read_table(root / "meta/tasks.parquet").to_pandas()
    assert tasks.loc["drive along the track"].task_index == 0
    statistics = json.loads((root / "meta/stats.json").read_text())
    angles = table["tub.user.angle"].to_numpy()
    assert statistics["tub.user.angle"]["mean"] == pytest.approx([angles.mean()])
    assert statistics["tub.user.angle"]["std"] == pytest.approx([angles.std()])
    assert np.shape(statistics["observation.image"]["mean"]) == (3, 1, 1)


def test_the_episodes_of_a_lerobot_dataset_say_where_they_are(made):
    rows = parquet.read_table(made / "lerobot/meta/episodes/chunk-000/file-000.parquet").to_pylist()
    spans = [(row["dataset_from_index"], row["dataset_to_index"], row["length"]) for row in rows]
    assert spans == [(0, 2, 2), (2, 3, 1), (3, 7, 4)]
    assert {(row["data/chunk_index"], row["data/file_index"], *row["tasks"]) for row in rows} == {
        (0, 0, "drive along the track")
    }


def test_pictures_as_a_video_come_back_near_and_how_near_is_told(made, tmp_path):
    done = convert(made / "data", tmp_path / "video", "lerobot", LeRobotOptions(video=True, task="go"))
    assert "PSNR" in done.notes[-1]
    assert (tmp_path / "video/videos/observation.image/chunk-000/file-000.mp4").exists()
    rows = parquet.read_table(tmp_path / "video/meta/episodes/chunk-000/file-000.parquet").to_pylist()
    spans = [
        (row["videos/observation.image/from_timestamp"], row["videos/observation.image/to_timestamp"]) for row in rows
    ]
    assert np.array(spans).ravel().tolist() == pytest.approx([0, 0.1, 0.1, 0.15, 0.15, 0.35])
    convert(tmp_path / "video", tmp_path / "back")
    for before, after in zip(TubReader(made / "data"), TubReader(tmp_path / "back"), strict=True):
        assert np.abs(before.load_image().astype(int) - after.load_image()).mean() < 4.0


def test_a_lerobot_dataset_of_somebody_else_becomes_a_tub(made, tmp_path):
    shutil.copytree(made / "lerobot", tmp_path / "other")
    (tmp_path / "other/meta/donkeysim.json").unlink()
    convert(tmp_path / "other", tmp_path / "back")
    before, after = list(TubReader(made / "data")), list(TubReader(tmp_path / "back"))
    assert [record.values["user/angle"] for record in after] == [
        pytest.approx(record.values["user/angle"]) for record in before
    ]
    assert list_pictures(after) == list_pictures(before)
    assert [record.session_id for record in after][1:4] == ["episode_0", "episode_1", "episode_2"]


def test_a_minari_dataset_has_the_arrays_and_spaces_of_minari(made):
    facts = json.loads((made / "drive-v0/data/metadata.json").read_text())
    assert (facts["dataset_id"], facts["total_episodes"], facts["total_steps"]) == ("drive-v0", 3, 7)
    assert json.loads(facts["observation_space"])["shape"] == [HEIGHT, WIDTH, 3]
    assert json.loads(facts["action_space"])["low"] == [-1.0, -1.0]
    with h5py.File(made / "drive-v0/data/main_data.hdf5") as file:
        episode = file["episode_2"]
        assert dict(episode.attrs) == {"id": 2, "total_steps": 4}
        lengths = {name: len(episode[name]) for name in ("observations", "actions", "rewards", "truncations")}
        assert lengths == {"observations": 5, "actions": 4, "rewards": 4, "truncations": 4}
        assert episode["truncations"][:].tolist() == [False, False, False, True]
        assert {len(array) for array in episode["infos"].values()} == {5}


def test_an_mcap_file_has_a_schema_for_each_topic_and_the_pictures_bytes(made):
    with (made / "drive.mcap").open("rb") as stream:
        messages = [
            (schema.name, json.loads(schema.data), channel.topic, message, json.loads(message.data))
            for schema, channel, message in make_reader(stream).iter_messages()
        ]
    assert {(name, topic) for name, _, topic, *_ in messages} == {
        ("foxglove.CompressedImage", "/cam/image_array"),
        ("donkeysim.Record", "/record"),
    }
    records = [content for *_, topic, _, content in messages if topic == "/record"]
    schema = next(schema for name, schema, *_ in messages if name == "donkeysim.Record")
    assert schema["properties"]["values"]["properties"]["lidar/dist_array"]["items"] == {"type": "number"}
    assert [record["deleted"] for record in records] == [False] * 2 + [True] * 2 + [False] * 5
    assert messages[0][3].log_time == 1_700_000_000_000 * 10**6


def test_a_parquet_table_has_a_typed_column_for_each_input(made):
    schema = parquet.read_schema(made / "drive.parquet")
    kinds = {name: str(schema.field(name).type) for name in INPUTS}
    assert kinds["cam/image_array"] == "struct<bytes: binary, path: string>"
    assert (kinds["user/angle"], kinds["gym/lap"], kinds["sim/hit"]) == ("double", "int64", "bool")
    assert kinds["lidar/dist_array"].startswith("list<")
    assert parquet.read_table(made / "drive.parquet")["pilot/angle"].null_count == 5


def test_values_of_no_one_kind_are_kept_too(tmp_path):
    write_drive(tmp_path / "data", counts=(2,))
    (catalog,) = (tmp_path / "data").glob("*.catalog")
    lines = [json.loads(line) for line in catalog.read_text().splitlines()]
    odd = [{"odd": 1, "ragged": [1.5], "deep": {"a": [None]}}, {"odd": "x", "ragged": [], "deep": [[1], [2]]}]
    catalog.write_text("".join(json.dumps({**line, **more}) + "\n" for line, more in zip(lines, odd, strict=True)))
    for kind, name in NAMES.items():
        convert(tmp_path / "data", tmp_path / name, kind)
        convert(tmp_path / name, tmp_path / f"{kind}-back", "tub")
        for record, more in zip(TubReader(tmp_path / f"{kind}-back"), odd, strict=True):
            assert {key: record.values[key] for key in more} == more


def test_small_and_grey_pictures_keep_their_pixels(tmp_path):
    with TubWriter(tmp_path / "data", list(INPUTS), list(INPUTS.values())) as writer:
        for number in range(3):
            grey = np.full((6, 8), 40 * number, np.uint8)
            writer.write_record(make_record(number) | {"cam/image_array": grey})
    for kind in LIVING:
        convert(tmp_path / "data", tmp_path / NAMES[kind], kind)
        convert(tmp_path / NAMES[kind], tmp_path / f"{kind}-back")
        pictures = zip(TubReader(tmp_path / "data"), TubReader(tmp_path / f"{kind}-back"), strict=True)
        assert all(np.array_equal(before.load_image(), after.load_image()) for before, after in pictures)


def test_records_of_different_sizes_go_where_there_is_room_and_the_place_is_told_elsewhere(tmp_path):
    with TubWriter(tmp_path / "data", list(INPUTS), list(INPUTS.values())) as writer:
        writer.write_record(make_record(0))
        writer.write_record(make_record(1, size=(48, 64)))
    convert(tmp_path / "data", tmp_path / "drive.parquet")
    for kind in LIVING:
        with pytest.raises(
            TubError, match=r"record 1 of .*data has 64x48 under 'cam/image_array', those before it 40x32"
        ):
            convert(tmp_path / "data", tmp_path / NAMES[kind], kind)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "drive.parquet"]


@pytest.mark.parametrize("kind", NAMES)
def test_a_conversion_that_is_broken_off_leaves_nothing(made, tmp_path, kind):
    def stop(done, total):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        convert(made / "data", tmp_path / NAMES[kind], kind, report=stop)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", [kind for kind in NAMES if kind != "tub"])
def test_a_damaged_source_is_told_in_one_sentence_with_its_place(made, tmp_path, kind):
    source = tmp_path / NAMES[kind]
    (shutil.copytree if (made / NAMES[kind]).is_dir() else shutil.copy)(made / NAMES[kind], source)
    files = {"lerobot": "data/chunk-000/file-000.parquet", "minari": "data/main_data.hdf5"}
    torn = source / files[kind] if kind in files else source
    torn.write_bytes(torn.read_bytes()[: torn.stat().st_size // 2])
    with pytest.raises(TubError, match=NAMES[kind]) as caught:
        convert(source, tmp_path / "back", "tub")
    assert str(caught.value).count("\n") == 0
    assert not (tmp_path / "back").exists()


def test_the_command_says_what_was_saved_and_what_was_lost(made, tmp_path, capsys):
    assert run(["convert", str(made / "data"), str(tmp_path / "out"), "--to", "lerobot", "--task", "go"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0].endswith("out: 7 records as a LeRobot dataset")
    assert told[1].startswith("The 2 deleted records are left out")
    assert "pilot/angle" in told[2]
    assert run(["convert", str(made / "data"), str(tmp_path / "out"), "--to", "lerobot"]) == 1
    assert "exists already" in capsys.readouterr().err


def test_a_record_whose_picture_is_gone_is_left_out_and_told_until_it_is_marked_as_deleted(tmp_path, caplog):
    write_drive(tmp_path / "data")
    count = len(TubReader(tmp_path / "data"))
    (tmp_path / "data/images/6_cam_image_array_.jpg").unlink()
    convert(tmp_path / "data", tmp_path / "without.mcap")
    assert caplog.text.count("lacks pictures of 1 record, which are left out") == 1
    convert(tmp_path / "without.mcap", tmp_path / "without")
    assert len(TubReader(tmp_path / "without")) == count - 1
    delete_range(tmp_path / "data", 6, 6)
    convert(tmp_path / "data", tmp_path / "drive.mcap")
    convert(tmp_path / "drive.mcap", tmp_path / "back")
    assert list_pictures(TubReader(tmp_path / "back")) == list_pictures(TubReader(tmp_path / "data"))


def test_what_lies_there_is_recognised(made, tmp_path):
    assert {kind: recognise(made / name) for kind, name in NAMES.items()} == {kind: kind for kind in NAMES}
    (tmp_path / "note.txt").write_text("hello")
    for path, told in ((tmp_path / "note.txt", "neither MCAP nor Parquet"), (tmp_path, "is no drive")):
        with pytest.raises(TubError, match=told):
            recognise(path)


@pytest.mark.parametrize(
    ("found", "name", "kind", "chosen"),
    [("tub", "a.mcap", None, "mcap"), ("mcap", "a", None, "tub"), ("tub", "a", "minari", "minari")],
)
def test_what_it_becomes_follows_from_the_name_or_is_said(tmp_path, found, name, kind, chosen):
    assert choose_kind(found, tmp_path / name, kind) == chosen


@pytest.mark.parametrize(("name", "kind"), [("a", None), ("a.mcap", "parquet"), ("a.parquet", "tub")])
def test_a_name_that_says_nothing_or_something_else_is_refused(tmp_path, name, kind):
    with pytest.raises(TubError, match=r"--to lerobot|has the ending of"):
        choose_kind("tub", tmp_path / name, kind)


def test_a_minari_dataset_needs_a_version_in_its_name_and_takes_its_place_in_minaris_folder(
    made, tmp_path, monkeypatch
):
    with pytest.raises(TubError, match="drive-v0"):
        convert(made / "data", tmp_path / "drive", "minari")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    convert(made / "data", tmp_path / "me/lap-v1", "minari")
    assert json.loads((tmp_path / "me/lap-v1/data/metadata.json").read_text())["dataset_id"] == "me/lap-v1"


def test_a_tub_of_the_format_before_2_becomes_one_of_format_2(tmp_path):
    old = tmp_path / "old"
    old.mkdir()
    meta = {"inputs": ["cam/image_array", "user/angle"], "types": ["image_array", "float"], "start": 1.0e9}
    (old / "meta.json").write_text(json.dumps(meta))
    Image.new("RGB", (16, 12)).save(old / "1_cam.jpg")
    record = {"cam/image_array": "/home/pi/tub/1_cam.jpg", "user/angle": 0.5, "milliseconds": 50}
    (old / "record_1.json").write_text(json.dumps(record))
    convert(old, tmp_path / "new", "tub")
    (after,) = TubReader(tmp_path / "new")
    assert (after.values["user/angle"], after.timestamp_ms) == (0.5, 1_000_000_000_050)
    assert after.load_image().shape == (12, 16, 3)


def test_the_rate_of_a_sampled_drive_is_assumed_or_said(tmp_path):
    write_drive(tmp_path / "data", counts=(3,), step=4)  # [ms], as fast as the records were written
    done = convert(tmp_path / "data", tmp_path / "assumed", "lerobot")
    assert "20 a second is assumed" in done.notes[-1]
    assert run(["convert", str(tmp_path / "data"), str(tmp_path / "said"), "--to", "lerobot", "--fps", "30"]) == 0
    assert run(["convert", str(tmp_path / "data"), str(tmp_path / "no"), "--to", "lerobot", "--fps", "0"]) == 1
    rates = [json.loads((tmp_path / name / "meta/info.json").read_text())["fps"] for name in ("assumed", "said")]
    assert rates == [20, 30]
