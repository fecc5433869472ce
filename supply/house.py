"""How large and how plain the package is: figures of its sources, beside what they should be."""

import ast
import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from supply.pins import ROOT

SHORT = 60
"""Lines of a file below which it had better lie in the file that uses it, if it defines one thing only."""

NO_CODE = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)

PACKAGE = ROOT / "src" / "donkeysim"

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Source:
    """One file, read."""

    path: Path
    text: str
    tree: ast.Module

    def list_public(self) -> list[str]:
        """Return the public functions and classes that it defines."""
        defined = (node for node in self.tree.body if isinstance(node, Function | ast.ClassDef))
        return [node.name for node in defined if not node.name.startswith("_")]

    @property
    def line_count(self) -> int:
        """All lines."""
        return self.text.count("\n")

    @property
    def is_one_short_definition(self) -> bool:
        """Whether it is short and defines one public thing; not the files of a car folder, which lie there as files."""
        is_module = self.path.name != "__init__.py" and self.path.parent.name != "template"
        return is_module and self.line_count < SHORT and len(self.list_public()) == 1

    def find_code_lines(self) -> set[int]:
        """Return the lines that hold code: no comments, docstrings or blank lines."""
        lines: set[int] = set()
        for token in self._tokens:
            if token.type not in NO_CODE:
                lines.update(range(token.start[0], token.end[0] + 1))
        return lines - self._docstring_lines

    @cached_property
    def statements(self) -> list[ast.AST]:
        """All statements, and what holds some of them; none of their expressions, which are most of a tree."""
        found: list[ast.AST] = [self.tree]
        for node in found:
            for block in ("body", "handlers", "cases", "orelse", "finalbody"):
                part = getattr(node, block, [])
                found += part if isinstance(part, list) else []
        return found

    @cached_property
    def _tokens(self) -> list[tokenize.TokenInfo]:
        """All tokens."""
        return list(tokenize.generate_tokens(io.StringIO(self.text).readline))

    @cached_property
    def _docstring_lines(self) -> set[int]:
        """Return the lines of texts that stand alone: docstrings of all kinds."""
        texts = (
            node
            for node in self.statements
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        )
        return {line for node in texts for line in range(node.lineno, (node.end_lineno or 0) + 1)}

    def count_comments(self) -> int:
        """Return how many comments there are."""
        return sum(token.type == tokenize.COMMENT for token in self._tokens)

    def find_import_lines(self) -> set[int]:
        """Return the lines of imports."""
        imports = (node for node in self.statements if isinstance(node, ast.Import | ast.ImportFrom))
        return {line for node in imports for line in range(node.lineno, (node.end_lineno or 0) + 1)}

    def list_functions(self) -> Iterator[tuple[int, str]]:
        """Yield lines and name of each function, without docstring; none of a car folder, whose files are data."""
        if self.path.parent.name == "template":
            return
        for node in self.statements:
            if isinstance(node, Function):
                body = set(range(node.lineno, (node.end_lineno or 0) + 1)) - self._docstring_lines
                yield len(body), f"{self.path.stem}.{node.name}"


@cache
def read_sources(folder: Path = PACKAGE) -> list[Source]:
    """Return the modules of a package."""
    texts = ((path, path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.py")))
    return [Source(path, text, ast.parse(text)) for path, text in texts]


def list_repeated_classes(sources: list[Source]) -> dict[str, list[str]]:
    """Return the public class names that several modules define, with these modules' names."""
    found: dict[str, list[str]] = {}
    for source in sources:
        for node in source.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(source.path.stem)
    return {name: modules for name, modules in sorted(found.items()) if len(modules) > 1}


def list_environment_stacks(sources: list[Source]) -> list[str]:
    """Return the classes that are batches of environments from the ground up."""
    return [
        node.name
        for source in sources
        for node in source.statements
        if isinstance(node, ast.ClassDef) and any("vector.VectorEnv" in ast.unparse(base) for base in node.bases)
    ]


@dataclass(frozen=True)
class Figure:
    """What was counted and what it should be at most; `least` turns it over."""

    name: str
    value: float
    aim: float
    unit: str = ""
    note: str = ""
    least: bool = False

    def describe(self) -> str:
        """Return a line of the table."""
        is_met = self.value >= self.aim if self.least else self.value <= self.aim
        bound = "at least" if self.least else "at most"
        value, aim = (f"{number:,.1f}" if self.unit else f"{number:,.0f}" for number in (self.value, self.aim))
        mark = "" if is_met else "  not yet"
        return f"{self.name:32}{value + self.unit:>10}  {bound:8}{aim + self.unit:>9}{mark:9}  {self.note}".rstrip()


def measure_house(sources: list[Source]) -> list[Figure]:
    """Return the figures of a package."""
    code = sum(len(source.find_code_lines()) for source in sources) or 1
    imports = sum(len(source.find_import_lines()) for source in sources)
    comments = sum(source.count_comments() for source in sources)
    repeated, stacks = list_repeated_classes(sources), list_environment_stacks(sources)
    longest, name = max((found for source in sources for found in source.list_functions()), default=(0, ""))
    return [
        Figure("lines", sum(source.line_count for source in sources), 79_000),
        Figure("files", len(sources), 570),
        Figure("class names used twice or more", len(repeated), 0, note=", ".join(repeated)),
        Figure("files of one short definition", sum(source.is_one_short_definition for source in sources), 19),
        Figure("imports, of code lines", 100.0 * imports / code, 10.0, " %"),
        Figure("environment stacks", len(stacks), 1, note=", ".join(stacks)),
        Figure("longest function, lines", longest, 80, note=name),
        Figure("comments per code line", 100.0 * comments / code, 3.0, " %", least=True),
    ]


def print_house() -> int:
    """Print the figures of the package and what they should be."""
    for figure in measure_house(read_sources()):
        print(figure.describe())
    return 0
