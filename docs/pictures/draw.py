"""Draw pictures of README, docs/camera.md and docs/guide/mcp.md: `python docs/pictures/draw.py` in a checkout."""

import math
import sys
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.render.reference import Reference, measure_psnr

from donkeysim.agents.baseline import LineFollower
from donkeysim.agents.trip import Trip
from donkeysim.drivers.path_follower import PathFollower
from donkeysim.sim.simulator import Simulator
from donkeysim.world.experiment import Experiment
from donkeysim.world.specs import BodySpec, CameraSpec, SceneSpec, WorldSpec

FOLDER = Path(__file__).parent
BEAUTY = CameraSpec(width=960, height=480, fov=math.radians(48), supersample=2)


def drive(simulator: Simulator, cars: list[int], seconds: float) -> None:
    """Let the path follower drive these cars for a while."""
    follower = PathFollower(simulator.scene, simulator.car_spec, "steady")
    for _ in range(round(seconds * 20)):
        for car in cars:
            simulator.drive_car(car, *follower.drive(simulator.ledger, car))
        simulator.step()


def draw_hero() -> None:
    """Draw three cars on the start straight, seen from behind them."""
    simulator = Simulator(WorldSpec(cars_per_world=3))
    bodies = (BodySpec(), BodySpec("car01", (250, 190, 30)), BodySpec("f1", (30, 140, 80)))
    cars = [simulator.add_car(body=body) for body in bodies]
    x, y, z = simulator.ledger.position[cars[0]].tolist()
    for car, (ahead, left) in zip(cars, ((-0.75, 0.0), (0.15, 0.55), (0.85, 0.0)), strict=True):
        simulator.move_car(car, (x + ahead, y + left, z))
    simulator.step(2)
    position = (x - 1.85, y - 0.28, z + 0.42)
    picture = simulator.view(0, position, (0.0, math.radians(10.5), math.radians(10)), BEAUTY)
    Image.fromarray(picture).quantize(256, dither=Image.Dither.FLOYDSTEINBERG).save(FOLDER / "hero.png", optimize=True)


def draw_comparison() -> None:
    """Draw default, fast, supersampled and reference pictures side by side, and say how near they are."""
    simulator = Simulator(WorldSpec())
    car = simulator.add_car()
    reference = Reference(simulator)
    rows = []
    for _ in range(3):
        drive(simulator, [car], 5.0)
        truth, _ = reference.render(car, simulator.car_spec.camera)
        row = [truth.round().astype(np.uint8)]
        for camera in (CameraSpec(), CameraSpec(quality="fast"), CameraSpec(supersample=2)):
            simulator.configure_camera(car, camera)
            simulator.render()
            row.append(simulator.get_picture(car).copy())
            label = "2x2" if camera.supersample == 2 else camera.quality
            print(f"{label}: {measure_psnr(row[-1], truth):.1f} dB")
        rows.append(np.concatenate([np.pad(p, ((0, 4), (0, 4), (0, 0)), constant_values=255) for p in row], axis=1))
    sheet = Image.fromarray(np.concatenate(rows))
    sheet.resize((sheet.width * 2, sheet.height * 2), Image.Resampling.NEAREST).save(
        FOLDER / "quality.png", optimize=True
    )


def draw_classes() -> None:
    """Draw what a camera sees, how far it is and what it is, side by side, of two scenes."""
    paint = np.array([[150, 200, 240], [70, 130, 60], [80, 80, 85], [250, 220, 60], [200, 110, 40], [220, 40, 40]])
    rows = []
    for name in ("generated_track", "harbour_town"):
        simulator = Simulator(WorldSpec(SceneSpec(name), cars_per_world=2))
        cars = [simulator.add_car() for _ in range(2)]
        drive(simulator, cars[:1], 4.0)
        simulator.reset_car(cars[0])
        drive(simulator, cars[1:], 1.5)
        simulator.configure_camera(cars[0], CameraSpec(depth=True, segment=True))
        simulator.render(cars[:1])
        near = np.uint8(255.0 / (1.0 + 0.7 * simulator.get_depth(cars[0])))
        classes = paint[simulator.get_segments(cars[0])].astype(np.uint8)
        row = (simulator.get_picture(cars[0]), np.repeat(near[..., None], 3, axis=2), classes)
        rows.append(np.concatenate([np.pad(p, ((0, 4), (0, 4), (0, 0)), constant_values=255) for p in row], axis=1))
    sheet = Image.fromarray(np.concatenate(rows))
    sheet.resize((sheet.width * 2, sheet.height * 2), Image.Resampling.NEAREST).save(
        FOLDER / "classes.png", optimize=True
    )


def draw_agent() -> None:
    """Draw what the scripted agent of `donkey mcp` sees on its way around, and what it makes of it."""
    trip = Trip(Experiment(), CameraSpec(width=320, height=240), 60.0)
    follower, looks = LineFollower(), []
    for turn in range(120):
        picture = trip.look().copy()
        motion = follower.decide(picture)
        if turn % 30 == 15:
            sheet = Image.fromarray(picture)
            words = f"steering {motion['steering']:+.2f}, speed {motion['speed']:.2f}"
            ImageDraw.Draw(sheet).text((8, 6), words, fill=(255, 255, 255), font_size=15)
            looks.append(np.pad(np.asarray(sheet), ((0, 4), (0, 4), (0, 0)), constant_values=255))
        trip.drive(**motion)
    trip.close()
    rows = [np.concatenate(looks[first : first + 2], axis=1) for first in (0, 2)]
    Image.fromarray(np.concatenate(rows)).save(FOLDER / "agent.jpg", quality=85)


if __name__ == "__main__":
    draw_hero()
    draw_comparison()
    draw_classes()
    draw_agent()
