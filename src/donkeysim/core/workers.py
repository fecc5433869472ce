"""Threads that run a kernel over rows, one after another as each becomes free."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np

from donkeysim.core.types import LongArray


def count_cores() -> int:
    """Return how many cores this process may use; no more than OMP_NUM_THREADS says, which Ray sets for its workers."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    given = os.environ.get("OMP_NUM_THREADS", "")
    return min(cores, max(1, int(given))) if given.isdecimal() else cores


T = TypeVar("T")


def work_through(work: Callable[[T], object], parts: Iterable[T]) -> None:
    """Do work on all parts of something, on as many threads as there are processors."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for _ in pool.map(work, parts):
            pass


RowTask = Callable[[int, LongArray], None]
"""Called as task(worker_index, next_row) on each thread; it takes rows by `take_row` while there are any.
Which thread takes which row differs from run to run, so a row must depend on nothing that another one writes."""


class Workers:
    """Runs tasks over rows, on the calling thread alone when there is one worker or little to do.

    A row goes to the thread that is free first: one that wakes late, or shares its core with others, does less.
    The threads start at first use and again in a forked child, so a process may fork at any time.
    """

    def __init__(self, worker_count: int) -> None:
        if worker_count < 1:
            raise ValueError(f"worker_count is {worker_count}; at least 1 is needed.")
        self.worker_count = worker_count
        self._idle: list[_Helper] = []
        self._process = 0

    def run(self, task: RowTask, row_count: int, smallest: int = 1) -> None:
        """Run `task` over the rows [0, row_count), on as many threads as have at least `smallest` rows each."""
        next_row: LongArray = np.zeros(1, np.int64)
        helper_count = min(self.worker_count, max(1, row_count // max(1, smallest))) - 1
        if helper_count == 0:
            task(0, next_row)
            return
        helpers = self._take_helpers()
        for index, helper in enumerate(helpers[:helper_count], 1):
            helper.begin(task, index, next_row)
        try:
            task(0, next_row)
        finally:
            errors = [helper.finish() for helper in helpers[:helper_count]]
            self._idle = helpers
        for error in errors:
            if error is not None:
                raise error

    def close(self) -> None:
        """Stop the threads; they start again at the next `run`."""
        _stop(self._idle)

    def _take_helpers(self) -> list[_Helper]:
        """Return threads that nobody else gives tasks; an interrupted run has not given its own back."""
        helpers, self._idle = self._idle, []
        if not helpers or self._process != os.getpid():
            self._process = os.getpid()
            helpers = [_Helper() for _ in range(1, self.worker_count)]
            weakref.finalize(self, _stop, helpers)
        return helpers


class _Helper:
    """A thread that waits for tasks. Two locks hand them to and fro, which takes a tenth of what an executor does."""

    def __init__(self) -> None:
        self._task: Callable[[], None] | None = None
        self._error: BaseException | None = None
        self._begun, self._done = threading.Lock(), threading.Lock()
        self._begun.acquire()
        self._done.acquire()
        threading.Thread(target=self._serve, name="donkeysim-worker", daemon=True).start()

    def begin(self, task: RowTask, index: int, next_row: LongArray) -> None:
        """Let the thread run a task."""
        self._task = lambda: task(index, next_row)
        self._begun.release()

    def finish(self) -> BaseException | None:
        """Wait for the task and return its error; one that the thread has not begun yet is dropped: no row is left."""
        if not self._begun.acquire(blocking=False):
            self._done.acquire()
        error, self._error, self._task = self._error, None, None
        return error

    def stop(self) -> None:
        """End the thread."""
        self._task = None
        self._begun.release()

    def _serve(self) -> None:
        while True:
            self._begun.acquire()
            if self._task is None:
                return
            try:
                self._task()
            except BaseException as error:  # noqa: BLE001  (`run` raises it)
                self._error = error
            self._done.release()


def _stop(helpers: list[_Helper]) -> None:
    for helper in helpers:
        helper.stop()
    helpers.clear()


def take_row(next_row: LongArray) -> int:
    """Return the number in `next_row[0]` and make it one more; in kernels in one go: no two threads get the same.

    Args:
        next_row: Of 64-bit whole numbers, shape [1]; the rows before its number are taken.
    """
    row = int(next_row[0])
    next_row[0] += 1
    return row
