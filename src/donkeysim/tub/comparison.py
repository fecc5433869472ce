"""What a pilot would have done next to what the driver did, over the records of a drive, as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from donkeysim.core.types import FloatArray
from donkeysim.tub.histogram import make_figure, save_figure

_USER_COLOUR, _PILOT_COLOUR = "#3b7dd8", "#e8743b"


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
