"""A race of clients and local racers that is under way: cars come and go, their clients hear what happens."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from donkeysim.core.errors import CapacityError
from donkeysim.core.types import PHYSICS_STEP
from donkeysim.racing.host.competitor import Competitor
from donkeysim.racing.rules import act as acts
from donkeysim.racing.rules.decision import BeginSession, Decision, ShowFlag
from donkeysim.racing.rules.director import DRIVING, RACE, Director
from donkeysim.racing.rules.run import Run, find_space
from donkeysim.racing.run.race_run import RaceRun
from donkeysim.racing.show.race_view import RaceView
from donkeysim.racing.show.timing import CarLook, Timing
from donkeysim.serve.output import Output, OutputKind
from donkeysim.serve.participants import SceneCar, change_car, make_event
from donkeysim.sim.commands import SetCamera
from donkeysim.wire.equipment import ConfigureCar
from donkeysim.wire.messages import Reply, Request
from donkeysim.wire.replies import CrossStart, Disqualified, MissedCheckpoint, RaceStart, RaceStop
from donkeysim.world.ledger import EVENT_CROSSING, EVENT_LAP, Event

ASK_AGAIN = 2.0
"""A driver may ask to be put back again after this time [s]."""

CHECKPOINT_INCIDENTS = ("missed_checkpoint", "late_checkpoint")

EVERYBODY = -1


class LiveRace:
    """Keeps a race and its clients in step.

    Attributes:
        run: The race; car i of its plan is row i.
        entries: Competitors by row; local racers are in no row of it.
    """

    def __init__(self, run: RaceRun, entries: Mapping[int, Competitor]) -> None:
        self.run, self.entries = run, dict(entries)
        self._updates = RaceMessages(run.director, run.simulator.scene.start.is_silent)
        self._timing = Timing()
        self._asked: dict[int, float] = {}
        self._left: dict[int, float] = {}
        self._unequipped = set(self.entries)

    def begin(self) -> Iterator[Output]:
        """Line up, and yield what clients receive."""
        return self._tell(self._updates.list_updates(self.run.begin(), ()))

    def pass_frame(self, step_count: int) -> Iterator[Output]:
        """Step the race by one frame of `step_count` physics steps, and yield what clients receive."""
        decisions, director = self.run.pass_frame(step_count), self.run.director
        if not director.is_held:
            self._timing.note(director, self.run.simulator.ledger, self.run.events, step_count * PHYSICS_STEP)
        return self._tell(self._updates.list_updates(decisions, self.run.events))

    def draw(self, cars: Iterable[SceneCar], number: int) -> RaceView:
        """Return how the race stands.

        Args:
            cars: Of the race, as they are watched.
            number: Which race of this server.
        """
        simulator = self.run.simulator
        looks = {car.row: CarLook(car.car_id, simulator.get_body(car.row).colour) for car in cars}
        return self._timing.draw(self.run.director, looks, number)

    def apply(self, act: acts.Act) -> Iterator[Output]:
        """Carry out an act, and yield what clients receive.

        Raises:
            SpecError: It is not possible.
        """
        return self._tell(self._updates.list_updates(self.run.apply(act), ()))

    # -- drivers ------------------------------------------------------------------------------------------------------

    def find_row(self, competitor: Competitor) -> int | None:
        """Return a competitor's row, None if it does not race."""
        return next((row for row, entry in self.entries.items() if entry is competitor), None)

    def is_on_track(self, row: int) -> bool:
        """Return whether a car is there."""
        return bool(self.run.simulator.ledger.present[row])

    def configure(self, row: int, request: Request) -> str:
        """Set a camera or a lidar of a car, off the track when it comes back; return a note for its client, or ""."""
        if not self.is_on_track(row):
            self._unequipped.add(row)
            return ""
        try:
            return change_car(self.run.simulator, row, request)
        except CapacityError as error:
            return f"{request.message_type()}: {error}"

    def ask_back(self, row: int) -> Iterator[Output]:
        """Let a driver give up the place where the car is; before the race and all too often it is not heard."""
        now, is_driven = self.run.time, self.run.director.session in DRIVING and self.run.may_drive(row)
        is_driven &= self.is_on_track(row)
        if not is_driven or self.run.director.is_held or now - self._asked.get(row, -ASK_AGAIN) < ASK_AGAIN:
            return iter(())
        self._asked[row] = now
        return self.apply(acts.AskBack(row))

    def _equip(self, row: int) -> Iterator[str]:
        """Give a car all that its client has asked for, and yield notes for it."""
        simulator = self.run.simulator
        if simulator.get_camera(row) is None:
            simulator.apply(SetCamera([row], simulator.car_spec.camera))
        for setting in self.entries[row].settings.values():
            if not isinstance(setting, ConfigureCar) and (note := self.configure(row, setting)):
                yield note

    def part(self, row: int) -> None:
        """Take a car whose client has gone off the road; it may come back."""
        if self.is_on_track(row):
            self._left[row] = float(self.run.simulator.ledger.along[row])
            self.run.simulator.retire_car(row)

    def take_back(self, row: int) -> None:
        """Put a car whose client has come back where it was, unless the director has let it go."""
        self._unequipped.add(row)
        director, simulator = self.run.director, self.run.simulator
        log = director.run.logs.get(row)
        if row not in self._left or log is None or log.is_off:
            return
        along = self._left.pop(row)
        simulator.recall_car(row)
        if director.session in DRIVING:
            simulator.put_on_path(row, find_space(director.course, simulator.ledger, row, along))
        else:
            simulator.reset_car(row)

    # -- messages -----------------------------------------------------------------------------------------------------

    def _tell(self, updates: Iterator[tuple[int, Reply]]) -> Iterator[Output]:
        for row, competitor in self.entries.items():
            if competitor.client is None:  # a line-up brings everybody back
                self.part(row)
            elif row in self._unequipped and self.is_on_track(row):
                self._unequipped.remove(row)
                for note in self._equip(row):
                    yield Output(competitor.client.client_id, OutputKind.REFUSAL, note.encode())
        for row, reply in list(updates):
            rows: Sequence[int] = list(self.entries) if row == EVERYBODY else [row]
            for row in rows:
                client = self.entries[row].client if row in self.entries else None
                if client is not None:
                    yield make_event(client, reply)


