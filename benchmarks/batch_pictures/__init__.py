"""Pictures by the stages that run on a GPU, here as loops on one core, beside the renderer's: 64 cars over a lap."""

import time

from benchmarks.lap import LapDrive
from benchmarks.measure import Figure, measure_rate
from donkeysim.core.device import Cpu
from donkeysim.core.workers import Workers
from donkeysim.render.gather import GatherRenderer
from donkeysim.world.specs import CameraSpec

CASES = (
    ("generated_track", CameraSpec(), 300.0),
    ("generated_track", CameraSpec(quality="fast"), None),
    ("generated_track", CameraSpec(width=84, height=84), None),
    ("generated_track", CameraSpec(width=64, height=64), None),
    ("canyon_road", CameraSpec(), 300.0),
)


def run() -> list[Figure]:
    """Measure each scene and camera with both, and tell how much working memory a camera takes."""
    return [figure for case in CASES for figure in measure_case(*case)]


def measure_case(scene: str, camera: CameraSpec, goal: float | None) -> list[Figure]:
    """Return pictures a second of processor time of both, and bytes per camera."""
    simulator = LapDrive(64, camera, scene=scene).simulator
    renderer, state, cars = simulator.renderer, simulator.state, simulator.list_cars()
    counts = renderer.cars_per_world, renderer.props_per_world
    stages = GatherRenderer(renderer.tables, Cpu(Workers(1)), counts)
    cameras = [camera] * len(cars)
    gathered, drawn = stages.make_group(cars, cameras), renderer.make_group(cars, cameras)

    def gather() -> int:
        stages.render(gathered, state)
        return len(cars)

    def draw() -> int:
        renderer.render_group(drawn, state)
        return len(cars)

    name = f"{scene}, {camera.width}x{camera.height}, {camera.quality}"
    memory = stages.measure_memory(camera) / 1000.0
    return [
        Figure("batch_pictures", f"stages, {name}", *_measure(gather), "pictures/s", goal, "one core"),
        Figure("batch_pictures", f"renderer, {name}", *_measure(draw), "pictures/s", None, "one core"),
        Figure("batch_pictures", f"working memory per camera, {name}", memory, memory, "kB", None, "", 400.0),
    ]


def _measure(work: object) -> tuple[float, float]:
    """Return median and best pictures a second of processor time."""
    assert callable(work)
    return measure_rate(work, seconds=0.5, clock=time.process_time)
