"""Sample drives: somebody who drives well records laps into a tub, many times faster than real time.

The car, its camera and the record's channels are what the config says; time passes in the built-in simulator only, one
loop of `DRIVE_LOOP_HZ` per record, in the order of the vehicle loop: sense, decide, write, let time pass.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from donkeysim.car.config import Config, make_default_config
from donkeysim.core import frames
from donkeysim.core.errors import SpecError, describe_unknown, format_count
from donkeysim.core.rng import hash_words
from donkeysim.core.types import Report
from donkeysim.drive.simulator_settings import SimulatorSettings, read_settings
from donkeysim.drivers.human_driver import HumanDriver, Intent
from donkeysim.drivers.person import Person, load_styles
from donkeysim.drivers.steering import Action
from donkeysim.envs.built_in import BuiltInCar
from donkeysim.tub.writer import TubWriter
from donkeysim.world.ledger import Ledger
from donkeysim.world.randomization import RandomizationSpec
from donkeysim.world.tracks.catalogue import shorten_scene_name

CHANNELS = (
    ("cam/image_array", "image_array"),
    ("user/angle", "float"),
    ("user/throttle", "float"),
    ("user/mode", "str"),
)
"""What every drive records: names and types in the tub."""

TEACHER = "teacher"
"""The driver where no other is asked for."""

REDRAW_TIME = 4.0
"""How long what is drawn stays [s, simulated]."""

# Long enough for the driver, who comes back from every push, to do so; one that has not by then has failed.
PATIENCE = 5.0
"""Time off the road after which the driver has failed [s, simulated]."""


@dataclass(frozen=True)
class SampleResult:
    """What was recorded.

    Attributes:
        record_count: Records written.
        skipped_count: Moments that were not written because the car was off the road.
        lap_times: Of the whole laps [s, simulated].
        simulated_time: How long the drive took for the car [s].
        wall_time: How long it took for us [s].
    """

    tub_path: Path
    record_count: int
    skipped_count: int
    lap_times: tuple[float, ...]
    simulated_time: float
    wall_time: float

    @property
    def speed_up(self) -> float:
        """Simulated time per time."""
        return self.simulated_time / self.wall_time


def record_sample(
    tub_path: str | Path,
    lap_count: int = 6,
    scene: str | None = None,
    seed: int = 0,
    record_count: int | None = None,
    config: Config | None = None,
    report: Report = lambda _done, _total: None,
    randomization: RandomizationSpec | None = None,
    driver: str = TEACHER,
) -> SampleResult:
    """Let somebody drive laps and record them; an existing tub grows.

    Args:
        tub_path: Folder of the tub; made when there is none.
        lap_count: Whole laps to drive from the start grid.
        scene: Name of the track; None: the config's.
        seed: Of the driver's hands; the same seed gives the same records.
        record_count: Records to stop after, instead of laps.
        config: The car; None: the defaults of a new car folder.
        report: Called as report(done, total), in records; the total is an estimate while laps are counted.
        randomization: What is drawn anew every `REDRAW_TIME`; None: what the config says, once.
        driver: `TEACHER`, whose records hold what it means to do, or the name of a style of `drivers.person`, of whom
            the records hold what the hands do, as those of people do.

    Raises:
        SpecError: The numbers, the seed or the track are not possible, or the driver left the road for good.
        TubError: The tub cannot be written, or has other channels.
    """
    if min(lap_count, 1 if record_count is None else record_count) < 1 or seed < 0:
        noun, count = ("lap", lap_count) if record_count is None else ("record", record_count)
        raise SpecError(
            f"cannot drive {format_count(count, noun)} with seed {seed}; ask for 1 or more, and a seed of 0 or more."
        )
    if driver not in (known := (TEACHER, *load_styles())):
        raise SpecError(describe_unknown("driver", driver, known))
    settings = read_settings(config if config is not None else make_default_config())
    if randomization is not None:
        experiment = replace(settings.conf.experiment, randomization=randomization)
        settings = replace(settings, conf=replace(settings.conf, experiment=experiment))
    if scene is not None:
        settings = replace(settings, conf=replace(settings.conf, experiment=settings.conf.experiment.move_to(scene)))
    car = BuiltInCar(settings.scene, settings.conf, settings.conf.experiment.seed)
    if not car.simulator.scene.path.closed:
        raise SpecError(f"the road of {settings.scene} is not closed, so there are no laps; take another track.")
    car.open()
    channels = (*CHANNELS, *settings.channels)
    try:
        with TubWriter(tub_path, [name for name, _ in channels], [kind for _, kind in channels]) as tub:
            tub.note_car(settings.conf.experiment.describe_car())
            decide = _make_driver(driver, car, seed)
            drive = _Drive(car, settings, tub, decide, seed if randomization is not None else None)
            return drive.record(lap_count, record_count, report)
    finally:
        car.close()


@dataclass(frozen=True)
class _Driver:
    """Who drives: what the hands do and what is recorded of it, and about how long a lap takes [s]."""

    drive: Callable[[Ledger, int], tuple[Action, Intent]]
    lap_time: float


def _make_driver(name: str, car: BuiltInCar, seed: int) -> _Driver:
    scene, spec = car.simulator.scene, car.simulator.car_spec
    if name == TEACHER:
        teacher = HumanDriver(scene, spec, seed)
        return _Driver(teacher.drive, teacher.plan.lap_time)
    person = Person(scene, spec, load_styles()[name], seed)

    def drive(ledger: Ledger, row: int) -> tuple[Action, Intent]:
        action = person.drive(ledger, row)
        return action, Intent(action.steer, action.throttle)

    return _Driver(drive, person.plan.lap_time)


class _Drive:
    """One drive into one tub."""

    def __init__(
        self, car: BuiltInCar, settings: SimulatorSettings, tub: TubWriter, driver: _Driver, seed: int | None
    ) -> None:
        """Make it; `seed`: of what is drawn anew every `REDRAW_TIME`, None: nothing."""
        self._car, self._settings, self._tub = car, settings, tub
        self._driver = driver
        self._names = [name for name, _ in settings.channels]
        self._place = shorten_scene_name(settings.scene)
        self._loop_count = self._written = self._skipped = 0
        self._seed, self._redraw_count = seed or 0, round(REDRAW_TIME * settings.rate) if seed is not None else 0

    def record(self, lap_count: int, record_count: int | None, report: Report) -> SampleResult:
        """Drive and write until enough laps or records are there."""
        begun = time.perf_counter()
        estimate = record_count or round(lap_count * self._driver.lap_time * self._settings.rate)
        laps, row = self._car.simulator.ledger.laps, self._car.row
        while self._written < record_count if record_count else laps[row] < lap_count:
            self._record_moment()
            report(self._written, max(estimate, self._written))
        report(self._written, self._written)
        return SampleResult(
            tub_path=self._tub.path,
            record_count=self._written,
            skipped_count=self._skipped,
            lap_times=self._car.observe(with_pictures=False).lap_times,
            simulated_time=self._loop_count / self._settings.rate,
            wall_time=time.perf_counter() - begun,
        )

    def _record_moment(self) -> None:
        """Write what the car senses and the driver means to do now, then let one loop's time pass."""
        car, simulator = self._car, self._car.simulator
        if self._redraw_count and self._loop_count % self._redraw_count == 0:
            draw = self._loop_count // self._redraw_count
            simulator.seed_world(0, int(hash_words(self._seed, draw, 0, 0)) & 0x7FFFFFFFFFFFFFFF)
        picture, telemetry, _, *readings = self._settings.list_values(car.observe())
        action, intent = self._driver.drive(simulator.ledger, car.row)
        simulator.drive_car(car.row, *action)
        if telemetry.on_road:
            self._tub.write_record(
                {
                    "cam/image_array": picture,
                    "user/angle": frames.steer_to_wire(intent.steer),
                    "user/throttle": intent.throttle,
                    "user/mode": "user",
                    **dict(zip(self._names, readings, strict=True)),
                },
                self._place,
            )
            self._written += 1
        else:
            self._note_off_road()
        begin, self._loop_count = self._settings.find_step(self._loop_count), self._loop_count + 1
        car.advance(self._settings.find_step(self._loop_count) - begin)

    def _note_off_road(self) -> None:
        self._skipped += 1
        if self._car.simulator.ledger.off_road_time[self._car.row] > PATIENCE:
            raise SpecError(
                f"the driver left the road of {self._settings.scene} after {self._written} records and did not come "
                "back; take another track or another --seed."
            )
