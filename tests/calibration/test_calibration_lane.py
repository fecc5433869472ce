"""A camera's mounting from a drive along a lane, made up and drawn; whole drives: soak/test_calibrate."""

import dataclasses
import math

import av
import numpy as np
import pytest
from PIL import Image

from donkeysim.calibration import pictures
from donkeysim.calibration.camera import Mount
from donkeysim.calibration.lane import FEWEST_LANES, solve_lane
from donkeysim.calibration.lane_lines import LaneFinder, LaneLine
from donkeysim.calibration.motion import FloorCamera, scale_lens
from donkeysim.calibration.pictures import read_drive
from donkeysim.calibration.wizard import LANE_COLOUR, draw_overlay, look_for_lane, make_lane_grid, write_camera
from donkeysim.cli.donkey import run
from donkeysim.core.errors import DonkeySimError
from donkeysim.render.warp import unbend_rays
from donkeysim.tub.writer import TubWriter
from donkeysim.world.camera_file import load_camera
from donkeysim.world.lens import LensSpec
from donkeysim.world.specs import load_car

SIZE = (160, 120)
LENS = LensSpec("plumb_bob", SIZE, (105.0, 106.0), (81.0, 58.5), (-0.12, 0.03, 0.001, -0.001, 0.0))
FISHEYE = LensSpec("equidistant", SIZE, (75.0, 75.0), (79.0, 60.0), (0.02, -0.01, 0.004, -0.001))
MOUNT = Mount(0.18, math.radians(15.0), math.radians(1.0))
WIDTH = 0.56


def place_on_lane(lens, heading):
    """A camera that looks so far to the left of a lane along x [rad]."""
    return FloorCamera(lens, dataclasses.replace(MOUNT, yaw=heading), 0.0)


def see_line(camera, side):
    """Return the line that a camera sees of one that is `side` right of it [m], by two places on it."""
    ends = camera.find_places(np.array([[1.5, -side], [0.5, -side]]))
    (cx, cy), (fx, fy) = camera.lens.centre, camera.lens.focal
    right, down = unbend_rays(camera.lens, (ends[:, 0] - cx) / fx, (ends[:, 1] - cy) / fy)
    slope = (right[1] - right[0]) / (down[1] - down[0])
    return LaneLine(right[0] - slope * down[0], slope, down[0], down[1])


def wander(count, seed=4):
    """How a car drives that does not keep quite straight: headings [rad], and where its left line is [m]."""
    random = np.random.default_rng(seed)
    return random.normal(0.01, 0.03, count), random.normal(-0.26, 0.05, count)


def see_lane(heading, side, lens=LENS):
    camera = place_on_lane(lens, heading)
    return see_line(camera, side), see_line(camera, side + WIDTH)


def draw_lane(lens, heading, side, random, others=()):
    """A grey floor with a white line, a yellow one of dashes, and grain; sky above; `others`: further white lines."""
    camera = place_on_lane(lens, heading)
    fine = dataclasses.replace(
        lens,
        size=(3 * SIZE[0], 3 * SIZE[1]),
        focal=tuple(3 * value for value in lens.focal),
        centre=tuple(3 * value + 1 for value in lens.centre),
    )
    pixels = np.indices((3 * SIZE[1], 3 * SIZE[0]))[::-1].reshape(2, -1).T.astype(float)
    ahead, left = dataclasses.replace(camera, lens=fine).find_floor(pixels).T
    colour = np.full((len(pixels), 3), 90.0)
    for line in (side, *others):
        colour[np.abs(left + line) < 0.02] = (238, 236, 228)
    colour[(np.abs(left + side + WIDTH) < 0.02) & (np.nan_to_num(ahead) % 0.5 < 0.3)] = (238, 190, 40)
    colour[~(ahead > 0.0) | (ahead > 20.0)] = (130, 170, 210)
    small = colour.reshape(SIZE[1], 3, SIZE[0], 3, 3).mean(axis=(1, 3))
    return np.clip(small + random.normal(0.0, 4.0, small.shape), 0, 255).astype(np.uint8)


@pytest.fixture(scope="module")
def drive():
    random = np.random.default_rng(6)
    return [draw_lane(LENS, heading, side, random) for heading, side in zip(*wander(16), strict=True)]


@pytest.mark.parametrize("lens", [LENS, FISHEYE], ids=["plumb_bob", "fisheye"])
def test_the_mounting_follows_from_where_lanes_are_seen(lens):
    heading, side = wander(20)
    fit = solve_lane([see_lane(*each, lens) for each in zip(heading, side, strict=True)], WIDTH, lens.focal[0], SIZE[0])
    found = fit.mount
    assert found.pitch == pytest.approx(MOUNT.pitch, abs=3e-4)
    assert found.roll == pytest.approx(MOUNT.roll, abs=1e-3)  # held towards 0 a little
    assert found.height == pytest.approx(MOUNT.height, rel=2e-3)
    assert fit.heading == pytest.approx(heading, abs=2e-3)
    assert fit.side == pytest.approx(side, abs=2e-3)
    assert fit.error < 0.05


