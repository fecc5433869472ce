"""A client with large pictures hears as often as they are ready, nobody else is slowed, and nothing changes places."""

import base64
import json
import math
import time
from concurrent.futures import Executor, Future
from types import SimpleNamespace

import numpy as np
import pytest
from tests.serve.test_simulation import SimulationRig

from donkeysim.core.image import decode_picture
from donkeysim.serve import picture_budget, telemetry_scheduler
from donkeysim.serve.options import SimulationOptions
from donkeysim.serve.output import Output, OutputKind
from donkeysim.serve.picture_budget import CostAccount, choose_apart
from donkeysim.world.specs import CameraSpec, LidarSpec

LARGE = {"img_w": "1200", "img_h": "600"}


class ManualThread(Executor):
    """Works when it is told to, on a thread whose clock of work the test moves."""

    def __init__(self):
        self.tasks = []
        self.is_eager = False

    def submit(self, task):
        future = Future()
        self.tasks.append((future, task))
        if self.is_eager:
            self.work()
        return future

    def work(self):
        (future, task), *self.tasks = self.tasks
        future.set_result(task())

    def shutdown(self, wait=True, *, cancel_futures=False):
        self.tasks.clear()


class Show(SimulationRig):
    """A running scene on a clock of its own; pictures beside the beat are drawn when the test says so."""

    def __init__(self):
        super().__init__(max_cars=4)
        self.thread, self.cost = ManualThread(), 0.3
        self.simulation.scheduler._make_threads = lambda count: self.thread
        self.simulation.scheduler._read_cost = self.read_cost

    def read_cost(self):
        self.clock_of_work = getattr(self, "clock_of_work", 0.0) + self.cost
        return self.clock_of_work

    def join(self, *clients):
        super().join(*clients)
        self.received.clear()

    def collect(self):
        for client, kind, line in self.simulation.take_outputs():
            message = json.loads(line) if line.startswith(b"{") else {"msg_type": kind.name, "error": line.decode()}
            self.received.setdefault(client, []).append({**message, "kind": kind})

    def times(self, client):
        return [message["time"] for message in self.take(client) if message["msg_type"] == "telemetry"]


@pytest.fixture(scope="module")
def running():
    show = Show()
    show.simulation.load_scene("generated_track")
    return show


@pytest.fixture
def show(running):
    """With two clients."""
    running.cost, running.thread.is_eager = 0.3, False
    running.join(1, 2)
    yield running
    running.thread.is_eager = True
    for client in range(1, 5):
        running.simulation.leave(client)
    running.thread.tasks.clear()
    running.collect()
    running.received.clear()


def test_a_large_picture_keeps_only_its_own_client_waiting(show):
    show.say(1, "cam_config", **LARGE)
    show.beat(4)
    assert show.times(1) == []
    assert len(show.times(2)) == 4
    show.thread.work()
    show.beat()
    (telemetry,) = show.take(1)
    assert decode_picture(base64.b64decode(telemetry["image"])).shape == (600, 1200, 3)
    assert telemetry["kind"] is OutputKind.TELEMETRY
    assert len(show.times(2)) == 1


def test_readings_and_picture_are_of_the_moment_at_which_it_was_begun(show):
    show.say(1, "cam_config", **{**LARGE, "img_enc": "PNG"})
    show.say(1, "control", throttle="1", brake="0")
    show.beat(20)
    simulator, row = show.simulation.simulator, show.simulation.clients[1].car.row
    show.thread.work()
    show.take(1)
    show.beat()  # hands out the first and begins the second
    begun = float(simulator.ledger.time[row])
    simulator.render([row])
    seen = simulator.get_picture(row).copy()
    show.take(1)
    show.beat(9)
    show.thread.work()
    show.beat()
    (telemetry,) = show.take(1)
    assert telemetry["time"] == begun < float(simulator.ledger.time[row])
    assert np.array_equal(decode_picture(base64.b64decode(telemetry["image"])), seen)


def test_what_happens_after_a_moment_is_told_after_its_telemetry(show):
    show.say(1, "cam_config", **LARGE)
    show.beat()
    scheduler = show.simulation.scheduler
    later, of_other = (Output(client, OutputKind.EVENT, b'{"msg_type":"crossing"}') for client in (1, 2))
    assert scheduler.hold_back([later, of_other]) == [of_other]
    show.thread.work()
    show.beat()
    assert [message["msg_type"] for message in show.take(1)] == ["telemetry", "crossing"]
    show.thread.work()
    show.beat()
    assert [message["msg_type"] for message in show.take(1)] == ["telemetry"]


