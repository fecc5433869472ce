"""Ranges of rows cover every row once, on any number of threads, and after a fork."""

import os
import threading

import pytest

from donkeysim.core.workers import Workers


@pytest.mark.parametrize("worker_count", [1, 2, 5])
@pytest.mark.parametrize("row_count", [0, 1, 3, 64])
def test_every_row_is_visited_once(worker_count, row_count):
    seen = []
    lock = threading.Lock()

    def visit(worker, begin, end):
        assert 0 <= worker < worker_count
        with lock:
            seen.extend(range(begin, end))

    workers = Workers(worker_count)
    workers.run(visit, row_count)
    workers.close()
    assert sorted(seen) == list(range(row_count))


def test_an_error_in_a_range_reaches_the_caller():
    def fail(worker, begin, end):
        if begin:
            raise ArithmeticError("row")

    with pytest.raises(ArithmeticError):
        Workers(2).run(fail, 2)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_threads_start_again_in_a_forked_child():
    workers = Workers(2)
    workers.run(lambda *_: None, 2)
    child = os.fork()
    if child == 0:
        rows = []
        workers.run(lambda _, begin, end: rows.extend(range(begin, end)), 2)
        os._exit(0 if sorted(rows) == [0, 1] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    workers.close()


def test_no_workers_is_refused():
    with pytest.raises(ValueError, match="at least 1"):
        Workers(0)
