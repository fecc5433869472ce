"""The same pictures twice: as the renderer draws them, and as the gather stages draw them on a device."""

from dataclasses import dataclass

import numpy as np

from donkeysim.core.device import open_device
from donkeysim.render.gather import GatherRenderer
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import SceneSpec, WorldSpec

OFF = 16
"""A pixel is off where any channel differs by more than this [grey level]."""


def place_cars(scene, worlds=8, cars_per_world=1, gap=0.5, **spec):
    """Return a simulator whose cars stand along the lap, those of a world one behind the other."""
    simulator = Simulator(WorldSpec(SceneSpec(scene), world_count=worlds, cars_per_world=cars_per_world, **spec))
    for world in range(worlds):
        for slot in range(cars_per_world):
            car = simulator.add_car(world)
            simulator.put_on_path(car, 1.0 + 1.7 * world + gap * slot)
    simulator.step()
    return simulator


def spread_cars(scene, worlds=8):
    """Return a simulator with a car in each world, spread evenly over the lap."""
    simulator = Simulator(WorldSpec(SceneSpec(scene), world_count=worlds))
    length = simulator.scene.path.frame.node_length
    for world in range(worlds):
        simulator.put_on_path(simulator.add_car(world), float(length[len(length) * world // worlds]))
    simulator.step()
    return simulator


def open_gather(simulator, threads=1, **options):
    """Return a gather renderer of a simulator's tables."""
    renderer = simulator.renderer
    counts = renderer.cars_per_world, renderer.props_per_world
    return GatherRenderer(renderer.tables, open_device("cpu", threads), counts, **options)


def gather(simulator, cameras, channels=3, cars=None, threads=1, **options):
    """Return the group of a simulator's cars as the gather stages draw them."""
    renderer = open_gather(simulator, threads, **options)
    chosen = list(range(len(cameras))) if cars is None else cars
    varied = simulator.renderer.variation
    class_count = 0 if varied is None else varied.rows.look.shape[1]
    group = renderer.make_group(chosen, cameras, channels, class_count)
    if varied is not None:
        drawn = simulator.renderer.make_group(chosen, cameras)
        simulator.renderer.render_group(drawn, simulator.state)
        for name in ("mount", "lens", "light", "look"):
            getattr(group.rows, name)[:] = getattr(drawn.cameras, name)
    renderer.render(group, simulator.state)
    return group


def draw(simulator, cameras, cars=None):
    """Return the frame of a simulator's cars as the renderer draws them."""
    chosen = list(range(len(cameras))) if cars is None else cars
    renderer = simulator.renderer
    return renderer.render_group(renderer.make_group(chosen, cameras), simulator.state)


@dataclass
class Difference:
    """How two groups of pictures differ.

    Attributes:
        mean: Of all channels of all pixels [grey level].
        off: Share of pixels of which a channel differs by more than `OFF`.
        classes: Share of pixels that show another class; None: not asked.
        depth: Greatest relative difference of distances where the same triangle is seen; None: not asked.
        elsewhere: Share of pixels whose distances tell that another triangle is seen.
    """

    mean: float
    off: float
    classes: float | None = None
    depth: float | None = None
    elsewhere: float = 0.0


def compare(group, frame):
    """Return how a gather group differs from a renderer's frame."""
    apart = np.abs(group.colour.astype(int) - frame.colour)
    result = Difference(float(apart.mean()), float((apart.max(axis=-1) > OFF).mean()))
    if frame.segment is not None:
        result.classes = float((group.segment != frame.segment).mean())
    if frame.depth is not None:
        there = np.isfinite(frame.depth) & np.isfinite(group.depth)
        error = np.abs(group.depth[there] / frame.depth[there] - 1.0)
        # What lies so much nearer or farther is no rounding: an edge, of which each saw another side.
        other = error > 1e-3
        result.depth = float(error[~other].max(initial=0.0))
        result.elsewhere = float(
            (other.sum() + (np.isfinite(frame.depth) != np.isfinite(group.depth)).sum()) / there.size
        )
    return result


def count_holes(group):
    """Return how many pixels of the cameras that were drawn last show no triangle at all."""
    scratch, sizes = group.scratch, group.sizes
    ident = scratch.ident.reshape(len(scratch.ident), sizes.height, sizes.stride)[:, :, : sizes.width]
    return int((ident == scratch.tally[:, 1, None, None]).sum())
