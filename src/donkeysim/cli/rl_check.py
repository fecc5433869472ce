"""What can be said of the words of `donkey rl` before anything is imported that takes seconds."""

import argparse
from pathlib import Path

from donkeysim.cli.shared_options import find_car
from donkeysim.core.errors import SpecError
from donkeysim.core.files import check_place, read_python

REWARD_ADVICE = "give a file with a reward_function(params)"


def check_request(arguments: argparse.Namespace) -> None:
    """Check ports, names and files.

    Raises:
        DonkeySimError: One of them is not possible, or nothing can be written where it is asked for.
    """
    from donkeysim.learn.files.model_file import check_ending, check_exists
    from donkeysim.web.serving import check_port
    from donkeysim.world.randomization import read_randomization
    from donkeysim.world.specs import SceneSpec
    from donkeysim.world.tracks.catalogue import find_road

    check_port(arguments.page)
    check_limit(arguments.minutes, arguments.steps)
    for name in (*(arguments.tracks or ()), *(arguments.test or ())):
        if arguments.tracks != ["all"] or name != "all":
            find_road(SceneSpec(name))  # reads its file
    find_car(arguments.car, arguments.camera)
    read_randomization(arguments.randomization or None)
    if arguments.source:
        check_ending(Path(arguments.source))
        check_exists(Path(arguments.source))
    if arguments.reward and not arguments.teacher:  # a task says that both are too much
        read_python(Path(arguments.reward), REWARD_ADVICE)
    check_place(Path(arguments.out or arguments.resume or "."))


def check_limit(minutes: float | None, steps: int | None) -> None:
    """Raise a SpecError where learning would never end, or at once."""
    if minutes is not None and not minutes > 0:
        raise SpecError(f"--minutes {minutes:g} is not valid; it takes a number above 0.")
    if steps is not None and steps < 1:
        raise SpecError(f"--steps {steps} is not valid; it takes a whole number above 0.")
