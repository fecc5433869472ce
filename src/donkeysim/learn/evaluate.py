"""Evaluating a pilot: laps in the simulator of this process, faster than real time, in the order of the vehicle loop.

Every loop the pilot sees a picture, answers, and its answer holds while the next 1 / DRIVE_LOOP_HZ seconds pass. Time
is simulated only, so a slow pilot is not late here; the report says how long it takes. The same seed, the same drive.
"""

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from donkeysim.core.errors import SpecError, format_count
from donkeysim.core.pilot import Pilot
from donkeysim.core.types import PHYSICS_RATE, ByteArray, FloatArray, Report
from donkeysim.envs.built_in import BuiltInCar
from donkeysim.envs.conf import EnvConf
from donkeysim.envs.sensor_frame import SensorFrame
from donkeysim.learn.kinds import PilotSpec
from donkeysim.sim.snapshot import Snapshot
from donkeysim.sim.viewpoint import find_pose
from donkeysim.tub.reader import SIMULATED_IMU_CHANNELS, require_channel
from donkeysim.world.experiment import Experiment
from donkeysim.world.scene import Scene

# Enough to come back from a corner that was cut: one error. A lost car would only use up time.
OFF_ROAD_PATIENCE = 3.0
"""Time off the road after which a run ends [s]."""

# A car that has stood for so long sees the same picture again and again: it will not start.
STANDING_PATIENCE = 5.0
"""Time of standing still after which a run ends [s]."""

# Walking pace at 1/8 is 0.17 m/s: twice that is slower than any pilot that was meant to drive.
LEAST_SPEED = 0.35
"""A run has the time that the way to the start line and its laps take at this mean speed [m/s], and `EXTRA_TIME` [s]
more."""

EXTRA_TIME = 20.0

FILM_RATE = 10
"""Pictures of a film per second; it shows the last moments of a run, or its best lap."""

# A car that somebody has set down by hand: half its width aside, 3° askew.
ASKEW = (0.06, 0.05)
"""Of a start elsewhere: greatest distance from the path [m] and angle to it [rad]."""

LAPS_DONE, LEFT_ROAD, STOOD_STILL, TIME_UP = "all laps done", "left the road", "stood still", "time is up"
INTERRUPTED = "stopped by Ctrl-C"
"""How a run ends."""

TRACE_FIELDS = ("time", "x", "y", "yaw", "speed", "cte", "on_road", "steering", "throttle", "lap", "along")
"""Columns of `PilotRun.trace`."""


@dataclass(frozen=True)
class Conditions:
    """What the pilot drives with.

    Attributes:
        conf: Car and camera.
        transform: What happens to pictures before the pilot sees them; None: nothing.
        rate: Pictures, and commands, per second.
        throttle_factor: Of the pilot's throttle, AI_THROTTLE_MULT of the config.
        throttle_range: For whoever loads pilots whose files do not say it, MODEL_CATEGORICAL_MAX_THROTTLE_RANGE.
        film_time: Greatest length of the film [s]; 0: none.
        films_best_lap: Whether the film shows the best lap, if one was finished; else the last moments.
        fits_pilot: Whether the camera takes pictures of the pilot's size, as no config says another.
    """

    conf: EnvConf = field(default_factory=EnvConf)
    transform: Callable[[ByteArray], ByteArray] | None = None
    rate: float = 20.0
    throttle_factor: float = 1.0
    throttle_range: float = PilotSpec.throttle_range
    film_time: float = 0.0
    films_best_lap: bool = False
    fits_pilot: bool = False

    def fit(self, pilot: Pilot) -> Self:
        """Return with what this pilot drives."""
        shape = getattr(pilot, "image_shape", None) if self.fits_pilot else None
        return self if shape is None else replace(self, conf=self.conf.resize(shape))


