"""Doing the trainings of a sweep: one after another in this process, or as trials of Ray Tune."""

import logging
import os
from collections.abc import Callable
from typing import Any

from donkeysim.cluster.executor import MOST_RETRIES, Executor
from donkeysim.cluster.sweep.plan import Job, Plan
from donkeysim.cluster.sweep.store import TUNE, TrialStore
from donkeysim.core.errors import SpecError, import_extra

Watch = Callable[[], None]
"""Is called now and then while trainings are under way; quick."""


def run_sweep(store: TrialStore, executor: Executor, plan: Plan, watch: Watch) -> None:
    """Do all trainings that are left; ends early, with the plan not over, on Ctrl-C.

    Args:
        plan: Which trainings; knows all that is done, then.

    Raises:
        DonkeySimError: The cluster cannot be reached, or a file cannot be written.
    """
    if executor.address is not None and executor.address.startswith("ray://"):
        raise SpecError(
            f"--address {executor.address} is a client's; give auto or HOST:PORT, on a machine of the cluster."
        )
    with store.locked():
        store.clear()
        _skip_done(store, plan)
        if executor.workers == 0:
            _run_here(store, plan, watch)
        elif not plan.is_over:
            _run_trials(store, executor, plan, watch)
        store.clear()


def _skip_done(store: TrialStore, plan: Plan) -> None:
    """Note all that an earlier call has done; rounds are decided as they were then."""
    postponed: list[Job] = []
    while not plan.is_over:
        job = plan.take()
        if job is None:
            break
        if (result := store.read(job)) is not None:
            plan.note(job, result)
        else:
            postponed.append(job)
    plan.postpone(postponed)


def _run_here(store: TrialStore, plan: Plan, watch: Watch) -> None:
    try:
        while (job := plan.take()) is not None:
            watch()
            plan.note(job, store.do(job))
    except KeyboardInterrupt:
        pass
    watch()


def _run_trials(store: TrialStore, executor: Executor, plan: Plan, watch: Watch) -> None:
    # Files for programs that nobody asked for, and a table of its own.
    os.environ.setdefault("TUNE_DISABLE_AUTO_CALLBACK_LOGGERS", "1")
    os.environ.setdefault("RAY_AIR_NEW_OUTPUT", "0")
    os.environ.setdefault("RAY_CHDIR_TO_TRIAL_DIR", "0")
    tune = import_extra("ray.tune", "a sweep on several processes needs Ray Tune", "cluster")
    from donkeysim.cluster.sweep.trials import Jobs, Trial, Watcher

    logging.getLogger("ray.tune").setLevel(logging.CRITICAL)  # a worker that dies is replaced, and the table says so
    with executor.open_ray():
        tuner = tune.Tuner(
            tune.with_parameters(Trial, store=store),
            tune_config=tune.TuneConfig(
                search_alg=Jobs(store, plan),
                num_samples=-1,
                reuse_actors=True,
                max_concurrent_trials=executor.workers if executor.address else None,
                trial_name_creator=_name_trial,
                trial_dirname_creator=_name_trial,
            ),
            run_config=tune.RunConfig(
                name=TUNE,
                storage_path=str(store.folder),
                verbose=0,
                failure_config=tune.FailureConfig(max_failures=MOST_RETRIES),
                checkpoint_config=tune.CheckpointConfig(checkpoint_at_end=False),
                callbacks=[Watcher(watch)],
            ),
        )
        tuner.fit()
    watch()


def _name_trial(trial: Any) -> str:
    return str(trial.trial_id)
