"""The running scene and everybody on it, without sockets: who has which car, who may do what, when time moves on.

All methods are called on one thread, the simulation's. What clients shall receive gathers in outputs. It has more than
400 lines because requests, time and what pages ask for keep the same few fields in step; cars and views are elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from donkeysim.core.clock import Clock, Pacer
from donkeysim.core.errors import CapacityError, DonkeySimError, SceneError, describe_unknown
from donkeysim.core.types import PHYSICS_RATE
from donkeysim.drivers.path_follower import STYLES
from donkeysim.serve.activity import Activity, Change
from donkeysim.serve.background_jobs import PlateJobs, RoadJobs
from donkeysim.serve.car_park import MOST_STEPS_UNSTEERED, CarPark
from donkeysim.serve.client_queues import ClientQueue, LockStep, Presence
from donkeysim.serve.options import SimulationOptions
from donkeysim.serve.output import Output, OutputKind
from donkeysim.serve.participants import Client, GhostWatch, SceneCar, list_admin_events, make_event
from donkeysim.serve.session import find_refusal
from donkeysim.serve.telemetry_message import TelemetryWriter
from donkeysim.serve.telemetry_scheduler import TelemetryScheduler
from donkeysim.serve.viewing import Viewing
from donkeysim.watch.watchable import CarRow, View
from donkeysim.wire import messages, settings
from donkeysim.wire.messages import ClientState
from donkeysim.wire.replies import CarLoaded, SceneLoaded, SceneSelectionReady
from donkeysim.world.ledger import Event
from donkeysim.world.specs import BodySpec, RoadSpec
from donkeysim.world.tracks import list_scenes, shorten_scene_name

if TYPE_CHECKING:
    from donkeysim.serve.scene_loader import SceneLoader
    from donkeysim.sim.simulator import Simulator

# Of 15 beats in a minute that began more than 3 ms late, ten followed something costly that was begun in the last
# milliseconds before (decision 0020).
REST_SHARE = 0.25
"""In the last part of the time between two beats nothing costly is begun: it could make the next one late."""

# The original's client asks for its scene as soon as the menu is open, also while it is being closed.
EXIT_SECONDS = 0.5
"""A scene is loaded for a client that has left one no sooner than this: it may be gone by then [s]."""


class Simulation:
    """One scene or the menu, with its clients.

    Attributes:
        scene_name: Of the running or loading scene; None in the menu.
        is_loading: Whether a scene is being loaded.
        viewing: What watchers see.
        hand_out: Called within a beat when there are outputs to take already.
        activity: What the scene is for.
        options: How the simulator is run.
        simulator: Of the running scene; None in the menu.
        clients: Everybody connected, by number.
        park: Their cars.
        scheduler: Makes their telemetry.
        plate_jobs: Draws the plates of their cars.
        outputs: What they shall receive.
    """

    def __init__(self, options: SimulationOptions, read_clock: Clock, loader: SceneLoader) -> None:
        self.scene_name: str | None = None
        self.is_loading = False
        self.hand_out: Callable[[], object] = lambda: None
        self.activity: Activity = FreeDriving(self)
        self.options = options
        self._composer = TelemetryWriter(options)
        self._read_clock = read_clock
        self.scheduler = TelemetryScheduler(options, self._composer, read_clock)
        self._loader = loader
        self.clients: dict[int, Client] = {}
        self.park = CarPark(read_clock)
        self.viewing = Viewing(self.park, self.scheduler, self._composer, read_clock)
        self.simulator: Simulator | None = None
        self._road_jobs = RoadJobs()
        self.plate_jobs = PlateJobs()
        self._lock_step = LockStep(read_clock)
        self._freed: list[Client] = []
        interval = 0.0 if options.time_scale is None else 1.0 / (options.telemetry_rate * options.time_scale)
        self._pacer = Pacer(interval, read_clock)
        self.outputs: list[Output] = []

    def close(self) -> None:
        """End what runs beside: threads, and processes that compile."""
        self.activity.close()
        self.scheduler.clear()
        self._loader.close()
        self.plate_jobs.close()
        if self.simulator is not None:
            self.simulator.close()

    @property
    def loading_stage(self) -> str:
        """What is being done while loading, for people; "" otherwise."""
        return self._loader.stage

    # -- who is here --------------------------------------------------------------------------------------------------

    def join(self, client_id: int, queue: ClientQueue | None = None) -> None:
        """Welcome a client: with a car when a scene is running, with the menu otherwise.

        Args:
            client_id: Never used before.
            queue: What it asks for; None: that comes by `execute` only.
        """
        client = self.clients[client_id] = Client(client_id, ClientQueue(client_id) if queue is None else queue)
        client.queue.heard = self._read_clock()
        self.activity.welcome(client)

    def leave(self, client_id: int) -> None:
        """Take a client and its car away; who waited for a place gets it."""
        client = self.clients.pop(client_id, None)
        self.plate_jobs.forget(client_id)
        self._lock_step.asked_by.discard(client_id)
        if client is not None:
            self.activity.part(client)

    def take_away(self, simulator: Simulator, car: SceneCar) -> None:
        """Take a car out of the scene."""
        self.park.remove(simulator, car)
        self.scheduler.forget(car)

    def seat(self, client: Client) -> None:
        """Give a client a car in the running scene."""
        assert self.simulator is not None
        assert self.scene_name is not None
        client.exited = None
        self.outputs.append(make_event(client, SceneLoaded(scene_name=self.scene_name)))
        try:
            taken = self.park.count_driven()
            if taken >= self.options.max_cars:
                raise CapacityError(f"all {taken} places for cars are taken; you will get a car when one leaves.")
            client.car = self.park.add(self.simulator, client, BodySpec())
        except CapacityError as error:
            self.refuse(client, f"no car: {error}")
            return
        client.queue.heard = self._read_clock()
        self.outputs.append(make_event(client, CarLoaded(scene_name=self.scene_name)))

    def seat_next(self) -> None:
        """Give the car that has become free to the client that has waited longest for one."""
        if self.park.count_driven() >= self.options.max_cars:
            return
        waiting = next((one for one in self.clients.values() if one.car is None and one.exited is None), None)
        if waiting is not None:
            self.seat(waiting)

    def refuse(self, client: Client, text: str) -> None:
        """Tell a client why something is not done, one sentence."""
        self.outputs.append(Output(client.client_id, OutputKind.REFUSAL, text.encode()))

    # -- scenes -------------------------------------------------------------------------------------------------------

    def load_scene(self, name: str, is_listed_only: bool = False) -> None:
        """Load a scene and give every client a car.

        Args:
            name: A scene's name or a track file.
            is_listed_only: Whether only the scenes of the menu may be loaded.

        Raises:
            DonkeySimError: There is no such scene, another one is running, or the track is broken.
        """
        if self.simulator is not None:
            if name == self.scene_name:
                return
            raise SceneError(f"{self.scene_name} is running; send exit_scene first, then load {name!r}.")
        if is_listed_only:
            self._check_listed(name)
        self.scene_name, self.is_loading = name, True
        try:
            self.simulator = self._loader.load(name)
        finally:
            self.is_loading = False
            self.scene_name = None if self.simulator is None else shorten_scene_name(name)
        assert self.simulator is not None, "it has just been loaded"
        self.look_around(self.simulator)
        self.activity.open(self.simulator)
        self._pacer.restart()

    def _check_listed(self, name: str) -> None:
        names = list_scenes(self.options.experiment.scene.folders)
        if name not in names:
            raise SceneError(describe_unknown("scene", name, names))

    def look_around(self, simulator: Simulator) -> None:
        """See the scene anew: it is another one, or its road is."""
        self.viewing.open(simulator)
        self._ghosts = GhostWatch(simulator.scene, simulator.car_spec)

    def exit_scene(self, client: Client | None = None) -> None:
        """Bring everybody back to the menu, at the word of a client or of somebody who watches.

        Raises:
            DonkeySimError: No scene is running, or nobody may leave it.
        """
        self.activity.check_change("exit")
        self.leave_scene(client)

    def leave_scene(self, leaver: Client | None = None) -> None:
        """Bring everybody back to the menu, whatever is going on, because `leaver` said so.

        Raises:
            DonkeySimError: No scene is running.
        """
        if self.simulator is None:
            raise SceneError("no scene is running; there is nothing to exit.")
        self.simulator.close()
        self.scheduler.clear()
        self.viewing.close()
        self.simulator = self.scene_name = None
        self._road_jobs = RoadJobs()
        self.park.clear()
        self._lock_step = LockStep(self._read_clock)
        for client in self.clients.values():
            client.car, client.awaits_road = None, False
            if client.exited is None:
                self.outputs.append(make_event(client, SceneSelectionReady()))
        if leaver is not None:
            leaver.exited = self._read_clock()
        self._freed += self.clients.values()

    def recover(self) -> None:
        """Leave what may fail again at each beat, after an error of our own making."""
        self.activity.recover()

    # -- requests -----------------------------------------------------------------------------------------------------

    def may_execute(self, client_id: int, request: messages.Request) -> bool:
        """Return whether a request can be carried out now."""
        return self.activity.may_perform(client_id, request)

    def has_to_wait(self, queue: ClientQueue) -> bool:
        """Return whether a client's next request waits for its step, or for a road; then it is carried out unasked."""
        client = self.clients.get(queue.client_id)
        if client is None:
            return False
        return client.awaits_road or (self._lock_step.is_on and client.car is not None and queue.is_ready)

    def is_leaving(self, client_id: int, request: messages.Request) -> bool:
        """Return whether a client that asks for a scene may do so because it has left one, and be gone in a moment."""
        if not isinstance(request, messages.LoadScene) or client_id not in self.clients:
            return False
        client = self.clients[client_id]
        return client.exited is not None and self._read_clock() - client.exited < EXIT_SECONDS

    def note_health(self, client_id: int, is_reading: bool, is_troublesome: bool) -> None:
        """Take note whether a client reads its telemetry, and of its mistakes; may be called on any thread."""
        client = self.clients.get(client_id)
        if client is not None:
            client.is_troublesome = is_troublesome
            client.slow_since = None if is_reading else client.slow_since or self._read_clock()

    def execute(self, client_id: int, request: messages.Request) -> None:
        """Do what a client asks for, after all that it has asked for before."""
        client = self.clients.get(client_id)
        if client is not None:
            client.queue.append(request, latest_counts=not self._lock_step.is_on)
            self._drain(client)
            client.queue.heard = self._read_clock()
            while freed := self.take_freed():
                for other in freed:
                    self._drain(other)

    def take_freed(self) -> list[Client]:
        """Return the clients whose requests wait for no step or road any more since this was last asked."""
        freed, self._freed = self._freed, []
        return freed

    def perform_next(self, queue: ClientQueue) -> None:
        """Take the next entry of a client's queue and carry it out; nothing of it if the client was sent away."""
        entry = queue.take()
        client = self.clients.get(queue.client_id)
        if client is None or entry is None:
            return
        queue.heard = self._read_clock()
        if entry is Presence.LEAVE:
            self.leave(client.client_id)
        elif isinstance(entry, messages.Request):
            self.activity.perform(client, entry)

    def _drain(self, client: Client) -> None:
        """Carry out what waits in a client's queue, in lock-step up to its next control."""
        while client.queue.first is not None and not self.has_to_wait(client.queue):
            self.perform_next(client.queue)

    def perform(self, client: Client, request: messages.Request) -> None:
        """Carry out what a client asks for where everybody drives as they please, or refuse it."""
        place = ClientState.MENU
        if self.simulator is not None and client.exited is None:
            place = ClientState.TRACK if client.car is not None else ClientState.NO_CAR
            if isinstance(request, messages.LoadScene) and request.scene_name == self.scene_name:
                return
        if isinstance(request, messages.SetRacerInfo):
            return  # only races ask who somebody is
        note = find_refusal(request, place)
        try:
            if note is None:
                note = _ACTIONS.get(type(request), Simulation._change_car)(self, client, request)
        except DonkeySimError as error:
            note = f"{request.message_type()}: {error}"
        if note:
            self.refuse(client, note)

    @property
    def _running(self) -> Simulator:
        """The simulator of the scene, which there is."""
        assert self.simulator is not None
        return self.simulator

    def _exit(self, client: Client, request: messages.ExitScene) -> None:
        """Take a client to the menu: alone where others drive on, else with all that there is."""
        del request
        if all(one.exited is not None for one in self.clients.values() if one is not client):
            self.exit_scene(client)
            return
        if client.car is not None:
            self.take_away(self._running, client.car)
        client.car, client.exited = None, self._read_clock()
        self.outputs.append(make_event(client, SceneSelectionReady()))
        self._lock_step.asked_by.discard(client.client_id)
        if not self._lock_step.asked_by:
            self.leave_lock_step()
        self.seat_next()

    def _send_menu(self, client: Client, request: messages.AskForMenu) -> None:
        """Tell a client once more that the menu stands open."""
        del request
        self.outputs.append(make_event(client, SceneSelectionReady()))

    def _load(self, client: Client, request: messages.LoadScene) -> None:
        name = request.scene_name
        if client.exited is not None and client.queue.has_left:
            return  # its last word of its own was exit_scene
        if self.simulator is None:
            self.load_scene(name, is_listed_only=True)
        elif name == self.scene_name:
            self.seat(client)
        else:  # others have driven on, until now
            self._check_listed(name)
            self.leave_scene()
            self.load_scene(name, is_listed_only=True)

    def _send_node(self, client: Client, request: messages.GetNodePosition) -> None:
        node = settings.describe_node(self._running, request.index)
        self.outputs.append(make_event(client, node, self.options.numbers_as_strings))

    def _ask_for_road(self, client: Client, request: messages.RegenerateRoad) -> None:
        self._road_jobs.ask(self._running, client, request)
        self._wait_in_lock_step(self._running)

    def _change_car(self, client: Client, request: messages.Request) -> str:
        assert client.car is not None, "the request would have been refused"
        return client.car.carry_out(self._running, request, self.options)

    def _wait_in_lock_step(self, simulator: Simulator) -> None:
        """Let time wait for a road that was just begun."""
        if self._lock_step.is_on:
            self._road_jobs.wait()
            self._open_road(simulator)

    def _open_road(self, simulator: Simulator) -> None:
        """Let everybody begin on the new road; those who waited for it, or to ask for another one, continue."""
        waiting = [client for client in self.clients.values() if client.awaits_road]
        work = self._road_jobs.open(simulator, waiting)
        if work is not None and work.trouble and work.client_id in self.clients:
            self.refuse(self.clients[work.client_id], f"regen_road: {work.trouble}")
        self._loader.forget()
        self.look_around(simulator)
        self.park.begin_anew(simulator, work is None or not work.keeps_cars)
        for client in waiting:
            self._drain(client)

    def _set_step_mode(self, client: Client, request: messages.SetStepMode) -> None:
        if request.step_count is not None:
            self._lock_step.step_count = request.step_count
        if request.is_synchronous:
            now = self._read_clock()
            for one in self.clients.values():
                one.queue.heard = now
            self._lock_step.is_on = True
            self._lock_step.asked_by.add(client.client_id)
        elif request.is_synchronous is False:
            self.leave_lock_step()
        mode = "synchronous" if self._lock_step.is_on else "asynchronous"
        cars = sum(one.car is not None for one in self.clients.values())
        self.outputs.append(make_event(client, messages.StepMode(step_mode=mode, cars=cars)))

    def leave_lock_step(self) -> None:
        """Let the clock say again when time moves on."""
        if self._lock_step.is_on:
            self._lock_step.is_on = False
            self._lock_step.asked_by.clear()
            self._pacer.restart()
            self._freed += self.clients.values()

    # -- time ---------------------------------------------------------------------------------------------------------

    def seconds_to_beat(self) -> float | None:
        """Return how long until there is something to do [s]; None: until somebody says something."""
        if self.simulator is None:
            return None
        step, road = self._seconds_to_step(), self._road_jobs.seconds_left()
        if step is None or road is None:
            return road if step is None else step
        return min(step, road)

    def _seconds_to_step(self) -> float | None:
        if self._lock_step.is_on:
            return self._lock_step.seconds_left(c.queue for c in self.clients.values() if c.car is not None)
        if self.options.time_scale is None:
            return 0.0 if len(self.park) else None
        return self._pacer.seconds_left()

    @property
    def is_in_lock_step(self) -> bool:
        """Whether time waits for the clients."""
        return self._lock_step.is_on

    @property
    def is_paced(self) -> bool:
        """Whether a clock says when time moves on."""
        return self.simulator is not None and not self._lock_step.is_on and self.options.time_scale is not None

    def seconds_of_room(self) -> float | None:
        """Return how long something costly may still be begun before the next beat [s]; None: whenever it comes."""
        return max(0.0, self._pacer.seconds_left() - REST_SHARE * self._pacer.interval) if self.is_paced else None

    def may_step_at_once(self, most_cars: int) -> bool:
        """Return whether the scene is in lock-step and has at most `most_cars` cars, all with small pictures."""
        return self._lock_step.is_on and len(self.park) <= most_cars and not self.scheduler.is_heavy

    def beat(self) -> None:
        """Let time move on, if it is due, and do what the activity has to do meanwhile."""
        self.activity.before_beat()
        self._beat()
        self.activity.after_beat()

    def _beat(self) -> None:
        if self.simulator is None:
            return
        if self._road_jobs.is_done:
            self._open_road(self.simulator)
        if self._seconds_to_step() != 0.0:
            return
        if self._lock_step.is_on:
            self._beat_in_lock_step(self.simulator)
            return
        self._pacer.take_beat()
        now = self._read_clock()
        drivers = [car for car in self.park if car.client is not None and car.client.wants_telemetry(now)]
        self._advance(self.simulator, PHYSICS_RATE // self.options.telemetry_rate, drivers, OutputKind.TELEMETRY)
        if self.options.idle_timeout is not None:
            self._send_idle_away(self.simulator, list(self.park), self.options.idle_timeout)

    def _beat_in_lock_step(self, simulator: Simulator) -> None:
        ready = [c for c in self.clients.values() if c.car is not None and c.queue.is_ready]
        cars = []
        for client in ready:
            request = client.queue.take()
            if client.car is not None and isinstance(request, messages.DriveCar):
                client.car.carry_out(simulator, request, self.options)
                cars.append(client.car)
        self._advance(simulator, self._lock_step.step_count, cars, OutputKind.ANSWER)
        now = self._read_clock()
        for client in ready:
            client.queue.heard = now
            self._drain(client)

    def _advance(self, simulator: Simulator, step_count: int, cars: list[SceneCar], kind: OutputKind) -> None:
        """Step the scene, then send these cars' clients what they see."""
        self.activity.pass_time(simulator, step_count)
        cars = [car for car in cars if simulator.ledger.present[car.row]]
        cones = [cone for car in self.park for cone in car.list_cones(simulator, self._ghosts)]
        self.outputs += self.scheduler.hold_back(cones)
        is_paced = self.is_paced
        seconds_left = self._pacer.seconds_left if is_paced else None
        for outputs in self.scheduler.send(simulator, cars, kind, seconds_left):
            self.outputs += outputs
            if is_paced:
                self.hand_out()
        self.viewing.note(simulator, self._pacer.interval if is_paced else None)

    def pass_time(self, simulator: Simulator, step_count: int) -> None:
        """Step the scene with its pace car, and report to clients what happened to their cars."""
        pace_car = self.park.pace_car
        longest = step_count if pace_car is None else MOST_STEPS_UNSTEERED
        for begin in range(0, step_count, longest):
            if pace_car is not None:
                pace_car.drive(simulator)
            simulator.step(min(longest, step_count - begin))
            self.report_events(simulator, simulator.list_events())

    def report_events(self, simulator: Simulator, events: Sequence[Event]) -> None:
        """Tell clients, and organisers on the private API, what has happened to cars."""
        if events:
            outputs = [self.park[event.car].note_event(event, simulator) for event in events]
            self.outputs += self.scheduler.hold_back([output for output in outputs if output is not None])
            self.outputs += list_admin_events(simulator, events)

    def _send_idle_away(self, simulator: Simulator, cars: list[SceneCar], limit: float) -> None:
        now = self._read_clock()
        for car in cars:
            if car.client is not None and car.has_idled(simulator, now, limit):
                text = f"your car has not moved for {limit:g} s; the simulator runs with --idle-timeout."
                self.outputs.append(Output(car.client.client_id, OutputKind.FAREWELL, text.encode()))
                self.leave(car.client.client_id)

    # -- what watchers and the sockets ask for ------------------------------------------------------------------------

    def take_outputs(self) -> list[Output]:
        """Return what has gathered for the clients, in order, and forget it."""
        outputs, self.outputs = self.outputs, []
        self.activity.note_outputs(outputs)
        return outputs

    def list_cars(self) -> list[CarRow]:
        """Return the cars in the order they joined."""
        return [] if self.simulator is None else self.viewing.list_cars(self.simulator)

    def make_road(self, road: RoadSpec) -> None:
        """Make another road for everybody.

        Raises:
            DonkeySimError: No scene is running, its road is not a generated one or stays, or one is being made.
        """
        self.activity.check_change("road")
        if self.simulator is None:
            raise SceneError("no scene is running; there is no road to regenerate.")
        self._road_jobs.begin(self.simulator, road)
        self._wait_in_lock_step(self.simulator)

    def draw_challenges(self, seed: int | None) -> None:
        """Draw challenges anew, of this scene and of later ones; cars stay where they are.

        Args:
            seed: Of the random numbers; None: the same as before, so that all stands again where it stood.

        Raises:
            SceneError: There are none.
        """
        spec = self._loader.challenges
        if not (spec.cones or spec.trees or spec.light):
            raise SceneError("there are no challenges; donkey_sim has some with --cones, --trees or --random-light.")
        self._loader.challenges = spec if seed is None else replace(spec, seed=seed)
        if self.simulator is not None:
            self._road_jobs.draw_challenges(self.simulator, self._loader.challenges)
            self._wait_in_lock_step(self.simulator)

    def reset_car(self, car_id: int) -> None:
        """Put a car back to where it began.

        Raises:
            DonkeySimError: There is no such car, or it stays where it is.
        """
        self.activity.check_change("reset")
        car = self.park.find(car_id)
        assert self.simulator is not None, "where cars are, there is a scene"
        self.simulator.reset_car(car.row)
        car.begin_anew()

    @property
    def has_pace_car(self) -> bool:
        """Whether one drives."""
        return self.park.pace_car is not None

    def add_pace_car(self) -> None:
        """Let a pace car drive, unless one does.

        Raises:
            DonkeySimError: No scene is running, there is no place for it, or none may drive.
        """
        self.activity.check_change("pace car")
        if self.simulator is None:
            raise SceneError("no scene is running; choose one, then add a pace car.")
        self.park.add_pace_car(self.simulator, self.options.pace_car or STYLES[0])

    def remove_pace_car(self) -> None:
        """Take the pace car away, if there is one."""
        if self.simulator is not None:
            car = self.park.remove_pace_car(self.simulator)
            if car is not None:
                self.scheduler.forget(car)
                self.seat_next()

    def take_picture(self, kind: View, car_id: int, width: int, height: int) -> bytes:
        """Return a view of a car as JPEG; "place" needs none.

        Raises:
            DonkeySimError: There is no such car.
        """
        return self.viewing.take_picture(self.simulator, kind, car_id, width, height)


_ACTIONS: dict[type[messages.Request], Callable[[Simulation, Client, Any], str | None]] = {
    messages.AskForMenu: Simulation._send_menu,
    messages.LoadScene: Simulation._load,
    messages.ExitScene: Simulation._exit,
    messages.GetNodePosition: Simulation._send_node,
    messages.SetStepMode: Simulation._set_step_mode,
    messages.RegenerateRoad: Simulation._ask_for_road,
}
"""What a request does that is not about the client's own car."""


class FreeDriving:
    """Everybody drives as they please: the usual `Activity`. Whoever comes gets a car as long as there is room."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation

    def open(self, simulator: Simulator) -> None:
        """Give everybody a car, and the scene a pace car if it shall have one."""
        del simulator
        for client in self._simulation.clients.values():
            self._simulation.seat(client)
        if self._simulation.options.pace_car is not None:
            self._simulation.add_pace_car()

    def welcome(self, client: Client) -> None:
        """Give a client a car, or the menu."""
        if self._simulation.simulator is None:
            self._simulation.outputs.append(make_event(client, SceneSelectionReady()))
        else:
            self._simulation.seat(client)

    def part(self, client: Client) -> None:
        """Take the car of a client that has gone; who waited for a place gets it."""
        simulation = self._simulation
        if simulation.simulator is None:
            return
        if client.car is not None:
            simulation.take_away(simulation.simulator, client.car)
            simulation.seat_next()
        if not simulation.clients:
            simulation.leave_lock_step()

    def may_perform(self, client_id: int, request: messages.Request) -> bool:
        """Return whether a request can be carried out now: not while its plate is drawn, or its client may go."""
        simulator = self._simulation.simulator
        if self._simulation.is_leaving(client_id, request):
            return False
        return simulator is None or self._simulation.plate_jobs.is_ready(simulator, client_id, request)

    def perform(self, client: Client, request: messages.Request) -> None:
        """Carry out what a client asks for, or refuse it."""
        self._simulation.perform(client, request)

    def check_change(self, change: Change) -> None:
        """Let everything be changed."""

    def pass_time(self, simulator: Simulator, step_count: int) -> None:
        """Step the scene."""
        self._simulation.pass_time(simulator, step_count)

    def before_beat(self) -> None:
        """Do nothing."""

    def after_beat(self) -> None:
        """Do nothing."""

    def note_outputs(self, outputs: Sequence[Output]) -> None:
        """Do nothing."""

    def recover(self) -> None:
        """Bring everybody back to the menu."""
        self._simulation.leave_scene()

    def close(self) -> None:
        """Do nothing: the simulation ends all there is."""
