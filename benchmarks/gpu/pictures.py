"""Pictures only: cameras of cars along the road, of several sizes and both qualities."""

import itertools
from collections.abc import Iterator

from benchmarks.gpu.driving import Traffic
from benchmarks.gpu.plan import Plan
from benchmarks.gpu.timing import free_memory, measure_frames
from benchmarks.measure import Figure
from donkeysim.core.memory import count_bytes
from donkeysim.render.gather import GatherRenderer
from donkeysim.render.looks import Looks
from donkeysim.world.specs import CameraSpec

SCENES = "generated_track", "canyon_road"

LEAST = {(64, 64): 2.5e6, (84, 84): 1.6e6, (160, 120): 0.7e6}
"""What is asked for of the default quality [pictures/s]."""


def measure_pictures(plan: Plan) -> Iterator[Figure]:
    """Measure all numbers of cars and sizes."""
    device = plan.open()
    for scene, count in itertools.product(SCENES, plan.counts):
        traffic = Traffic(device, scene, count)
        traffic.warm_up(plan.frames)
        layout = traffic.batch.layout
        renderer = GatherRenderer(Looks(layout).tables, device, (layout.cars_per_world, layout.props_per_world))
        for size in plan.list_sizes(count):
            for quality in ("default", "fast") if count == plan.asked or not plan.asked else ("default",):
                camera = CameraSpec(width=size[0], height=size[1], quality=quality)
                yield measure_camera(plan, traffic, scene, renderer, camera)
    device.close()


def measure_camera(plan: Plan, traffic: Traffic, scene: str, renderer: GatherRenderer, camera: CameraSpec) -> Figure:
    """Return the figure of one camera on each car."""
    free_memory()
    count, device, state = traffic.count, traffic.simulator.device, traffic.simulator.state
    group = renderer.make_group(range(count), [camera] * count)
    renderer.render(group, state)  # compiles
    graph = device.capture(lambda: renderer.render(group, state))
    pair = measure_frames(plan, device, graph.launch, count)
    memory = count_bytes((group.scratch, group.flat)) / 2**20
    missed = int(device.download(group.missed).sum())
    size = camera.width, camera.height
    what = f"pictures {size[0]}x{size[1]} {camera.quality}, {scene}, {count:,} cars"
    least = plan.ask(count, LEAST.get(size)) if camera.quality == "default" else None
    rate = f"{pair[0] * size[0] * size[1] / 1e9:.3g} Gpx/s"
    return Figure("gpu", what, *pair, "pictures/s", least, f"{device.name}; {rate}; {memory:,.0f} MB; missed: {missed}")
