"""`donkey calibrate` finds what is known: 20 random cameras on 20 cars, from pictures and drives in the simulator."""

import dataclasses
import math
import time
import tomllib
import types

import numpy as np
import pytest
import trimesh
from PIL import Image

from donkeysim.calibration.board import Board, find_corners
from donkeysim.calibration.camera import Mount
from donkeysim.calibration.wizard import write_camera
from donkeysim.cli.donkey import run
from donkeysim.drivers.human_driver import HumanDriver
from donkeysim.render.warp import bend_rays, open_warp
from donkeysim.sim import commands
from donkeysim.sim.simulator import Simulator
from donkeysim.tub.writer import TubWriter
from donkeysim.world.camera_file import load_camera
from donkeysim.world.lens import LensSpec
from donkeysim.world.specs import CameraSpec, SceneSpec, WorldSpec

pytestmark = pytest.mark.soak

CAMERAS = 20

WIDTH, HEIGHT = 640, 480
"""Of the pictures of the board; the drive's are 160x120."""

BOARD = Board()

LIFT = 0.02
"""By how much the board lies above the ground, which would else show through it [m]."""

MIDDLE = np.array([3.0, 3.0, LIFT])
AHEAD, AXLE_MIDDLE, REST = 0.06, 0.0045, 0.0736

STEERINGS = (0.35, -0.35, 0.55, -0.55, 0.75, -0.75, 0.2, -0.2)
THROTTLE, SECONDS, RATE = 0.09, 3.5, 20

TRACK = """
format = 1
name = "hall"
[path]
segments = [{ straight = 6.0 }, { turn = 180.0, radius = 3.0 }, { straight = 6.0 }, { turn = 180.0, radius = 3.0 }]
[road]
width_left = 2.4
width_right = 2.4
[ground]
drivable = true
[start]
slots = 1
[[props]]
model = "board.glb"
ghost = true
places = [[3.0, 3.0]]
"""

LANE_CAMERAS = 12

LANE_WIDTH = 0.56

LANE = """
format = 1
name = "lane"
[path]
segments = [{ straight = 6.0 }, { turn = 180.0, radius = 2.0 }, { straight = 6.0 }, { turn = 180.0, radius = 2.0 }]
[road]
width_left = 0.3
width_right = 0.9
markings = [
    { offset = 0.28, width = 0.04, colour = [238, 236, 228] },
    { offset = -0.28, width = 0.04, colour = [238, 130, 40], dash = 0.3, gap = 0.3 },
    { offset = 0.02, edge = "right", width = 0.04, colour = [238, 236, 228] },
]
[ground]
drivable = true
[start]
slots = 1
"""


@dataclasses.dataclass
class Truth:
    lens: LensSpec
    height: float
    pitch: float
    steer: float
    torque: float


def write_board(path):
    """A model of the board with a white margin, on a foot."""
    columns, rows, square = BOARD.columns + 3, BOARD.rows + 3, BOARD.square
    corners, faces, colours = [], [], []
    for row, column in np.ndindex(rows, columns):
        is_margin = row in (0, rows - 1) or column in (0, columns - 1)
        x, z = (column - columns / 2) * square, -(row - rows / 2) * square
        first = len(corners)
        corners += [(x, 0.0, z), (x + square, 0.0, z), (x + square, 0.0, z - square), (x, 0.0, z - square)]
        faces += [(first, first + 1, first + 2), (first, first + 2, first + 3)]
        colours += [[15, 15, 15, 255] if (row + column) % 2 == 0 and not is_margin else [240, 240, 240, 255]] * 4
    first = len(corners)
    corners += [(0.0, -LIFT, 0.0), (0.002, -LIFT, 0.0), (0.0, -LIFT, 0.002)]
    faces, colours = [*faces, (first, first + 1, first + 2)], [*colours, *[[240, 240, 240, 255]] * 3]
    mesh = trimesh.Trimesh(np.array(corners), np.array(faces), vertex_colors=np.array(colours, np.uint8), process=False)
    mesh.export(path)


