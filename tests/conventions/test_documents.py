"""What documents name exists: files, names in modules, links and their headings; and their lines fit a screen."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from sources import PACKAGE, read_tree

ROOT = Path(__file__).resolve().parents[2]
ROOMS = {path.name for path in PACKAGE.iterdir() if path.is_dir()}
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    ROOT / "SECURITY.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
NARROW = ("README.md", "docs/architecture.md", "docs/figures.md")
WIDEST = 160
"""Characters of a line."""

FILE = re.compile(r"[\w./-]+\.(?:py|toml|md)|[\w/-]+/")
NAME = re.compile(r"\w+(?:\.\w+)+")


def list_marked(text: str) -> list[str]:
    """Return what stands between single backticks, without blocks of code."""
    return re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE))


@cache
def list_names(path: Path) -> dict[str, ast.AST]:
    """Return what a module defines, by name; members of classes as `Class.member`."""
    found: dict[str, ast.AST] = {}
    for node in read_tree(path).body:
        for name in name_targets(node):
            found[name] = node
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{name}": part for part in node.body for name in name_targets(part)}
    return found


def name_targets(node: ast.AST) -> list[str]:
    """Return the names that a statement defines."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]


@cache
def list_members(class_name: str) -> set[str]:
    """Return what a class of the package defines or inherits, and what its methods assign to `self`."""
    members: set[str] = set()
    for path in PACKAGE.rglob("*.py"):
        node = list_names(path).get(class_name)
        if isinstance(node, ast.ClassDef):
            members |= {name for part in node.body for name in name_targets(part)}
            attributes = [part for part in ast.walk(node) if isinstance(part, ast.Attribute)]
            members |= {
                part.attr for part in attributes if isinstance(part.value, ast.Name) and part.value.id == "self"
            }
            for base in node.bases:
                members |= list_members(base.id) if isinstance(base, ast.Name) else set()
    return members


def exists(word: str) -> bool:
    """Return whether a file, or a name in a module or class of the package, exists; other words are passed over."""
    if FILE.fullmatch(word) and "/" in word:
        return any((folder / word).exists() for folder in (PACKAGE, ROOT))
    if not NAME.fullmatch(word):
        return True
    first, *rest = word.split(".")
    if first[0].isupper():
        return rest[0] in list_members(first)
    return first not in ROOMS or is_name_of_module(PACKAGE / first, rest)


def is_name_of_module(place: Path, names: list[str]) -> bool:
    """Return whether names lead from a folder through modules to something that is defined there."""
    while names and (place / names[0]).is_dir():
        place, names = place / names[0], names[1:]
    module = place / f"{names[0]}.py" if names else place / "__init__.py"
    if names and module.exists():
        names = names[1:]
    else:
        module = place / "__init__.py"
    return not names or ".".join(names) in list_names(module)


@cache
def list_headings(path: Path) -> set[str]:
    """Return the anchors of a document's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    heads = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.strip().lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("word", ["sim/nowhere.py", "sim.commands.Nothing", "Simulator.nothing", "world/nowhere/"])
def test_a_name_that_leads_nowhere_is_noticed(word):
    assert not exists(word)


@pytest.mark.parametrize(
    "word",
    ["sim/cars.py", "sim.cars.Cars._drive", "Simulator.ledger", "world.tracks.props.PROP_KINDS", "world/tracks/"],
)
def test_a_name_that_exists_is_found(word):
    assert exists(word)


def test_all_that_the_architecture_names_exists():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    words = list_marked(text)
    assert sum(word.endswith(".py") for word in words) > 50
    assert [word for word in words if not exists(word)] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(path):
    text = re.sub(r"`[^`\n]*`", "", path.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"\w+:", target):
            continue
        name, _, heading = target.partition("#")
        file = (path.parent / name).resolve() if name else path
        assert file.exists(), f"{target} leads nowhere"
        if heading and file.suffix == ".md":
            assert heading in list_headings(file), f"{target}: there is no such heading"


@pytest.mark.parametrize("name", NARROW)
def test_lines_fit_a_screen(name):
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > WIDEST] == []


def test_readme_and_architecture_list_every_room():
    rooms = {room for room in ROOMS if (PACKAGE / room / "__init__.py").exists()}
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^[├└]── (\w+)/", readme, flags=re.MULTILINE)) == rooms
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([a-z]+)` \|", page, flags=re.MULTILINE)) == rooms
