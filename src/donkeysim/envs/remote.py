"""A car in a simulator behind a socket, ours or the original's: connected, seated and driven without a single sleep.

A thread reads what the server says and keeps the newest moment. A server that numbers its telemetry (`frame`, ours) is
driven in lock-step while nobody else drives there; `step_mode` is never said to another, which it would stop for good.
"""

import contextlib
import json
import logging
import socket
import threading
import time
from collections.abc import Callable

from donkeysim.core.clock import AwakeClock
from donkeysim.core.errors import SceneError, SimulatorError, WireError, describe_unknown
from donkeysim.envs import server_lines
from donkeysim.envs.conf import EnvConf
from donkeysim.envs.conf_messages import Message
from donkeysim.envs.sensor_frame import LapClock, SensorFrame
from donkeysim.envs.waiting import WaitReport

# Kernels take a minute or two on slow machines, a place a few seconds.
LOAD_SECONDS = 180.0
"""How long a server may take to load a scene, its kernels compiled on its first run included [s]."""

# In lock-step a server waits ten seconds for others in the scene that say nothing.
ANSWER_SECONDS = 30.0
"""How long a server may be silent while it drives [s]."""

SILENCE_SECONDS = 30.0
"""How long a server may take to say anything at all [s]; one that is started here may take `LOAD_SECONDS`."""

LONGEST_NAP = 0.5
"""While it waits for news it looks around this often [s]."""

# One may be under way when the reset is said, one may have been begun before it is carried out.
MOMENTS_AFTER_RESET = 3
"""With a server that does not number its resets, the telemetry after which one surely shows the car at its start."""

TIME_STEP = "0.05"
"""Simulated seconds of a step in lock-step, as text."""

LATE_CONTROL = "control: no scene"
"""So begins what a server answers to a control that was on its way when the scene ended; nobody did anything wrong."""

_log = logging.getLogger("donkeysim.envs")


