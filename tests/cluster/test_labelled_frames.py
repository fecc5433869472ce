"""Labelled frames are a function of what was asked for; a dataset's folder goes on where it was."""

import hashlib
import io
import json
from dataclasses import asdict, replace

import numpy as np
import pytest
from PIL import Image

pytest.importorskip("pyarrow")

import pyarrow.parquet

from donkeysim.cli import donkey
from donkeysim.cluster import dataset, frames
from donkeysim.cluster.dataset import generate_dataset, name_shard
from donkeysim.cluster.executor import Executor
from donkeysim.cluster.frames import DEPTH_STEP, FramesSpec, Stage
from donkeysim.core.errors import SpecError
from donkeysim.core.image import decode_picture
from donkeysim.world.scene import CLASS_ROAD, CLASS_SKY

SPEC = FramesSpec(
    tracks=("generated_track", "reading_room"), frames=14, shard=6, cars=4, every=2, width=32, height=24, seed=3
)
ALONE = Executor(workers=0)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return generate_dataset(SPEC, tmp_path_factory.mktemp("frames"), ALONE)


def read(folder, number, spec=SPEC):
    return pyarrow.parquet.read_table(folder / name_shard(spec, number)).to_pylist()


def test_a_dataset_has_its_frames_in_order(made):
    assert [shard.frames for shard in made.shards] == [6, 6, 2]
    rows = [row for number in range(3) for row in read(made.folder, number)]
    assert [row["index"] for row in rows] == list(range(14))
    assert {row["track"] for row in rows} == set(SPEC.tracks)
    assert {row["driver"] for row in rows} == {"human", "steady"}
    assert len({row["picture"] for row in rows}) == 14
    told = json.loads((made.folder / "dataset.json").read_text())
    assert told["checksum"] == made.checksum
    for shard in told["shards"]:
        assert hashlib.sha256((made.folder / shard["file"]).read_bytes()).hexdigest() == shard["checksum"]


def test_labels_are_what_the_picture_shows(made):
    row = read(made.folder, 0)[0]
    picture, classes = decode_picture(row["picture"]), np.asarray(Image.open(io.BytesIO(row["classes"])))
    depth = np.asarray(Image.open(io.BytesIO(row["depth"]))) * DEPTH_STEP
    assert picture.shape == (24, 32, 3)
    assert classes.shape == depth.shape == (24, 32)
    assert ((depth == 0.0) == (classes == CLASS_SKY)).mean() > 0.97
    assert classes[-1, 16] == CLASS_ROAD
    assert 0.1 < depth[-1, 16] < 1.0
    assert abs(row["offset"]) < max(row["width_left"], row["width_right"])
    assert row["on_road"]


def test_a_shard_depends_on_no_other(made):
    again = [row["picture"] for row in Stage(SPEC).drive_shard(2)]
    assert again == [row["picture"] for row in read(made.folder, 2)]


def test_another_seed_gives_other_frames(made):
    other = [row["picture"] for row in Stage(replace(SPEC, seed=4)).drive_shard(2)]
    assert not set(other) & {row["picture"] for row in read(made.folder, 2)}


def test_what_is_missing_is_made_and_nothing_else(made, tmp_path):
    before = generate_dataset(SPEC, tmp_path / "twice", ALONE)
    assert (before.checksum, before.made) == (made.checksum, 3)
    (tmp_path / "twice" / name_shard(SPEC, 1)).unlink()
    (tmp_path / "twice" / ".frames-00001-of-00003.parquet.elsewhere-1.part").write_bytes(b"half")
    done = []
    again = generate_dataset(SPEC, tmp_path / "twice", ALONE, lambda count, total: done.append((count, total)))
    assert (again.checksum, again.made) == (made.checksum, 1)
    assert done == [(8, 14), (14, 14)]
    assert not list((tmp_path / "twice").glob(".*"))


def test_a_shard_that_fails_leaves_no_file(tmp_path, monkeypatch):
    def fail(_picture, _encoding):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(frames, "encode_picture", fail)
    with pytest.raises(dataset.DonkeySimError, match="cannot be written"):
        generate_dataset(SPEC, tmp_path, ALONE)
    assert [path.name for path in tmp_path.iterdir()] == ["frames.json"]


def test_a_folder_with_something_else_is_left_alone(made, tmp_path):
    with pytest.raises(SpecError, match="a dataset with other seed; ask for the same again"):
        generate_dataset(replace(SPEC, seed=9), made.folder, ALONE)
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(SpecError, match="holds something else already"):
        generate_dataset(SPEC, tmp_path, ALONE)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_frames_can_be_without_labels_and_randomised(tmp_path):
    plain = FramesSpec(frames=2, shard=2, cars=2, width=32, height=24, depth=False, classes=False, encoding="png")
    generate_dataset(replace(plain, randomization="mild"), tmp_path, ALONE)
    rows = read(tmp_path, 0, plain)
    assert "depth" not in rows[0]
    assert rows[0]["picture"].startswith(b"\x89PNG")
    varied = [name for name in rows[0] if name.startswith("random.")]
    assert len(varied) > 10
    assert any(rows[0][name] != rows[1][name] for name in varied)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--frames", "0"], "frames is 0; it takes a whole number, 1 or more"),
        (["--drivers", "grandma"], "grandma"),
        (["--encoding", "gif"], "gif"),
        (["--track", "nowhere"], "nowhere"),
        (["--picture", "big"], "--picture big is not valid"),
        (["--randomize", "nothing"], "nothing"),
        (["--workers", "-1"], "-1 workers are not valid"),
        (["--workers", "0", "--address", "auto"], "so no --address"),
    ],
)
def test_what_is_not_possible_is_said_in_a_sentence(words, told, tmp_path, capsys):
    assert donkey.run(["generate", str(tmp_path / "frames"), *words]) != 0
    said = capsys.readouterr().err
    assert told in said
    assert "Traceback" not in said
    assert not (tmp_path / "frames").exists()


def test_the_command_says_what_is_there(tmp_path, capsys):
    words = ["--frames", "4", "--shard", "2", "--cars", "2", "--picture", "32x24", "--workers", "0"]
    for told in ("frames/s", "0 of 2 files were missing"):
        assert donkey.run(["generate", str(tmp_path / "frames"), *words]) == 0
        said = capsys.readouterr().out
        assert "4 frames" in said
        assert told in said


def test_a_dataset_of_the_time_when_our_places_had_the_originals_names_is_not_gone_on_with(tmp_path):
    for track, told in (("warren", "whose warren are carpet_hall now"), ("generated_track", "")):
        spec, folder = replace(SPEC, tracks=(track,), frames=1), tmp_path / track
        folder.mkdir()
        known = {"format": 1, **asdict(spec)}
        (folder / dataset.SPEC_NAME).write_text(json.dumps(known), encoding="utf-8")
        if told:
            with pytest.raises(SpecError, match=told):
                generate_dataset(spec, folder, ALONE)
        else:
            assert len(generate_dataset(spec, folder, ALONE).shards) == 1