def test_lanes_of_another_width_and_unseen_ones_are_left_out():
    lanes = [see_lane(*each) for each in zip(*wander(20), strict=True)]
    lanes[3], lanes[11] = None, None
    camera = place_on_lane(LENS, 0.0)
    lanes[7] = see_line(camera, -0.3), see_line(camera, 0.5)
    fit = solve_lane(lanes, WIDTH, LENS.focal[0], SIZE[0])
    assert sorted(set(range(20)) - set(fit.numbers)) == [3, 7, 11]
    assert fit.mount.height == pytest.approx(MOUNT.height, rel=2e-3)


def test_too_few_lanes_are_refused():
    lanes = [see_lane(*each) for each in zip(*wander(FEWEST_LANES - 1), strict=True)]
    with pytest.raises(DonkeySimError, match="seen in 9 of 11 pictures"):
        solve_lane([*lanes, None, None], WIDTH, LENS.focal[0], SIZE[0])


def test_lines_are_found_in_pictures_and_the_mounting_with_them(drive):
    seen = look_for_lane(drive, LENS, WIDTH, 0.06)
    assert len(seen.fit.numbers) >= 14
    found = seen.camera.mount
    assert (found.pitch, found.roll) == pytest.approx((MOUNT.pitch, MOUNT.roll), abs=math.radians(0.4))
    assert found.height == pytest.approx(MOUNT.height, rel=0.02)


def test_no_lane_is_found_where_there_is_none(drive):
    random = np.random.default_rng(2)
    without = [random.integers(80, 110, (SIZE[1], SIZE[0], 1)).astype(np.uint8) for _ in range(3)]
    flat = np.full((SIZE[1], SIZE[0], 3), 90, np.uint8)
    one_line = drive[0].copy()
    one_line[:, 80:] = 90
    found = LaneFinder(LENS).find_lanes([*without, flat, one_line, *drive])
    assert found[:5] == [None] * 5
    assert sum(lane is not None for lane in found[5:]) >= 14


@pytest.mark.parametrize("size", [(3, 2), (9, 7), (64, 4), (40, 30)])
def test_pictures_too_small_for_a_lane_hold_none(size):
    random = np.random.default_rng(1)
    small = scale_lens(LENS, size)
    noise = [random.integers(0, 255, (size[1], size[0], 1 + 2 * (k % 2))).astype(np.uint8) for k in range(4)]
    with pytest.raises(DonkeySimError, match="of 4 pictures"):
        look_for_lane(noise, small, WIDTH, 0.0)


def test_bends_do_not_disturb(drive):
    row, column = np.indices((SIZE[1], SIZE[0]))
    bends = []
    for bend in np.linspace(-0.02, 0.02, 6):
        picture = np.full((SIZE[1], SIZE[0], 3), 90, np.uint8)
        for side in (-1, 1):
            middle = 80 + side * 0.8 * (row - 40) + bend * (row - 120) ** 2
            picture[(np.abs(column - middle) < 2.5) & (row > 45)] = 240
        bends.append(picture)
    found = look_for_lane([*bends, *drive], LENS, WIDTH, 0.06).fit
    assert (found.mount.pitch, found.mount.roll) == pytest.approx((MOUNT.pitch, MOUNT.roll), abs=math.radians(0.4))
    assert found.mount.height == pytest.approx(MOUNT.height, rel=0.02)


@pytest.mark.parametrize("place", ["along the middle", "in one lane"])
def test_a_dashed_middle_line_is_a_border_only_for_who_keeps_to_one_side_of_it(place):
    random = np.random.default_rng(3)
    headings, sides = wander(24)
    if place == "along the middle":
        sides = np.random.default_rng(5).normal(-WIDTH, 0.12, 24)
    pictures = [
        draw_lane(LENS, heading, side, random, [side + 2 * WIDTH])
        for heading, side in zip(headings, sides, strict=True)
    ]
    width = 2 * WIDTH if place == "along the middle" else WIDTH
    found = look_for_lane(pictures, LENS, width, 0.06)
    assert len(found.fit.numbers) >= 12
    assert found.camera.mount.height == pytest.approx(MOUNT.height, rel=0.03)
    assert found.camera.mount.pitch == pytest.approx(MOUNT.pitch, abs=math.radians(0.4))