class RemoteCar:
    """One car, as the client of a server.

    Attributes:
        scene: Where the car is, or is to be.
        scene_names: What the server offers, () before it has said so.
        is_in_menu: Whether the server waits for a scene to be chosen.
        has_lock_step: Whether the server numbers its telemetry, and so can be led step by step.
        is_disqualified: Whether the server has said so since the last reset.
        is_led: Whether it drives in lock-step.
        moment_count: How many moments have come so far.
        last_fault: What it complained of since it was last asked for something, "" nothing.
        listeners: Functions of messages, by their kind, called on the reading thread once the car has taken them in.
    """

    def __init__(
        self, scene: str, conf: EnvConf, check: Callable[[], None] | None = None, *, follows: bool = False
    ) -> None:
        """Connect; `open` has the scene loaded.

        Args:
            scene: Which must run, or be loadable.
            conf: Where the server listens, car, camera and lidar.
            check: Called now and then while waiting; raises when waiting is of no use.
            follows: Whether the car, once it has driven, goes along when somebody ends the scene and chooses another;
                else it wants its own back.

        Raises:
            SimulatorError: Nobody listens.
        """
        self.has_lock_step = False
        self.is_disqualified = False
        self.scene, self._conf = scene, conf
        self.scene_names: tuple[str, ...] = ()
        self.is_in_menu = False
        self._left_scene, self._follows, self._is_going = scene, follows, True
        host, port = conf.address
        self._where = f"{host}:{port}"
        self._check = check
        self._news = threading.Condition()
        self._send_lock = threading.Lock()
        self._trouble: Exception | None = None
        self._moment: SensorFrame | None = None
        self.moment_count = self._reset_count = self._seated_count = self._step_cars = self._unanswered = 0
        self._has_spoken = self._is_seated = self.is_led = self._is_refused = self._is_closed = False
        self._laps = LapClock()
        self._lap_count = 0
        self.last_fault = ""
        self.listeners: server_lines.Listeners = {}
        self._socket = server_lines.connect(host, port)
        self._peers = server_lines.find_peers(self._socket.getpeername())
        self._peers.join(self)
        self._thread = threading.Thread(target=self._read, name="simulator's answers", daemon=True)
        self._thread.start()

    def open(self) -> SensorFrame:
        """Have the scene loaded, wait for the first telemetry and return it; closed if there is none.

        Raises:
            SimulatorError: There is no answer.
            SceneError: Another scene runs, or there is no such scene.
        """
        try:
            self._wait(lambda: self._moment is not None, LOAD_SECONDS, f"load {self.scene}")
        except BaseException:
            self.close()
            raise
        return self.get_moment()

    # -- what a driver does -------------------------------------------------------------------------------------------

    def drive(self, steering: float, throttle: float, brake: float = 0.0) -> None:
        """Ask for steering (-1 to 1, + = right), throttle (-1 to 1) and brake (0 to 1) from now on.

        Raises:
            SimulatorError: The connection has ended.
        """
        fields = {"steering": steering, "throttle": throttle, "brake": brake}
        self.send({"msg_type": "control", **{name: f"{float(value):.6g}" for name, value in fields.items()}})

    def step(self, steering: float, throttle: float, brake: float = 0.0) -> SensorFrame:
        """Drive, see `drive`, and return the next moment: in lock-step the one that answers, else the next that comes.

        Raises:
            SimulatorError: The server does not answer.
        """
        count = self.moment_count
        self.drive(steering, throttle, brake)
        return self.wait_moment(count)

    def regen_road(self, message: Message) -> None:
        """Ask for another road; the next episode begins there.

        Raises:
            SceneError: The scene's road is not a generated one.
            SimulatorError: The connection has ended, or the server did not answer.
        """
        before, self.last_fault = self.get_moment().telemetry.reset_count, ""
        self.send(message)
        if not self.has_lock_step:
            return
        self.drive(0.0, 0.0, 1.0)
        self._wait(
            lambda: self.get_moment().telemetry.reset_count > before or bool(self.last_fault),
            LOAD_SECONDS,
            "make a road",
        )
        if self.last_fault:
            raise SceneError(self.last_fault)

    def go_to(self, scene: str) -> None:
        """Ask the server for another scene, which ends the one that runs, for everybody there; raises as `drive`."""
        self._left_scene = self.scene
        self.scene, self._is_going, self.last_fault = scene, True, ""
        self.send({"msg_type": "get_scene_names"} if self.is_in_menu else {"msg_type": "exit_scene"})

    def configure(self, conf: EnvConf) -> None:
        """Have car and sensors as this says, here and in every scene; raises as `drive`."""
        before, self._conf = self._conf.messages, conf
        for message in conf.messages:
            if message not in before:
                self.send(message)

    @property
    def place(self) -> str:
        """The scene where the car is; until the one that was asked for is there, the one before."""
        return self._left_scene if self._is_going and self._is_seated else self.scene

    def ask_reset(self) -> None:
        """Have the car put back to its start; the clock of its laps begins anew."""
        with self._news:
            self._reset_count += 1
            self._begin_laps()
        self.send({"msg_type": "reset_car"})

    def _begin_laps(self) -> None:
        self._laps = LapClock()
        self._lap_count = 0
        self.is_disqualified = False

    def begin_episode(self, seed: int | None = None) -> SensorFrame:
        """Put the car back to its start and return the first moment there, from now on in lock-step where possible.

        Args:
            seed: Not used: a server has its own.
        """
        del seed
        self._wait(  # after `go_to`
            lambda: not self._is_going and self.moment_count > self._seated_count, LOAD_SECONDS, f"load {self.scene}"
        )
        moment = self.get_moment()
        before, count = moment.telemetry.reset_count, self.moment_count
        if self.has_lock_step and not self._is_refused:
            self._lead()
        self.ask_reset()
        self.drive(0.0, 0.0, 1.0)
        if self.has_lock_step:
            self._wait(lambda: self.get_moment().telemetry.reset_count > before, ANSWER_SECONDS, "answer a reset")
        else:
            last = count + MOMENTS_AFTER_RESET
            self._wait(lambda: self.moment_count >= last, ANSWER_SECONDS, "send telemetry")
        return self.get_moment()

    def _lead(self) -> None:
        """Enter lock-step, or stay there, if this car is alone: else each would wait for the other's next control."""
        with self._peers.lock:
            if self._peers.cars != {self}:
                return
            self.is_led = True
            self._ask_step_mode("synchronous")
        doing = "answer a step_mode, as a donkeysim as new as this one does,"
        self._wait(lambda: self._unanswered == 0 or self._is_refused, ANSWER_SECONDS, doing)
        if self._step_cars > 1:
            self.follow_clock()
        self.is_led &= self._step_cars == 1

    def follow_clock(self) -> None:
        """Leave lock-step, see `server_lines.Peers`."""
        if self.is_led:
            self.is_led = False
            with contextlib.suppress(SimulatorError):
                self._ask_step_mode("asynchronous")

    def _ask_step_mode(self, mode: str) -> None:
        self._unanswered += 1
        self.send({"msg_type": "step_mode", "step_mode": mode, "time_step": TIME_STEP})

    def get_moment(self) -> SensorFrame:
        """Return the newest moment."""
        assert self._moment is not None
        return self._moment

    def wait_moment(self, count: int) -> SensorFrame:
        """Return the newest moment once more than `count` have come; raises as `step`."""
        self._wait(lambda: self.moment_count > count, ANSWER_SECONDS, "send telemetry")
        return self.get_moment()

    @property
    def is_connected(self) -> bool:
        """Whether the server can still be driven at."""
        return self._trouble is None and not self._is_closed

    def close(self) -> None:
        """Leave; the server takes the car away."""
        with self._news:
            self._is_closed = True
            self._news.notify_all()
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        if threading.current_thread() is not self._thread:
            self._thread.join(server_lines.CONNECT_SECONDS)

    # -- waiting and sending ------------------------------------------------------------------------------------------

    def _wait(self, is_there: Callable[[], bool], seconds: float, doing: str) -> None:
        read_clock = AwakeClock(time.monotonic)
        begun = read_clock()
        what = f"{self._where} to {doing}"
        report = WaitReport(what)
        with self._news:
            while not is_there():
                if self._trouble is not None:
                    raise self._trouble
                if self._check is not None:
                    self._check()
                waited = read_clock() - begun
                if self._follows and self.is_in_menu and self._moment is not None:  # somebody will choose, or has
                    begun, report = read_clock(), WaitReport(what)
                if self._is_closed or waited >= seconds:
                    said = f" It said: {self.last_fault}" if self.last_fault else ""
                    raise SimulatorError(f"the simulator at {self._where} did not {doing} in {seconds:g} s.{said}")
                if not self._has_spoken and self._conf.exe_path is None and waited >= SILENCE_SECONDS:
                    raise server_lines.make_silent(self._where, SILENCE_SECONDS)
                if report.log() and not self._has_spoken:
                    self.send({"msg_type": "get_protocol_version"})  # answered even while a scene loads
                self._news.wait(min(seconds - waited, LONGEST_NAP))

    def send(self, message: Message) -> None:
        """Send a message, without a newline, which the original does not take; raises as `drive`."""
        try:
            with self._send_lock:
                self._socket.sendall(json.dumps(message).encode())
        except OSError as error:
            raise self._trouble or server_lines.make_lost(self._where, error) from error

    # -- on the reading thread ----------------------------------------------------------------------------------------

    def _read(self) -> None:
        """Take in what the server says until the connection ends."""
        splitter = server_lines.LineSplitter()
        trouble: Exception | None = None
        try:
            while data := self._socket.recv(1 << 18):
                for line in splitter.feed(data):
                    self._take(line)
        except OSError as error:
            trouble = server_lines.make_lost(self._where, error)
        except (SceneError, SimulatorError, WireError) as error:
            trouble = error
        self._peers.leave(self)
        with self._news:
            self._trouble = trouble or server_lines.make_lost(self._where, None)
            self._news.notify_all()

    def _take(self, line: bytes) -> None:
        try:
            message = server_lines.read_line(line)
        except WireError as error:
            _log.warning("the simulator at %s: %s", self._where, error)
            return
        self._has_spoken = True
        kind = message["msg_type"]
        if kind == "telemetry":
            self._take_telemetry(message)
        elif kind in ("scene_loaded", "car_loaded", "need_car_config"):
            self._take_scene(kind, message.get("scene_name"))
        elif kind == "scene_selection_ready":
            self._is_seated, self.is_in_menu = False, True
            self._is_going = self._is_going or not self._follows
            self.send({"msg_type": "get_scene_names"})
        elif kind == "scene_names":
            self.scene_names = tuple(str(name) for name in message.get("scene_names") or ())
            self._choose_scene()
        elif kind == "step_mode":
            self._step_cars, self._unanswered = int(message.get("cars") or 1), self._unanswered - 1
        elif kind == "collision_with_starting_line":
            start_line, crossed = server_lines.read_crossing(message)
            if start_line == 0:
                with self._news:
                    self._lap_count += 1
                    self._laps.note_crossing(crossed)
        elif kind in ("DQ", "missed_checkpoint"):
            self.is_disqualified = True
        elif kind == "error":
            fault = str(message.get("error"))
            if fault.startswith(LATE_CONTROL):
                return
            self.last_fault = fault
            self._is_refused |= fault.startswith("step_mode")
            if self._is_going and self._is_seated:  # we may not leave
                self.scene, self._is_going = self._left_scene, False
            _log.warning("the simulator at %s says: %s", self._where, self.last_fault)
        with self._news:
            self._news.notify_all()
        server_lines.call_listener(self.listeners, message)

    def _take_scene(self, kind: str, name: object) -> None:
        """Check the scene, where the server reports it, and configure a car that was just made."""
        self.is_in_menu = False
        if isinstance(name, str) and name != self.scene:
            if self._moment is None or not self._follows:
                raise SceneError(
                    f"the simulator at {self._where} runs {name}, not {self.scene}; exit it, or drive there instead."
                )
            self.scene = name
        if kind != "scene_loaded":
            self._begin_laps()
            for message in self._conf.messages:
                self.send(message)
            if self._conf.road is not None:
                self.send(self._conf.road)
            self._is_seated, self._is_going, self.is_led = True, False, False  # a new scene follows the clock
            self._seated_count = self.moment_count

    def _choose_scene(self) -> None:
        if self._is_seated or not self._is_going:
            return
        if self.scene not in self.scene_names:
            raise SceneError(
                f"the simulator at {self._where} has no {self.scene}: "
                + describe_unknown("scene", self.scene, self.scene_names)
            )
        self.send({"msg_type": "load_scene", "scene_name": self.scene})

    def _take_telemetry(self, message: dict[str, object]) -> None:
        telemetry = server_lines.read_telemetry(message, self.moment_count, self._reset_count, self._lap_count)
        try:
            image, image_b = server_lines.read_pictures(message, self._conf.cam_resolution)
        except WireError as error:
            _log.warning("the simulator at %s: %s", self._where, error)
            return
        with self._news:
            self.has_lock_step = "frame" in message
            scan, lap_times = server_lines.read_lidar(message), self._laps.lap_times
            self._moment = SensorFrame(telemetry, image, image_b, scan, lap_times, is_disqualified=self.is_disqualified)
            self.moment_count += 1
            self._news.notify_all()
