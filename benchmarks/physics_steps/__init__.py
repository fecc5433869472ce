"""Physics steps of 1/480 s on one core, no pictures."""

from benchmarks.lap import LapDrive
from benchmarks.measure import Figure, measure_rate


def run() -> list[Figure]:
    """Measure 64 cars, each in its own world, and one car."""
    figures = []
    for car_count in (64, 1):
        drive = LapDrive(car_count, None)
        median, best = measure_rate(lambda drive=drive: 24 * drive.advance())  # type: ignore[misc]
        goal = 500_000.0 if car_count > 1 else None
        cars = "64 cars" if car_count > 1 else "1 car"
        figures.append(Figure("physics_steps", f"physics steps, {cars}, one thread", median, best, "steps/s", goal))
    return figures
