"""Every row is taken once, on any number of threads, and after a fork."""

import os
import threading

import numpy as np
import pytest

from donkeysim.core.kernel import kernel
from donkeysim.core.workers import Workers, take_row


@kernel
def count_rows(next_row, end, visits, taken):
    """Count how often each row is taken, and how many are taken here."""
    while True:
        row = take_row(next_row)
        if row >= end:
            break
        visits[row] += 1
        taken[0] += 1


@pytest.mark.parametrize("worker_count", [1, 2, 5])
@pytest.mark.parametrize("row_count", [0, 1, 3, 64])
def test_every_row_is_visited_once(worker_count, row_count):
    visits, taken = np.zeros(row_count, np.int64), np.zeros((worker_count, 1), np.int64)
    workers = Workers(worker_count)
    for _ in range(3):
        workers.run(lambda worker, next_row: count_rows(next_row, row_count, visits, taken[worker]), row_count)
    workers.close()
    assert visits.tolist() == [3] * row_count
    assert taken.sum() == 3 * row_count


def test_threads_take_rows_beside_each_other():
    workers, both = Workers(2), threading.Barrier(2)
    for _ in range(20):
        workers.run(lambda worker, next_row: both.wait(10.0), 2)
    workers.close()


def find_thread():
    """Return the worker that was started last: other tests may have left theirs."""
    *_, last = (thread for thread in threading.enumerate() if thread.name == "donkeysim-worker")
    return last


def test_a_thread_that_does_not_wake_in_time_is_not_waited_for():
    workers, done = Workers(2), []
    workers._idle = [helper] = workers._take_helpers()
    sleeper = find_thread()
    helper.stop()
    sleeper.join(10.0)
    workers.run(lambda worker, next_row: done.append(worker), 2)
    assert done == [0]


def test_an_error_on_another_thread_reaches_the_caller():
    workers, failing = Workers(2), threading.Event()

    def fail(worker, next_row):
        if worker == 1:
            failing.set()
            raise ArithmeticError("row")
        failing.wait(10.0)

    with pytest.raises(ArithmeticError):
        workers.run(fail, 2)
    workers.run(lambda worker, next_row: None, 2)
    workers.close()


def test_an_interrupted_run_leaves_nothing_behind_for_the_next():
    workers, let_go, rows = Workers(2), threading.Event(), []
    begun = threading.Event()

    def hang(worker, next_row):
        begun.set()
        let_go.wait(10.0)

    helper = workers._take_helpers()[0]
    workers._idle = [helper]
    finish, helper.finish = helper.finish, lambda: (_ for _ in ()).throw(KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        workers.run(lambda worker, next_row: hang(worker, next_row) if worker else begun.wait(10.0), 2)
    workers.run(lambda worker, next_row: rows.append(worker), 2)
    assert 0 in rows
    let_go.set()
    assert finish() is None
    workers.close()


def test_threads_end_with_their_owner():
    workers, both = Workers(2), threading.Barrier(2)
    workers.run(lambda worker, next_row: both.wait(10.0), 2)
    thread = find_thread()
    del workers
    thread.join(10.0)
    assert not thread.is_alive()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_threads_start_again_in_a_forked_child():
    workers = Workers(2)
    workers.run(lambda *_: None, 2)
    child = os.fork()
    if child == 0:
        both = threading.Barrier(2)
        workers.run(lambda worker, next_row: both.wait(10.0), 2)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    workers.close()


def test_no_workers_is_refused():
    with pytest.raises(ValueError, match="at least 1"):
        Workers(0)
