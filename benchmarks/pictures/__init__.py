"""Pictures by size on one core: drawing on generated_track, encoding, and a scan of 20,000 rays."""

import functools
import math
from collections.abc import Callable

from benchmarks.measure import Figure, measure_call
from donkeysim.core.image import encode_picture
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import IMAGE_ENCODINGS, CameraSpec, LidarSpec, SceneSpec, WorldSpec

SIZES = ((160, 120), (640, 480), (1280, 720), (3840, 2160))


def run() -> list[Figure]:
    """Measure each size and encoding."""
    simulator = Simulator(WorldSpec(scene=SceneSpec("generated_track")))
    car = simulator.add_car()
    simulator.step()
    figures = []
    for width, height in SIZES:
        simulator.configure_camera(car, CameraSpec(width=width, height=height))
        figures.append(_measure(f"drawing {width}x{height}", lambda: simulator.render([car])))
        picture = simulator.get_picture(car)
        for encoding in IMAGE_ENCODINGS:
            size = f"{len(encode_picture(picture, encoding)) / 1000:.0f} kB"
            name = f"{width}x{height} as {encoding}"
            figures.append(_measure(name, functools.partial(encode_picture, picture, encoding), size))
    simulator.configure_camera(car, CameraSpec(crop_top=60))
    figures.append(_measure("drawing the lower half of 160x120", lambda: simulator.render([car])))
    simulator.configure_lidar(car, LidarSpec(sweep_increment=math.radians(0.9), level_count=50, max_range=100.0))
    returned = f"{len(simulator.scan_lidar(car) or [])} returned"
    figures.append(_measure("a scan of 20,000 rays", lambda: simulator.scan_lidar(car), returned))
    return figures


def _measure(name: str, work: Callable[[], object], note: str = "") -> Figure:
    """Return median and least processor time of one call."""
    median, least = measure_call(work, 0.5)
    return Figure("pictures", name, 1000.0 * median, 1000.0 * least, "ms", None, note)