class RaceMessages:
    """Finds what is new in a race after each frame."""

    def __init__(self, director: Director, is_silent: bool = False) -> None:
        """Begin before the first message; `is_silent`: crossings are not sent, see `StartGrid.is_silent`."""
        self._director, self._is_silent = director, is_silent
        self._run: Run | None = None
        self._incident_count = 0
        self._is_racing = False

    def list_updates(self, decisions: Sequence[Decision], events: Sequence[Event]) -> Iterator[tuple[int, Reply]]:
        """Yield messages, each with the row it is for or `EVERYBODY`."""
        for event in () if self._is_silent else events:
            if event.kind == EVENT_LAP:
                yield event.car, CrossStart(lap_time=f"{1000.0 * event.value:.1f}")
            elif event.kind == EVENT_CROSSING and event.value == 0.0:
                log = self._director.run.logs.get(event.car)
                if log is not None and log.lap == 1:  # its first lap begins, so none ended there
                    yield event.car, CrossStart(lap_time="0")
        yield from self._list_missed()
        for decision in decisions:
            if isinstance(decision, ShowFlag) and decision.flag == "black" and decision.row >= 0:
                why = self._director.run.count_costs(decision.row).why
                yield decision.row, Disqualified(missed_cp=why in CHECKPOINT_INCIDENTS)
            elif isinstance(decision, BeginSession):
                yield from self._begin(decision.session)

    def _begin(self, session: str) -> Iterator[tuple[int, Reply]]:
        if session == RACE:
            self._is_racing = True
            yield EVERYBODY, RaceStart()
        elif self._is_racing:  # it cools down, is over, or is run again
            self._is_racing = False
            yield EVERYBODY, RaceStop()

    def _list_missed(self) -> Iterator[tuple[int, Reply]]:
        run = self._director.run
        if run is not self._run:
            self._run, self._incident_count = run, 0
        news, self._incident_count = run.incidents[self._incident_count :], len(run.incidents)
        for incident in news:
            if incident.kind == "missed_checkpoint":
                yield incident.row, MissedCheckpoint()
