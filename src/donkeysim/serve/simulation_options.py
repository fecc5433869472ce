"""How a simulation is run, as a plain value."""

from __future__ import annotations

from dataclasses import dataclass, field

from donkeysim.world.experiment import Experiment


@dataclass(frozen=True)
class SimulationOptions:
    """How the simulator is run.

    Attributes:
        experiment: What is simulated; clients choose among scenes, which are as its first one but for their names.
        telemetry_rate: Telemetries per simulated second; divides the physics rate.
        time_scale: Simulated seconds per second; None: as fast as possible.
        pace_car: "steady" or "fast"; None for none.
        max_cars: Most cars of clients.
        idle_timeout: A client whose car stays in its place for so long is sent away [s]; None: never.
        has_training_fields: Whether `pos_*`, `vel_*` and `cte` are sent and `set_position` works.
        numbers_as_strings: Whether telemetry has its numbers as text.
        worker_count: Threads for physics and pictures.
    """

    experiment: Experiment = field(default_factory=Experiment)
    telemetry_rate: int = 20
    time_scale: float | None = 1.0
    pace_car: str | None = None
    max_cars: int = 64
    idle_timeout: float | None = None
    has_training_fields: bool = True
    numbers_as_strings: bool = False
    worker_count: int = 1
