"""On which line of a TOML file a value stands; `tomllib` reads values but does not tell.

The text is one that `tomllib` has read without a complaint, so only what is needed to count is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

Step = str | int
"""A key of a table, or an index in a list."""

_TOKEN = re.compile(
    r'(?P<text>"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\])*"|\'[^\']*\')'
    r"|(?P<comment>#[^\n]*)|(?P<end>\n)|(?P<mark>[\[\]{}=,])|(?P<word>[^\s\[\]{}=,#\"']+)",
    re.DOTALL,
)


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


def map_lines(text: str) -> dict[tuple[Step, ...], int]:
    """Return the line, counted from 1, on which each table, key and element of a list begins.

    Args:
        text: A TOML document.

    Returns:
        By place: ("props", 1, "kind") is the key `kind` of the second `[[props]]`.
    """
    return _Scanner(text).scan()


class _Scanner:
    def __init__(self, text: str) -> None:
        self._tokens = list(_split(text))
        self._at = 0
        self._lines: dict[tuple[Step, ...], int] = {}
        self._count: dict[tuple[Step, ...], int] = {}

    def scan(self) -> dict[tuple[Step, ...], int]:
        table: tuple[Step, ...] = ()
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            if token.kind == "end":
                self._at += 1
            elif token.text == "[" and token.kind == "mark":
                table = self._read_header()
            else:
                self._read_pair(table)
        return self._lines

    def _peek(self) -> _Token | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _read_header(self) -> tuple[Step, ...]:
        line = self._tokens[self._at].line
        self._at += 1
        is_list = self._take("[")
        place = self._enter((), self._read_key("]"))
        self._at += 1 + is_list
        if is_list:
            self._lines.setdefault(place, line)
            self._count[place] = self._count.get(place, -1) + 1
            place = (*place, self._count[place])
        self._lines[place] = line
        return place

    def _enter(self, table: tuple[Step, ...], keys: list[str]) -> tuple[Step, ...]:
        """Return the place of a key, through the last element of every list of tables on the way."""
        for index, key in enumerate(keys):
            table = (*table, key)
            if index < len(keys) - 1 and table in self._count:
                table = (*table, self._count[table])
        return table

    def _read_pair(self, table: tuple[Step, ...]) -> None:
        line = self._tokens[self._at].line
        place = self._enter(table, self._read_key("="))
        self._at += 1
        for length in range(len(table) + 1, len(place)):  # the tables that a dotted key makes
            self._lines.setdefault(place[:length], line)
        self._lines[place] = line
        self._read_value(place)

    def _read_key(self, end: str) -> list[str]:
        keys: list[str] = []
        while (token := self._peek()) is not None and token.text != end:
            self._at += 1
            if token.kind == "text":
                keys.append(token.text[1:-1])
            else:
                keys += filter(None, token.text.split("."))
        return keys

    def _read_value(self, place: tuple[Step, ...]) -> None:
        if self._take("["):
            self._read_list(place)
        elif self._take("{"):
            self._read_inline_table(place)
        else:
            while (token := self._peek()) is not None and token.kind in ("text", "word"):
                self._at += 1

    def _read_list(self, place: tuple[Step, ...]) -> None:
        index = 0
        while (token := self._skip_ends()) is not None and token.text != "]":
            self._lines[(*place, index)] = token.line
            self._read_value((*place, index))
            self._skip_ends()
            if not self._take(","):
                break
            index += 1
        self._skip_ends()
        self._at += 1

    def _read_inline_table(self, place: tuple[Step, ...]) -> None:
        while (token := self._skip_ends()) is not None and token.text != "}":
            self._read_pair(place)
            self._skip_ends()
            if not self._take(","):
                break
        self._skip_ends()
        self._at += 1

    def _skip_ends(self) -> _Token | None:
        while (token := self._peek()) is not None and token.kind == "end":
            self._at += 1
        return token

    def _take(self, mark: str) -> bool:
        token = self._peek()
        is_there = token is not None and token.kind == "mark" and token.text == mark
        self._at += is_there
        return is_there


def _split(text: str) -> Iterator[_Token]:
    line = 1
    for match in _TOKEN.finditer(text):
        kind = str(match.lastgroup)
        if kind != "comment":
            yield _Token(kind, match[0], line)
        line += match[0].count("\n")
