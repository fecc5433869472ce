"""How a stage is run, as a plain value."""

from __future__ import annotations

from dataclasses import dataclass, field

from donkeysim.world.randomization import RandomizationSpec
from donkeysim.world.specs import NO_CHALLENGES, ChallengeSpec, RoadSpec


@dataclass(frozen=True)
class StageOptions:
    """How the simulator is run.

    Attributes:
        telemetry_rate: Telemetries per simulated second; divides the physics rate.
        time_scale: Simulated seconds per second; None: as fast as possible.
        seed: Of every random number.
        pace_car: "steady" or "fast"; None for none.
        max_cars: Most cars of clients.
        idle_timeout: A client whose car stays in its place for so long is sent away [s]; None: never.
        has_training_fields: Whether `pos_*`, `vel_*` and `cte` are sent and `set_position` works.
        numbers_as_strings: Whether telemetry has its numbers as text.
        track_folders: Further folders with track files.
        worker_count: Threads for physics and pictures.
        road: Of scenes that generate theirs; None: as the track file says.
        challenges: What is added to scenes.
        look: Of scenes that offer it.
        car: Preset of the physics of all cars.
        action_log: File to record all that happens in, for `donkey replay`, one for each scene; None: none.
        randomization: What differs from car to car and from reset to reset.
    """

    telemetry_rate: int = 20
    time_scale: float | None = 1.0
    seed: int = 0
    pace_car: str | None = None
    max_cars: int = 64
    idle_timeout: float | None = None
    has_training_fields: bool = True
    numbers_as_strings: bool = False
    track_folders: tuple[str, ...] = ()
    worker_count: int = 1
    action_log: str | None = None
    road: RoadSpec | None = None
    challenges: ChallengeSpec = NO_CHALLENGES
    look: str = ""
    car: str = "original"
    randomization: RandomizationSpec = field(default_factory=RandomizationSpec)
