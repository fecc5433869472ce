"""A place is made of a drive whose floor and poses are known; drives of which none can be made are refused."""

import dataclasses
import math
import signal

import numpy as np
import pytest
from PIL import Image

from donkeysim.calibration.wizard import find_floor_camera, write_camera
from donkeysim.car.config import make_default_config
from donkeysim.cli.donkey import run
from donkeysim.core.errors import DonkeySimError
from donkeysim.core.rotation import between
from donkeysim.drive.simulator_settings import read_settings
from donkeysim.mapping import floor as painting
from donkeysim.mapping import road
from donkeysim.mapping import survey as module
from donkeysim.mapping.car import DriveCommands, Steering
from donkeysim.mapping.odometry import FloorPictures, follow
from donkeysim.mapping.place_file import write_place
from donkeysim.mapping.report import redraw
from donkeysim.mapping.survey import survey
from donkeysim.sim.simulator import Simulator
from donkeysim.world.camera_file import load_camera
from donkeysim.world.specs import SceneSpec, WorldSpec, load_car
from donkeysim.world.tracks.track_file import read_track
from mapping.painted_floor import CAMERA, RADIUS, WIDTH, list_poses, paint_floor, take_pictures, write_tub

COUNT = 200
"""A lap and two thirds."""


@pytest.fixture(scope="module")
def floor():
    return paint_floor()


@pytest.fixture(scope="module")
def tub(floor, tmp_path_factory):
    return write_tub(tmp_path_factory.mktemp("drive") / "round_room", take_pictures(floor, list_poses(COUNT)))


@pytest.fixture(scope="module")
def found(tub):
    steps = []
    found = survey(tub, CAMERA, None, lambda step, share: steps.append((step, share)))
    assert sorted({step for step, _ in steps}) == [
        "adding panels", "closing loops", "following the floor", "painting the floor", "refining"
    ]  # fmt: skip
    assert all(0.0 < share <= 1.0 for _, share in steps)
    return found


def test_each_picture_is_placed_where_it_was_taken(found):
    moved, driven = between(found.poses[:-1], found.poses[1:]), between(list_poses(COUNT)[:-1], list_poses(COUNT)[1:])
    assert found.followed == 1.0
    assert len(found.loop_misses) > 5
    assert 0.0 < np.median(found.loop_misses) < 0.01
    assert moved[:, 0].sum() == pytest.approx(driven[:, 0].sum(), rel=0.005)  # sharp on blurred: 0.8 % too short
    lap = round(2 * np.pi * (RADIUS - 0.08) / 0.06)
    for first in range(0, COUNT - lap, 10):
        again, meant = (between(poses[first], poses[first + lap]) for poses in (found.poses, list_poses(COUNT)))
        assert again[:2] == pytest.approx(meant[:2], abs=0.03)
        assert again[2] == pytest.approx(meant[2], abs=0.03)


def test_the_road_lies_between_its_lines(found):
    assert found.road.has_lines
    assert np.median(found.road.left + found.road.right) == pytest.approx(WIDTH, rel=0.05)
    away = np.hypot(*(found.road.line - found.road.line.mean(axis=0)).T)
    assert away.mean() == pytest.approx(RADIUS, rel=0.03)
    assert away.std() < 0.03 * RADIUS
    assert found.road.lap_count == pytest.approx(COUNT * 0.06 / (2 * np.pi * RADIUS), rel=0.1)


def test_who_keeps_to_a_side_of_a_wide_road_goes_on_doing_so(found, monkeypatch):
    monkeypatch.setattr(road, "LEAST_ROOM", 0.5)  # so that this one is wide
    kept = road.find_road(found.poses, found.floor, CAMERA.mount.height)
    centre = kept.line.mean(axis=0)
    away, driven = (np.hypot(*(line - centre).T) for line in (kept.line, found.poses[:, :2]))
    assert away.mean() == pytest.approx(np.median(driven), abs=0.02)
    assert (away + 0.5 * (kept.right - kept.left)).mean() == pytest.approx(RADIUS, rel=0.03)
    assert np.median(kept.left) < np.median(kept.right) - 0.1


def test_the_lens_s_vignette_is_not_painted_on_the_floor(found):
    assert found.floor.vignette[-1, 0] == pytest.approx(0.75, abs=0.08)


def assert_same_line(ours, theirs):
    """The road lies where the floor's picture shows it."""
    away = np.hypot(*(ours[:, None] - theirs[None]).T)
    assert away.min(axis=0).max() < 0.05
    assert away.min(axis=1).max() < 0.3  # nodes are every quarter of a metre


def test_the_place_loads_and_shows_what_the_drive_showed(found, tmp_path):
    track = write_place(tmp_path, "round_room", found, "round_room")
    read = read_track(track)
    assert read.ground.patches[0].picture == str(tmp_path / "round_room_floor.webp")
    drawn = redraw(track, found, [20, 90, 160])
    assert min(one.psnr for one in drawn) > 22.0
    assert max(one.floor.mean() for one in drawn) < 0.9
    simulator = Simulator(WorldSpec(SceneSpec(str(track))))
    assert_same_line(simulator.scene.path.position[:, :2], found.road.line)
    simulator.put_on_path(simulator.add_car(0), 2.0)
    simulator.step()
    assert simulator.ledger.on_road[0]
    simulator.close()


