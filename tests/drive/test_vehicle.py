"""The vehicle loop: channels, order, threads, rate, failures, signals and the table at the end."""

import logging
import os
import signal
import threading
import time

import pytest

from donkeysim.core.errors import SpecError
from donkeysim.drive.vehicle import ChannelError, PartError, Vehicle


class Counter:
    def __init__(self):
        self.count = 0

    def run(self):
        self.count += 1
        return self.count


class Call:
    """A part made of a function; notes when it was told to halt and to shut down."""

    def __init__(self, function, log=None):
        self.function = function
        self.log = log if log is not None else []

    def run(self, *values):
        return self.function(*values)

    def halt(self):
        self.log.append("halt")

    def shutdown(self):
        self.log.append("shutdown")


class Ticker:
    """A threaded part."""

    def __init__(self):
        self.ended = threading.Event()
        self.updates = 0

    def update(self):
        while not self.ended.wait(0.001):
            self.updates += 1

    def run_threaded(self, value):
        return value, self.updates

    def shutdown(self):
        self.ended.set()


class Failing:
    def run(self):
        raise ValueError("the wheel came off")


def drive(*parts, loops=5, rate=1000, **starting):
    """Drive a car of (part, inputs, outputs[, run_condition]) and return it."""
    car = Vehicle(starting)
    for part, inputs, outputs, *condition in parts:
        car.add(part, inputs, outputs, run_condition=condition[0] if condition else None)
    car.start(rate, loops)
    return car


def test_parts_run_in_order_and_hand_values_over_by_name():
    car = drive((Counter(), [], ["n"]), (Call(lambda n: (n * 10, n * 100)), ["n"], ["tens", "hundreds"]))
    assert (car.memory["n"], car.memory["tens"], car.memory["hundreds"]) == (5, 50, 500)


def test_a_channel_written_later_reads_as_none_first_and_one_loop_old_then():
    seen = []
    drive((Call(seen.append), ["n"], []), (Counter(), [], ["n"]), loops=3)
    assert seen == [None, 1, 2]


def test_none_leaves_the_outputs_as_they_are():
    car = drive((Call(lambda: 7), [], ["a"]), (Call(lambda: None), [], ["a"]))
    assert car.memory["a"] == 7


def test_a_part_of_the_original_may_write_into_the_memory_itself():
    """As its ExplodeDict does, which is made with `V.mem`."""
    car = Vehicle({"web/w1": False})
    car.add(Call(lambda: car.mem.update({"web/w1": True})), [], [])
    car.add(Call(lambda pressed: car.mem.put(["pressed", "seen"], (pressed, 1))), ["web/w1"], [])
    car.start(100, 1)
    assert (car.memory["pressed"], car.memory["seen"]) == (True, 1)


def test_one_output_takes_a_tuple_whole():
    assert drive((Call(lambda: (1, 2)), [], ["pair"])).memory["pair"] == (1, 2)


def test_a_part_is_skipped_while_its_run_condition_is_false_or_none():
    counter, other = Counter(), Counter()
    drive(
        (counter, [], ["n"], "on"),
        (other, [], ["m"], "missing"),
        (Call(lambda: True), [], ["on"]),
        (Call(lambda: None), [], ["missing"]),
        loops=4,
    )
    assert (counter.count, other.count) == (3, 0)


def test_too_few_values_name_the_output_that_went_without_and_the_part():
    with pytest.raises(PartError, match=r"Call failed.*none for 'b'"):
        drive((Call(lambda: (1,)), [], ["a", "b"]))


def test_threaded_parts_update_beside_the_loop_and_end_with_it():
    car, ticker = Vehicle({"x": "hello"}), Ticker()
    car.add(ticker, ["x"], ["y", "updates"], threaded=True)
    car.start(100, 8)
    assert car.memory["y"] == "hello"
    assert car.memory["updates"] > 5
    assert not any(thread.name == "Ticker" for thread in threading.enumerate())


def test_the_loop_holds_its_mean_rate_though_parts_take_time():
    waiting = threading.Event()
    car = Vehicle()
    car.add(Call(lambda: waiting.wait(0.008) and None))
    car.add(Call(lambda rate, latency: None), ["loop/rate", "loop/latency"])
    report = car.start(50, 40)
    assert report.loop_count == 40
    assert 39 / 50 - 0.05 < report.seconds < 40 / 50 + 0.3
    assert car.memory["loop/rate"] == pytest.approx(50, rel=0.2)
    assert car.memory["loop/latency"] == pytest.approx(0.012, abs=0.01)


SWITCHED = (
    ("pos/pos_x", "set SIM_RECORD_LOCATION = True in myconfig.py"),
    ("lidar/dist_array", "SIM_RECORD_LIDAR = True"),
)


@pytest.mark.parametrize(
    ("wanted", "hint"), [("user/angel", "did you mean 'user/angle'"), ("qqq", "starting value"), *SWITCHED]
)
def test_a_misspelt_input_fails_before_anything_moves(wanted, hint):
    counter = Counter()
    with pytest.raises(ChannelError, match=hint) as error:
        drive((counter, [], ["user/angle"]), (Call(print), [wanted], []))
    assert f"Call reads the channel {wanted!r}" in str(error.value)
    assert counter.count == 0


def test_a_misspelt_run_condition_fails_too():
    with pytest.raises(ChannelError, match="did you mean 'recording'"):
        drive((Call(lambda: True), [], ["recording"]), (Counter(), [], ["n"], "recordng"))


