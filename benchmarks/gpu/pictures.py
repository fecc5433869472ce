"""Pictures only: cameras of cars along the road, of several sizes and both qualities."""

from __future__ import annotations

import itertools

from benchmarks.gpu.driving import Traffic
from benchmarks.gpu.plan import Plan
from benchmarks.gpu.timing import measure_frames
from benchmarks.measure import Figure
from donkeysim.core.device import Device
from donkeysim.render.gather import GatherRenderer
from donkeysim.render.looks import Looks
from donkeysim.world.specs import CameraSpec

SCENES = "generated_track", "mountain_track"

LEAST = {(64, 64): 2.5e6, (84, 84): 1.6e6, (160, 120): 0.7e6}
"""What is asked for of the default quality [pictures/s]."""


def measure_pictures(plan: Plan) -> list[Figure]:
    """Measure all numbers of cars and sizes."""
    device = plan.open()
    figures = []
    for scene, count in itertools.product(SCENES, plan.counts):
        traffic = Traffic(device, scene, count)
        traffic.warm_up(plan.frames)
        cameras = itertools.product(plan.sizes, ("default", "fast"))
        figures += [measure_camera(plan, device, traffic, scene, count, *camera) for camera in cameras]
    device.close()
    return figures


def measure_camera(
    plan: Plan, device: Device, traffic: Traffic, scene: str, count: int, size: tuple[int, int], quality: str
) -> Figure:
    """Return the figure of so many cameras."""
    layout, state = traffic.simulator.layout, traffic.simulator.state
    renderer = GatherRenderer(Looks(layout).tables, device, (layout.cars_per_world, layout.props_per_world))
    camera = CameraSpec(width=size[0], height=size[1], quality=quality)
    group = renderer.make_group(range(count), [camera] * count)
    renderer.render(group, state)  # compiles
    graph = device.capture(lambda: renderer.render(group, state))
    pair = measure_frames(plan, device, graph.launch, count)
    missed = int(device.download(group.missed).sum())
    what = f"pictures {size[0]}x{size[1]} {quality}, {scene}, {count:,} cars"
    least = plan.ask(count, LEAST.get(size)) if quality == "default" else None
    note = f"{device.name}; {pair[0] * size[0] * size[1] / 1e9:.3g} Gpx/s; triangles left out: {missed}"
    return Figure("gpu", what, *pair, "pictures/s", least, note)
