"""The vehicle loop: a car is a list of parts that read and write named channels, run in turn, many times a second.

A part is any object with `run(*inputs)` that returns what it writes: one value for one output, a sequence for several,
or None to leave its outputs as they are. A threaded part has `update()`, which runs in a thread of its own until
`shutdown()` is called, and `run_threaded(*inputs)`, which the loop calls and which must not wait. Both kinds may have
`halt()` (the loop has ended: make the car stand still now) and `shutdown()` (let go of everything).
"""

import contextlib
import inspect
import logging
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Self

from donkeysim.core.clock import Pacer
from donkeysim.core.errors import DonkeySimError, SpecError, nearest_name
from donkeysim.core.memory import give_back
from donkeysim.drive.loop_report import LoopReport, PartTimes
from donkeysim.drive.simulator_settings import SWITCHES

SIGNAL_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
"""Those this system has are taken; one that the caller's shell ignores stays ignored."""

logger = logging.getLogger(__name__)

OWN_CHANNELS = ("loop/rate", "loop/latency")
"""What the loop itself writes: loops per second, and the time [s] from the first part's outputs to its next inputs."""

# Threads that read a socket or a device wake within a second; the others are not waited for any longer, as Ctrl-C must
# end a program.
JOIN_SECONDS = 3.0
"""How long all threads together are waited for once every part was asked to shut down."""

RATE_LOOPS = 20
"""`loop/rate` is the mean over this many loops."""


class ChannelError(SpecError):
    """A part is wired to a channel that does not exist, or cannot be called as it is wired."""


class PartError(DonkeySimError):
    """A part failed while the car was driving; the car was stopped and every part shut down."""


class Memory(dict[str, Any]):
    """The value of every channel by name."""

    def read(self, names: Iterable[str]) -> list[Any]:
        """Return the values of some channels; None where nothing was written yet."""
        return [self.get(name) for name in names]

    def write(self, names: Sequence[str], result: Any) -> None:
        """Store what a part returned: as it is for one name, item by item for several.

        Raises:
            IndexError: There are fewer items than names; the text says which name went without.
        """
        if len(names) == 1:
            self[names[0]] = result
            return
        for index, name in enumerate(names):
            try:
                self[name] = result[index]
            except IndexError:
                raise IndexError(f"it returned {index} values for {len(names)} outputs; none for {name!r}") from None

    put = write  # as the original's


@dataclass
class WiredPart:
    """A part and how it is wired into the car."""

    part: Any
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    run_condition: str | None
    call: Callable[..., Any]
    thread: threading.Thread | None = None
    times: PartTimes = field(default_factory=PartTimes)

    @property
    def name(self) -> str:
        """The name people know the part by: that of its class."""
        return type(self.part).__name__


