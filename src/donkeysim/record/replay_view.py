"""Pictures of a log that is played, a twentieth of a simulated second apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from donkeysim.core.errors import SpecError, describe_unknown
from donkeysim.core.types import ByteArray
from donkeysim.record.replay import Replay
from donkeysim.sim.simulator import STEPS_PER_FRAME
from donkeysim.sim.viewpoint import draw_car

VIEWS = ("chase", "camera", "top")
"""From behind the car, from its own camera, from above."""

WIDTH, HEIGHT = 640, 360
"""Of a view from outside [pixel]."""


def draw_replay(
    replay: Replay, view: str = "chase", car: int = 0, report: Callable[[int, int], None] | None = None
) -> Iterator[ByteArray]:
    """Play a log to its end and yield pictures, shape [height, width, 3] with even sides, each valid until the next.

    Args:
        replay: Not played yet.
        view: One of `VIEWS`.
        car: Row of the car that is shown.
        report: See `Replay.play`.

    Raises:
        SpecError: There is no such view or car.
    """
    if view not in VIEWS:
        raise SpecError(describe_unknown("view", view, VIEWS))
    count = replay.simulator.car_count
    if not 0 <= car < count:
        raise SpecError(f"there is no car {car}; the log has the cars 0 to {count - 1}.")
    return _draw(replay, view, car, report)


def _draw(replay: Replay, view: str, car: int, report: Callable[[int, int], None] | None) -> Iterator[ByteArray]:
    due = 0
    for count in replay.play(to_the_end=True, report=report):
        due += count
        for _ in range(due // STEPS_PER_FRAME):
            outside = (replay.simulator, car, view, WIDTH, HEIGHT)
            yield _look_out(replay, car) if view == "camera" else draw_car(*outside)
        due %= STEPS_PER_FRAME


def _look_out(replay: Replay, car: int) -> ByteArray:
    """Return the picture of the car's camera, of the one all cars have if it has none, enlarged by whole pixels."""
    simulator = replay.simulator
    if simulator.get_camera(car) is None:
        simulator.configure_camera(car, simulator.car_spec.camera)
    simulator.render((car,))
    picture = simulator.get_picture(car)
    factor = max(2, 2 * round(HEIGHT / picture.shape[0] / 2))
    return np.repeat(np.repeat(picture, factor, axis=0), factor, axis=1)
