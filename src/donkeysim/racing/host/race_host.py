"""A scene where races are held: everybody drives about in the paddock until a race begins, and comes back after it.

Each race has a simulator of its own, so that its file holds nothing else. The paddock's stands still meanwhile.
"""

import logging
from collections.abc import Sequence

import msgspec

from donkeysim.core.clock import Clock
from donkeysim.core.errors import DonkeySimError, SceneError, SpecError, format_count
from donkeysim.core.types import PHYSICS_STEP
from donkeysim.racing.host.competitor import Competitor, Competitors
from donkeysim.racing.host.live_race import LiveRace
from donkeysim.racing.host.paddock import KeepAlive, RaceOffer, draw_paddock, find_obstacle
from donkeysim.racing.rules.act import Act
from donkeysim.racing.rules.course import survey_course
from donkeysim.racing.run.race_file import RacePlan, shift_seed
from donkeysim.racing.run.race_run import RaceRun, count_places, make_bodies
from donkeysim.racing.run.tournament import make_report, report_race
from donkeysim.racing.show.race_view import RaceView, Waiting
from donkeysim.racing.show.recording import RaceRecording
from donkeysim.serve.activity import Change
from donkeysim.serve.output import Output
from donkeysim.serve.participants import Client, SceneCar, make_event
from donkeysim.serve.simulation import Simulation
from donkeysim.sim.simulator import Simulator
from donkeysim.wire import messages
from donkeysim.wire.equipment import ConfigureCar
from donkeysim.wire.messages import ClientState
from donkeysim.wire.replies import CarLoaded, NeedCarConfig

_REFUSALS = {
    "exit": "end the program to leave the track.",
    "road": "the road stays as it is.",
    "pace car": "start the program with --pilot for drivers that run here.",
}
_TOO_LATE = "the race has begun; you get a car when it is over, and race in the next one."
_OFFICIAL = "races are held here; only the race engineer may do this."
_log = logging.getLogger("donkeysim.race")


