"""Queues of clients: order, the latest control, turns, and what is done before and after a beat."""

import sys
import threading

import pytest

from donkeysim.core.clock import ManualClock
from donkeysim.serve.client_queues import MOST_PATIENT_SECONDS, MOST_WAITING, ClientQueue, Presence, QueueTurns
from donkeysim.wire.messages import DriveCar, RegenerateRoad, ResetCar, SetStepMode
from donkeysim.wire.reading import read_request


def dress(**fields):
    return read_request({"msg_type": "car_config", **fields}).request


CAMERA = read_request({"msg_type": "cam_config", "img_w": "64", "img_h": "64"}).request


def control(steer=None, throttle=None):
    return DriveCar(steer=steer, throttle=throttle, brake=0.0)


def fill(*entries, client_id=1, latest_counts=True):
    queue = ClientQueue(client_id)
    for entry in entries:
        queue.append(entry, latest_counts)
    return queue


def empty(queue):
    return list(iter(queue.take, None))


class Doer:
    """Does what is asked for, which takes the time that it says."""

    def __init__(self, seconds=0.0):
        self.clock = ManualClock()
        self.done = []
        self.seconds = seconds
        self.refused = set()
        self.waiting = set()
        self.turns = QueueTurns(
            self.perform_next,
            lambda client, entry: client not in self.refused,
            lambda queue: queue.client_id in self.waiting,
            self.clock,
        )

    def perform_next(self, queue):
        self.clock.advance(self.seconds)
        self.done.append((queue.client_id, queue.take()))

    def take(self):
        self.turns.take_quick()
        self.turns.take_costly()


def test_of_controls_in_a_row_the_latest_counts_and_keeps_what_it_does_not_say():
    taken = empty(fill(control(steer=0.1), control(throttle=0.5), ResetCar(), control(steer=0.2), control(steer=0.3)))
    assert taken == [control(steer=0.1, throttle=0.5), ResetCar(), control(steer=0.3)]


def test_of_roads_in_a_row_the_latest_counts_likewise():
    style = RegenerateRoad(road_style=1, rand_seed=None, turn_increment=None)
    seed = RegenerateRoad(road_style=None, rand_seed=7, turn_increment=None)
    assert empty(fill(control(), style, seed)) == [
        control(),
        RegenerateRoad(road_style=1, rand_seed=7, turn_increment=None),
    ]


@pytest.mark.parametrize("first", [[], [SetStepMode(is_synchronous=True, step_count=None)]])
def test_looks_keep_their_order_in_lock_step(first):
    entries = [*first, dress(car_name="A"), dress(car_name="B"), dress(car_name="C"), control()]
    queue = fill(*entries, latest_counts=bool(first))
    queue.let_overtake()
    assert empty(queue) == entries


def test_of_looks_that_wait_behind_another_the_latest_counts_and_keeps_what_it_does_not_say():
    """The first one's plate may be being drawn, and is shown; what is costly stays where it was among them."""
    queue = fill(dress(car_name="A"), dress(car_name="B", body_r="1", body_g="2"), control(), dress(body_g="3"))
    assert empty(queue) == [dress(car_name="A"), dress(car_name="B", body_r="1", body_g="3"), control()]
    entries = [dress(car_name="A"), dress(car_name="B"), CAMERA, dress(car_name="C")]
    assert empty(fill(*entries)) == entries


def test_nothing_quick_waits_for_a_plate():
    """A program of the virtual races writes its delay on its car in every frame, and steers in between."""
    doer = Doer()
    doer.turns = QueueTurns(
        doer.perform_next, lambda _, entry: entry != dress(car_name="A"), lambda _: False, doer.clock
    )
    queue = fill(dress(car_name="A"), control(steer=0.1))
    queue.enlist()
    doer.turns.add(queue)
    doer.turns.take_quick()
    for step in range(3):
        queue.append(dress(car_name=f"B {step}"), latest_counts=True)
        queue.append(control(steer=0.2 + step), latest_counts=True)
        doer.turns.take_quick()
        doer.turns.take_costly()
    queue.append(ResetCar(), latest_counts=True)
    doer.turns.take_quick()
    quick = [control(steer=0.1), control(steer=0.2), control(steer=1.2), control(steer=2.2), ResetCar()]
    assert [entry for _, entry in doer.done] == quick
    assert empty(queue) == [dress(car_name="A"), dress(car_name="B 2")]


