"""Who drives a car in a race: a pilot by what its camera shows, or one of the built-in drivers, who know the track."""

from collections.abc import Callable, Container
from typing import Protocol

from donkeysim.core.frames import steer_from_wire
from donkeysim.core.pilot import Pilot
from donkeysim.core.types import ByteArray
from donkeysim.drivers.human_driver import HumanDriver
from donkeysim.drivers.path_follower import PathFollower
from donkeysim.drivers.steering import Action
from donkeysim.sim.simulator import Simulator
from donkeysim.tub.reader import SIMULATED_IMU_CHANNELS, require_channel
from donkeysim.world.specs import CameraSpec

DRIVERS = ("fast", "steady", "human")
"""Built-in drivers by name."""


def name_anew(name: str, taken: Container[str]) -> str:
    """Return a name, with a number behind it where it is taken: "Anna 2"."""
    candidate, number = name, 1
    while candidate in taken:
        number += 1
        candidate = f"{name} {number}"
    return candidate


class Racer(Protocol):
    """Drives one car."""

    @property
    def camera(self) -> CameraSpec | None:
        """What it sees with; None: it needs no pictures."""

    def reset(self, simulator: Simulator, row: int, seed: int) -> None:
        """Get ready for a run of its car; what happened before is forgotten."""

    def decide(self, simulator: Simulator, row: int) -> Action:
        """Return what to do now; the picture of this moment is drawn already."""


class PilotRacer:
    """A trained pilot. Implements `Racer`."""

    def __init__(
        self,
        pilot: Pilot,
        image_shape: tuple[int, ...],
        change: Callable[[ByteArray], ByteArray] | None = None,
        throttle_factor: float = 1.0,
    ) -> None:
        """Take a pilot.

        Args:
            image_shape: Height and width of the pictures that its camera takes, and their channels.
            change: What happens to pictures before the pilot sees them; None: nothing.
        """
        self._pilot, self._change, self._throttle_factor = pilot, change, throttle_factor
        self.camera: CameraSpec | None = CameraSpec(width=image_shape[1], height=image_shape[0])

    def reset(self, simulator: Simulator, row: int, seed: int) -> None:
        """Forget earlier pictures."""
        del simulator, row, seed  # a pilot is no other on another track
        self._pilot.reset()

    def decide(self, simulator: Simulator, row: int) -> Action:
        """Show the pilot its picture and return its answer."""
        image = simulator.get_picture(row)
        image = image if self._change is None else self._change(image)
        others = []
        if self._pilot.input_names:
            telemetry = simulator.observe_telemetry(row)
            values = {name: float(getattr(telemetry, name.split("/")[1])) for name in SIMULATED_IMU_CHANNELS}
            others = [require_channel(values, name, "a race") for name in self._pilot.input_names]
        angle, throttle, *_ = self._pilot.run(image, *others)
        throttle = float(throttle) * self._throttle_factor
        return Action(steer_from_wire(min(max(float(angle), -1.0), 1.0)), min(max(throttle, -1.0), 1.0), 0.0)


class DriverRacer:
    """A built-in driver. Implements `Racer`."""

    camera: CameraSpec | None = None

    def __init__(self, name: str) -> None:
        """Take a driver, one of `DRIVERS`."""
        self._name = name
        self._follower: PathFollower | None = None

    def reset(self, simulator: Simulator, row: int, seed: int) -> None:
        """Plan the line; a human driver begins anew, the same for the same seed."""
        scene = simulator.get_scene(row)
        if self._name == "human":
            self._human = HumanDriver(scene, simulator.car_spec, seed)
        elif self._follower is None:
            self._follower = PathFollower(scene, simulator.car_spec, self._name)

    def decide(self, simulator: Simulator, row: int) -> Action:
        """Return what to do now."""
        if self._follower is None:
            return self._human.drive(simulator.ledger, row)[0]
        return self._follower.drive(simulator.ledger, row)
