"""Threads that run a kernel over ranges of rows."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

RangeTask = Callable[[int, int, int], None]
"""Called as task(worker_index, begin, end) for the rows [begin, end)."""


class Workers:
    """Runs tasks over ranges of rows, on the calling thread when there is one worker or little to do.

    The threads start at first use and again in a forked child, so a process may fork at any time.
    """

    def __init__(self, worker_count: int) -> None:
        if worker_count < 1:
            raise ValueError(f"worker_count is {worker_count}; at least 1 is needed.")
        self.worker_count = worker_count
        self._pool: ThreadPoolExecutor | None = None
        self._process = 0

    def run(self, task: RangeTask, row_count: int, smallest: int = 1) -> None:
        """Run `task` over [0, row_count), split into one range per worker of at least `smallest` rows."""
        range_count = min(self.worker_count, max(1, row_count // max(1, smallest)))
        if range_count == 1:
            task(0, 0, row_count)
            return
        edges = [row_count * index // range_count for index in range(range_count + 1)]
        pool = self._ensure_pool()
        futures = [pool.submit(task, index, edges[index], edges[index + 1]) for index in range(1, range_count)]
        task(0, edges[0], edges[1])
        for future in futures:
            future.result()

    def close(self) -> None:
        """Stop the threads; they start again at the next `run`."""
        if self._pool is not None and self._process == os.getpid():
            self._pool.shutdown()
        self._pool = None

    def _ensure_pool(self) -> ThreadPoolExecutor:
        if self._pool is None or self._process != os.getpid():
            self._process = os.getpid()
            self._pool = ThreadPoolExecutor(self.worker_count - 1, thread_name_prefix="donkeysim-worker")
        return self._pool
