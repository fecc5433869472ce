"""What domain randomisation costs: 64 cars, a 160x120 picture every 1/20 s, one thread; off, by value, presets."""

from typing import Any

from benchmarks.measure import Figure, measure_rate
from donkeysim.sim.simulator import Simulator
from donkeysim.world.randomization import read_randomization
from donkeysim.world.specs import WorldSpec

CARS = 64
SPACING = 0.5

CASES: tuple[tuple[str, Any], ...] = (
    ("off", None),
    ("car", {"car": {"mass": (0.9, 1.1), "steer_trim": (-0.02, 0.02)}}),
    ("late commands", {"delay": {"action": (0.0, 0.1)}}),
    ("late pictures", {"delay": {"picture": (0.0, 0.1)}}),
    ("light and camera", {"sun": {"strength": (0.5, 1.0)}, "camera": {"x": (-0.01, 0.01), "fov": (-0.1, 0.1)}}),
    ("colours", {"ground": {"tint": (0.5, 1.5)}, "road": {"hue": (-0.5, 0.5)}, "sky": {"tint": (0.8, 1.0)}}),
    ("patches", {"ground": {"patches": (0.5, 0.5)}, "road": {"patches": (0.5, 0.5)}}),
    ("noise and exposure", {"picture": {"noise": (5.0, 5.0), "exposure": (0.5, 0.5)}}),
    ("blur", {"picture": {"blur": (0.6, 0.6)}}),
    ("distortion", {"camera": {"distortion": (0.1, 0.1)}}),
    ("JPEG", {"picture": {"jpeg_quality": (60, 60)}}),
    (
        "vignette, white balance, flicker",
        {"sensor": {"vignette": (0.3, 0.3), "balance": (0.1, 0.1), "flicker": (0.1, 0.1)}},
    ),
    ("the preset mild", "mild"),
    ("the preset wide", "wide"),
    ("the preset real", "real"),
)


def run() -> list[Figure]:
    """Measure every case."""
    return [measure(name, ranges) for name, ranges in CASES]


def measure(name: str, ranges: Any) -> Figure:
    """Return car steps per second of cars spread along the track."""
    simulator = Simulator(WorldSpec(world_count=CARS, randomization=read_randomization(ranges)))
    for world in range(CARS):
        simulator.put_on_path(simulator.add_car(world), world * SPACING)

    def step() -> int:
        simulator.step()
        simulator.render()
        return CARS

    median, best = measure_rate(step)
    simulator.close()
    return Figure("randomization", name, median, best, "car steps/s")
