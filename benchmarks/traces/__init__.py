"""Sums over drives: what two versions must print alike if they are to drive and draw the same, bit for bit.

Path followers drive up to three laps in every scene, alone, eight in a world, eight in each of eight worlds; some are
reset on the way. Run it on both versions, on one machine, and compare the lines: `python -m benchmarks traces`.
"""

import zlib

from benchmarks.measure import Figure
from donkeysim.drivers.path_follower import PathFollower
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import SceneSpec, WorldSpec
from donkeysim.world.tracks import list_scenes

LAYOUTS = ((1, 1, 5000), (1, 8, 3000), (8, 8, 1200))
"""Worlds, cars in each, and most frames of 1/20 s."""

LAP_COUNT = 3


def run() -> list[Figure]:
    """Drive everywhere and return a sum for each drive."""
    return [measure_drive(scene, *layout) for scene in list_scenes() for layout in LAYOUTS]


def measure_drive(scene: str, world_count: int, cars_per_world: int, frame_count: int) -> Figure:
    """Return the sum over states and pictures of a drive."""
    spec = WorldSpec(SceneSpec(scene), world_count=world_count, cars_per_world=cars_per_world, seed=3)
    simulator = Simulator(spec)
    simulator.compile()
    rows = [simulator.add_car(world) for world in range(world_count) for _ in range(cars_per_world)]
    styles = ("steady", "fast")
    drivers = {car: PathFollower(simulator.scene, simulator.car_spec, styles[car % 2]) for car in rows}
    checksum = frame = 0
    while frame < frame_count and simulator.ledger.laps[rows].min() < LAP_COUNT:
        for car, driver in drivers.items():
            simulator.drive_car(car, *driver.drive(simulator.ledger, car))
        if len(rows) > 1 and frame % 97 == 50:  # a car that is alone drives its laps
            simulator.reset_car(rows[-1])
        simulator.step()
        checksum = zlib.crc32(simulator.sum_up().to_bytes(4), checksum)
        if frame % 150 == 10:
            simulator.render(rows[:8])
            for car in rows[:8]:
                checksum = zlib.crc32(simulator.get_picture(car).tobytes(), checksum)
        frame += 1
    simulator.close()
    what = f"{scene}, {world_count} x {cars_per_world} cars, {frame} frames"
    return Figure("traces", what, checksum, checksum, "", None, f"{checksum:08x}")
