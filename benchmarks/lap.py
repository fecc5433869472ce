"""Cars spread over a lap and kept on the road by a controller that costs next to nothing."""

from __future__ import annotations

import numpy as np

from donkeysim.core.types import FloatArray
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
        poses = zip(*frame.place(frame.node_length[node]), strict=True)
        for world in range(car_count):
            car = self.simulator.add_car(world)
            if camera is not None:
                self.simulator.configure_camera(car, camera)
            self.simulator.physics.place_car(self.simulator.state, car, *next(poses), at_rest=True)
        for _ in range(40):
            self.advance()

    def steer(self) -> None:
        """Write the controls of all cars at once: heading and offset error, speed error."""
        state, control = self.simulator.state, self.simulator.control
        yaw: FloatArray = 2.0 * np.arctan2(state.orientation[:, 3], state.orientation[:, 0])
        error = self._heading[(state.node_index + 2) % len(self._heading)] - yaw
        error = (error + np.pi) % (2.0 * np.pi) - np.pi
        np.clip(2.5 * error - 3.0 * state.cte, -1.0, 1.0, out=control.steer)
        speed = np.hypot(state.velocity[:, 0], state.velocity[:, 1])
        np.clip(0.8 * (self.speed - speed), -0.2, 0.5, out=control.throttle)
        control.brake[:] = 0.0

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
