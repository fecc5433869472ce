"""One figure of the original beside ours."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One figure.

    Attributes:
        name: What is measured.
        original: The original's figure.
        ours: Ours.
        unit: Of both.
        allowed: By how much ours may differ.
    """

    name: str
    original: float
    ours: float
    unit: str
    allowed: float

    @property
    def is_met(self) -> bool:
        """Whether ours is near enough."""
        return abs(self.ours - self.original) <= self.allowed


def print_rows(rows: Sequence[Row]) -> None:
    """Print a table as the docs have it; a figure that is too far off is marked."""
    print("| figure | unit | original | here | allowed | |")
    print("|---|---|---:|---:|---:|---|")
    for row in rows:
        numbers = " | ".join(f"{value:.4g}" for value in (row.original, row.ours))
        print(f"| {row.name} | {row.unit} | {numbers} | ±{row.allowed:.2g} | {'' if row.is_met else 'too far off'} |")
