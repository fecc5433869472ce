"""Pictures of a log that is played, a twentieth of a simulated second apart, in any size."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from donkeysim.core.errors import SpecError, describe_unknown, shorten
from donkeysim.core.types import ByteArray
from donkeysim.record.action_log import LogReader
from donkeysim.record.replay import Replay
from donkeysim.sim import commands
from donkeysim.sim.simulator import STEPS_PER_FRAME
from donkeysim.sim.viewpoint import draw_car

VIEWS = ("chase", "seat", "camera", "top")
"""From behind the car, from its camera's place drawn anew, what its own camera sees, from above."""

LEAST_SIDE, GREATEST_SIDE = 16, 4096
"""Of a film's picture [pixel]."""


class FilmSize(NamedTuple):
    """Of a film's picture."""

    width: int
    height: int


SIZE = FilmSize(640, 360)
"""Where no other is asked for."""


def read_size(text: str | None) -> FilmSize | None:
    """Return the size that a text such as "1280x720" gives; None for none.

    Raises:
        SpecError: It gives none, or one that a film cannot have.
    """
    if text is None:
        return None
    found = re.fullmatch(r"([0-9]{1,5})x([0-9]{1,5})", text)
    sides = [int(side) for side in found.groups()] if found else []
    if not sides or any(side % 2 or not LEAST_SIDE <= side <= GREATEST_SIDE for side in sides):
        raise SpecError(
            f"the size is {shorten(text)!r}; it takes columns and rows such as 1280x720, both even, "
            f"{LEAST_SIDE} to {GREATEST_SIDE}."
        )
    return FilmSize(*sides)


def draw_replay(
    replay: Replay,
    view: str = "chase",
    car: int | str = 0,
    size: FilmSize | None = None,
    report: Callable[[int, int], None] | None = None,
) -> Iterator[ByteArray]:
    """Play a log to its end and yield pictures, shape [height, width, 3] with even sides, each valid until the next.

    Args:
        replay: Not played yet.
        view: One of `VIEWS`.
        car: Row of the car that is shown, or its name; there are no pictures of the time when it is off the track.
        size: Of the pictures; None: `SIZE`. A car's own camera has its own size, enlarged by whole pixels.
        report: See `Replay.play`.

    Raises:
        SpecError: There is no such view or car, or the view has a size of its own.
    """
    if view not in VIEWS:
        raise SpecError(describe_unknown("view", view, VIEWS))
    if view == "camera" and size is not None:
        raise SpecError(
            "the view camera shows a car's own pictures as they are, so it takes no size; the view seat is the same "
            "place in any size."
        )
    return _draw(replay, view, _check_car(replay, car), size or SIZE, report)


def _check_car(replay: Replay, car: int | str) -> int | str:
    """Return a car's row or name; a number is a row where no car is called so."""
    if isinstance(car, str):
        names = list_names(replay.path)
        if car in names:
            return car
        if not re.fullmatch(r"-?[0-9]{1,9}", car):
            raise SpecError(describe_unknown("car", car, names) if names else "no car of this log has a name.")
    row, count = int(car), replay.simulator.car_count
    if not 0 <= row < count:
        raise SpecError(f"there is no car {row}; the log has the cars 0 to {count - 1}.")
    return row


def list_names(path: Path) -> list[str]:
    """Return the names that cars of a log have, each once."""
    names: dict[str, None] = {}
    for event in LogReader(path).read_events():
        bodies = event.bodies if isinstance(event, commands.Join) else []
        bodies = [event.body] if isinstance(event, commands.Dress) else bodies
        names.update(dict.fromkeys(body.name for body in bodies if body is not None and body.name))
    return list(names)


def _draw(
    replay: Replay, view: str, car: int | str, size: FilmSize, report: Callable[[int, int], None] | None
) -> Iterator[ByteArray]:
    simulator, due = replay.simulator, 0
    for count in replay.play(to_the_end=True, report=report):
        due += count
        rows = [row for row in simulator.list_cars() if car in (row, simulator.get_body(row).name)]
        for row in rows[:1] * (due // STEPS_PER_FRAME):
            yield _look_out(replay, row) if view == "camera" else _frame(draw_car(simulator, row, view, *size), size)
        due %= STEPS_PER_FRAME


def _frame(picture: ByteArray, size: FilmSize) -> ByteArray:
    """Return a picture in the middle of a black one of this size, if it is smaller."""
    rows, columns, _ = picture.shape
    if (columns, rows) == size:
        return picture
    framed = np.zeros((size.height, size.width, 3), np.uint8)
    top, left = (size.height - rows) // 2, (size.width - columns) // 2
    framed[top : top + rows, left : left + columns] = picture
    return framed


def _look_out(replay: Replay, car: int) -> ByteArray:
    """Return the picture of the car's camera, of the one all cars have if it has none, enlarged by whole pixels."""
    simulator = replay.simulator
    if simulator.get_camera(car) is None:
        simulator.configure_camera(car, simulator.car_spec.camera)
    simulator.render((car,))
    picture = simulator.get_picture(car)
    factor = max(2, 2 * round(SIZE.height / picture.shape[0] / 2))
    return np.repeat(np.repeat(picture, factor, axis=0), factor, axis=1)