def test_the_lane_is_drawn_over_the_lane(drive):
    seen = look_for_lane(drive, LENS, WIDTH, 0.0)
    which = 5
    camera = dataclasses.replace(
        seen.camera, mount=dataclasses.replace(seen.fit.mount, yaw=float(seen.fit.heading[which]))
    )
    grid = make_lane_grid(float(seen.fit.side[which]) + WIDTH, WIDTH)
    picture = drive[seen.fit.numbers[which]]
    is_drawn = (draw_overlay(picture, camera, 1, grid)[60:] == LANE_COLOUR).all(axis=-1)
    left = is_drawn & (np.arange(SIZE[0]) < 80)
    assert left.sum() > 30
    assert np.median(picture[60:][left].min(axis=-1)) > 190  # as white as the line


def write_film(path, frames):
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=20)
        stream.width, stream.height, stream.pix_fmt = *SIZE, "yuv420p"
        for frame in frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
        container.mux(stream.encode())


def test_a_drive_is_a_tub_a_folder_or_a_film(tmp_path, drive):
    with TubWriter(tmp_path / "tub", ["cam/image_array"], ["image_array"]) as tub:
        for picture in drive:
            tub.write_record({"cam/image_array": picture})
    (tmp_path / "folder").mkdir()
    for number, picture in enumerate(drive):
        Image.fromarray(picture).save(tmp_path / "folder" / f"{number:03}.png")
    write_film(tmp_path / "film.mp4", drive)
    for name in ("tub", "folder", "film.mp4"):
        read = read_drive(str(tmp_path / name))
        assert len(read) == len(drive)
        assert np.abs(read[9].astype(int) - drive[9]).mean() < 6.0


def test_a_long_drive_is_thinned_out_evenly_and_wide_pictures_made_smaller(monkeypatch):
    monkeypatch.setattr(pictures, "ENOUGH", 4)
    kept = pictures._thin_out(np.full((6, 1280, 3), number, np.uint8) for number in range(21))
    assert [int(picture[0, 0, 0]) for picture in kept] == [0, 4, 8, 12, 16, 20]
    assert kept[0].shape == (3, 640, 3)


def test_what_is_no_drive_is_told(tmp_path):
    for size in ((64, 48), (48, 64)):
        Image.new("RGB", size).save(tmp_path / f"{size[0]}.png")
    with pytest.raises(DonkeySimError, match="those of 2 sizes"):
        read_drive(str(tmp_path))
    (tmp_path / "film.mp4").write_bytes(b"no film")
    with pytest.raises(DonkeySimError, match="cannot be read"):
        read_drive(str(tmp_path / "film.mp4"))
    with pytest.raises(DonkeySimError, match="there are no pictures"):
        read_drive(str(tmp_path / "nowhere"))


def test_the_command_mounts_a_known_lens_by_a_lane(tmp_path, drive, capsys):
    write_camera(tmp_path / "known.toml", LENS, Mount(0.1, 0.0, 0.0), 0.06, load_car("original"))
    (tmp_path / "drive").mkdir()
    for number, picture in enumerate(drive):
        Image.fromarray(picture).save(tmp_path / "drive" / f"{number:03}.png")
    words = ["calibrate", "--camera", str(tmp_path / "known.toml"), "--lane", str(tmp_path / "drive")]
    assert run([*words, "--width", str(1000 * WIDTH), "--out", str(tmp_path / "car")]) == 0
    assert "a straight lane was seen in 1" in capsys.readouterr().out
    found = load_camera(str(tmp_path / "car_camera.toml"))
    assert found.lens == load_camera(str(tmp_path / "known.toml")).lens
    assert found.rotation[1] == pytest.approx(MOUNT.pitch, abs=math.radians(0.4))
    with Image.open(tmp_path / "car_check.png") as check:
        assert check.size == (3 * 640, 480)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--camera", "wide", "--lane", "drive"), "--width MM together"),
        (("--camera", "wide", "--floor", "floor", "--width", "600"), "--lane DRIVE and"),
        (("--lane", "drive", "--width", "600"), "or --camera for --views"),
        (("--camera", "wide"), "--lane for --floor"),
        (("--camera", "wide", "--lane", ".", "--width", "0"), "20 to 100000 mm"),
        (("--camera", "wide", "--lane", ".", "--width", "nan"), "20 to 100000 mm"),
        (("--camera", "nothing", "--floor", "."), "camera preset"),
        (("--views", ".", "--floor", ".", "--corners", "9"), "for example 8x5"),
        (("--views", ".", "--floor", ".", "--corners", "9x2"), "3 to 40"),
    ],
)
def test_what_does_not_go_together_is_told(tmp_path, monkeypatch, capsys, words, told):
    monkeypatch.chdir(tmp_path)
    Image.new("RGB", (64, 48)).save("a.png")
    assert run(["calibrate", *words]) != 0
    assert told in capsys.readouterr().err
