"""What a batch on a device does of what settings ask for, and what it leaves to the batch of threads."""

from __future__ import annotations

import math
from collections.abc import Iterator

from donkeysim.core.errors import SpecError
from donkeysim.envs.autoreset import AutoresetMode
from donkeysim.envs.kernels.tasks import DISABLED, END_NAMES, NEXT_STEP, REWARD_NAMES, SAME_STEP, Rules
from donkeysim.envs.observations import check_observe
from donkeysim.envs.track_settings import TrackSettings
from donkeysim.world.randomization import list_knobs

OBSERVED = ("camera", "grey", "depth", "segmentation", "vector")
"""What cars of a batch on a device may see."""

NO_LIMIT = 1 << 31
"""More laps than anybody drives."""

_MODES = {AutoresetMode.NEXT_STEP: NEXT_STEP, AutoresetMode.SAME_STEP: SAME_STEP, AutoresetMode.DISABLED: DISABLED}

_INSTEAD = "or leave `device` out for a batch on threads, which takes it"


def make_rules(settings: TrackSettings, mode: AutoresetMode) -> Rules:
    """Return a task as numbers.

    Raises:
        SpecError: It, or anything else of the settings, is nothing that runs on a device.
    """
    settings.make_task()  # says what is wrong with names and limits
    for sentence in _list_refusals(settings):
        raise SpecError(sentence)
    ends = [settings.ends] if isinstance(settings.ends, str) else settings.ends
    return Rules(
        reward=REWARD_NAMES.index(str(settings.reward)),
        ends=sum(1 << END_NAMES.index(str(end)) for end in dict.fromkeys(ends)),
        time_limit=math.inf if settings.time_limit is None else float(settings.time_limit),
        lap_limit=NO_LIMIT if settings.lap_limit is None else math.ceil(settings.lap_limit),
        mode=_MODES[mode],
    )


def _list_refusals(settings: TrackSettings) -> Iterator[str]:
    """Yield a sentence for each thing that a device does not do."""
    if callable(settings.reward):
        yield (
            "the reward is a function, and a batch on a device cannot call it; "
            f"name one of {', '.join(REWARD_NAMES)}, {_INSTEAD}."
        )
    if any(map(callable, settings.ends)):
        yield (
            "an end is a function, and a batch on a device cannot call it; "
            f"name some of {', '.join(END_NAMES)}, {_INSTEAD}."
        )
    for name in check_observe(settings.observe):
        if name not in OBSERVED:
            yield f"{name!r} is not observed on a device; observe some of {', '.join(OBSERVED)}, {_INSTEAD}."
    if settings.experiment.log is not None:
        yield f"log is {settings.experiment.log!r}, and a batch on a device writes none; leave it out, {_INSTEAD}."
    for knob in list_knobs(settings.experiment.randomization):
        if knob.name.startswith("delay.") or knob.name == "picture.jpeg_quality":
            yield f"{knob.name} is not drawn on a device; leave it out of the randomization, {_INSTEAD}."