@dataclass(frozen=True)
class RunEvent:
    """Something that happened at a place.

    Attributes:
        time: [s]
        lap: In which lap, 0 before the first crossing of the start line.
        x: [m]
        y: [m]
        name: What was hit; for leaving the road: "left" or "right".
    """

    time: float
    lap: int
    x: float
    y: float
    name: str


@dataclass(frozen=True)
class PilotRun:
    """What a pilot did on one track.

    Attributes:
        scene: The track, built.
        wanted_laps: How many laps it was to drive.
        lap_times: Of the whole laps [s].
        trace: A row for every picture, columns `TRACE_FIELDS`: time [s], x, y [m, world], yaw [rad], speed [m/s], cte
            [m, + = left of the path], on_road [0 or 1], steering [+ = right], throttle, lap, along the path [m].
        departures: Where it left the road, in order.
        hits: What it hit, in order.
        ending: One of LAPS_DONE, LEFT_ROAD, STOOD_STILL, TIME_UP, INTERRUPTED.
        inference_time: Median time of the pilot and the transformations for a picture [s]; depends on the machine.
        wall_time: How long the run took [s]; depends on the machine.
        film: The last moments or the best lap, an animated WebP; empty: none was asked for.
        shows_best_lap: Whether the film shows the best lap.
    """

    scene: Scene
    wanted_laps: int
    lap_times: tuple[float, ...]
    trace: FloatArray
    departures: tuple[RunEvent, ...]
    hits: tuple[RunEvent, ...]
    ending: str
    inference_time: float
    wall_time: float
    film: bytes = field(default=b"", repr=False)
    shows_best_lap: bool = False

    def column(self, name: str) -> FloatArray:
        """Return a column of the trace, shape [picture_count]."""
        values: FloatArray = self.trace[:, TRACE_FIELDS.index(name)]
        return values

    @property
    def is_passed(self) -> bool:
        """Whether all laps were driven, always on the road and without touching anything."""
        return self.ending == LAPS_DONE and not self.departures and not self.hits

    @property
    def on_road_share(self) -> float:
        """Share of the pictures at which the car was on the road."""
        return float(self.column("on_road").mean())

    @property
    def cte_mean(self) -> float:
        """Mean distance from the path [m]."""
        return float(np.abs(self.column("cte")).mean())

    @property
    def cte_most(self) -> float:
        """Greatest distance from the path [m]."""
        return float(np.abs(self.column("cte")).max())

    @property
    def speed_mean(self) -> float:
        """Mean speed [m/s]."""
        return float(self.column("speed").mean())

    @property
    def simulated_time(self) -> float:
        """How long the car drove [s]."""
        return float(self.trace[-1, 0])


@dataclass(frozen=True)
class Evaluation:
    """A pilot's runs, one for each track.

    Attributes:
        kind: Type of the pilot.
        seed: Of the start places.
        runs: In the order of the tracks.
        car: What it drove, and with which camera, see `Experiment.describe_car`.
    """

    kind: str
    seed: int
    runs: tuple[PilotRun, ...]
    car: str = Experiment.car

    @property
    def is_passed(self) -> bool:
        """Whether it drove all laps of all tracks on the road, touching nothing."""
        return all(run.is_passed for run in self.runs)

    @property
    def was_interrupted(self) -> bool:
        """Whether Ctrl-C ended the last run; tracks that were to follow are missing."""
        return self.runs[-1].ending == INTERRUPTED


