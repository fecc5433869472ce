"""Write the tables of docs/compatibility.md from the tests that show what is in them.

A test says what it shows by a mark: `@pytest.mark.original(area, what, here)`. So no line stands there without a test.

python docs/write_compatibility.py            rewrites docs/compatibility.md below its mark
python docs/write_compatibility.py --check    ends with exit code 1 when that would change it
"""

import ast
import sys
from pathlib import Path

from write_config import rewrite

from donkeysim.car.config import read_defaults, read_unused_keys

PAGE = Path(__file__).with_name("compatibility.md")
TESTS = PAGE.parents[1] / "tests"
MARK = "<!-- below: written by docs/write_compatibility.py -->\n"
AREAS = (*("Tubs", "Configuration and car folders", "Pilots", "Messages", "gym-donkeycar"), "Programs and other files")


def find_marks():
    """Yield area, what, what becomes of it here, and the test, of each mark in the order of files and lines."""
    for path in sorted(TESTS.rglob("test_*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            for decorator in getattr(node, "decorator_list", ()):
                if ast.unparse(decorator).startswith("pytest.mark.original("):
                    area, what, here = map(ast.literal_eval, decorator.args)
                    yield area, what, here, f"{path.relative_to(TESTS.parent).as_posix()}"


def write_tables():
    """Return a table for each area, and how many keys of the configuration there are."""
    marks = list(find_marks())
    if others := {area for area, *_ in marks} - set(AREAS):
        raise SystemExit(f"no such area: {', '.join(sorted(others))}; there are {', '.join(AREAS)}")
    parts = []
    for area in AREAS:
        parts.append(f"\n## {area}\n\n| of the original | here | shown by |\n|---|---|---|\n")
        rows = [(what, here, test) for own, what, here, test in marks if own == area]
        parts += [f"| {what} | {here} | [{Path(test).stem}](../{test}) |\n" for what, here, test in rows]
        if area == AREAS[1]:
            parts.append(f"\n{count_keys()}\n")
    return "".join(parts)


def count_keys():
    """Return in a sentence how many keys have which effect."""
    used, unused = len(read_defaults(Path())), len(read_unused_keys())
    return (
        f"{used} keys have an effect here ([all of them](config.md)); {unused} of the original's have none, each with "
        "the reason ([list](config.md#keys-of-the-original-without-effect-here))."
    )


if __name__ == "__main__":
    sys.exit(rewrite(PAGE, MARK, write_tables()))
