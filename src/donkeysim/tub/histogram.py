"""Pictures of tubs: how often each value occurs, and what a pilot would have done next to what the driver did."""

import io
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from donkeysim.core.errors import TubError, describe_unknown, import_extra
from donkeysim.core.files import write_whole
from donkeysim.core.types import FloatArray
from donkeysim.tub.reader import TubReader
from donkeysim.tub.values import read_number

BIN_COUNT = 50
DRAWN_MOST = 1e100
"""Numbers beyond have no axis: their span is not a number."""
_PANEL = (5.0, 3.0)  # inch

_USER_COLOUR, _PILOT_COLOUR = "#3b7dd8", "#e8743b"


def gather_numbers(tubs: Sequence[TubReader]) -> dict[str, list[float]]:
    """Return all numbers of the living records by key; truth values, other texts, nan, inf and beyond are none."""
    numbers: dict[str, list[float]] = {}
    for tub in tubs:
        for record in tub:
            for key, value in record.values.items():
                if (number := read_number(value)) is not None and abs(number) < DRAWN_MOST:
                    numbers.setdefault(key, []).append(number)
    return numbers


def choose_key(numbers: Mapping[str, list[float]], key: str | None) -> dict[str, list[float]]:
    """Return the numbers of one key, or of all when none is named.

    Raises:
        TubError: There are none.
    """
    if not numbers:
        raise TubError("these tubs hold no numbers to count.")
    if key is None:
        return dict(sorted(numbers.items()))
    if key not in numbers:
        raise TubError(describe_unknown("numeric key", key, numbers))
    return {key: numbers[key]}


def name_histogram(tub: Path, key: str | None) -> str:
    """Return the file name the original would choose, after the last tub."""
    return f"{tub.name}_hist.png" if key is None else f"{tub.name}_hist_{key.replace('/', '_')}.png"


def draw_histograms(numbers: Mapping[str, list[float]], path: Path) -> None:
    """Save a PNG with a histogram of `BIN_COUNT` bins for each key.

    Raises:
        DonkeySimError: matplotlib is not installed, or the file cannot be written.
    """
    columns = min(len(numbers), 3)
    rows = -(-len(numbers) // columns)
    figure = make_figure((_PANEL[0] * columns, _PANEL[1] * rows))
    for place, (key, values) in enumerate(numbers.items(), start=1):
        axes = figure.add_subplot(rows, columns, place)
        axes.hist(values, bins=BIN_COUNT, color="#3b7dd8")
        axes.set_title(f"{key} ({len(values):,} records)", fontsize=10)
        axes.grid(alpha=0.3)
    save_figure(figure, path, dpi=100)


def save_figure(figure: Any, path: Path, dpi: int) -> None:
    """Write a figure as a PNG file, whole or not at all.

    Raises:
        DonkeySimError: It cannot be written.
    """
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=dpi)
    write_whole(path, content.getvalue())


def make_figure(size: tuple[float, float]) -> Any:
    """Return an empty matplotlib figure that needs no display.

    Args:
        size: Width and height [inch].

    Raises:
        DonkeySimError: matplotlib is not installed.
    """
    logging.getLogger("matplotlib.font_manager").setLevel(logging.WARNING)  # its list of fonts is no news to users
    return import_extra("matplotlib.figure", "plots need matplotlib").Figure(figsize=size, layout="constrained")


def draw_comparison(driven: Sequence[Sequence[float]], said: Sequence[Sequence[float]], title: str, path: Path) -> None:
    """Save a PNG with angle above throttle.

    Args:
        driven: Angle and throttle of the driver for each record.
        said: Angle and throttle of the pilot for each record.

    Raises:
        DonkeySimError: matplotlib is not installed.
    """
    figure = make_figure((12.0, 7.0))
    figure.suptitle(title, fontsize=10)
    user, pilot = np.array(driven, np.float64), np.array(said, np.float64)
    for row, name in enumerate(("angle", "throttle")):
        axes = figure.add_subplot(2, 1, row + 1)
        axes.plot(user[:, row], color=_USER_COLOUR, linewidth=1, label=f"user {name}")
        axes.plot(pilot[:, row], color=_PILOT_COLOUR, linewidth=1, label=f"pilot {name}")
        axes.set_ylabel(name)
        axes.set_title(describe_error(user[:, row], pilot[:, row]), fontsize=9, loc="left")
        axes.grid(alpha=0.3)
        axes.legend(loc="lower right")
    axes.set_xlabel("record")
    save_figure(figure, path, dpi=100)


def describe_error(driven: FloatArray, said: FloatArray) -> str:
    """Return mean absolute difference, and correlation where both vary, shape [record_count] each, in one line."""
    text = f"mean difference {np.abs(driven - said).mean():.3f}"
    if driven.std() > 1e-9 and said.std() > 1e-9:
        text += f", correlation {np.corrcoef(driven, said)[0, 1]:.2f}"
    return text