def evaluate(
    pilot: Pilot,
    scenes: Sequence[str],
    lap_count: int,
    conditions: Conditions | None = None,
    seed: int = 0,
    report: Report = lambda _done, _total: None,
    *,
    keeps_interrupted: bool = False,
) -> Evaluation:
    """Let a pilot drive laps on tracks.

    Args:
        scenes: Names of the tracks.
        lap_count: Whole laps on each.
        conditions: Camera and the like; None: the defaults of a new car.
        seed: 0 starts on the grid, as driving does; others somewhere on the road, a little askew.
        report: Called as report(done, total), in laps times a hundred.
        keeps_interrupted: Ctrl-C ends the evaluation with what was driven so far, rather than as an exception.

    Raises:
        SpecError: No laps, no track, a negative seed, or no such track; then nothing is driven.
        PilotError: The pilot does not take these pictures.
    """
    if lap_count < 1 or not scenes or seed < 0:
        raise SpecError(
            f"cannot drive {format_count(lap_count, 'lap')} on {format_count(len(scenes), 'track')} "
            f"with seed {seed}; ask for 1 lap or more on 1 track or more, and a seed of 0 or more."
        )
    conditions = conditions or Conditions()
    conditions = conditions.fit(pilot)
    drives = [_Drive(pilot, scene, lap_count, conditions, seed) for scene in scenes]
    runs = []
    for index, drive in enumerate(drives):

        def report_lap(done: int, before: int = index) -> None:
            report(100 * lap_count * before + done, 100 * lap_count * len(scenes))

        runs.append(drive.run(report_lap, keeps_interrupted))
        if runs[-1].ending == INTERRUPTED:
            break
    return Evaluation(pilot.kind, seed, tuple(runs), conditions.conf.experiment.describe_car())


