"""Laps of the built-in drivers on generated_track, beside the quasi-steady-state minimum; and what a decision costs."""

import statistics

import numpy as np

from benchmarks.measure import Figure, measure_rate
from donkeysim.drivers.driving_line import plan_fastest
from donkeysim.drivers.lap_time import GripUse
from donkeysim.drivers.path_follower import STYLES, PathFollower
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import WorldSpec

FLYING_LAPS = 3


def run() -> list[Figure]:
    """Let each style drive laps from the grid; only laps that begin at speed are quoted."""
    simulator = Simulator(WorldSpec())
    scene, car = simulator.scene, simulator.car_spec
    width = car.chassis_size[1]
    least = plan_fastest(scene.path, scene.ground, car, GripUse(), margin=0.5 * width).lap_time
    figures = [Figure("drivers", "quasi-steady-state minimum lap", least, least, "s", note="simulated time")]
    simulator.add_car()
    for style in STYLES:
        driver = PathFollower(scene, car, style)
        laps, speed, off_road = drive_laps(simulator, driver)
        median, best = statistics.median(laps), min(laps)
        goal = ", at most 1.25 is asked for" if style == "fast" else ""
        figures += [
            Figure("drivers", f"{style}: flying lap", median, best, "s", note="simulated time"),
            Figure("drivers", f"{style}: over the minimum", median / least, best / least, "", note=f"ratio{goal}"),
            Figure("drivers", f"{style}: mean speed", speed, speed, "m/s", note=f"steps off the road: {off_road}"),
        ]
        rate, quickest = measure_rate(lambda driver=driver: decide(simulator, driver), seconds=0.3)  # type: ignore[misc]
        figures.append(Figure("drivers", f"{style}: one decision", 1e6 / rate, 1e6 / quickest, "µs"))
    return figures


def drive_laps(simulator: Simulator, driver: PathFollower) -> tuple[list[float], float, int]:
    """Return the times of the laps after the first [s], their mean speed [m/s], and the steps off the road."""
    simulator.reset_car(0)
    ledger = simulator.ledger
    crossings: list[float] = []
    distance, off_road = 0.0, 0
    while len(crossings) < FLYING_LAPS + 2:
        simulator.drive_car(0, *driver.drive(ledger, 0))
        before = ledger.position[0].copy()
        simulator.step()
        if len(crossings) > 1:
            distance += float(np.linalg.norm(ledger.position[0] - before))
        off_road += not ledger.on_road[0]
        if int(ledger.lap[0]) > len(crossings):
            crossings.append(float(ledger.lap_begun[0]))
    return np.diff(crossings)[1:].tolist(), distance / (crossings[-1] - crossings[1]), off_road


def decide(simulator: Simulator, driver: PathFollower) -> int:
    """Ask a driver a hundred times; return how often."""
    for _ in range(100):
        driver.drive(simulator.ledger, 0)
    return 100
