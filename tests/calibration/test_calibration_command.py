"""`donkey calibrate`: folders are made, and what is asked wrongly is told before a file is written."""

import dataclasses
import math

import numpy as np
import pytest
from PIL import Image

from donkeysim.calibration import wizard
from donkeysim.calibration.board import Board, draw_board
from donkeysim.calibration.camera import Mount
from donkeysim.calibration.lane import LaneFit
from donkeysim.calibration.motion import FloorCamera
from donkeysim.cli.donkey import run
from donkeysim.core.errors import DonkeySimError
from donkeysim.tub.writer import TubWriter
from donkeysim.world.lens import LensSpec

SIZE = (320, 240)
LENS = LensSpec("plumb_bob", SIZE, (210.0, 212.0), (163.0, 117.5), (-0.12, 0.03, 0.001, -0.001, 0.0))
MOUNT = Mount(0.18, math.radians(20.0), math.radians(1.0))
GREY = np.full((240, 320, 3), 128, np.uint8)


@pytest.fixture
def asked(tmp_path, monkeypatch, capsys):
    """Runs `donkey calibrate` in a folder with floor/a.png and gives the sentence that it ends with."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "floor").mkdir()
    Image.fromarray(GREY).save(tmp_path / "floor/a.png")

    def ask(*words):
        assert run(["calibrate", *words]) == 1
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        return error

    return ask


def list_names(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_the_board_is_written_into_a_folder_that_is_made(tmp_path, capsys):
    assert run(["calibrate", "--board", str(tmp_path / "new/board.pdf")]) == 0
    assert (tmp_path / "new/board.pdf").read_bytes().startswith(b"%PDF")


def test_a_board_of_an_unknown_kind_of_file_is_refused(tmp_path, asked):
    assert "ends in .pdf or .png" in asked("--board", "b.xyz")
    (tmp_path / "taken").write_text("")
    assert "cannot write" in asked("--board", "taken/b.pdf")
    assert list_names(tmp_path) == ["a.png", "taken"]


def test_check_pictures_are_written_into_a_folder_that_is_made(tmp_path):
    Image.fromarray(GREY).save(tmp_path / "a.png")
    wizard.write_floor_check(tmp_path / "new/mycar_check.png", tmp_path / "a.png", LENS, MOUNT, 0.06)
    one = np.zeros(1)
    names = {field.name: one for field in dataclasses.fields(LaneFit)}
    fit = LaneFit(**{**names, "mount": MOUNT, "numbers": np.array([0])})
    seen = wizard.SeenLane(fit, FloorCamera(LENS, MOUNT, 0.06), (GREY,), 0.6)
    wizard.write_lane_check(tmp_path / "newer/mycar_check.png", seen)
    for folder in ("new", "newer"):
        with Image.open(tmp_path / folder / "mycar_check.png") as picture:
            assert picture.format == "PNG"


@pytest.mark.parametrize(
    "words", [("--ahead", "nan"), ("--ahead", "5000"), ("--rate", "0"), ("--rate", "-20"), ("--rate", "nan")]
)
def test_numbers_that_no_car_has_are_refused_at_the_start(tmp_path, asked, words):
    said = asked("--camera", "pi_v2", "--floor", "floor", *words)
    assert f"{words[0]} {words[1]} is not valid" in said
    assert list_names(tmp_path) == ["a.png"]


def test_scales_on_top_of_a_car_that_is_a_file_are_refused_at_the_start(tmp_path, asked):
    (tmp_path / "mine.toml").write_text('base = "rc10"\n')
    said = asked("--camera", "pi_v2", "--floor", "floor", "--car", "mine.toml", "--tub", "data")
    assert "--car mine.toml is not valid with --tub" in said
    assert "original" in said


def test_a_drive_with_pictures_of_two_sizes_is_refused_at_the_start(tmp_path, asked):
    with TubWriter(tmp_path / "data", ["cam/image_array"], ["image_array"]) as writer:
        for height in (12, 12, 24):
            writer.write_record({"cam/image_array": np.zeros((height, 16, 3), np.uint8)})
    before = list_names(tmp_path)
    said = asked("--camera", "pi_v2", "--floor", "floor", "--tub", "data")
    assert "pictures of several sizes (2 of 16x12, 1 of 16x24)" in said
    assert list_names(tmp_path) == before
    with pytest.raises(DonkeySimError, match="several sizes"):
        wizard.follow_drive(tmp_path / "data", FloorCamera(LENS, MOUNT, 0.06))


def test_a_board_is_not_lost_when_another_cannot_be_written(tmp_path):
    draw_board(Board(), tmp_path / "board.png")
    before = (tmp_path / "board.png").read_bytes()
    with pytest.raises(DonkeySimError):
        draw_board(Board(square=0.1), tmp_path / "board.png")
    assert (tmp_path / "board.png").read_bytes() == before
