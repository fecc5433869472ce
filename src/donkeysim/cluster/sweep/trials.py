"""The trainings of a sweep as Ray Tune sees them: each is a trial, and a searcher says which comes next.

Imported only where Ray is installed. Tune's own halving and population decide by who is done first, so that no two
sweeps are the same; its searcher may keep it waiting, and so a round ends before the next one is decided.
"""

from typing import Any

from ray import tune
from ray.tune.search import Searcher

from donkeysim.cluster.sweep.plan import Job, Plan, TrialResult
from donkeysim.cluster.sweep.store import TrialStore


class Trial(tune.Trainable):
    """Does trainings, one after another, in a process of its own."""

    def setup(self, config: dict[str, Any], **given: Any) -> None:
        """Begin with the first."""
        self._job: Job = config["job"]
        self._store: TrialStore = given["store"]

    def reset_config(self, new_config: dict[str, Any]) -> bool:
        """Take another job."""
        self._job = new_config["job"]
        return True

    def step(self) -> dict[str, Any]:
        """Do the training; its folder holds what came of it, these are for Tune's own records."""
        return {**self._store.do(self._job).figures, "done": True}


class Jobs(Searcher):
    """Gives Tune the jobs of a plan, and the plan their results."""

    def __init__(self, store: TrialStore, plan: Plan) -> None:
        """Give none yet."""
        super().__init__()
        self._store, self._plan = store, plan
        self._given: dict[str, Job] = {}

    def suggest(self, trial_id: str) -> Any:
        """Return the next job as Tune's configuration of a trial; None: not now; or that there is none left."""
        if self._plan.is_over:
            return Searcher.FINISHED
        job = self._plan.take()
        if job is None:
            return None
        self._given[trial_id] = job
        return {"job": job}

    def on_trial_complete(self, trial_id: str, *_result: Any, **_more: Any) -> None:
        """Tell the plan what came of a job."""
        job = self._given.pop(trial_id)
        found = self._store.read(job)
        self._plan.note(
            job, found or TrialResult(error=f"training {job.name} was not done: its worker died again and again.")
        )

    def __getstate__(self) -> dict[str, Any]:
        """Let Tune keep nothing, as all is in the folder and nobody resumes from Tune's own records."""
        return {}

    def save(self, checkpoint_path: str) -> None:
        """Write nothing: the folder knows all."""

    def restore(self, checkpoint_path: str) -> None:
        """Read nothing."""


class Watcher(tune.Callback):
    """Calls a function in each turn of Tune's loop."""

    def __init__(self, watch: Any) -> None:
        """Call this."""
        self._watch = watch

    def __getstate__(self) -> dict[str, Any]:
        """Let Tune keep nothing."""
        return {}

    def on_step_end(self, *_turn: Any, **_more: Any) -> None:
        """Call it."""
        self._watch()