def test_ctrl_c_keeps_what_was_followed(floor):
    pictures = FloorPictures(take_pictures(floor, list_poses(40)), CAMERA, np.zeros((120, 160), bool))

    def stop(done):
        if done == 30:
            raise KeyboardInterrupt

    track = follow(pictures, stop)
    assert len(track.poses) == len(track.correlation) == 29
    assert sorted(number for submap in track.submaps for number in submap.pictures) == list(range(29))


def press_at(wanted):
    """Ctrl-C, once in each of these steps, when the survey is half through it."""
    pressed = []

    def report(step, share):
        if step in wanted and share > 0.5 and step not in pressed:
            pressed.append(step)
            signal.raise_signal(signal.SIGINT)

    return report, pressed


@pytest.mark.parametrize("steps", [["closing loops"], ["refining", "painting the floor"]])
def test_ctrl_c_makes_the_place_of_what_was_found(tub, found, steps):
    report, pressed = press_at(steps)
    hurried = survey(tub, CAMERA, None, report)
    assert pressed == steps
    assert len(hurried.poses) == COUNT
    assert np.median(hurried.road.left + hurried.road.right) == pytest.approx(WIDTH, rel=0.06)
    assert np.abs(hurried.poses[:, :2] - found.poses[:, :2]).max() < 0.1


def test_ctrl_c_in_the_first_coat_of_paint_lets_it_be_finished(floor, found):
    pictures, poses = take_pictures(floor, list_poses(60)), list_poses(60)
    said = []

    def report(share):
        said.append(share)
        if len(said) == 5:
            signal.raise_signal(signal.SIGINT)

    painted = painting.paint_floor(pictures, poses, np.arange(60), found.camera, found.own, report)
    assert len(said) == 60 / painting.FIT_EVERY
    assert painted.seen.any()


def test_of_many_laps_each_place_has_its_pictures_from_all_of_them():
    """Ten laps of a circle: of a place some from each third of the drive; one that stands still counts little."""
    turn = np.linspace(0.0, 20.0 * np.pi, 4000)
    laps = np.column_stack([2.0 * np.cos(turn), 2.0 * np.sin(turn), turn])
    poses = np.vstack([laps, np.repeat(laps[-1:], 500, axis=0)])
    chosen = module.choose_pictures(poses, 0.2)
    places, counts = np.unique(np.floor(poses[chosen, :2] / 0.2), axis=0, return_counts=True)
    assert counts.max() == module.MOST_LAID
    assert len(places) == len(np.unique(np.floor(poses[:, :2] / 0.2), axis=0))
    shares = np.histogram(chosen[chosen < 4000], bins=10, range=(0, 4000))[0] / (chosen < 4000).sum()
    assert shares.min() > 0.07
    assert np.array_equal(module.choose_pictures(laps[:150], 0.2), np.arange(150))


def test_a_known_width_scales_everything_that_has_a_length(found):
    camera, poses, floor, road = module._scale(2.0, found.camera, found.poses, found.floor, found.road)
    assert camera.mount.height == 2.0 * found.camera.mount.height
    assert poses[-1] == pytest.approx(found.poses[-1] * (2.0, 2.0, 1.0))
    assert road.left == pytest.approx(2.0 * found.road.left)
    cell = np.array([7.0, 30.0, 1.0])
    assert (floor.axes @ cell)[:2] == pytest.approx(2.0 * (found.floor.axes @ cell)[:2])


def test_the_command_writes_the_place_and_its_report(tub, found, tmp_path, capsys, monkeypatch):
    asked = []
    monkeypatch.setattr(module, "survey", lambda *given: asked.append(given) or found)
    write_camera(tmp_path / "cam.toml", CAMERA.lens, CAMERA.mount, CAMERA.ahead, load_car("original"))
    words = ["place", str(tub), "--camera", str(tmp_path / "cam.toml"), "--width", "600", "--out", str(tmp_path)]
    assert run(words) == 0
    (drive, camera, width, _report), said = asked[0], capsys.readouterr().out
    assert (drive, width) == (tub, 0.6)
    assert camera.ahead == pytest.approx(CAMERA.ahead)
    assert camera.mount.height == pytest.approx(CAMERA.mount.height)
    assert "donkey_sim --scene round_room --tracks" in said
    report = (tmp_path / "round_room_report.html").read_text(encoding="utf-8")
    assert "200, 100.0% of them recognised" in report
    assert report.count('alt="drawn from the place"') >= 20
    with Image.open(tmp_path / "round_room_floor.webp") as picture:
        assert picture.mode == "RGBA"


