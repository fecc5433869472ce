"""The state of learning after each update, which progress bar, curve, TensorBoard and the live page all read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from donkeysim.core.types import ByteArray, FloatArray


@dataclass(frozen=True)
class Check:
    """What a policy did without chance, on fresh starts.

    Attributes:
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

    def describe(self) -> str:
        """Return how learning goes in one line."""
        left = max(0.0, self.time_limit - self.seconds) / 60.0
        student = f"steering {self.losses['steering_error']:.2f} off  " if "steering_error" in self.losses else ""
        checks = f"  best check {describe_checks(self.checks)}" if self.checks else ""
        return (
            f"{self.seconds:5.0f} s, {left:.1f} min left  {self.steps:,} steps, {self.rate:,.0f}/s  "
            f"{self.laps:,} laps  reward {self.reward:.2f}  {self.speed:.2f} m/s  "
            f"{student}{self.ends:.1f} ends a minute{checks}"
        )


def describe_checks(checks: tuple[Check, ...]) -> str:
    """Return the checks of a policy in a few words."""
    if len(checks) > 1:
        return f"passed {sum(check.is_passed for check in checks)} of {len(checks)} checks"
    check = checks[0]
    return f"{check.laps:.1f} of {check.wanted_laps} laps at {check.speed:.2f} of {check.wanted_speed:.2f} m/s"


class StallDetector:
    """Notices once that a run has learned nothing for a while, so that nobody waits for it in vain."""

    FIRST, WINDOW = 45.0, 15.0
    """How long it waits before it judges, and the time at the beginning and at the end that it compares [s]."""

    NEARLY_BLIND = 0.9
    """A student whose error is at least this share of a blind one's has not learned to see."""

    LEAST_GAIN = 0.1
    """By which share of the first mean reward, or of this if that is less, a later one has to be above it."""

    def __init__(self) -> None:
        self._updates: list[Update] = []
        self._is_done = False

    def find(self, update: Update) -> str:
        """Return what to say now: one sentence, or nothing."""
        if self._is_done or update.checks:
            self._is_done = True
            return ""
        self._updates.append(update)
        if update.seconds - self._updates[0].seconds < self.FIRST:
            return ""
        updates, self._updates, self._is_done = self._updates, [], True
        begun = updates[0].seconds + self.WINDOW
        first = [past for past in updates if past.seconds <= begun]
        last = [past for past in updates if past.seconds >= update.seconds - self.WINDOW]
        if "blind_error" in update.losses:
            return self._judge_student(last)
        return self._judge_rewards(first, last)

    def _judge_student(self, last: Sequence[Update]) -> str:
        error, blind = (
            sum(past.losses[name] for past in last) / len(last) for name in ("steering_error", "blind_error")
        )
        if error < self.NEARLY_BLIND * blind:
            return ""
        return (
            f"The student has not learned to see yet: its steering is {error:.2f} off its teacher's, and would be "
            f"{blind:.2f} off without a picture. If that stays so, stop with Ctrl-C and try fewer tracks, a milder "
            "--randomize, or another --seed."
        )

    def _judge_rewards(self, first: Sequence[Update], last: Sequence[Update]) -> str:
        before, now = (sum(past.reward for past in part) / len(part) for part in (first, last))
        if now > before + self.LEAST_GAIN * max(abs(before), self.LEAST_GAIN):
            return ""
        return (
            f"Nothing has been learned yet: the mean reward was {before:.2f} at first and is {now:.2f} now. If it "
            "stays so, stop with Ctrl-C and try --teacher, fewer tracks, a milder --randomize, or another --seed."
        )


Watch = Callable[[Update], None]
"""Called with each update by the thread that learns, so it must be quick."""
