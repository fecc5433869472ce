"""The simulated car whose simulator runs in this process.

Every loop advances exactly 1 / DRIVE_LOOP_HZ simulated seconds, whatever the clock says, so the same
controls give the same records.
"""

import logging
import threading
import time
from collections import deque
from dataclasses import replace
from typing import Any

import msgspec

from donkeysim.core.errors import DonkeySimError
from donkeysim.core.types import PHYSICS_RATE
from donkeysim.drive.look import Look, change_look, find_look
from donkeysim.drive.simulator_settings import SimulatorSettings
from donkeysim.envs.built_in import BuiltInCar
from donkeysim.envs.sensor_frame import SensorFrame
from donkeysim.sim.place import Place
from donkeysim.watch.live_interpolator import LiveInterpolator
from donkeysim.world.tracks import list_scenes

STILL_SECONDS = 10.0
"""How often it is said that the car is still getting ready [s]."""

READY_PATIENCE = 0.1
"""How long one loop waits for the simulator to be ready [s]; the loop must stay able to end."""

_log = logging.getLogger("donkeysim.car")


class BuiltInSimulatedCar:
    """A car in this process. The kernels are compiled by a thread of its own, once; until then `run` returns None.

    Attributes:
        threaded: False: the loop makes time pass.
        settings: As the config says.
        car: The car in its simulator; others touch it only while they hold `lock`.
        lock: Held while time passes.
        moment: What it senses now, not late; None before the first loop.
        interpolator: Pictures for watchers between its moments; knows the car as 1.
        last_hit: Name of what it touched last since it was reset; "" for nothing.
        loop_done: Notified after every loop.
        is_ready: Set once the kernels are compiled.
        loading_stage: What is being done until then, one phrase for people.
        car_kind: What drives, see `Experiment.describe_car`.
        place: Where it drives.
        places: Where it could drive; () for a moment at the start.
        is_braking: Whether it brakes until it gets a throttle, instead of coasting.
    """

    threaded = False

    def __init__(self, settings: SimulatorSettings) -> None:
        """Build the track and begin to compile.

        Raises:
            SceneError: There is no such track.
        """
        self.settings = settings
        self.car = BuiltInCar(settings.scene, settings.conf, settings.conf.experiment.seed)
        self.lock = threading.Lock()
        self.moment: SensorFrame | None = None
        self.interpolator = LiveInterpolator()
        self.last_hit = ""
        self.loop_done = threading.Condition()
        self.is_ready = threading.Event()
        self._is_first_run = self.car.simulator.must_compile
        self.loading_stage = "compiling kernels" if self._is_first_run else "loading kernels"
        self._begun = time.perf_counter()
        self._tells_at = self._begun + STILL_SECONDS
        self._trouble: Exception | None = None
        self._loop_count = self._sensed_count = 0
        self.is_braking = False
        self._late_steps = round(settings.latency * PHYSICS_RATE)
        self._sensed: deque[SensorFrame] = deque()
        self._reset_wanted = self._look_wanted = False
        self.car_kind = settings.conf.experiment.describe_car()
        self.place = settings.scene
        self.places: tuple[str, ...] = ()
        self._next_place: tuple[str, Place] | None = None
        self._wanted_place = ""
        """Asked for and not begun; one place is made at a time, and the latest wish counts."""
        self._makes_places = False
        self._wish_lock = threading.Lock()
        self._place_trouble = ""
        threading.Thread(target=self._compile, name="compiling", daemon=True).start()

    def _compile(self) -> None:
        try:
            self.places = list_scenes()  # reads all track files: not in the way of the page
            self.car.open(self._tell)
        except Exception as error:  # noqa: BLE001  (whatever it is, the loop must hear of it; see `run`)
            self._trouble = error
        self.is_ready.set()

    def _tell(self, stage: str, done: int, total: int) -> None:
        self.loading_stage = f"{'compiling' if self._is_first_run else 'loading'} kernels, {done} of {total}: {stage}"
        if self._is_first_run:
            _log.info("First run: %s", self.loading_stage)

    def _report_still(self) -> None:
        """Say now and then that something is going on; a single stage may take a minute."""
        now = time.perf_counter()
        if now >= self._tells_at:
            self._tells_at = now + STILL_SECONDS
            _log.info("Still %s (%.0f s so far)", self.loading_stage, now - self._begun)

    def run(self, steering: float | None, throttle: float | None, reset: bool | None = False) -> tuple[Any, ...] | None:
        """Make one loop's time pass with these controls and return what the car senses; None until it can drive.

        Args:
            steering: -1 to 1, + = right.
            throttle: -1 to 1.
            reset: Put the car back to its start first.
        """
        if not self.is_ready.wait(READY_PATIENCE):
            self._report_still()
            return None
        if self._trouble is not None:
            raise self._trouble
        with self.lock:
            if self._next_place is not None:
                self._move(*self._next_place)
            if self._look_wanted:
                self._look_wanted = False
                self.car.configure(self.settings.conf)
            if reset or self._reset_wanted:
                self._reset_wanted = False
                self.car.reset()
                self.last_hit = ""
            self.is_braking = self.is_braking and not throttle
            self.car.drive(steering or 0.0, throttle or 0.0, float(self.is_braking))
            self._advance()
            self.interpolator.note(self.car.simulator, 1.0 / self.settings.rate, lambda: {1: self.car.row})
        with self.loop_done:
            self.moment = self._sensed[-1]
            self.loop_done.notify_all()
        return self.settings.list_values(self._sensed.popleft())

    def _observe(self) -> SensorFrame:
        """Return what the car senses; pages and parts get hits in our own words."""
        moment = self.car.observe()
        if moment.touched == moment.telemetry.hit:
            return moment
        return replace(moment, telemetry=msgspec.structs.replace(moment.telemetry, hit=moment.touched))

    def _advance(self) -> None:
        """Let one loop's time pass, sensing at the moments that are `latency` old at the ends of loops."""
        find_step = self.settings.find_step
        now, end = find_step(self._loop_count), find_step(self._loop_count + 1)
        while (due := find_step(self._sensed_count + 1) - self._late_steps) <= end:
            if due > now:
                self.car.advance(due - now)
                now = due
            moment = self._observe()
            if moment.touched != "none":
                self.last_hit = moment.touched
            self._sensed.append(moment)
            self._sensed_count += 1
        if end > now:
            self.car.advance(end - now)
        self._loop_count += 1

    def go_to(self, place: str) -> None:
        """Drive elsewhere as soon as that place is made, which takes a second or two; may be called from any thread.

        One place is made at a time. Whoever asks again meanwhile goes there instead.
        """
        with self._wish_lock:
            self._wanted_place = place
            if self._makes_places:
                return
            self._makes_places = True
        threading.Thread(target=self._make_places, name="making a place", daemon=True).start()

    def _make_places(self) -> None:
        self.is_ready.wait()
        while place := self._take_wish():
            try:
                made = self.car.prepare_place(place)
            except DonkeySimError as error:
                self._place_trouble = str(error)
                continue
            with self._wish_lock:
                if not self._wanted_place:
                    self._next_place = place, made

    def _take_wish(self) -> str:
        """Return the place to make next; "" for none, and then the thread that makes places ends."""
        with self._wish_lock:
            wish, self._wanted_place = self._wanted_place, ""
            self._makes_places = bool(wish)
            return wish

    def _move(self, place: str, prepared: Place) -> None:
        """Put the car onto another place's start; late pictures are of the old one for a while."""
        self._next_place = None
        try:
            self.car.move(place, prepared)
        except DonkeySimError as error:
            self._place_trouble = str(error)
            return
        self.place, self.last_hit = place, ""

    @property
    def look(self) -> Look:
        """How the car looks."""
        return find_look(self.settings.conf)

    def dress(self, look: Look) -> None:
        """Let the car look otherwise from the next loop on; may be called from any thread."""
        self.settings = replace(self.settings, conf=change_look(self.settings.conf, look))
        self._look_wanted = True

    def take_trouble(self) -> str:
        """Return why the car could not go where it was asked to, once; "" for nothing."""
        trouble, self._place_trouble = self._place_trouble, ""
        return trouble

    def ask_reset(self) -> None:
        """Put the car back to its start at the next loop; may be called from any thread."""
        self._reset_wanted = True

    def halt(self) -> None:
        """Nothing moves without the loop."""

    def shutdown(self) -> None:
        """Stop the simulator's threads."""
        with self.lock:
            self.car.close()
