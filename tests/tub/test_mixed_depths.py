"""Tubs with grey pictures among colour pictures: every command that reads tubs takes both."""

import json

import numpy as np
import pytest
from PIL import Image

from donkeysim.calibration.camera import Mount
from donkeysim.calibration.motion import FloorCamera
from donkeysim.calibration.pictures import read_drive
from donkeysim.calibration.wizard import follow_drive
from donkeysim.car.config import make_default_config
from donkeysim.drive.replay import PilotReplay
from donkeysim.learn.activations import read_picture
from donkeysim.learn.pictures import PictureStore
from donkeysim.learn.pilot import BUILT_IN_PILOT, load_pilot
from donkeysim.tub.film import FilmOptions, make_film
from donkeysim.tub.formats.convert import convert
from donkeysim.tub.reader import TubReader
from donkeysim.tub.writer import TubWriter
from donkeysim.world.lens import LensSpec
from tub.drives import INPUTS, TYPES, make_record

HEIGHT, WIDTH, COUNT = 120, 160, 6
LENS = LensSpec("plumb_bob", (WIDTH, HEIGHT), (105.0, 106.0), (81.5, 58.75), (0.0, 0.0, 0.0, 0.0, 0.0))


@pytest.fixture(params=[0, 1], ids=["grey first", "colour first"])
def tub(request, tmp_path):
    path = tmp_path / "data"
    random = np.random.default_rng(0)
    with TubWriter(path, INPUTS, TYPES) as writer:
        for number in range(COUNT):
            is_grey = (number + request.param) % 2 == 0
            shape = (HEIGHT, WIDTH) if is_grey else (HEIGHT, WIDTH, 3)
            picture = {"cam/image_array": random.integers(0, 256, shape, dtype=np.uint8)}
            writer.write_record(make_record(number) | picture)
    return path


def list_records(tub):
    records = list(TubReader(tub))
    assert {record.load_image().shape[2] for record in records} == {1, 3}
    return records


@pytest.mark.original(
    "Tubs", "grey pictures among colour pictures", "read; training and pilots get the depth of the config"
)
@pytest.mark.parametrize("depth", [1, 3])
def test_training_takes_both(tub, depth):
    store = PictureStore(list_records(tub), (HEIGHT, WIDTH, depth), None, "ARRAY")
    assert store.load(lambda *_: None).all()
    assert store.take_many(np.arange(COUNT)).shape == (COUNT, HEIGHT, WIDTH, depth)


@pytest.mark.parametrize("depth", [1, 3])
def test_a_pilot_looks_at_both(tub, depth, tmp_path):
    pilot = load_pilot(BUILT_IN_PILOT)
    config = make_default_config(tmp_path, {"IMAGE_DEPTH": depth})
    replay = PilotReplay(pilot, config)
    for record in list_records(tub):
        picture = record.load_image()
        if depth == 3:
            assert replay.answer(record) == pilot.run(np.broadcast_to(picture, (HEIGHT, WIDTH, 3)))
            assert replay.find_saliency(record).shape == (HEIGHT, WIDTH)
        elif picture.shape[2] == 3:
            assert replay.answer(record) == pilot.run(picture)


def test_films_and_activations_take_both(tub, tmp_path):
    replay = PilotReplay(load_pilot(BUILT_IN_PILOT), make_default_config(tmp_path))
    options = FilmOptions(1, True, replay.answer, replay.find_saliency)
    assert make_film(TubReader(tub), tmp_path / "a.mp4", 20, options) == COUNT
    for record in list_records(tub):
        assert read_picture(record.locate_image(), (HEIGHT, WIDTH, 3)).shape == (HEIGHT, WIDTH, 3)


@pytest.mark.parametrize("kind", ["tub", "mcap", "parquet"])
def test_what_has_room_for_both_keeps_their_bytes(tub, tmp_path, kind):
    name = {"tub": "other", "mcap": "a.mcap", "parquet": "a.parquet"}[kind]
    assert convert(tub, tmp_path / name, kind).count == COUNT
    convert(tmp_path / name, tmp_path / "back", "tub")
    pairs = zip(TubReader(tub), TubReader(tmp_path / "back"), strict=True)
    assert all(before.read_image() == after.read_image() for before, after in pairs)


@pytest.mark.parametrize("kind", ["lerobot", "minari"])
def test_datasets_of_one_depth_get_colour_pictures_and_say_so(tub, tmp_path, kind):
    done = convert(tub, tmp_path / "drive-v0", kind)
    assert done.count == COUNT
    assert "Some pictures of 'cam/image_array' are grey; they became colour" in " ".join(done.notes)
    convert(tmp_path / "drive-v0", tmp_path / "back", "tub")
    for before, after in zip(TubReader(tub), TubReader(tmp_path / "back"), strict=True):
        picture = before.load_image()
        assert after.load_image().shape == (HEIGHT, WIDTH, 3)
        assert (after.load_image() == picture).all()


def test_calibration_follows_both(tub):
    assert len(read_drive(str(tub))) == COUNT
    drive = follow_drive(tub, FloorCamera(LENS, Mount(0.1, 0.2, 0.0), 0.06))
    assert drive.steering.shape == (COUNT,)


def test_a_drive_of_the_old_format_is_read_in_its_order(tmp_path):
    for number in range(12):
        Image.new("RGB", (8, 8), (20 * number, 0, 0)).save(tmp_path / f"{number}_cam-image_array_.png")
        record = {"cam/image_array": f"{number}_cam-image_array_.png", "user/angle": 0.0, "user/throttle": 0.1}
        (tmp_path / f"record_{number}.json").write_text(json.dumps(record))
    assert [int(picture[0, 0, 0]) for picture in read_drive(str(tmp_path))] == [20 * number for number in range(12)]