def test_nor_do_cameras_and_what_comes_after_them():
    """Programs configure car and cameras in one breath, and drive: the first plate of all takes longest."""
    doer = Doer()
    doer.turns = QueueTurns(
        doer.perform_next, lambda _, entry: entry != dress(car_name="A"), lambda _: False, doer.clock
    )
    lidar = read_request({"msg_type": "lidar_config", "maxRange": "20"}).request
    queue = fill(dress(car_name="A"), CAMERA, lidar, control(steer=0.1))
    queue.enlist()
    doer.turns.add(queue)
    for _ in range(3):
        doer.take()
    assert [entry for _, entry in doer.done] == [CAMERA, lidar, control(steer=0.1)]


@pytest.mark.parametrize("first", [[], [SetStepMode(is_synchronous=True, step_count=None)]])
def test_in_lock_step_and_from_its_beginning_each_control_counts(first):
    entries = [*first, control(steer=0.1), control(steer=0.2)]
    assert empty(fill(*entries, latest_counts=bool(first))) == entries


def test_no_control_is_left_out_while_lock_step_is_just_being_begun():
    queue = fill(SetStepMode(is_synchronous=True, step_count=None))
    assert queue.enlist()
    queue.take()  # the thread carries it out, and has not said yet that it is done
    entries = [control(steer=0.1), control(steer=0.2)]
    for entry in entries:
        queue.append(entry, latest_counts=True)
    assert empty(queue) == entries


def test_the_latest_counts_again_once_lock_step_was_asked_for_and_something_else_was_done():
    queue = fill(SetStepMode(is_synchronous=False, step_count=None), ResetCar(), CAMERA)
    queue.enlist()
    assert [queue.take(), queue.take()][1] == ResetCar()
    for steer in (0.1, 0.2):
        queue.append(control(steer=steer), latest_counts=True)
    assert empty(queue) == [CAMERA, control(steer=0.2)]


def test_a_full_queue_says_so_until_it_is_emptied():
    queue = fill(*[ResetCar()] * MOST_WAITING)
    assert queue.is_full
    queue.take()
    assert not queue.is_full


def test_who_has_only_joined_may_vanish_unseen_but_not_with_a_request():
    assert fill(Presence.JOIN).drop_if_unseen()
    assert not fill(Presence.JOIN, ResetCar()).drop_if_unseen()
    assert not fill(ResetCar()).drop_if_unseen()


def test_who_vanishes_disturbs_nobody_who_looks_into_its_queue():
    """The event loop drops a client that has only joined while the simulation's thread lets requests overtake."""
    queue, faults, is_done = ClientQueue(1), [], threading.Event()

    def look():
        try:
            while not is_done.is_set():
                queue.let_overtake()
        except RuntimeError as error:
            faults.append(error)

    thread, before = threading.Thread(target=look), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        thread.start()
        for _ in range(20_000):
            queue.append(Presence.JOIN, latest_counts=True)
            assert queue.drop_if_unseen()
    finally:
        sys.setswitchinterval(before)
        is_done.set()
        thread.join()
    assert faults == []


def test_everybody_has_a_turn_and_each_clients_order_is_kept():
    doer = Doer()
    wanted = {client: [Presence.JOIN, CAMERA, ResetCar(), control(), CAMERA, Presence.LEAVE] for client in range(5)}
    for client, entries in wanted.items():
        doer.turns.add(fill(*entries, client_id=client))
    while not doer.turns.is_idle:
        doer.take()
    for client, entries in wanted.items():
        assert [entry for other, entry in doer.done if other == client] == entries
    assert [client for client, entry in doer.done if entry is Presence.JOIN] == [0, 1, 2, 3, 4]


def test_one_client_that_asks_for_much_does_not_keep_another_waiting():
    doer = Doer(0.001)
    doer.turns.add(fill(*[CAMERA] * 60))
    doer.turns.add(fill(control(), client_id=2))
    doer.take()
    assert doer.done == [(2, control()), (1, CAMERA)], "what is quick comes first"