def test_a_camera_that_was_found_is_written(tub, found, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(module, "survey", lambda *given: dataclasses.replace(found, is_found=True))
    assert run(["place", str(tub), "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "24.0° down, found from the drive" in said
    assert "by --width" in said
    camera = find_floor_camera(load_camera(str(tmp_path / "round_room_camera.toml")), load_car("original"))
    assert camera.mount.pitch == pytest.approx(CAMERA.mount.pitch)
    assert camera.lens.focal == pytest.approx(CAMERA.lens.focal)


def test_a_car_that_answers_as_the_drive_s_is_written_and_training_finds_it(tub, found, tmp_path, capsys, monkeypatch):
    hands = 0.5 + 0.5 * np.sin(np.arange(COUNT) / 6.0)
    driven = DriveCommands(hands, np.full(COUNT, 0.5), 20.0)
    seen = dataclasses.replace(found, is_found=True, driven=driven, steering=Steering(3.6, 0.1, 0.4, 0.9))
    monkeypatch.setattr(module, "survey", lambda *_: seen)
    monkeypatch.chdir(tmp_path)
    assert run(["place", str(tub)]) == 0
    said = capsys.readouterr().out
    car = load_car("round_room_car.toml")
    base = car.wheel_position[0][0] - car.wheel_position[2][0]
    assert base / math.tan(car.steer_gain) == pytest.approx(0.4, rel=1e-4)
    assert "a car that steers as this one and is as fast, for --car" in said
    assert "round_room_delay.toml: it answers 0.1" in said
    changes = {}
    exec("\n".join(line.strip() for line in said.splitlines() if line.startswith("  ") and " = " in line), {}, changes)
    settings = read_settings(make_default_config(changes=changes))
    assert settings.scene == "round_room.toml"
    assert settings.conf.experiment.car == "round_room_car.toml"


# ---- what cannot become a place ----------------------------------------------------------------------------------


SHORT = 60
"""Pictures that are enough to see that a drive is none."""


def refuse(path, pictures, words, monkeypatch=None):
    if monkeypatch:
        monkeypatch.setattr(module, "FEWEST", SHORT)
    with pytest.raises(DonkeySimError, match=words):
        survey(write_tub(path, pictures), CAMERA, None, lambda _step, _share: None)


def test_a_drive_that_its_floor_does_not_tell_is_followed_by_what_is_above(monkeypatch):
    asked = []
    monkeypatch.setattr(module, "find_turns", lambda pictures, camera, report: ("turns", "returns"))
    monkeypatch.setattr(module, "_place", lambda *given: asked.append(given) or "placed")
    camera, placed = module._place_by_view([], CAMERA, None, "tub", print, module._LostError("lost"))
    assert camera.ahead == pytest.approx(0.6 * CAMERA.mount.height)
    assert placed == "placed"
    assert asked == [([], camera, None, "tub", print, "turns", "returns")]


def test_what_nothing_above_the_floor_saves_is_refused_for_what_the_floor_lacks(monkeypatch):
    def tell_nothing(pictures, camera, report):
        raise DonkeySimError("too little is seen")

    monkeypatch.setattr(module, "find_turns", tell_nothing)
    with pytest.raises(DonkeySimError, match="the floor is bare"):
        module._place_by_view([], CAMERA, None, "tub", print, module._LostError("the floor is bare"))


def test_a_drive_without_a_lap_is_refused(floor, tmp_path, monkeypatch):
    pictures = take_pictures(floor, list_poses(SHORT))
    refuse(tmp_path / "tub", pictures, "nowhere does it show the same floor", monkeypatch)


def test_a_standing_car_is_refused(floor, tmp_path, monkeypatch):
    pictures = take_pictures(floor, np.tile([0.0, -1.0, 0.0], (SHORT, 1)))
    refuse(tmp_path / "tub", pictures, "stood still|drove 0", monkeypatch)


def test_a_covered_lens_is_refused(tmp_path):
    refuse(tmp_path / "tub", [np.full((120, 160, 3), 9, np.uint8)] * COUNT, "hardly differ")


def test_a_bare_floor_is_refused(tmp_path, monkeypatch):
    draws = np.random.default_rng(1)
    pictures = [draws.integers(90, 120, (120, 160, 3)).astype(np.uint8) for _ in range(SHORT)]
    refuse(tmp_path / "tub", pictures, "recognised in|slide aside", monkeypatch)


def test_a_short_drive_is_refused(floor, tmp_path):
    refuse(tmp_path / "tub", take_pictures(floor, list_poses(20)), "has 20 records; a place takes 200")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--camera", "wide", "--width", "3"], "takes 50 to 20000 mm"),
        (["--camera", "wide", "--name", "warren"], "built-in place"),
        (["--camera", "nope"], "camera preset"),
    ],
)
def test_what_is_asked_wrongly_is_told_at_once(tub, tmp_path, capsys, words, said):
    assert run(["place", str(tub), "--out", str(tmp_path), *words]) == 1
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
