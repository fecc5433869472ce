"""Write the tables of docs/config.md from the template, the kinds of values and the list of unused keys.

python docs/write_config.py            rewrites docs/config.md below its mark
python docs/write_config.py --check    ends with exit code 1 when that would change it
"""

import ast
import itertools
import sys
from pathlib import Path

from donkeysim.car.config import TEMPLATE_FOLDER, read_unused_keys
from donkeysim.car.keys import KINDS

PAGE = Path(__file__).with_name("config.md")
MARK = "<!-- below: written by docs/write_config.py -->\n"


def write_tables():
    """Return a table for each group of the template, and the list of unused keys."""
    text = (TEMPLATE_FOLDER / "config.py").read_text(encoding="utf-8")
    lines = text.splitlines()
    rows = {statement.lineno: statement for statement in ast.parse(text).body if isinstance(statement, ast.Assign)}
    parts = []
    for number, line in enumerate(lines, start=1):
        if line.startswith("# ---- "):
            title = line.removeprefix("# ---- ")
            parts.append(f"\n## {title}\n\n| key | default | takes | |\n|---|---|---|---|\n")
        elif number in rows:
            parts += [write_row(target.id, rows[number], text, line) for target in rows[number].targets]
    return "".join(parts) + write_unused()


def write_row(name, statement, text, line):
    """Return one row: name, default as it is written, what the key takes, its meaning."""
    default = ast.get_source_segment(text, statement.value)
    if "\n" in ast.get_source_segment(text, statement):
        default = " ".join(ast.unparse(statement.value).split())
    meaning = line.partition("  # ")[2]
    return f"| `{name}` | {quote(default)} | {escape(str(KINDS[name]))} | {escape(meaning)} |\n"


def write_unused():
    """Return a section on the original's keys that have no effect, by reason."""
    parts = ["\n## Keys of the original without effect here\n"]
    for reason, keys in itertools.groupby(read_unused_keys().items(), key=lambda item: item[1].reason):
        names = ", ".join(f"`{name}`" for name, _ in keys)
        parts.append(f"\n{reason[0].upper()}{reason[1:]}: {names}.\n")
    return "".join(parts)


def quote(code):
    """Return code for a cell of a table."""
    return "`" + code.replace("|", "\\|") + "`"


def escape(text):
    """Return text for a cell of a table."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def rewrite(page, mark, tables):
    """Write a page anew below its mark; with `--check` only say, by the exit code, whether that would change it."""
    old = page.read_text(encoding="utf-8")
    new = old[: old.index(mark) + len(mark)] + tables
    if "--check" in sys.argv:
        return int(new != old)
    page.write_text(new, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(rewrite(PAGE, MARK, write_tables()))