def test_who_has_much_to_be_done_quickly_comes_back_after_all_others_and_the_beat():
    doer = Doer()
    for client in (1, 2):
        doer.turns.add(fill(*[ResetCar()] * 60, client_id=client))
    doer.turns.take_quick()
    assert [client for client, _ in doer.done] == [1] * 8 + [2] * 8
    assert doer.turns.seconds_left() == 0.0


def test_a_client_that_must_wait_is_looked_at_again_and_holds_up_nobody():
    doer = Doer()
    doer.refused.add(1)
    doer.turns.add(fill(control(steer=0.1)))
    doer.turns.add(fill(control(steer=0.2), client_id=2))
    doer.take()
    assert doer.done == [(2, control(steer=0.2))]
    assert 0.0 < doer.turns.seconds_left() < 0.05
    doer.refused.clear()
    doer.take()
    assert doer.done[1:] == [(1, control(steer=0.1))]
    assert doer.turns.is_idle


def test_a_client_that_waits_for_its_step_is_left_to_the_simulation_until_it_says_more():
    doer = Doer()
    doer.waiting.add(1)
    queue = fill(control(steer=0.1))
    assert queue.enlist()
    doer.turns.add(queue)
    doer.take()
    assert doer.turns.is_idle
    assert doer.done == []
    queue.append(control(steer=0.2), latest_counts=False)
    assert queue.enlist(), "the thread is told again"


def test_nothing_is_lost_between_two_threads():
    """One thread appends 20,000 resets, as the event loop does, and another takes them, as the simulation does."""
    queue, doer = ClientQueue(1), Doer()
    listed = threading.Semaphore(0)

    def append():
        for _ in range(20_000):
            queue.append(ResetCar(), latest_counts=True)
            if queue.enlist():
                listed.release()
        queue.append(Presence.LEAVE, latest_counts=True)
        listed.release()

    thread = threading.Thread(target=append)
    thread.start()
    while (1, Presence.LEAVE) not in doer.done[-1:]:
        if listed.acquire(timeout=5.0):
            doer.turns.add(queue)
        while not doer.turns.is_idle:
            doer.clock.advance(1.0)
            doer.take()
    thread.join()
    assert len(doer.done) == 20_001


def test_nothing_costly_is_begun_right_before_a_beat():
    doer = Doer(seconds=0.002)
    for client in (1, 2, 3):
        doer.turns.add(fill(CAMERA, client_id=client))
    doer.turns.take_costly(room=0.003)
    assert [client for client, _ in doer.done] == [1, 2], "the third would begin too late"
    assert doer.turns.seconds_left(room=0.0) is None, "there is nothing to wake up for before the beat"
    doer.turns.take_costly(room=0.0)
    assert len(doer.done) == 2
    doer.turns.take_costly(room=0.003)
    assert len(doer.done) == 3


def test_where_beats_leave_no_room_costly_things_are_done_now_and_then():
    doer = Doer(seconds=0.001)
    for client in (1, 2):
        doer.turns.add(fill(CAMERA, client_id=client))
    doer.clock.advance(MOST_PATIENT_SECONDS + 0.001)
    assert doer.turns.seconds_left(room=0.0) == 0.0
    doer.turns.take_costly(room=0.0)
    assert len(doer.done) == 1
    doer.clock.advance(MOST_PATIENT_SECONDS + 0.001)
    doer.turns.take_costly(room=0.0)
    assert len(doer.done) == 2


def test_a_look_has_its_turn_too_where_its_client_steers_all_the_time():
    doer = Doer()
    queue = fill(dress(car_name="A"))
    doer.turns.add(queue)
    for _ in range(round(2 * MOST_PATIENT_SECONDS / 0.05)):
        doer.clock.advance(0.05)
        queue.append(control(steer=0.1), latest_counts=True)
        doer.turns.take_quick()
        doer.turns.take_costly(room=0.0)
    assert (1, dress(car_name="A")) in doer.done


def test_whoever_asks_first_after_a_pause_is_not_taken_for_patient():
    doer = Doer()
    doer.clock.advance(10.0)
    doer.turns.add(fill(CAMERA))
    doer.turns.take_costly(room=0.0)
    assert doer.done == []