class Vehicle:
    """A car made of parts. Use it in a `with` block: whatever happens in there, every part is shut down at its end."""

    def __init__(self, starting_values: Mapping[str, Any] | None = None) -> None:
        self.memory = self.mem = Memory(starting_values or {})  # the original's name, for parts that are made with it
        self._wired: list[WiredPart] = []
        self._signals = StopSignals()
        self._ended = threading.Event()
        self._stopped = False
        self._failure: tuple[str, BaseException] | None = None

    def __enter__(self) -> Self:
        """From here on SIGINT and SIGTERM end the block in order."""
        self._signals.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        """Shut every part down, unless that has been done."""
        self.stop()
        self._signals.__exit__()

    @property
    def channels(self) -> set[str]:
        """Every channel that has a writer or a starting value."""
        written = (name for wired in self._wired for name in wired.outputs)
        return {*self.memory, *OWN_CHANNELS, *written}

    def add(
        self,
        part: Any,
        inputs: Sequence[str] = (),
        outputs: Sequence[str] = (),
        threaded: bool = False,
        run_condition: str | None = None,
    ) -> None:
        """Append a part.

        Args:
            part: The object; see the module for what it may have.
            inputs: Channels handed to it, in order.
            outputs: Channels it writes, in order. They may be channels other parts write too: the last one wins.
            threaded: Whether it works in a thread of its own.
            run_condition: A channel; the part is skipped while it is false or None.

        Raises:
            ChannelError: The part cannot be called like this.
        """
        name = type(part).__name__
        for kind, given in (("inputs", inputs), ("outputs", outputs)):
            if isinstance(given, str) or not all(isinstance(channel, str) for channel in given):
                raise ChannelError(f"the {kind} of {name} are {given!r}, but must be a list of channel names.")
        call = _find_call(part, threaded)
        _check_input_count(name, call, inputs)
        logger.info("Adding part %s.", name)
        wired = WiredPart(part, tuple(inputs), tuple(outputs), run_condition, call)
        if threaded:
            wired.thread = threading.Thread(target=self._run_thread, args=(wired,), name=name, daemon=True)
        self._wired.append(wired)

    def check_channels(self) -> None:
        """Fail when a part reads what nobody writes; `start` does it before anything moves.

        Raises:
            ChannelError: Names the part, the channel and the nearest channel there is.
        """
        channels = self.channels
        for wired in self._wired:
            for name in (*wired.inputs, *filter(None, [wired.run_condition])):
                if name not in channels:
                    raise ChannelError(
                        f"{wired.name} reads the channel {name!r}, which no part writes{_hint(name, channels)}"
                    )
        self._warn_of_lookalikes()

    def start(self, rate_hz: float = 20, max_loop_count: int | None = None) -> LoopReport:
        """Drive until a signal, a failing part, `end` or the last loop; then shut every part down.

        Args:
            rate_hz: Loops per second.
            max_loop_count: End after this many loops; None or 0: never.

        Returns:
            How many loops were driven, for how long, and how long each part took; it was logged as a table.

        Raises:
            ChannelError: A part reads what nobody writes.
            PartError: A part failed; the text names it.
        """
        self.check_channels()
        with self._signals:
            try:
                loop_count, seconds = self._drive(rate_hz, max_loop_count)
            finally:
                self.stop()
        report = LoopReport(loop_count, seconds, tuple((wired.name, wired.times) for wired in self._wired))
        logger.info("Part Profile Summary: (times in ms)\n%s", report.format_table())
        if self._failure:
            name, error = self._failure
            text = str(error) if isinstance(error, DonkeySimError) else f"{type(error).__name__}: {error}"
            raise PartError(f"the part {name} failed, so the car was stopped: {text}") from error
        return report

    def end(self) -> None:
        """End the drive after the loop that runs now; may be called from any thread."""
        self._ended.set()

    def stop(self) -> None:
        """Make the car stand still and shut every part down, in order of adding; a second call does nothing."""
        if self._stopped:
            return
        self._stopped = True
        self._ended.set()
        self._signals.hold()
        for wired in self._wired:
            self._tell(wired, "halt")
        logger.info("Shutting down vehicle and its parts...")
        for wired in self._wired:
            self._tell(wired, "shutdown")
        self._join_threads()

    def _drive(self, rate_hz: float, max_loop_count: int | None) -> tuple[int, float]:
        self._signals.hold()
        for wired in self._wired:
            if wired.thread:
                wired.thread.start()
        give_back()  # what starting needed
        logger.info("Starting vehicle at %g Hz", rate_hz)
        pacer = Pacer(1 / rate_hz, time.perf_counter)
        started = time.perf_counter()
        starts: deque[float] = deque(maxlen=RATE_LOOPS + 1)
        loop_count = 0
        while not (self._ended.is_set() or self._signals.received):
            starts.append(time.perf_counter())
            if len(starts) > 1:
                self.memory["loop/rate"] = (len(starts) - 1) / (starts[-1] - starts[0])
            self._run_parts()
            loop_count += 1
            if loop_count == max_loop_count:
                break
            self._ended.wait(pacer.seconds_left())
            pacer.take_beat()
        seconds = time.perf_counter() - started
        logger.info("Vehicle executed %d steps in %.3f seconds.", loop_count, seconds)
        return loop_count, seconds

    def _run_parts(self) -> None:
        for wired in self._wired:
            if wired.run_condition and not self.memory.get(wired.run_condition):
                continue
            begun = time.perf_counter()
            if wired is self._wired[0] and wired.times.last_end:
                self.memory["loop/latency"] = begun - wired.times.last_end
            try:
                result = wired.call(*self.memory.read(wired.inputs))
                if result is not None:
                    self.memory.write(wired.outputs, result)
            except Exception as error:  # noqa: BLE001 - whatever a part does, the car stops and says which part it was
                self._fail(wired, error)
                return
            wired.times.add(begun, time.perf_counter())

    def _run_thread(self, wired: WiredPart) -> None:
        try:
            wired.part.update()
        except Exception as error:  # noqa: BLE001 - as in the loop: a thread that dies must not leave the car driving
            self._fail(wired, error)

    def _fail(self, wired: WiredPart, error: Exception) -> None:
        if not isinstance(error, DonkeySimError):
            logger.error("%s failed:", wired.name, exc_info=error)
        self._failure = self._failure or (wired.name, error)
        self._ended.set()

    def _tell(self, wired: WiredPart, what: str) -> None:
        method = getattr(wired.part, what, None)
        if method is None:
            return
        self._signals.doing = f"{what} of {wired.name}"
        try:
            method()
        except Exception as error:  # the parts after it must still be shut down
            logger.error("%s failed in %s:", wired.name, what, exc_info=error)

    def _join_threads(self) -> None:
        deadline = time.perf_counter() + JOIN_SECONDS
        for wired in self._wired:
            if wired.thread and wired.thread.is_alive():
                wired.thread.join(max(0.0, deadline - time.perf_counter()))
                if wired.thread.is_alive():
                    logger.warning("the thread of %s does not end; leaving without it.", wired.name)

    def _warn_of_lookalikes(self) -> None:
        """Warn of an output nobody reads that is spelt almost like a channel somebody reads."""
        read = {name for wired in self._wired for name in (*wired.inputs, wired.run_condition) if name}
        for wired in self._wired:
            for name in set(wired.outputs) - read:
                alike = nearest_name(name, read - set(wired.outputs), cutoff=0.85)
                if alike:
                    logger.warning("%s writes %r, which no part reads; is %r meant?", wired.name, name, alike)


