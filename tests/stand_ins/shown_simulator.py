"""A simulator that a test steps, as pages see it: cars in a row on the path of a place; the last one sees classes."""

import math

import msgspec

from donkeysim.sim.simulator import Simulator
from donkeysim.watch.broadcast import Broadcast
from donkeysim.watch.moments import describe_moment, get_place_file
from donkeysim.watch.picture_cache import keep_snapshot
from donkeysim.world.specs import BODY_STYLES, BodySpec, CameraSpec, SceneSpec, WorldSpec
from stand_ins.watched_stage import WatchedStage

SIZE = 640, 480
GAP = 1.0
"""From one car to the next [m]."""

PAINTS = ((200, 30, 30), (30, 90, 200), (240, 170, 30), (120, 125, 130), (20, 140, 90))
"""Of those ahead."""

EYE = CameraSpec(
    width=SIZE[0],
    height=SIZE[1],
    fov=math.radians(75.0),
    position=(0.05, 0.0, 0.3),
    rotation=(0.0, math.radians(14.0), 0.0),
    quality="smooth",
    segment=True,
)


class ShownSimulator(WatchedStage):
    """`put` moves all cars along the path: number 1, which sees, and ahead of it one of each style that is named."""

    def __init__(self, scene, *styles):
        bodies = [BodySpec(*looks) for looks in zip(styles or BODY_STYLES[:1], PAINTS, strict=False)]
        super().__init__(scene_name=scene, names=["eye", *(body.style for body in bodies)])
        self.simulator = Simulator(WorldSpec(scene=SceneSpec(scene), cars_per_world=1 + len(bodies)))
        self.rows = {1: self.simulator.add_car()}
        self.rows |= {number: self.simulator.add_car(0, body) for number, body in enumerate(bodies, 2)}
        self.simulator.configure_camera(self.rows[1], EYE)
        self.told = b""

    def put(self, share):
        """Put the first car on a share of the path, 0 to 1, and let everything come to rest."""
        length = self.simulator.scene.path.frame.length
        for number, row in enumerate(self.rows.values()):
            self.simulator.put_on_path(row, (share * length + GAP * number) % length)
        self.simulator.step(240)
        self.simulator.render([self.rows[1]])
        kept = keep_snapshot(self.simulator, self.rows, Broadcast(wants_cameras=False))
        self.told = msgspec.json.encode(describe_moment(kept, self.seconds, 0.0, is_still=True))

    @property
    def seconds(self):
        """When that was [s]."""
        return float(self.simulator.ledger.time[0])

    def get_classes(self):
        """Return what the first car's camera sees, shape [480, 640]."""
        return self.simulator.get_segments(self.rows[1])

    async def take_moment(self):
        return self.told

    async def write_place(self):
        return get_place_file(self.simulator.scene, self.simulator.car_spec)
