"""Writes the folder: pages, kernels, places and pilots, for any server of files."""

import contextlib
import hashlib
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from donkeysim.core.errors import DonkeySimError, import_extra
from donkeysim.core.files import make_folder, put_in_place
from donkeysim.core.kernel_folders import PACKAGE
from donkeysim.learn.files.model_file import read_onnx
from donkeysim.learn.files.session import OnnxSession
from donkeysim.site.freeze import freeze
from donkeysim.site.modules import make_module
from donkeysim.site.place_file import ENDING, read_header
from donkeysim.world.specs import SceneSpec

PAGE = PACKAGE / "site" / "page"
SHARED = PACKAGE / "web" / "static"
CONTROL = PACKAGE / "drive" / "pages" / "control"
PILOTS = PACKAGE / "learn" / "pilots"

SHARED_FILES = ("arrow.svg", "base.css", "icon.svg", "asking.js", "elements.js", "languages.js")
CONTROL_FILES = ("driver.js", "gamepad.js", "joystick.js", "keys.js", "tilt.js")
"""What the site's page has in common with others."""

NAMED_FILE = re.compile(rb"j(?:.|[\x80-\xff].)\n\x08location\x12.[^\n]", re.DOTALL)
"""Of an ONNX file that has its weights in another one, as PyTorch exports it: what stands before the name of that.

An entry of a tensor (field 13) has this key and a text; the type of a value called location begins with a new line.
"""

DRAWN_LATER = (
    *(
        "cars",
        "dust",
        "eyes",
        "floor_mirror",
        "marks",
        "noise",
        "occlusion",
        "place",
        "sky",
        "surfaces",
        "three",
        "viewer",
    ),
)
"""Scripts of the view that graphics chips draw; the page loads them when it knows that there is one."""

WORKER = "sw.js"
"""The service worker: it must lie at the top, and its bytes must differ from site to site."""

LIST = "site.json"
"""What a page reads first; a folder that has it is a site."""

Report = Callable[[str], None]


class PlaceEntry(msgspec.Struct):
    """A place of a site: its name, its file and how long it is."""

    name: str
    file: str
    size: int


class PilotEntry(msgspec.Struct):
    """A pilot of a site: its name, its file, and the places that it knows; none: all."""

    name: str
    file: str
    places: list[str]


class Site(msgspec.Struct):
    """What the page gets first, see `LIST`."""

    version: str
    kernels: str
    places: list[PlaceEntry]
    pilots: list[PilotEntry]


def write_site(out: Path, tracks: Sequence[SceneSpec], pilots: Sequence[Path] = (), report: Report = print) -> Site:
    """Write the folder; one of before is replaced when all of the new one is there.

    Args:
        tracks: Which places, the first one first.
        pilots: Files beside those of the package, .onnx, .h5 or .keras.
        report: Called for each part.

    Raises:
        DonkeySimError: Kernels cannot be compiled, or a place, a pilot or the folder is none.
    """
    out = out.resolve()
    is_known = (out / LIST).is_file()
    if out == Path.cwd():
        raise DonkeySimError("a site takes the place of its folder, which cannot be the one you are in; name another.")
    if out.exists() and not is_known and not (out.is_dir() and not any(out.iterdir())):
        raise DonkeySimError(f"{out} is there and is no site; name a new folder, or one of a site to replace.")
    module = make_module()
    with _replace_folder(out) as folder:
        for name, content in _list_fixed():
            _write(folder / name, content)
        _write(folder / module.name, module.read_bytes())
        places = [_write_place(folder, spec, module.name, report) for spec in tracks]
        flown = [_write_pilot(folder, path) for path in pilots]
        names = {place.name for place in places}
        own = {path: _read_places(path) for path in sorted(PILOTS.glob("*.onnx"))}
        fitting = [path for path, known in own.items() if not known or names & set(known)]
        fitting.sort(key=lambda path: not own[path])  # pilots of one place before those of all
        flown += [_write_pilot(folder, path) for path in fitting]
        site = Site(_hash_folder(folder), module.name, places, flown)
        (folder / LIST).write_bytes(msgspec.json.encode(site))
        _finish_page(folder, site)
    return site