def _find_call(part: Any, threaded: bool) -> Callable[..., Any]:
    """Return the method the loop calls."""
    wanted = ("run_threaded", "update") if threaded else ("run",)
    for method in wanted:
        if not callable(getattr(part, method, None)):
            how = "threaded" if threaded else "not threaded"
            raise ChannelError(f"{type(part).__name__} cannot be a part that is {how}: it has no {method}().")
    if inspect.isclass(part):
        raise ChannelError(f"{part.__name__} was added as a class; add an instance: {part.__name__}().")
    call: Callable[..., Any] = getattr(part, wanted[0])
    return call


def _check_input_count(name: str, call: Callable[..., Any], inputs: Sequence[str]) -> None:
    with contextlib.suppress(ValueError):  # some callables written in C have no signature
        signature = inspect.signature(call)
        try:
            signature.bind(*inputs)
        except TypeError as error:
            given = ", ".join(inputs) or "no inputs"
            raise ChannelError(f"{name}.{call.__name__}{signature} cannot be given {given}: {error}.") from None


def _hint(name: str, channels: Iterable[str]) -> str:
    if name in SWITCHES:
        return f"; set {SWITCHES[name]} = True in myconfig.py, and the simulator writes it."
    nearest = nearest_name(name, channels)
    meant = f"; did you mean {nearest!r}?" if nearest else "."
    return f"{meant} A channel that has no writer needs a starting value: Vehicle({{{name!r}: ...}})."


class StopSignals:
    """Takes the signals while it is entered.

    Until `hold` is called a signal raises KeyboardInterrupt, as Ctrl-C always did; after it, a signal is only noted in
    `received` for the loop to see. (Setting a `threading.Event` in a handler could deadlock with the wait it
    interrupts.)
    """

    def __init__(self) -> None:
        self.received: int | None = None
        self.doing = ""
        self._holding = False
        self._depth = 0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        """Take the signals; may be nested. Does nothing outside the main thread, where Python allows no handlers."""
        self._depth += 1
        if self._depth == 1 and threading.current_thread() is threading.main_thread():
            for name in SIGNAL_NAMES:
                number = getattr(signal, name, None)
                if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._receive)
        return self

    def __exit__(self, *_: object) -> None:
        """Give the signals back to whoever had them."""
        self._depth -= 1
        if self._depth == 0:
            for number, handler in self._before.items():
                signal.signal(number, handler)
            self._before.clear()

    def hold(self) -> None:
        """From now on only note a signal."""
        self._holding = True

    def _receive(self, number: int, _: FrameType | None) -> None:
        if self.doing:
            logger.warning("still busy with the %s; please wait.", self.doing)
        self.received = number
        if not self._holding:
            raise KeyboardInterrupt
