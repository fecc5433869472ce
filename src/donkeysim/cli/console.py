"""What commands show on the terminal: one console, and a progress bar for whatever takes longer than a second."""

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Column, Table

console = Console(highlight=False, markup=False, emoji=False)
"""Standard output; plain text when it is not a terminal. Names of files and people's words are shown as they are."""

Report = Callable[[int, int], None]
"""Called as report(done, total), often; cheap."""


@contextmanager
def show_progress(description: str) -> Iterator[Report]:
    """Show a bar while the block runs, on a terminal only; the block says how much of how much is done."""
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_interactive) as progress:
        task = progress.add_task(description, total=None)

        def report(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        yield report


def make_table(title: str, headings: Iterable[str], left: Collection[str] = (), **options: Any) -> Table:
    """Return an empty table whose columns hold numbers, at the right, but for those of `left`, which hold words."""
    columns = [Column(name, justify="left" if name in left else "right", overflow="fold") for name in headings]
    return Table(*columns, title=title, **options)
