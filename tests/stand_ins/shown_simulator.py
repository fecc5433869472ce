"""A simulator that a test steps, as pages see it: two cars on the path of a place; the first sees classes."""

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
"""The second car is so far ahead [m]."""

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
    """`put` moves both cars along the path."""

    def __init__(self, scene, style=BODY_STYLES[0]):
        super().__init__(scene_name=scene, names=["eye", "ahead"])
        self.simulator = Simulator(WorldSpec(scene=SceneSpec(scene), cars_per_world=2))
        self.rows = {1: self.simulator.add_car(), 2: self.simulator.add_car(0, BodySpec(style, (200, 30, 30)))}
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