def test_an_output_spelt_almost_like_a_channel_that_is_read_is_warned_of(caplog):
    drive(
        (Call(lambda: True), [], ["recording"]),
        (Call(lambda flag: flag), ["recording"], []),
        (Counter(), [], ["recordng"]),
    )
    assert "Counter writes 'recordng', which no part reads; is 'recording' meant?" in caplog.text


def test_an_output_with_a_word_more_is_another_channel(caplog):
    drive(
        (Call(lambda: True), [], ["cam/image_array"]),
        (Call(lambda image: image), ["cam/image_array"], []),
        (Counter(), [], ["cam/image_array_trans"]),
    )
    assert "is 'cam/image_array' meant?" not in caplog.text


def test_starting_values_count_as_written():
    seen = []
    drive((Call(seen.append), ["user/mode"], []), loops=1, **{"user/mode": "user"})
    assert seen == ["user"]


@pytest.mark.parametrize(
    ("part", "wiring", "text"),
    [
        (object(), {}, r"object cannot be a part that is not threaded: it has no run\(\)"),
        (Counter(), {"threaded": True}, r"has no run_threaded\(\)"),
        (Counter(), {"inputs": ["a"]}, "cannot be given a"),
        (Counter(), {"outputs": "ab"}, "must be a list of channel names"),
        (Counter, {}, r"add an instance: Counter\(\)"),
    ],
)
def test_what_cannot_be_called_as_wired_fails_when_it_is_added(part, wiring, text):
    with pytest.raises(SpecError, match=text):
        Vehicle().add(part, **wiring)


def test_a_failing_part_halts_the_car_shuts_all_down_and_is_named(caplog):
    log, behind = [], Counter()
    with pytest.raises(
        PartError, match="the part Failing failed, so the car was stopped: ValueError: the wheel came off"
    ):
        drive((Call(lambda: None, log), [], []), (Failing(), [], []), (behind, [], ["n"]))
    assert log == ["halt", "shutdown"]
    assert behind.count == 0
    assert "Traceback" in caplog.text


def test_a_failing_thread_ends_the_drive_as_well():
    ticker = Ticker()
    ticker.update = lambda: 1 / 0
    car = Vehicle({"x": 0})
    car.add(ticker, ["x"], threaded=True)
    with pytest.raises(PartError, match=r"the part Ticker failed.*ZeroDivisionError"):
        car.start(20)


def test_every_part_is_shut_down_in_order_though_one_fails_in_it(caplog):
    log = []
    car = Vehicle()
    for name in "abc":
        part = Call(lambda: None)
        part.halt = lambda: None
        part.shutdown = lambda name=name: log.append(name) or (1 / 0 if name == "b" else None)
        car.add(part)
    car.start(100, 2)
    assert log == ["a", "b", "c"]
    assert "Call failed in shutdown" in caplog.text


def test_a_failure_while_assembling_shuts_down_what_was_added():
    log = []

    def assemble():
        with Vehicle() as car:
            car.add(Call(lambda: None, log))
            raise OSError("port taken")

    with pytest.raises(OSError, match="port taken"):
        assemble()
    assert log == ["halt", "shutdown"]


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_ends_the_drive_in_order(name):
    log, number = [], getattr(signal, name)
    before = signal.getsignal(number)
    car = Vehicle()
    counter = Counter()
    car.add(counter, [], ["n"])
    car.add(Call(lambda n: os.kill(os.getpid(), number) if n == 3 else None, log), ["n"])
    report = car.start(200)
    assert (report.loop_count, log) == (3, ["halt", "shutdown"])
    assert signal.getsignal(number) is before


def test_a_signal_while_assembling_interrupts_and_shuts_down():
    log = []

    def assemble():
        with Vehicle() as car:
            car.add(Call(lambda: None, log))
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(1)

    with pytest.raises(KeyboardInterrupt):
        assemble()
    assert log == ["halt", "shutdown"]


def test_a_second_signal_does_not_cut_the_shutdown_off():
    car, log = Vehicle(), []
    part = Call(lambda: os.kill(os.getpid(), signal.SIGINT))
    part.shutdown = lambda: (os.kill(os.getpid(), signal.SIGINT), log.append("closed"))
    car.add(part)
    car.start(100)
    assert log == ["closed"]


def test_another_thread_can_end_the_drive():
    car = Vehicle()
    car.add(Counter(), [], ["n"])
    threading.Timer(0.05, car.end).start()
    assert car.start(100).loop_count < 50


def test_the_table_shows_parts_that_ran_often_enough(caplog):
    caplog.set_level(logging.INFO)
    drive((Counter(), [], ["n"]), (Call(lambda: None), [], [], "never"), loops=10, never=False)
    assert "| part" in caplog.text
    assert "99.9%" in caplog.text
    rows = [line for line in caplog.text.splitlines() if line.startswith("|")]
    assert [row.split()[1] for row in rows] == ["part", "Counter"]
    assert all(float(cell) >= 0 for cell in rows[1].split("|")[2:-1])


def test_the_log_tells_the_drive_as_the_original_does(caplog):
    caplog.set_level(logging.INFO)
    drive((Counter(), [], ["n"]), loops=3)
    lines = [record.message for record in caplog.records]
    assert lines[:2] == ["Adding part Counter.", "Starting vehicle at 1000 Hz"]
    assert lines[2].startswith("Vehicle executed 3 steps in ")
    assert lines[3] == "Shutting down vehicle and its parts..."