def test_the_client_is_told_its_rate_once(show):
    show.say(1, "cam_config", **LARGE)
    show.cost = 0.18
    for _ in range(12):
        show.beat(4)
        show.thread.work()
    errors = [message["error"] for message in show.take(1) if message["kind"] is OutputKind.REFUSAL]
    assert len(errors) == 1
    assert errors[0].startswith("cam_config: a picture of 1200x600 takes 17")
    assert errors[0].endswith("you get about 5 a second; other clients are not slowed.")
    assert not any(message["kind"] is OutputKind.REFUSAL for message in show.take(2))


def test_a_picture_that_turns_out_to_be_quick_comes_back_into_the_beat(show):
    show.say(1, "cam_config", **LARGE)
    show.cost, show.thread.is_eager = 0.001, True
    show.beat(20)
    show.take(1)
    show.thread.is_eager = False
    show.beat(5)
    assert len(show.times(1)) == 5
    assert show.thread.tasks == []
    show.cost = 0.1
    show.beat(3)
    assert len(show.times(1)) == 1, "it was too long once, and is drawn beside the beat from then on"


def test_clients_with_large_pictures_take_turns_by_what_they_cost(show):
    show.thread.is_eager = True
    show.say(1, "cam_config", **LARGE)
    show.say(2, "cam_config", **LARGE)
    for _ in range(30):
        show.beat()
    counts = [len(show.times(client)) for client in (1, 2)]
    assert abs(counts[0] - counts[1]) <= 1
    assert sum(counts) >= 15


def test_in_lock_step_a_client_waits_for_its_large_picture(show):
    show.say(1, "cam_config", **LARGE)
    show.beat()
    assert len(show.thread.tasks) == 1
    show.thread.work()  # begun before lock-step: it answers nothing in it
    show.thread.is_eager = True
    show.say(1, "step_mode", step_mode="synchronous", time_step="0.05")
    show.take(1), show.take(2)
    for _ in range(3):
        show.say(1, "control", steering="0")
        show.say(2, "control", steering="0")
        show.simulation.beat()
        show.collect()
        assert not show.simulation.may_step_at_once(4), "the event loop must not draw it"
    for client in (1, 2):
        answers = show.take(client)
        assert [message["kind"] for message in answers] == [OutputKind.ANSWER] * 3
        assert np.diff([message["time"] for message in answers]) == pytest.approx([0.05, 0.05])
    show.say(1, "step_mode", step_mode="asynchronous")


def test_a_client_may_leave_while_its_picture_is_drawn(show):
    show.say(1, "cam_config", **LARGE)
    show.beat()
    show.simulation.leave(1)
    show.join(3)
    show.beat(2)
    assert [message["msg_type"] for message in show.take(3)] == ["telemetry"] * 2
    assert show.take(1) == []


def test_hits_wait_for_the_telemetry_that_tells_of_them(show):
    show.say(1, "cam_config", **LARGE)
    show.beat()
    simulator, row = show.simulation.simulator, show.simulation.clients[1].car.row
    simulator.state.hit[row] = 0
    show.beat(3)
    assert simulator.state.hit[row] == 0
    show.thread.work()
    show.beat()
    assert show.take(1)[0]["hit"] == "none"
    show.thread.work()
    show.beat()
    assert show.take(1)[0]["hit"] != "none"


def test_watchers_get_the_large_picture_that_was_drawn_for_its_client(show):
    show.say(1, "cam_config", **{**LARGE, "img_enc": "PNG"})
    show.simulation.clients[1].car.picture = None
    show.beat()
    car = show.simulation.clients[1].car
    with pytest.raises(Exception, match="ask again"):
        show.simulation.take_picture("camera", car.car_id, 0, 0)
    show.thread.work()
    assert decode_picture(show.simulation.take_picture("camera", car.car_id, 0, 0)).shape == (600, 1200, 3)


def test_a_picture_that_cannot_be_drawn_is_logged_and_the_next_is_tried(show, caplog):
    show.say(1, "cam_config", **LARGE)
    show.beat()
    (future, _), *show.thread.tasks = show.thread.tasks
    future.set_exception(RuntimeError("no memory"))
    show.beat()
    assert "could not be drawn" in caplog.text
    assert show.take(1) == []
    show.thread.work()
    show.beat()
    assert len(show.times(1)) == 1