class _Drive:
    """One run, while it lasts."""

    def __init__(self, pilot: Pilot, scene: str, lap_count: int, conditions: Conditions, seed: int) -> None:
        self.pilot, self.lap_count, self.conditions = pilot, lap_count, conditions
        self.car = BuiltInCar(scene, conditions.conf, seed)
        self.scene = self.car.simulator.scene
        if not self.scene.path.closed:
            raise SpecError(f"the road of {scene} is not closed, so there are no laps; take another track.")
        self.path_length = self.scene.path.frame.length
        self.rows: list[tuple[float, ...]] = []
        self.hits: list[RunEvent] = []
        self.departures: list[RunEvent] = []
        self.inference: list[float] = []
        self.moments: deque[Snapshot] = deque(maxlen=round(conditions.film_time * FILM_RATE))
        self.lap_moments: list[Snapshot] = []
        self.best_moments: list[Snapshot] = []
        self.lap_times: tuple[float, ...] = ()
        self.car.open()
        if seed != 0:
            self._start_elsewhere(seed)

    def run(self, report_lap: Callable[[int], None], keeps_interrupted: bool) -> PilotRun:
        """Drive until the run ends, see `evaluate`."""
        begun = time.perf_counter()
        self.pilot.reset()
        limit = (self._measure_approach() + self.lap_count * self.path_length) / LEAST_SPEED + EXTRA_TIME
        ending = ""
        while not ending:
            try:
                self._drive_loop()
                ending = self._find_ending(limit)
                lap, along = self.rows[-1][9], self.rows[-1][10] / self.path_length
                report_lap(min(100 * self.lap_count, int(100 * (lap - 1.0 + along)) if lap >= 1 else 0))
            except KeyboardInterrupt:
                if not (keeps_interrupted and self.rows):
                    raise
                ending = INTERRUPTED
        film = self._shoot_film() if self.moments else b""
        self.car.close()
        return PilotRun(
            scene=self.scene,
            wanted_laps=self.lap_count,
            lap_times=self.lap_times[: self.lap_count],
            trace=np.array(self.rows),
            departures=tuple(self.departures),
            hits=tuple(self.hits),
            ending=ending,
            inference_time=float(np.median(self.inference)),
            wall_time=time.perf_counter() - begun,
            film=film,
            shows_best_lap=bool(self.best_moments),
        )

    def _drive_loop(self) -> None:
        """Show the pilot a picture, take its answer, and let one loop's time pass."""
        count, rate = len(self.rows), self.conditions.rate
        moment = self.car.observe()
        self._begin_lap(moment.lap_times)
        angle, throttle = self._ask(moment)
        self._note(moment, angle, throttle)
        if self.moments.maxlen and count * FILM_RATE // rate != (count - 1) * FILM_RATE // rate:
            self.moments.append(self.car.simulator.snapshot())
            if self.conditions.films_best_lap and len(self.lap_moments) < self.moments.maxlen:
                self.lap_moments.append(self.moments[-1])
        self.car.drive(angle, throttle)
        self.car.advance(round((count + 1) * PHYSICS_RATE / rate) - round(count * PHYSICS_RATE / rate))

    def _begin_lap(self, lap_times: tuple[float, ...]) -> None:
        """Take note of finished laps; the moments of the best one are kept."""
        if len(lap_times) > len(self.lap_times):
            if lap_times[-1] <= min(lap_times):
                self.best_moments = self.lap_moments
            self.lap_moments = []
        elif int(self.car.simulator.ledger.lap[self.car.row]) == 0:
            self.lap_moments.clear()
        self.lap_times = lap_times

    def _ask(self, moment: SensorFrame) -> tuple[float, float]:
        begun = time.perf_counter()
        image = moment.image if self.conditions.transform is None else self.conditions.transform(moment.image)
        values = {name: float(getattr(moment.telemetry, name.split("/")[1])) for name in SIMULATED_IMU_CHANNELS}
        answer = self.pilot.run(
            image, *(require_channel(values, name, "an evaluation") for name in self.pilot.input_names)
        )
        self.inference.append(time.perf_counter() - begun)
        throttle = float(answer[1]) * self.conditions.throttle_factor
        return min(max(float(answer[0]), -1.0), 1.0), min(max(throttle, -1.0), 1.0)

    def _note(self, moment: SensorFrame, angle: float, throttle: float) -> None:
        """Add a row to the trace, and events."""
        ledger, row = self.car.simulator.ledger, self.car.row
        x, y, _, yaw = find_pose(ledger, row)
        now = len(self.rows) / self.conditions.rate
        offset, on_road = float(ledger.offset[row]), bool(ledger.on_road[row])
        lap, along = int(ledger.lap[row]), float(ledger.along[row])
        was_on_road = not self.rows or bool(self.rows[-1][6])
        if was_on_road and not on_road:
            self.departures.append(RunEvent(now, lap, x, y, "left" if offset > 0.0 else "right"))
        if moment.touched != "none":
            self.hits.append(RunEvent(now, lap, x, y, moment.touched))
        speed = moment.telemetry.speed
        self.rows.append((now, x, y, yaw, speed, offset, float(on_road), angle, throttle, float(lap), along))

    def _measure_approach(self) -> float:
        """Return how far it is along the path from the car to the start line, where its first lap begins [m]."""
        x, y = self.scene.start.line[0].mean(axis=0)
        line = float(self.scene.path.frame.locate(x, y).along)
        return (line - float(self.car.simulator.ledger.along[self.car.row])) % self.path_length

    def _find_ending(self, limit: float) -> str:
        if len(self.lap_times) >= self.lap_count:
            return LAPS_DONE
        ledger, row = self.car.simulator.ledger, self.car.row
        if ledger.off_road_time[row] > OFF_ROAD_PATIENCE:
            return LEFT_ROAD
        if ledger.still_time[row] > STANDING_PATIENCE:
            return STOOD_STILL
        return TIME_UP if len(self.rows) / self.conditions.rate > limit else ""

    def _start_elsewhere(self, seed: int) -> None:
        """Put the car on the path at a place of the seed's choice, at rest."""
        random = np.random.default_rng(seed)
        frame, simulator = self.scene.path.frame, self.car.simulator
        node = int(random.integers(len(frame.position)))
        offset, yaw = random.uniform(-1.0, 1.0, 2) * ASKEW
        simulator.put_on_path(self.car.row, frame.node_length[node], offset, yaw)

    def _shoot_film(self) -> bytes:
        """Return the film of the best lap or the last moments."""
        from donkeysim.learn.film import draw_views, encode_film

        pictures = []
        for moment in self.best_moments or self.moments:
            self.car.simulator.restore(moment)
            pictures.append(draw_views(self.car))
        return encode_film(pictures, FILM_RATE)
