"""Car steps on one core: 1/20 s with all 24 physics steps and one 160x120 picture, over a lap of generated_track."""

from benchmarks.lap import LapDrive
from benchmarks.measure import Figure, measure_rate
from donkeysim.world.specs import CameraSpec

CASES = (
    ("default quality, 64 cars", 64, CameraSpec(), 5000.0),
    ("default quality, 1 car", 1, CameraSpec(), None),
    ("fast quality, 64 cars", 64, CameraSpec(quality="fast"), 8000.0),
    ("fast quality, 1 car", 1, CameraSpec(quality="fast"), None),
    ("default with 2x2 samples, 64 cars", 64, CameraSpec(supersample=2), None),
)


def run() -> list[Figure]:
    """Measure 64 cars on one thread and a single car beside it, in both qualities."""
    figures = []
    for name, car_count, camera, goal in CASES:
        drive = LapDrive(car_count, camera)
        rounds = max(1, 360 // car_count)

        def lap(drive: LapDrive = drive, rounds: int = rounds) -> int:
            return sum(drive.advance_and_draw() for _ in range(rounds))

        median, best = measure_rate(lap, seconds=2.0)
        pixels = f"{median * 160 * 120 / 1e6:.0f} M pixels/s"
        figures.append(Figure("car_steps", f"car steps, {name}, one thread", median, best, "car steps/s", goal, pixels))
    return figures + count_scene()


def count_scene() -> list[Figure]:
    """Tell how much there is to draw: triangles and textures of the scene, triangles and textured pixels per frame."""
    drive = LapDrive(64, CameraSpec())
    scene = drive.simulator.scene
    static = len(scene.static.triangle)
    moving = sum(len(scene.models[model].triangle) for model in scene.props.model)
    large = sum(texture.shape[0] >= 512 and texture.shape[1] >= 512 for texture in scene.textures)
    drive.advance_and_draw()
    drawn = drive.simulator.count_rendered()
    return [
        Figure("car_steps", "triangles in the scene, static and props", static + moving, static + moving, "", 2500.0),
        Figure("car_steps", "textures of 512x512 or more", large, large, "", 4.0),
        Figure("car_steps", "triangles drawn per frame, mean of 64 cars", drawn[0], drawn[0], ""),
        Figure("car_steps", "textured pixels per frame, mean of 64 cars", drawn[1], drawn[1], "", None, "of 19,200"),
    ]