# -- limits -----------------------------------------------------------------------------------------------------------


def test_all_cameras_together_have_a_limit_and_who_exceeds_it_keeps_its_own(show, monkeypatch):
    monkeypatch.setattr(picture_budget, "MOST_PIXELS", 1_000_000)
    show.say(1, "cam_config", **LARGE)
    show.say(2, "cam_config", **LARGE)
    (refusal,) = show.take(2)
    assert "cam_config: a picture of 1200x600 does not fit" in refusal["error"]
    assert "others take 720000" in refusal["error"]
    show.beat()
    assert decode_picture(base64.b64decode(show.take(2)[0]["image"])).shape == (120, 160, 3)
    show.say(1, "cam_config", img_w="1000", img_h="900")
    assert show.take(1) == [], "its own old camera does not count"


def test_a_large_tga_is_sent_as_png_and_its_client_is_told(show):
    show.say(1, "cam_config", img_w="3840", img_h="2160", img_enc="TGA")
    (note,) = show.take(1)
    assert "TGA was changed to PNG for a picture of 3840x2160" in note["error"]
    assert show.simulation.simulator.get_camera(show.simulation.clients[1].car.row).encoding == "PNG"


# -- shares -----------------------------------------------------------------------------------------------------------


DEFAULT = (CameraSpec(), None, None)


def make_account(seconds, sensors=DEFAULT):
    account = CostAccount(1, sensors)
    account.equip(sensors)
    account.seconds = seconds
    return account


def test_the_dearest_clients_give_way_when_all_do_not_fit_into_the_beat():
    accounts = [make_account(seconds) for seconds in (0.004, 0.012, 0.003, 0.0045)]
    choose_apart(accounts, 0.05)
    assert [account.is_apart for account in accounts] == [False, True, False, True]
    for account in accounts:
        account.seconds = 0.0019
    choose_apart(accounts, 0.05)
    assert not any(account.is_apart for account in accounts)


def test_a_client_near_its_share_does_not_go_to_and_fro():
    account = make_account(0.0051)
    choose_apart([account], 0.05)
    account.seconds = 0.0049
    choose_apart([account], 0.05)
    assert account.is_apart
    account.seconds = 0.0034
    choose_apart([account], 0.05)
    assert not account.is_apart


@pytest.mark.parametrize(
    ("sensors", "is_light"),
    [
        ((CameraSpec(), None, None), True),
        ((CameraSpec(encoding="PNG"), None, None), True),
        ((CameraSpec(), CameraSpec(), LidarSpec()), True),
        ((CameraSpec(width=640, height=480), None, None), False),
        ((CameraSpec(), None, LidarSpec(sweep_increment=math.radians(0.9), level_count=50)), False),
    ],
)
def test_default_cameras_and_lidars_are_never_measured(sensors, is_light):
    assert make_account(0.0, sensors).is_light is is_light


def test_a_client_is_told_again_only_when_its_rate_changes_a_lot():
    account = make_account(0.18, (CameraSpec(width=3840, height=2160), None, LidarSpec(level_count=100)))
    now, told = 100.0, []
    for gap, count in ((0.2, 40), (0.15, 40), (0.9, 20), (0.05, 80)):
        for _ in range(count):
            now += gap
            account.note_sent(now)
            told.append(account.find_news(now, 20.0))
    told = [text for text in told if text]
    assert len(told) == 3
    assert "a picture of 3840x2160 and a scan of 18000 rays take 180 ms" in told[0]
    assert "about 5 a second" in told[0]
    assert "about 2 a second" in told[1]
    assert told[1] != told[2]


def test_a_client_that_gets_nearly_everything_is_told_nothing():
    account = make_account(0.02)
    for index in range(50):
        account.note_sent(0.05 * index)
        assert account.find_news(0.05 * index, 20.0) == ""


def test_what_a_picture_costs_is_told_by_a_clock_with_short_steps_on_windows_too(monkeypatch):
    """In steps of 16 ms a picture of 3 ms seems to cost nothing or too much, and its client goes to and fro."""
    monkeypatch.setattr(telemetry_scheduler, "sys", SimpleNamespace(platform="win32"))
    scheduler = telemetry_scheduler.TelemetryScheduler(SimulationOptions(), None, time.monotonic)
    assert scheduler._read_cost is time.perf_counter
