"""The state of learning after each update, which progress bar, curve, TensorBoard and the live page all read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from donkeysim.core.types import ByteArray, FloatArray


@dataclass(frozen=True)
class Check:
    """What a policy did without chance, on fresh starts.

    Attributes:
        scene: Where.
        laps: Laps that the worst of the cars drove before it, or any other, left the road; of cars that differ the
            mean of what each drove.
        wanted_laps: How many there were to drive.
        departures: How many cars left the road or hit something.
        cars: How many drove.
        speed: Mean [m/s].
        wanted_speed: What it has to be at least [m/s].
        chatter: Mean change of the steering from one picture to the next, in the steering's units of -1 to 1.
    """

    scene: str
    laps: float
    wanted_laps: int
    departures: int
    cars: int
    speed: float
    wanted_speed: float
    chatter: float

    @property
    def is_clean(self) -> bool:
        """Whether all laps were driven, all the time on the road."""
        return self.departures == 0 and self.laps >= self.wanted_laps

    @property
    def is_passed(self) -> bool:
        """Whether they were, and as fast as wanted."""
        return self.is_clean and self.speed >= self.wanted_speed


@dataclass(frozen=True)
class Update:
    """How things stand after an update of the policy.

    Attributes:
        seconds: Since the command was given, earlier sessions included.
        time_limit: After how many seconds learning ends at the latest; with a limit of steps, at the rate so far.
        steps: Of all cars together, since the beginning.
        rate: Steps per second, of late.
        reward: Mean of a step.
        speed: Mean [m/s].
        ends: Episodes that ended by a rule (left the road, a hit, a standstill), per car and minute of simulated time.
        laps: Whole laps that all cars drove since the beginning.
        losses: Other figures of the algorithm by name: "policy", "value", "spread" and so on.
        ended_at: Where episodes ended since the last update: index of the scene, x, y [m], shape [n, 3].
        picture: What the policy saw at a car's last step, grey, uint8, shape [height, width]; 1x1 while its teacher
            learns, which sees none.
        action: What it did then: steering (+ = right) and throttle, -1 to 1.
        checks: Those of the best policy so far, one for each scene; empty before the first.
    """

    seconds: float
    time_limit: float
    steps: int
    rate: float
    reward: float
    speed: float
    ends: float
    laps: int
    losses: Mapping[str, float]
    ended_at: FloatArray = field(repr=False)
    picture: ByteArray = field(repr=False)
    action: tuple[float, float]
    checks: tuple[Check, ...] = ()


Watch = Callable[[Update], None]
"""Called with each update by the thread that learns, so it must be quick."""
