"""Runs a function for many numbers: in this process, or as tasks of Ray on this machine or a cluster.

A task may run twice, as a worker may be killed in the middle of one, so functions must give the same for the same
arguments and leave nothing half done.
"""

import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from donkeysim.core.errors import DonkeySimError, SpecError, import_extra

T = TypeVar("T")

# A task that kills its worker five times, as one that needs too much memory does, will do so again.
MOST_RETRIES = 5
"""How often a task begins anew whose worker was killed."""

SETTINGS = {
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # it hides GPUs from tasks that ask for none, and warns of it
    "RAY_USAGE_STATS_ENABLED": "0",  # reports to its makers how it is used
    "RAY_prestart_worker_first_driver": "0",  # workers for tasks; actors get others, and those would be in vain
    "LOG_NAME_UPDATE_INTERVAL_S": "60",  # looks for new logs [s]; nobody reads them here
}
"""Environment of Ray where donkeysim starts it, unless the environment says otherwise."""


TOKEN_SETTINGS = ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")
"""Where Ray looks for the word that opens it; a file in the user's home is the last."""


def guard_ray() -> None:
    """Let the Ray that this process starts answer to its own processes only: its ports are open to the network.

    Ray asks for a token by itself. This one is in the environment of these processes, which no other user can read;
    what the environment says of it already stays.
    """
    if not any(name in os.environ for name in TOKEN_SETTINGS):
        os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)


@dataclass(frozen=True)
class Executor:
    """Runs a function for many numbers, in this process or with Ray.

    Attributes:
        workers: Processes, at a cluster the most that are used at once; 0: this one alone, without Ray; None: one per
            core, or all of a cluster.
        address: Of a cluster that runs, such as "auto" or "ray://host:10001"; None: this machine.

    Raises:
        SpecError: There cannot be that many, or none is asked for at a cluster.
    """

    workers: int | None = None
    address: str | None = None

    def __post_init__(self) -> None:
        if self.workers is not None and self.workers < 0:
            raise SpecError(f"{self.workers} workers are not valid; it takes 1 or more, or 0 for this process alone.")
        if self.workers == 0 and self.address is not None:
            raise SpecError("0 workers mean this process alone, so no --address; leave one of them out.")

    def run(self, function: Callable[..., T], *shared: Any, over: Iterable[int]) -> Iterator[T]:
        """Yield what `function(*shared, number)` returns, as each is done.

        Args:
            function: At the top level of a module.
            *shared: The same for all.

        Raises:
            DonkeySimError: A task failed, or the cluster cannot be reached.
        """
        if self.workers == 0:
            return (function(*shared, number) for number in over)
        return self._run_tasks(function, shared, over)

    def _run_tasks(self, function: Callable[..., T], shared: tuple[Any, ...], over: Iterable[int]) -> Iterator[T]:
        with self.open_ray() as ray:
            yield from self._yield_results(ray, function, shared, over)

    def _yield_results(
        self, ray: Any, function: Callable[..., T], shared: tuple[Any, ...], over: Iterable[int]
    ) -> Iterator[T]:
        try:
            task = ray.remote(max_retries=MOST_RETRIES)(function)
            given = [ray.put(argument) for argument in shared]
            waiting: list[Any] = []
            numbers = iter(over)
            cores = max(1, int(ray.cluster_resources().get("CPU", 1)))
            # At a cluster that others use too, no more than asked for are under way.
            most = self.workers if self.workers and self.address else 2 * cores
            while True:
                # A few more than there are workers: nobody waits for work, and a stop leaves little begun.
                waiting += [task.remote(*given, number) for number in islice(numbers, most - len(waiting))]
                if not waiting:
                    return
                done, waiting = ray.wait(waiting)
                yield ray.get(done[0])
        except ray.exceptions.RayTaskError as error:
            cause = error.cause
            if isinstance(cause, DonkeySimError):
                raise type(cause)(str(cause)) from error
            raise

    @contextmanager
    def open_ray(self) -> Iterator[Any]:
        """Be connected to Ray while the block runs; gives its module.

        Raises:
            DonkeySimError: Ray is not installed, does not start, or the cluster cannot be reached.
        """
        if self.address is None:
            guard_ray()
        ray = import_extra("ray", "work on several processes needs Ray", "cluster")
        owned = self._join(ray)
        try:
            yield ray
        finally:
            if owned:
                ray.shutdown()

    def _join(self, ray: Any) -> bool:
        """Connect to Ray; return whether this call did."""
        if ray.is_initialized():
            return False
        quiet = {"log_to_driver": False, "include_dashboard": False, "logging_level": "ERROR"}
        for name, value in SETTINGS.items():
            os.environ.setdefault(name, value)
        try:
            if self.address is not None:
                ray.init(self.address, log_to_driver=False, logging_level="ERROR")
            else:
                # Else it would join a cluster that somebody has started on this machine, or refuse to.
                ray.init("local", num_cpus=self.workers, **quiet)
        except (ConnectionError, RuntimeError, ValueError) as error:
            what = f"the cluster at {self.address} cannot be reached" if self.address else "Ray cannot start here"
            raise DonkeySimError(f"{what} ({error}).") from error
        return True
