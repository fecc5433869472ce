"""A car in a simulator of this process: no port, no waiting, any speed."""

import threading
from dataclasses import replace
from typing import Any

import msgspec

from donkeysim.core import frames
from donkeysim.core.rng import hash_words
from donkeysim.core.types import ByteArray
from donkeysim.envs.conf import EnvConf
from donkeysim.envs.conf_messages import Message
from donkeysim.envs.reset import Start
from donkeysim.envs.sensor_frame import SensorFrame
from donkeysim.envs.waiting import compile_aloud
from donkeysim.record.recorder import open_simulator
from donkeysim.sim.compile_processes import CompileReport
from donkeysim.sim.place import Place
from donkeysim.sim.simulator import STEPS_PER_FRAME, Simulator
from donkeysim.sim.snapshot import Snapshot
from donkeysim.wire import settings
from donkeysim.wire.messages import GetNodePosition, RegenerateRoad
from donkeysim.wire.reading import read_request
from donkeysim.world.ledger import EVENT_LAP
from donkeysim.world.specs import RoadSpec, SceneSpec
from donkeysim.world.tracks import find_road, list_scenes


class BuiltInCar:
    """One car alone on a track; what one thread does with it waits for what another one does.

    Attributes:
        simulator: Where it drives.
        row: Which car it is there.
        is_connected: Whether it can still be driven, until `close`.
        lock: Held while something is done with it.
    """

    def __init__(self, scene: str, conf: EnvConf, seed: int = 0) -> None:
        """Build the track, quickly; the car is put on it by `open`.

        Raises:
            SceneError: There is no such scene.
            SpecError: There is no such car.
        """
        place = specify_place(scene, conf)
        experiment = replace(conf.experiment, scenes=(place,), seed=seed)
        self.simulator = open_simulator(experiment.specify_world(), log=experiment.log)
        self.row = 0
        self.is_connected = True
        self.lock = threading.RLock()
        self._conf = conf
        self._seed = seed
        self._episode = 0
        self._lap_times: tuple[float, ...] = ()
        self._moment_count = 0

    def open(self, report: CompileReport | None = None) -> None:
        """Compile what driving needs (half a minute the first time, see `report`) and put the car on its start.

        Args:
            report: Called with how far it is; None: what takes long is logged.
        """
        if report is None:
            compile_aloud(self.simulator)
        else:
            self.simulator.compile(report)
        self.row = self.simulator.add_car()
        configure_car(self.simulator, self.row, self._conf)
        self.simulator.reset_car(self.row)  # as the original's client does when an episode begins
        self._beginning = self.simulator.snapshot()

    def begin_episode(self, seed: int | None = None, start: Start | None = None) -> SensorFrame:
        """Put everything back to how it began, the time too, and return what the car senses there.

        The same seed gives the same episode, bit for bit.

        Args:
            seed: Of every random number from now on; None: continue with new ones.
            start: Where on the path; None: on the grid.
        """
        with self.lock:
            if seed is not None:
                self._seed, self._episode = seed, 0
            self.simulator.restore(self._beginning)
            self.simulator.seed_world(0, int(hash_words(self._seed, self._episode, 0, 0)) & 0x7FFFFFFFFFFFFFFF)
            self._episode += 1
            if start is not None:
                self.simulator.put_on_path(self.row, start.along, start.offset, start.yaw)
            self._begin_anew()
            return self.observe()

    def step(self, steering: float, throttle: float, brake: float = 0.0) -> SensorFrame:
        """Drive, see `drive`, for a twentieth of a simulated second and return what the car senses then."""
        with self.lock:
            self.drive(steering, throttle, brake)
            self.advance()
            return self.observe()

    def regen_road(self, message: Message) -> None:
        """Continue on another road, made as a `regen_road` says; the next episode begins there.

        Raises:
            SceneError: The scene's road is not a generated one.
        """
        with self.lock:
            place, scene = self.simulator.spec.scene, self.simulator.scene
            self.simulator.change_scene(replace(place, road=_change_road(scene.name, scene.road, message)))
            self._begin_anew()
            self._beginning = self._find_beginning()

    def describe_node(self, message: Message) -> dict[str, Any]:
        """Return what a server says to a `node_position`.

        Raises:
            WireError: The message has no index.
            SceneError: The path has no such node.
        """
        request = read_request(message).request
        assert isinstance(request, GetNodePosition)
        answer: dict[str, Any] = msgspec.to_builtins(settings.describe_node(self.simulator, request.index))
        return answer

    def take(self, message: Message) -> None:
        """Do with the car what a server does on a message, such as `set_position`.

        Raises:
            WireError: A field is missing or wrong.
        """
        with self.lock:
            _apply(self.simulator, self.row, message)

    def configure(self, conf: EnvConf) -> None:
        """Let car and sensors be as this says from now on."""
        with self.lock:
            self._conf = conf
            configure_car(self.simulator, self.row, conf)
            self._beginning = self._find_beginning()

    def prepare_place(self, scene: str) -> Place:
        """Return another place, made for `move`: takes a second, and may be called on another thread.

        Raises:
            SceneError: There is no such scene.
        """
        return self.simulator.prepare_scene(self._specify_other(scene))

    @property
    def scene(self) -> str:
        """Where the car is."""
        return self.simulator.scene.name

    @property
    def scene_names(self) -> tuple[str, ...]:
        """All scenes."""
        return list_scenes()

    def go_to(self, scene: str) -> None:
        """Continue in a scene, if the car is not there; the next episode begins there.

        Raises:
            SceneError: There is no such scene.
        """
        with self.lock:
            if scene != self.scene:
                self.move(scene, self.prepare_place(scene))

    def move(self, scene: str, place: Place) -> None:
        """Continue in another place, at its start; the next episode begins there."""
        self.simulator.change_scene(self._specify_other(scene), place)
        self._begin_anew()
        self._beginning = self._find_beginning()

    def _find_beginning(self) -> Snapshot:
        """Return how episodes begin in this place: as if nothing had been driven before, and nowhere else."""
        simulator, now = self.simulator, self.simulator.snapshot()
        body, (camera, second, lidar) = simulator.get_body(self.row), simulator.list_sensors(self.row)
        simulator.restore(simulator.make_first_moment())
        self.row = simulator.add_car(0, body)
        simulator.reset_car(self.row)
        simulator.configure_camera(self.row, camera)
        simulator.configure_camera(self.row, second, second=True)
        simulator.configure_lidar(self.row, lidar)
        beginning = simulator.snapshot()
        simulator.restore(now)
        return beginning

    def _specify_other(self, scene: str) -> SceneSpec:
        """Return what another place is made of; the road of `conf` counts only where roads are generated."""
        is_generated = find_road(self._conf.experiment.move_to(scene).scene) is not None
        return specify_place(scene, self._conf if is_generated else replace(self._conf, road=None))

    def reset(self) -> None:
        """Put the car back to its start; time runs on, as in the original."""
        self.simulator.reset_car(self.row)
        self._lap_times = ()

    def _begin_anew(self) -> None:
        self._lap_times, self._moment_count = (), 0

    def drive(self, steering: float, throttle: float, brake: float = 0.0) -> None:
        """Ask for steering (-1 to 1, + = right), throttle (-1 to 1) and brake (0 to 1) from now on."""
        steer = frames.steer_from_wire(min(max(steering, -1.0), 1.0))
        self.simulator.drive_car(self.row, steer, min(max(throttle, -1.0), 1.0), min(max(brake, 0.0), 1.0))

    def advance(self, step_count: int = STEPS_PER_FRAME) -> None:
        """Let `step_count` physics steps of 1/480 s pass."""
        self.simulator.step(step_count)
        for event in self.simulator.list_events():
            if event.kind == EVENT_LAP:
                self._lap_times = (*self._lap_times, event.value)

    def observe(self, with_pictures: bool = True) -> SensorFrame:
        """Return what the car senses now, its pictures drawn anew or those of before; hits are reported once."""
        simulator, row = self.simulator, self.row
        if with_pictures:
            simulator.render((row,))
        moment = SensorFrame(
            simulator.observe_telemetry(row, self._moment_count),
            self._copy_picture(False)[:, :, : self._conf.cam_resolution[2]],
            self._copy_picture(True) if simulator.get_camera(row, True) is not None else None,
            simulator.scan_lidar(row),
            self._lap_times,
            simulator.get_randomization(row),
            touched=simulator.name_hit(row, simulator.ledger.hit.item(row)),
        )
        self._moment_count += 1
        if moment.telemetry.hit != "none":
            simulator.clear_hits((row,))
        return moment

    def _copy_picture(self, second: bool) -> ByteArray:
        return self.simulator.get_picture(self.row, second).copy()

    def close(self) -> None:
        """Stop the simulator's threads."""
        with self.lock:
            self.simulator.close()
            self.is_connected = False


def specify_place(scene: str, conf: EnvConf) -> SceneSpec:
    """Return the place that a `conf` asks for.

    Raises:
        SceneError: There is no such scene or look, or its road is not a generated one and another is asked for.
    """
    place = conf.experiment.move_to(scene).scene
    return place if conf.road is None else replace(place, road=_change_road(scene, find_road(place), conf.road))


def _change_road(scene: str, old: RoadSpec | None, message: Message) -> RoadSpec:
    request = read_request(message).request
    assert isinstance(request, RegenerateRoad), "conf makes no other message about roads"
    return settings.change_road(scene, old, request)


def configure_car(simulator: Simulator, row: int, conf: EnvConf) -> None:
    """Dress a car and set its sensors, as a server does on the same messages."""
    for message in conf.messages:
        _apply(simulator, row, message)


def _apply(simulator: Simulator, row: int, message: Message) -> None:
    command, _ = settings.make_command(simulator, row, read_request(message).request)
    if command is not None:
        simulator.apply(command)
