"""Where rule books are: those of the package by name, a club's own by path."""

from __future__ import annotations

from pathlib import Path

from donkeysim.core.config import read_dataclass, read_toml
from donkeysim.core.errors import SpecError, describe_unknown
from donkeysim.racing.rules.rule_book import RuleBook

_BOOKS = Path(__file__).parent / "books"


def list_rule_books() -> list[str]:
    """Return the names of the rule books in the package."""
    return sorted(path.stem for path in _BOOKS.glob("*.toml"))


def find_rule_book(name: str) -> Path:
    """Return the file of a rule book.

    Args:
        name: Of one in the package, or the path of a club's own, which ends in `.toml`.

    Raises:
        SpecError: There is none.
    """
    if name.endswith(".toml"):
        path = Path(name).expanduser()
        if not path.is_file():
            raise SpecError(f"there is no rule book {path}; give a file, or one of {', '.join(list_rule_books())}.")
        return path
    if name not in list_rule_books():
        raise SpecError(describe_unknown("rule book", name, list_rule_books()) + " A club's own is a path to a .toml.")
    return _BOOKS / f"{name}.toml"


def load_rule_book(name: str) -> RuleBook:
    """Return a rule book; see `find_rule_book`.

    Raises:
        SpecError: There is none, or a key or value of it is wrong; the text names file and line.
    """
    path = find_rule_book(name)
    return read_dataclass(RuleBook, read_toml(path), path)