class RaceHost:
    """Paddock, race, paddock, race …; an `Activity` of the simulation that it is given.

    Attributes:
        race: The one under way; None in the paddock.
        race_count: Races that have begun.
        recording: All moments of the race, or of the one before.
        waiting: In the paddock: for what.
    """

    def __init__(self, simulation: Simulation, offer: RaceOffer, read_clock: Clock) -> None:
        """Become the activity of a simulation that nobody has joined yet."""
        simulation.activity = self
        self._simulation, self._read_clock = simulation, read_clock
        self.race: LiveRace | None = None
        self.race_count = 0
        self.waiting = Waiting()
        self.recording = RaceRecording()
        self._free_broadcast = self._simulation.viewing.interpolator.broadcast
        self._trouble = ""
        self._offer = offer
        self._competitors = Competitors(offer.local_racers)
        self._paddock: Simulator | None = None
        self._last_view: RaceView | None = None
        self._paddock_time = 0.0
        self._keep_alive = KeepAlive(read_clock)

    def close(self) -> None:
        """Close the paddock of a race that is under way; the simulation closes the race's, whose file has no result."""
        if self.race is not None:
            time, folder = self.race.run.time, self._offer.folder
            _log.warning("the race was broken off after %.1f s: its file in %s has no result.", time, folder)
        if self._paddock is not None:
            self._paddock.close()

    def open(self, simulator: Simulator) -> None:
        """Look for what makes races impossible, better now than when everybody is here, and give out cars.

        Raises:
            SpecError: They are.
        """
        course, room = survey_course(simulator.scene), self._count_room(simulator)
        if room < max(1, self._offer.cars):
            raise SpecError(
                f"{format_count(len(self._offer.local_racers) + max(1, self._offer.cars), 'car')} cannot start on "
                f"{course.name}: there is room for {len(self._offer.local_racers) + room}; take fewer."
            )
        for client in self._simulation.clients.values():
            self._seat(client)

    def _count_room(self, simulator: Simulator) -> int:
        """Return how many clients' cars can race."""
        return count_places(self._offer.book, simulator.scene) - len(self._offer.local_racers)

    # -- coming and going ---------------------------------------------------------------------------------------------

    def welcome(self, client: Client) -> None:
        """Ask a client who it is; it gets a car when it has said so."""
        self._competitors.welcome(client, self._read_clock())
        self._simulation.outputs.append(make_event(client, NeedCarConfig()))

    def part(self, client: Client) -> None:
        """Take the car of a client that has gone; a race lets it come back."""
        competitor, race = self._competitors.part(client), self.race
        row = None if race is None or competitor is None else race.find_row(competitor)
        if race is not None and row is not None:
            race.part(row)
            self._simulation.scheduler.forget(self._simulation.park[row])
            self._simulation.park[row].client = None
            return
        if client.car is not None and self._simulation.simulator is not None:
            self._simulation.take_away(self._simulation.simulator, client.car)
            self._competitors.call_next()
        self._competitors.forget_absent(() if race is None else race.entries.values())

    def _seat(self, client: Client) -> None:
        """Give a client its car: in the race if it is entered there, else in the paddock if that is open."""
        competitor = self._competitors.find(client)
        if competitor is None or self._simulation.simulator is None:
            return
        if self.race is None:
            self._simulation.seat(client)
            if client.car is not None:
                self._set_appearance(self._simulation.simulator, competitor, client.car.row)
                for setting in competitor.settings.values():  # the cameras that the client wants
                    if not isinstance(setting, ConfigureCar):
                        self.perform(client, setting)
            return
        row = self.race.find_row(competitor)
        if row is None:
            self._simulation.refuse(client, _TOO_LATE)
            return
        self.race.take_back(row)
        client.car, self._simulation.park[row].client = self._simulation.park[row], client
        self._simulation.outputs.append(make_event(client, CarLoaded(scene_name=self._simulation.scene_name or "")))

    def _set_appearance(self, simulator: Simulator, competitor: Competitor, row: int) -> None:
        """Make a car of the paddock look as its client wants."""
        simulator.configure_car(row, competitor.make_body())
        competitor.is_appearance_set = True

    # -- requests -----------------------------------------------------------------------------------------------------

    def may_perform(self, client_id: int, request: messages.Request) -> bool:
        """Return True: how a car shall look is only noted, and nothing else waits for a plate."""
        del client_id, request
        return True

    def perform(self, client: Client, request: messages.Request) -> None:
        """Carry out what a client asks for, note it for its next race, or refuse it."""
        if isinstance(request, messages.LoadScene) and request.scene_name == self._simulation.scene_name:
            return
        if request.concerns_all:
            self._simulation.refuse(client, f"{request.message_type()}: {_OFFICIAL}")
            return
        competitor = self._competitors.find(client)
        if isinstance(request, messages.DriveCar):
            if competitor is not None:
                competitor.racer.note(request)
            if self.race is not None or client.car is None:
                return
        if self._competitors.hear(client, request, self._read_clock()) and (client.car is None or competitor is None):
            return
        if client.car is not None and isinstance(request, ConfigureCar):
            if competitor is not None:
                competitor.is_appearance_set = False
        elif self.race is not None and client.car is not None and competitor is not None:
            self._perform_in_race(self.race, competitor, client.car.row, request)
        else:
            self._simulation.perform(client, request)

    def _perform_in_race(self, race: LiveRace, competitor: Competitor, row: int, request: messages.Request) -> None:
        assert competitor.client is not None, "who asks is connected"
        if isinstance(request, messages.ResetCar):
            self._simulation.outputs += race.ask_back(row)
        elif isinstance(request, messages.SetPosition):
            self._simulation.refuse(competitor.client, f"{request.message_type()}: not in a race.")
        elif ClientState.NO_CAR in request.said_in:  # it is not about the car
            self._simulation.perform(competitor.client, request)
        elif note := race.configure(row, request):
            self._simulation.refuse(competitor.client, note)

    # -- what pages ask for -------------------------------------------------------------------------------------------

    def check_change(self, change: Change) -> None:
        """Refuse what the race engineer alone decides.

        Raises:
            SceneError: It is that; a car may be put back in the paddock.
        """
        if change != "reset":
            raise SceneError(f"races are held here; {_REFUSALS[change]}")
        if self.race is not None:
            raise SceneError("a race is under way; let the race engineer put the car back.")

    def show_race(self) -> RaceView:
        """Return the race as it stands; in the paddock who is here, and the race before."""
        if self.race is not None:
            return msgspec.structs.replace(self._draw(self.race), on_air=self.recording.on_air)
        return draw_paddock(self._offer, self._competitors, self._last_view, self.waiting)

    def _draw(self, race: LiveRace) -> RaceView:
        return race.draw(self._simulation.park, self.race_count)

    def act(self, act: Act) -> None:
        """Carry out an act of the race engineer.

        Raises:
            SpecError: No race is under way, or the act is not possible.
        """
        if self.race is None:
            raise SpecError("no race is under way; start one first.")
        self._simulation.outputs += self.race.apply(act)

    def start_race(self) -> None:
        """Begin the next race with everybody who has a car in the paddock.

        Raises:
            DonkeySimError: A race is under way, nobody is there, or it cannot be held.
        """
        if self._simulation.simulator is None:
            raise SpecError("the track is being built; ask again in a moment.")
        if self.race is not None:
            raise SpecError("a race is under way; let it end, or restart it.")
        here = [known for known in self._competitors.list_here() if known.client is not None and known.client.car]
        # First those who had to watch, then those who came first.
        entries = sorted(here[: self._count_room(self._simulation.simulator)], key=lambda known: known.number)
        if not entries and not self._offer.local_racers:
            raise SpecError("nobody is here to race; wait until a client has a car.")
        run = self._make_run(entries)
        self._trouble = ""
        for known in self._competitors.list_here():
            known.waits = 0 if known in entries else known.waits + 1
        self._leave_paddock(self._simulation.simulator, run, entries)

    # -- races --------------------------------------------------------------------------------------------------------

    def _make_run(self, entries: list[Competitor]) -> RaceRun:
        offer, local_racers = self._offer, list(self._offer.local_racers)
        names = (*(known.name for known in entries), *local_racers)
        seed = shift_seed(offer.seed, self.race_count)
        plan = RacePlan(offer.track, offer.rules, offer.book, names, seed, offer.car)
        racers = [*(known.racer for known in entries), *offer.local_racers.values()]
        bodies = [*(known.make_body() for known in entries), *make_bodies(local_racers)]
        file = offer.folder / "race.dlog"
        return RaceRun(plan, racers, file, self._simulation.options.worker_count, bodies, range(len(entries)))

    def _leave_paddock(self, paddock: Simulator, run: RaceRun, entries: list[Competitor]) -> None:
        """Let the race begin; whoever is not in it watches."""
        for car in list(self._simulation.park):
            self._simulation.take_away(paddock, car)
        self._simulation.scheduler.clear()
        self._paddock, self._simulation.simulator = paddock, run.simulator
        rows: dict[int, SceneCar] = {}
        for client in self._simulation.clients.values():
            known = self._competitors.find(client)
            if known in entries and client.car is not None:
                rows[entries.index(known)] = client.car
                client.car.begin_anew()
            elif client.car is not None:
                client.car = None
                self._simulation.refuse(client, "the race has begun without you; you get a car when it is over.")
        self._simulation.park.move(rows)
        for row in range(len(entries), len(entries) + len(self._offer.local_racers)):
            self._simulation.park.enter(run.simulator, row, None)
        self._simulation.look_around(run.simulator)
        self.race_count += 1
        self.race = LiveRace(run, dict(enumerate(entries)))
        self.recording.begin()
        self._simulation.viewing.interpolator.broadcast = self.recording.broadcast
        self._simulation.outputs += self.race.begin()

    def _end_race(self, race: LiveRace) -> None:
        """Write the result, and give everybody a car in the paddock."""
        self._last_view = self._draw(race)
        record = race.run.finish()
        self._return_to_paddock()
        try:
            report_race(record)
        except DonkeySimError as error:
            _log.error("the result cannot be written: %s", error)
            self._trouble = f"the result cannot be written: {error}"
        self._offer.report(make_report(record))
        if self.race_count == self._offer.races:
            self._offer.end()

    def recover(self) -> None:
        """Give up the race that is under way, after an error of our own making; its file has no result."""
        if self.race is None:
            self._simulation.leave_scene()
            return
        race, self._trouble = self.race, "the race could not continue, see the log; the next one will start."
        self.race_count -= 1  # it is held again
        self._return_to_paddock()
        race.run.abandon()

    def _return_to_paddock(self) -> None:
        self.recording.finish()
        self._simulation.viewing.interpolator.broadcast = self._free_broadcast
        self.race, self._simulation.simulator, self._paddock = None, self._paddock, None
        self._paddock_time = 0.0
        self._simulation.outputs += self._simulation.scheduler.clear()
        self._simulation.park.move({})
        assert self._simulation.simulator is not None
        self._simulation.look_around(self._simulation.simulator)
        self._competitors.forget_absent()
        for client in self._simulation.clients.values():
            client.car = None
        for known in self._competitors:
            known.is_told = False

    # -- time ---------------------------------------------------------------------------------------------------------

    def before_beat(self) -> None:
        """Let those drive who have said who they are."""
        self._competitors.admit(self._read_clock())
        self.seat_next()

    def after_beat(self) -> None:
        """End a race that is over, begin one that is due, and show clients that wait that the server is there."""
        if self.race is not None and self.race.run.is_over:
            self._end_race(self.race)
        elif self.race is None and self._simulation.simulator is not None:
            self._begin_when_due()
        clients = self._simulation.clients.values()
        self._simulation.outputs += self._keep_alive.list_pings(clients)
        self._simulation.outputs += self._keep_alive.list_repeats(
            client
            for client in clients
            if self.race is not None and (client.car is None or not self.race.is_on_track(client.car.row))
        )

    def note_outputs(self, outputs: Sequence[Output]) -> None:
        """Take note of the last telemetry of each client."""
        self._keep_alive.note(outputs, self._simulation.clients)

    def seat_next(self) -> None:
        """Give the next one who waits for it a car, or other looks, once its plate is drawn.

        One at a time: others must not feel many who come.
        """
        for known in self._competitors.list_here():
            client, simulator = known.client, self._simulation.simulator
            if client is None or simulator is None or not self._is_waiting(known):
                continue
            if self._simulation.plate_jobs.is_drawn(simulator, client.client_id, known.make_body()):
                if client.car is None:
                    known.is_told = True
                    self._seat(client)
                else:
                    self._set_appearance(simulator, known, client.car.row)
                return

    def _is_waiting(self, known: Competitor) -> bool:
        """Return whether somebody waits for a car, or in the paddock for other looks."""
        assert known.client is not None, "it is connected"
        if known.client.car is None:
            return not known.is_told
        return self.race is None and not known.is_appearance_set

    def _begin_when_due(self) -> None:
        """Begin a race that begins by itself, or say what is waited for."""
        cars = [known.client.car for known in self._competitors if known.client is not None]
        here = sum(car is not None and car.telemetry_count > 0 for car in cars)  # those that see where they are
        self.waiting = find_obstacle(self._offer, self.race_count, self._paddock_time, here, self._trouble)
        if self.waiting.text:
            return
        try:
            self.start_race()
        except DonkeySimError as error:
            _log.warning("the race cannot be held: %s", error)
            self._trouble = f"the race cannot be held: {error}"
            self._paddock_time = 0.0

    def pass_time(self, simulator: Simulator, step_count: int) -> None:
        """Let a frame of the race pass, or of the paddock."""
        if self.race is None:
            self._simulation.pass_time(simulator, step_count)
            self._paddock_time += step_count * PHYSICS_STEP
            return
        outputs = list(self.race.pass_frame(step_count))
        self._simulation.report_events(simulator, self.race.run.events)
        self.recording.note(simulator, self._simulation.park.map_rows(), self._draw(self.race))
        self._simulation.outputs += self._simulation.scheduler.hold_back(outputs)
