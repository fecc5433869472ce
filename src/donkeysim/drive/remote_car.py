"""The simulated car whose simulator is another program: one that runs already, or one that is started for the drive.

A thread of its own hands the newest controls to the simulator each time it reports on the car, and connects again
when a simulator that was not started here is started anew.
"""

import logging
import threading
import time
from collections import deque
from dataclasses import replace
from typing import Any

from donkeysim.core.errors import SimulatorError
from donkeysim.core.frames import vector_from_unity
from donkeysim.drive.look import Look, change_look, find_look
from donkeysim.drive.simulator_settings import SimulatorSettings
from donkeysim.envs.launch import LaunchedSimulator
from donkeysim.envs.remote import LOAD_SECONDS, RemoteCar
from donkeysim.envs.sensor_frame import SensorFrame

RETRY_SECONDS = 1.0
"""Time between two attempts to connect again [s]."""

# Loading takes some ten seconds and compiling a minute: a line now and then shows progress.
TELL_SECONDS = 3.0
"""While a started simulator loads, its last line is passed on this often [s]."""

_log = logging.getLogger("donkeysim.car")


class RemoteSimulatedCar:
    """A threaded part: the loop goes at its own pace, the simulator at its own.

    Attributes:
        threaded: True: a thread talks to the simulator.
        settings: As the config says.
        car_kind: "": only the simulator knows what drives.
    """

    threaded = True
    car_kind = ""

    def __init__(self, settings: SimulatorSettings) -> None:
        """Start the simulator if it is to be started, and connect; `update` waits until the car senses something.

        Raises:
            SimulatorError: It cannot be started or reached.
        """
        self.settings = settings
        self._launched: LaunchedSimulator | None = None
        self._place, self._told_fault = settings.scene, ""
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self.is_braking = False
        self._controls = (0.0, 0.0, 0.0)
        self._is_reset_wanted = self._is_halted = False
        self._moments: deque[tuple[float, SensorFrame]] = deque()
        self._tells_at = time.monotonic() + TELL_SECONDS
        conf = settings.conf
        if conf.exe_path is not None:
            self._launched = LaunchedSimulator(conf.exe_path, conf.address[1])
            _log.info("Starting %s", conf.exe_path)
        try:
            if self._launched is not None:
                self._launched.wait_until_listening(time.monotonic, LOAD_SECONDS, self._report_loading)
            self._car = self._connect()
        except BaseException:
            self._stop_launched()
            raise

    def _connect(self) -> RemoteCar:
        check = self._check_ended if self._launched is None else self._check_launched
        return RemoteCar(self._place, self.settings.conf, check, follows=True)

    def _open(self) -> None:
        """Wait until the car senses something, and ask where else it could drive."""
        self._keep(self._car.open())
        if self._car.has_lock_step:
            self._car.send({"msg_type": "get_scene_names"})

    def _check_launched(self) -> None:
        assert self._launched is not None
        self._launched.check()
        if not self._moments:
            self._report_loading()

    def _report_loading(self) -> None:
        assert self._launched is not None
        if time.monotonic() >= self._tells_at:
            self._tells_at += TELL_SECONDS
            _log.info("Waiting for the simulator; it says: %s", self._launched.read_last_line() or "nothing yet")

    def _check_ended(self) -> None:
        if self._ended.is_set():
            raise SimulatorError("the drive has ended.")

    # -- on the part's thread -----------------------------------------------------------------------------------------

    def update(self) -> None:
        """Talk to the simulator until `shutdown`.

        Raises:
            SimulatorError: It does not answer at first, or was started for this drive and has ended.
            SceneError: It runs another scene, or does not have this one.
        """
        try:
            self._open()
            self._drive_and_reconnect()
        except SimulatorError:
            if not self._ended.is_set():
                raise

    def _drive_and_reconnect(self) -> None:
        while not self._ended.is_set():
            try:
                self._drive_on()
            except SimulatorError as error:
                if self._ended.is_set():
                    return
                if self._launched is not None:
                    self._launched.check()
                _log.warning("%s Trying to connect again every %g s.", error, RETRY_SECONDS)
                self._reconnect()

    def _drive_on(self) -> None:
        count = self._car.moment_count
        while not self._ended.is_set():
            self._send_controls()
            moment = self._car.wait_moment(count)
            count = self._car.moment_count
            self._place = self._car.place
            self._keep(moment)

    def _send_controls(self) -> None:
        with self._lock:
            if self._is_reset_wanted:
                self._is_reset_wanted = False
                self._car.ask_reset()
            if not self._is_halted:
                self._car.drive(*self._controls)

    def _reconnect(self) -> None:
        """Return once there is a simulator again, or the drive has ended."""
        self._car.close()
        while not self._ended.wait(RETRY_SECONDS):
            try:
                self._car = self._connect()
                self._open()
            except SimulatorError as error:
                _log.debug("%s", error)
            else:
                _log.warning("Connected to the simulator at %s:%d again.", *self.settings.conf.address)
                return

    def _keep(self, moment: SensorFrame) -> None:
        with self._lock:
            self._moments.append((time.monotonic(), moment))

    # -- where it drives; from any thread ---------------------------------------------------------------------------

    @property
    def place(self) -> str:
        """Name of the place where the car drives; "" in the menu."""
        return "" if self._car.is_in_menu else self._place

    @property
    def places(self) -> tuple[str, ...]:
        """Where it could drive, as far as the simulator has said."""
        return self._car.scene_names

    def describe_self(self) -> tuple[str | None, tuple[float, float] | None]:
        """Return the car's name, None for its simulator's choice, and where it is (x, y) [m], None: not reported."""
        names = [message["car_name"] for message in self.settings.conf.messages if "car_name" in message]
        name = names[-1] if names else None
        with self._lock:
            newest = self._moments[-1][1].telemetry if self._moments else None
        if newest is None or newest.pos_x is None or newest.pos_y is None or newest.pos_z is None:
            return name, None
        x, y, _ = vector_from_unity((newest.pos_x, newest.pos_y, newest.pos_z))
        return name, (x, y)

    @property
    def look(self) -> Look:
        """How the car looks."""
        return find_look(self.settings.conf)

    def dress(self, look: Look) -> None:
        """Let the car look otherwise, there and wherever it goes.

        Raises:
            SimulatorError: The connection has ended.
        """
        self.settings = replace(self.settings, conf=change_look(self.settings.conf, look))
        self._car.configure(self.settings.conf)

    def go_to(self, place: str) -> None:
        """Ask for another place; the simulator ends the one that is there.

        Raises:
            SimulatorError: The connection has ended.
        """
        self._car.go_to(place)

    def take_trouble(self) -> str:
        """Return what the simulator complained of, once; "" for nothing."""
        fault, before = self._car.last_fault, self._told_fault
        self._told_fault = fault
        return fault if fault != before else ""

    # -- on the loop's thread -----------------------------------------------------------------------------------------

    def run_threaded(
        self, steering: float | None, throttle: float | None, reset: bool | None = False
    ) -> tuple[Any, ...] | None:
        """Set the controls, as in `BuiltInSimulatedCar.run`, and return at once what the car sensed `latency` ago.

        None before it sensed anything.
        """
        with self._lock:
            self.is_braking = self.is_braking and not throttle
            self._controls = (steering or 0.0, throttle or 0.0, float(self.is_braking))
            self._is_reset_wanted = self._is_reset_wanted or bool(reset)
            newest = time.monotonic() - self.settings.latency
            while len(self._moments) > 1 and self._moments[1][0] <= newest:
                self._moments.popleft()
            if not self._moments:
                return None
            moment = self._moments[0][1]
        return self.settings.list_values(moment)

    def halt(self) -> None:
        """Brake; the loop has ended."""
        try:
            with self._lock:
                self._is_halted = True
                if self._moments:  # else there is no car yet
                    self._car.drive(0.0, 0.0, 1.0)
        except SimulatorError as error:
            _log.warning("the car could not be stopped: %s", error)

    def shutdown(self) -> None:
        """Leave the simulator, and end it if it was started here."""
        self._ended.set()
        self._car.close()
        self._stop_launched()

    def _stop_launched(self) -> None:
        if self._launched is not None:
            self._launched.stop()