@pytest.fixture(scope="module")
def hall(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hall")
    write_board(folder / "board.glb")
    (folder / "hall.toml").write_text(TRACK, encoding="utf-8")
    simulator = Simulator(WorldSpec(SceneSpec(str(folder / "hall.toml"))))
    simulator.apply(commands.Join([0], []))
    simulator.step()
    yield simulator
    simulator.close()


def draw_truth(number, draws):
    """Every third camera is a fisheye; the others bend as ordinary and cheap wide ones do."""
    lens = draw_lens(number % 3 == 2, draws)
    while (open_warp(CameraSpec(width=WIDTH, height=HEIGHT, fov=lens.fov, lens=lens)).source < 0.0).any():
        lens = draw_lens(number % 3 == 2, draws)  # that one would show no ray in its corners
    height, pitch = draws.uniform(0.12, 0.3), math.radians(draws.uniform(10.0, 35.0))
    return Truth(lens, height, pitch, draws.uniform(0.75, 1.3), draws.uniform(0.8, 1.25))


def draw_lens(is_fisheye, draws):
    fov = math.radians(draws.uniform(70.0, 92.0) if is_fisheye else draws.uniform(42.0, 75.0))
    focal = 0.5 * HEIGHT / math.tan(0.5 * fov)
    centre = (0.5 * WIDTH - 0.5 + draws.uniform(-15.0, 15.0), 0.5 * HEIGHT - 0.5 + draws.uniform(-15.0, 15.0))
    if is_fisheye:
        model, terms = "equidistant", draws.uniform(-0.03, 0.03, 4) * (1.0, 0.5, 0.2, 0.1)
    else:
        k1, k2, p1, p2 = draws.uniform((-0.3, -0.02, -0.002, -0.002), (0.1, 0.08, 0.002, 0.002))
        model, terms = "plumb_bob", (k1, k2, p1, p2, 0.0)
    return LensSpec(model, (WIDTH, HEIGHT), (focal, focal), centre, tuple(float(term) for term in terms))


def find_board_places(lens, eye, rotation):
    """Return where the board's corners are in a picture; None: not all before the camera."""
    roll, pitch, yaw = rotation
    cr, sr, cp, sp, cy, sy = (f(a) for a in (roll, pitch, yaw) for f in (math.cos, math.sin))
    turn = (
        np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
        @ np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
        @ np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    )
    corners = BOARD.list_corners()
    points = (corners - corners.mean(axis=0) + MIDDLE - eye) @ turn
    if (points[:, 0] < 0.05).any():
        return None
    x, y = bend_rays(lens, -points[:, 1] / points[:, 0], -points[:, 2] / points[:, 0])
    return np.column_stack([x, y]) * lens.focal + lens.centre


def is_in_sight(lens, eye, rotation, least):
    """Whether the board is in the picture with its margin and its squares are so large at least [pixel]."""
    places = find_board_places(lens, eye, rotation)
    if places is None:
        return False
    low, high = places.min(axis=0), places.max(axis=0)
    grid = places.reshape(BOARD.rows, BOARD.columns, 2)
    sides = np.linalg.norm(np.diff(grid, axis=1), axis=-1).min(), np.linalg.norm(np.diff(grid, axis=0), axis=-1).min()
    margin = 1.2 * max(sides)
    return min(sides) > least and (low > margin).all() and (high < (WIDTH - margin, HEIGHT - margin)).all()


def look_at(eye, target, roll):
    away = target - eye
    return (roll, math.atan2(-away[2], math.hypot(away[0], away[1])), math.atan2(away[1], away[0]))


def choose_views(truth, draws, count=14):
    """What somebody does who holds the board here and there before the camera, leaning, all of it in sight."""
    chosen, tries = [], 0
    while len(chosen) < count:
        tries += 1
        azimuth, elevation = draws.uniform(-math.pi, math.pi), math.radians(draws.uniform(35.0, 85.0))
        away = draws.uniform(0.15, 0.7)
        flat = math.cos(elevation)
        eye = MIDDLE + away * np.array([flat * math.cos(azimuth), flat * math.sin(azimuth), math.sin(elevation)])
        rotation = look_at(eye, MIDDLE + np.append(draws.uniform(-0.12, 0.12, 2), 0.0), draws.uniform(-0.4, 0.4))
        if is_in_sight(truth.lens, eye, rotation, 24.0 if tries < 4000 else 16.0):
            chosen.append((eye, rotation))
    return chosen


def choose_floor(truth, draws, count=3):
    """What a car's own camera sees of the board that lies before it, near enough to fill much of the picture."""
    chosen, tries = [], 0
    while len(chosen) < count:
        tries += 1
        yaw, away = draws.uniform(-0.3, 0.3) + draws.integers(0, 4) * math.pi / 2, draws.uniform(0.1, 0.9)
        side = draws.uniform(-0.05, 0.05)
        ahead, left = (math.cos(yaw), math.sin(yaw)), (-math.sin(yaw), math.cos(yaw))
        eye = np.array([*(MIDDLE[:2] - away * np.array(ahead) + side * np.array(left)), LIFT + truth.height])
        rotation = (0.0, truth.pitch, yaw)
        if is_in_sight(truth.lens, eye, rotation, 12.0 if tries < 3000 else 6.0):
            chosen.append((eye, rotation))
        assert tries < 20000, f"the board is nowhere in sight from {truth}"
    return chosen


def save_pictures(simulator, camera, places, folder):
    folder.mkdir(parents=True)
    for number, (eye, rotation) in enumerate(places):
        picture = simulator.view(0, tuple(eye), rotation, camera)
        Image.fromarray(picture).save(folder / f"{number:02}.jpg", quality=92)


def mount_camera(simulator, truth, roll=0.0):
    """Give the car a camera, and put it back to the start."""
    lens = truth.lens
    position = (AXLE_MIDDLE + AHEAD, 0.0, truth.height - REST)
    camera = CameraSpec(fov=lens.fov, lens=lens, position=position, rotation=(roll, truth.pitch, 0.0))
    simulator.configure_camera(0, camera)
    simulator.reset_car(0)


def record_drive(simulator, truth, path):
    """A car whose wheels turn `steer` and whose motor pulls `torque` times as much as the preset's."""
    mount_camera(simulator, truth)
    with TubWriter(path, ["cam/image_array", "user/angle", "user/throttle"], ["image_array", "float", "float"]) as tub:
        for frame in range(round(len(STEERINGS) * SECONDS * RATE)):
            steering = STEERINGS[frame // round(SECONDS * RATE)]
            simulator.render()
            picture = simulator.get_picture(0)
            tub.write_record({"cam/image_array": picture, "user/angle": steering, "user/throttle": THROTTLE})
            simulator.drive_car(0, -steering * truth.steer, THROTTLE * truth.torque, 0.0)
            simulator.step()


def test_twenty_cameras_and_cars_are_calibrated(hall, tmp_path, capsys):
    draws, lines, failures = np.random.default_rng(7), [], []
    gain, torque = hall.car_spec.steer_gain, hall.car_spec.torque_max
    for number in range(CAMERAS):
        truth = draw_truth(number, draws)
        folder = tmp_path / str(number)
        camera = CameraSpec(width=WIDTH, height=HEIGHT, fov=truth.lens.fov, lens=truth.lens, quality="smooth")
        save_pictures(hall, camera, choose_views(truth, draws), folder / "views")
        save_pictures(hall, camera, choose_floor(truth, draws), folder / "floor")
        record_drive(hall, truth, folder / "tub")
        begun = time.perf_counter()
        arguments = ["calibrate", "--views", str(folder / "views"), "--floor", str(folder / "floor")]
        arguments += ["--tub", str(folder / "tub"), "--rate", str(RATE), "--out", str(folder / "car")]
        assert run(arguments) == 0
        taken = time.perf_counter() - begun
        found, car = load_camera(str(folder / "car_camera.toml")), tomllib.loads((folder / "car_car.toml").read_text())
        errors = types.SimpleNamespace(
            fov=math.degrees(found.lens.fov - truth.lens.fov),
            pitch=math.degrees(found.rotation[1] - truth.pitch),
            height=100.0 * (found.position[2] + REST - truth.height),
            steer=100.0 * (car["steer_gain"] / gain / truth.steer - 1.0),
            torque=100.0 * (car["torque_max"] / torque / truth.torque - 1.0),
        )
        lines.append(
            f"{number:2} {truth.lens.model:11} {math.degrees(truth.lens.fov):5.1f}° {math.degrees(truth.pitch):5.1f}° "
            f"{100 * truth.height:5.1f} cm | {found.lens.model:11} {errors.fov:+.2f}° {errors.pitch:+.2f}° "
            f"{errors.height:+.2f} cm {errors.steer:+.2f} % {errors.torque:+.2f} % | {taken:.0f} s"
        )
        if abs(errors.fov) > 1.0 or abs(errors.pitch) > 0.5 or abs(errors.steer) > 2.0:
            failures.append(lines[-1])
        with capsys.disabled():
            print(lines[-1], flush=True)
    assert not failures, "\n".join(failures)


def record_laps(simulator, truth, roll, path, seed):
    """Somebody's drive along a lane, 40 s."""
    mount_camera(simulator, truth, roll)
    driver = HumanDriver(simulator.scene, simulator.car_spec, seed)
    with TubWriter(path, ["cam/image_array"], ["image_array"]) as tub:
        for frame in range(40 * RATE):
            if frame % 4 == 0:
                simulator.render()
                tub.write_record({"cam/image_array": simulator.get_picture(0)})
            (steering, throttle, brake), _ = driver.drive(simulator.ledger, 0)
            simulator.drive_car(0, steering, throttle, brake)
            simulator.step()


def test_cameras_are_mounted_as_a_lane_says(tmp_path, capsys):
    (tmp_path / "lane.toml").write_text(LANE, encoding="utf-8")
    simulator = Simulator(WorldSpec(SceneSpec(str(tmp_path / "lane.toml"))))
    simulator.apply(commands.Join([0], []))
    draws, failures = np.random.default_rng(11), []
    for number in range(LANE_CAMERAS):
        truth, roll = draw_truth(number, draws), math.radians(draws.normal(0.0, 1.0))
        record_laps(simulator, truth, roll, tmp_path / f"tub{number}", number)
        lens, mount = truth.lens, Mount(truth.height, truth.pitch, roll)
        write_camera(tmp_path / "known.toml", lens, mount, AHEAD, simulator.car_spec)
        arguments = ["calibrate", "--camera", str(tmp_path / "known.toml"), "--lane", str(tmp_path / f"tub{number}")]
        assert run([*arguments, "--width", str(1000 * LANE_WIDTH), "--out", str(tmp_path / f"car{number}")]) == 0
        said = capsys.readouterr().out.splitlines()[0]
        found = load_camera(str(tmp_path / f"car{number}_camera.toml"))
        height = 100.0 * ((found.position[2] + REST) / truth.height - 1.0)
        roll_off, pitch_off, _ = np.degrees(np.subtract(found.rotation, (roll, truth.pitch, 0.0)))
        line = (
            f"{number:2} {lens.model:11} {math.degrees(lens.fov):5.1f}° {math.degrees(truth.pitch):5.1f}° "
            f"{100 * truth.height:5.1f} cm | pitch {pitch_off:+.2f}° roll {roll_off:+.2f}° height {height:+.1f} %"
        )
        if abs(pitch_off) > 0.5 or abs(roll_off) > 0.5 or abs(height) > 3.0:
            failures.append(line)
        with capsys.disabled():
            print(line, "|", said, flush=True)
    simulator.close()
    assert not failures, "\n".join(failures)


def test_no_board_is_found_where_there_is_none():
    assert find_corners(np.full((48, 64, 3), 128, np.uint8), BOARD) is None