@contextlib.contextmanager
def _replace_folder(out: Path) -> Iterator[Path]:
    """Give a folder to fill, which takes the place of another one when all is there."""
    if not out.exists():
        with make_folder(out) as folder:
            yield folder
        return
    fresh, old = (out.parent / f".{out.name}.{word}" for word in ("fresh", "old"))
    for left_over in (fresh, old):
        shutil.rmtree(left_over, ignore_errors=True)
    with make_folder(fresh) as folder:
        yield folder
    put_in_place(out, old)
    put_in_place(fresh, out)
    shutil.rmtree(old)


def _list_fixed() -> Iterator[tuple[str, bytes]]:
    """Give what is the same on every site."""
    for path in sorted(PAGE.rglob("*")):
        if path.is_file():
            yield path.relative_to(PAGE).as_posix(), path.read_bytes()
    for name in SHARED_FILES:
        yield f"shared/{name}", (SHARED / name).read_bytes()
    for path in sorted((SHARED / "viewer").rglob("*")):
        if path.is_file():
            yield f"shared/{path.relative_to(SHARED).as_posix()}", path.read_bytes()
    for name in CONTROL_FILES:
        yield f"control/{name}", (CONTROL / name).read_bytes()


def _write_place(folder: Path, spec: SceneSpec, kernels: str, report: Report) -> PlaceEntry:
    content = freeze(spec, kernels)
    name = read_header(content).name
    file = f"places/{name}-{_hash(content)}{ENDING}"
    _write(folder / file, content)
    report(f"{name}: {len(content) / 1e6:.1f} MB")
    return PlaceEntry(name, file, len(content))


def _write_pilot(folder: Path, path: Path) -> PilotEntry:
    content = read_onnx(path)
    if path.suffix.lower() == ".onnx" and NAMED_FILE.search(content):  # a page asks for one file
        onnx = import_extra("onnx", f"{path} has its weights in another file, and to put them into one needs onnx")
        content = onnx.load(path).SerializeToString()
    file = f"pilots/{path.stem}-{_hash(content)}.onnx"
    _write(folder / file, content)
    return PilotEntry(path.stem, file, _read_places(path))


def _read_places(path: Path) -> list[str]:
    """Return the places that a pilot knows; [] if it is for all, or does not say."""
    header = OnnxSession(read_onnx(path), path).header
    known: list[str] = [] if header is None else list(header.places)
    return [] if "random_place" in known else known


def _hash(content: bytes) -> str:
    """Return a part of names by which no cache takes a file for one of another site."""
    return hashlib.sha256(content).hexdigest()[:8]


def _finish_page(folder: Path, site: Site) -> None:
    """Tell the service worker which files it keeps, and browsers what they need first."""
    kept = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    early = [name for name in kept if not name.startswith(("places/", "pilots/")) and name != WORKER]
    first = {"version": site.version, "files": early}  # fetched before anybody asks for them
    worker = folder / WORKER
    worker.write_bytes(b"const SITE = " + msgspec.json.encode(first) + b";\n" + worker.read_bytes())
    page = folder / "index.html"
    asked = (LIST, site.kernels)  # which place is for the page's address to say
    links = "".join(f'  <link rel="preload" href="{name}" as="fetch" crossorigin>\n' for name in asked)
    links += "".join(f'  <link rel="modulepreload" href="{name}">\n' for name in kept if _is_first_script(name))
    page.write_text(page.read_text("utf-8").replace("</head>", f"{links}</head>"), "utf-8")


def _is_first_script(name: str) -> bool:
    """Return whether a page needs a script before its first picture: a browser finds them one after another else."""
    drawing = ("asking.js", *(f"viewer/{part}.js" for part in DRAWN_LATER))
    return name.endswith(".js") and name != WORKER and not name.removeprefix("shared/").startswith(drawing)


def _hash_folder(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            digest.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _write(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
