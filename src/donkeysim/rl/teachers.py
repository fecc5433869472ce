"""Teachers: the path follower, which knows the scene; a policy with privileged observations; any pilot."""

from pathlib import Path

import numpy as np
import torch

from donkeysim.core.device import is_here
from donkeysim.core.errors import PilotError
from donkeysim.drivers.lap_time import GripUse, make_powertrain
from donkeysim.drivers.path_follower import PathFollower
from donkeysim.learn.pilot import load_pilot
from donkeysim.rl.cars import TrainingCars
from donkeysim.rl.ppo import InformedActor
from donkeysim.rl.setup import PICTURE_HEIGHT, PICTURE_WIDTH, THROTTLE_RANGE, TrainingSetup
from donkeysim.sim.simulator import Simulator
from donkeysim.world.ledger import Ledger

# A tenth faster than wanted on straights, as bends take it back; the grip of the steady style (0.55) would take back
# more.
GRIP, HASTE = GripUse(0.8, 0.4), 1.1
"""How much of the grip the follower uses, and its greatest speed, as a multiple of the wanted mean speed."""

CALM_GAIN = 1.5
"""Acceleration per missing speed that the follower asks for, roughly [1/s]: with more it would be all or nothing, and
students would have to see speeds exactly."""

CALM = 0.3
"""Share of a student's last steering in the label: the follower answers to a yaw rate that no picture shows, and who
tries to guess it rattles at the wheel. 0.5 takes half as long again to learn."""


class PathTeacher:
    """The path follower, along the middle of the road."""

    def __init__(self, setup: TrainingSetup, simulator: Simulator) -> None:
        """Plan the speed on each scene of a course, hardly faster than wanted."""
        self._randomizer = simulator.place.randomizer
        self._can_brake, train = setup.observation.pictures > 1, make_powertrain(simulator.car_spec)
        self._brake = train.brake_most / train.force_most
        self._followers = [
            PathFollower(
                simulator.get_scene(world), simulator.car_spec, "steady", GRIP, HASTE * setup.share * speed, CALM_GAIN
            )
            for world, speed in enumerate(setup.fastest)
        ]

    def label(self, cars: TrainingCars) -> torch.Tensor:
        """Return the follower's controls as actions.

        Where it would brake it lets go of the throttle if the student sees one picture: it cannot see its speed, and
        one that learned to brake at a place would not start there. With several, it drives the wheels backwards.
        Where commands are late it knows how late, which no picture shows: without, it would leave the road itself.
        """
        ledger, count, late = read_ledger(cars.env.simulator), len(self._followers), self._find_lateness(cars)
        actions = [self._followers[car % count].drive(ledger, car, late[car]) for car in range(cars.env.num_envs)]
        low, high = THROTTLE_RANGE
        brake = self._brake if self._can_brake else 0.0
        table = np.array([(-action.steer, action.throttle - brake * action.brake) for action in actions], np.float32)
        table[:, 1] = 2.0 * (table[:, 1] - low) / (high - low) - 1.0
        table[:, 0] += CALM * (cars.last[:, 0].cpu().numpy() - table[:, 0])
        return torch.from_numpy(np.clip(table, -1.0, 1.0)).to(cars.device)

    def _find_lateness(self, cars: TrainingCars) -> list[float]:
        """Return how long after they were given commands are done [s]; never on a GPU."""
        if self._randomizer is None or self._randomizer.actions is None:
            return [0.0] * cars.env.num_envs
        late: list[float] = self._randomizer.find_lateness().tolist()
        return late


def read_ledger(simulator: Simulator) -> Ledger:
    """Return the ledger as NumPy reads it: itself, or a copy of one on a GPU."""
    if is_here(simulator.device):
        return simulator.ledger
    columns = {name: simulator.device.download(column) for name, column in simulator.rows._asdict().items()}
    return Ledger(simulator.spec.cars_per_world, **columns)


class InformedTeacher:
    """An actor with privileged observations that has learned to drive."""

    def __init__(self, actor: InformedActor) -> None:
        self._actor = actor

    def label(self, cars: TrainingCars) -> torch.Tensor:
        """Return what it means to do."""
        with torch.no_grad():
            label: torch.Tensor = self._actor(self._actor.read(cars.seen), cars.last)
        return label


class PilotTeacher:
    """A trained pilot of any kind, one for each car: some remember pictures or commands."""

    def __init__(self, path: Path, car_count: int) -> None:
        """Load it.

        Raises:
            PilotError: There is no such file, it is no pilot, or it wants something else than pictures of 160x120.
        """
        self._pilots = [load_pilot(path) for _ in range(car_count)]
        pilot = self._pilots[0]
        if pilot.image_shape[:2] != (PICTURE_HEIGHT, PICTURE_WIDTH) or pilot.input_names:
            raise PilotError(
                f"{path} takes pictures of {pilot.image_shape[1]}x{pilot.image_shape[0]}"
                f"{''.join(f' and {name}' for name in pilot.input_names)}; learning can continue from pilots that take "
                f"pictures of {PICTURE_WIDTH}x{PICTURE_HEIGHT} only."
            )

    def label(self, cars: TrainingCars) -> torch.Tensor:
        """Return what the pilots would do, of pictures "camera_b"."""
        for car in np.flatnonzero(cars.has_begun.numpy()):
            self._pilots[car].reset()
        newest = cars.seen["camera_b"][..., -3:].numpy()
        answers = [pilot.run(picture) for pilot, picture in zip(self._pilots, newest, strict=True)]
        low, high = THROTTLE_RANGE
        table = np.array([answer[:2] for answer in answers], np.float32)
        table[:, 1] = 2.0 * (table[:, 1] - low) / (high - low) - 1.0
        return torch.from_numpy(np.clip(table, -1.0, 1.0))
