"""On which line of a TOML file a value stands; `tomllib` reads values but does not say.

The text is one that `tomllib` has read without a complaint, so only what is needed to count is looked at.
"""

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

    Returns:
        By place: ("props", 1, "kind") is the key `kind` of the second `[[props]]`.
    """
    return _Scanner(text).scan()


_END = _Token("end", "", 0)


class _Scanner:
    """Walks over the tokens; a text that is no TOML any more only gives fewer places."""

    def __init__(self, text: str) -> None:
        self._tokens = list(_split(text))
        self._at = 0
        self._lines: dict[tuple[Step, ...], int] = {}
        self._count: dict[tuple[Step, ...], int] = {}

    def scan(self) -> dict[tuple[Step, ...], int]:
        table: tuple[Step, ...] = ()
        while self._at < len(self._tokens):
            line = self._peek().line
            if self._take("["):
                table = self._read_header(line)
            elif not self._take("\n"):
                self._read_pair(table)
        return self._lines

    def _peek(self) -> _Token:
        return self._tokens[self._at] if self._at < len(self._tokens) else _END

    def _take(self, text: str) -> bool:
        is_there = self._peek().text == text
        self._at += is_there
        return is_there

    def _read_header(self, line: int) -> tuple[Step, ...]:
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
        line = self._peek().line
        place = self._enter(table, self._read_key("="))
        self._at += 1
        for length in range(len(table) + 1, len(place)):  # the tables that a dotted key makes
            self._lines.setdefault(place[:length], line)
        self._lines[place] = line
        self._read_value(place)

    def _read_key(self, end: str) -> list[str]:
        keys: list[str] = []
        while (token := self._peek()).text not in (end, _END.text):
            self._at += 1
            keys += [token.text[1:-1]] if token.kind == "text" else filter(None, token.text.split("."))
        return keys

    def _read_value(self, place: tuple[Step, ...]) -> None:
        if self._take("["):
            self._read_list(place)
        elif self._take("{"):
            self._read_inline_table(place)
        else:
            while self._peek().kind in ("text", "word"):
                self._at += 1

    def _read_list(self, place: tuple[Step, ...]) -> None:
        index = 0
        while not self._take("]"):
            self._lines[(*place, index)] = self._peek().line
            self._read_value((*place, index))
            index += 1
            if not self._take(",") and self._peek().text != "]":
                return

    def _read_inline_table(self, place: tuple[Step, ...]) -> None:
        while not self._take("}"):
            self._read_pair(place)
            if not self._take(",") and self._peek().text != "}":
                return


def _split(text: str) -> Iterator[_Token]:
    """Yield the tokens without comments and without the ends of lines inside brackets, which mean nothing there."""
    line, depth = 1, 0
    for match in _TOKEN.finditer(text):
        kind = str(match.lastgroup)
        depth += (match[0] in ("[", "{")) - (match[0] in ("]", "}"))
        if kind != "comment" and not (kind == "end" and depth > 0):
            yield _Token(kind, match[0], line)
        line += match[0].count("\n")
