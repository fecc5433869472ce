"""Cars spread over a lap and kept on the road by a controller that costs next to nothing."""

import numpy as np

from donkeysim.sim import commands
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import CameraSpec, SceneSpec, WorldSpec


class LapDrive:
    """`car_count` cars, each in a world of its own, spread evenly over the lap of a scene.

    Args:
        car_count: Worlds of one car.
        camera: Each car's camera.
        speed: What the controller holds [m/s].
        scene: The scene, or its name.
    """

    def __init__(
        self, car_count: int, camera: CameraSpec | None, speed: float = 1.5, scene: str | SceneSpec = "generated_track"
    ) -> None:
        place = SceneSpec(scene) if isinstance(scene, str) else scene
        self.simulator = Simulator(WorldSpec(place, world_count=car_count, cars_per_world=1))
        self.speed = speed
        frame = self.simulator.scene.path.frame
        self._heading = frame.direction
        node = np.arange(car_count) * len(frame.position) // car_count
        rows = self.simulator.apply(commands.Join(list(range(car_count)), []))
        if camera is not None:
            self.simulator.apply(commands.SetCamera(rows, camera))
        nowhere = np.zeros(car_count)
        self.simulator.apply(commands.PutOnPath(rows, frame.node_length[node], nowhere, nowhere))
        for _ in range(40):
            self.advance()

    def steer(self) -> None:
        """Drive all cars at once: heading and offset error, speed error."""
        ledger = self.simulator.ledger
        error = self._heading[(ledger.node_index + 2) % len(self._heading)] - ledger.yaw
        error = (error + np.pi) % (2.0 * np.pi) - np.pi
        steer = np.clip(2.5 * error - 3.0 * ledger.offset, -1.0, 1.0)
        throttle = np.clip(0.8 * (self.speed - ledger.forward_speed), -0.2, 0.5)
        self.simulator.apply(commands.Drive(None, steer, throttle, None))

    def advance(self) -> int:
        """Steer and step every car by 1/20 s; return how many cars."""
        self.steer()
        self.simulator.step()
        return self.simulator.car_count

    def advance_and_draw(self) -> int:
        """Steer, step and draw every car; return how many cars."""
        self.steer()
        self.simulator.step()
        self.simulator.render()
        return self.simulator.car_count
