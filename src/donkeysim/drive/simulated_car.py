"""The car and its simulator as one part of the vehicle: controls in, picture and readings out.

A car whose simulator is another program costs this process no simulator: that is imported for a car that needs it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard, Union

from donkeysim.drive.parts.expert import ExpertPilot
from donkeysim.drive.remote_car import RemoteSimulatedCar
from donkeysim.drive.simulator_settings import list_record_channels, read_settings
from donkeysim.world.specs import load_car

if TYPE_CHECKING:
    from donkeysim.car.config import Config
    from donkeysim.drive.built_in_car import BuiltInSimulatedCar

__all__ = ["SimulatedCar", "is_built_in", "list_record_channels", "make_expert", "make_simulated_car"]

SimulatedCar = Union["BuiltInSimulatedCar", RemoteSimulatedCar]
"""Either kind."""


def make_simulated_car(config: Config) -> SimulatedCar:
    """Return the car that a config describes; one whose simulator is another program is on its track already.

    Raises:
        DonkeySimError: The config is not possible, or there is no such simulator.
    """
    settings = read_settings(config)
    if settings.conf.is_remote:
        return RemoteSimulatedCar(settings)
    from donkeysim.drive.built_in_car import BuiltInSimulatedCar

    return BuiltInSimulatedCar(settings)


def is_built_in(car: object) -> TypeGuard[BuiltInSimulatedCar]:
    """Return whether this is a car whose simulator runs in this process."""
    if isinstance(car, RemoteSimulatedCar):
        return False
    from donkeysim.drive.built_in_car import BuiltInSimulatedCar

    return isinstance(car, BuiltInSimulatedCar)


def make_expert(car: SimulatedCar) -> ExpertPilot:
    """Return a pilot that knows every place the car may go to."""
    experiment = car.settings.conf.experiment
    return ExpertPilot(load_car(experiment.car), lambda: car.place, lambda place: experiment.move_to(place).scene)
