"""Build what a release consists of into `dist`: the sources, a wheel for every machine, and one with ready kernels.

The first two are the same bytes wherever and whenever they are built of a commit. The third is for this system: it
carries the kernels compiled, so that it needs no compiler. Pip chooses it where it fits and the other one elsewhere.
Both carry the kernels that pages run, which are the same everywhere.
"""

import gzip
import io
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from pathlib import Path

from supply.pins import ROOT

DIST = ROOT / "dist"

COMPILER = '    "numba>=0.63",\n'
"""The line of pyproject.toml that a wheel with kernels does without."""

COMPILE_PAGES = "from donkeysim.site.modules import fill_ready_module; fill_ready_module()"


def build_all() -> int:
    """Build all three and print what they are called."""
    moment = read_moment()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        sources = build_sources(place, moment)
        plain, ready = (unpack(sources, place / kind) for kind in ("plain", "ready"))
        for tree in (plain, ready):
            run_code(tree, COMPILE_PAGES)
        files = [sources, build_wheel(plain, place, moment), build_ready(ready, place, moment)]
        DIST.mkdir(exist_ok=True)
        for file in files:
            shutil.copy(file, DIST)
            print(f"{file.stat().st_size / 1e6:7.2f} MB  dist/{file.name}")
    return 0


def build_ready(tree: Path, place: Path, moment: int) -> Path:
    """Compile the kernels of a tree into its package and build its wheel, which needs no compiler."""
    from supply.kernels import fill_package  # which reads the compiler

    fill_package(tree / "src")
    project = tree / "pyproject.toml"
    text = project.read_text(encoding="utf-8")
    if text.count(COMPILER) != 1:
        raise SystemExit(f"pyproject.toml has not one line {COMPILER.strip()!r}: correct COMPILER in supply/build.py.")
    project.write_text(text.replace(COMPILER, ""), encoding="utf-8")
    return build_wheel(tree, place, moment, tag_platform())


def read_moment() -> int:
    """Return the time that files of a release bear: SOURCE_DATE_EPOCH, or that of the last commit [s]."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return int(given)
    said = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=True)
    return int(said.stdout)


def build_sources(place: Path, moment: int) -> Path:
    """Build the archive of the sources from the files that git knows, and return where it lies."""
    tree = place / "tree"
    said = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, said.stdout.split("\0")):
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tree / name)
    (archive,) = run_build(tree, place / "sources", moment, "--sdist")
    archive.write_bytes(pack_evenly(archive, moment))
    return archive


def build_wheel(tree: Path, place: Path, moment: int, tag: str | None = None) -> Path:
    """Build the wheel of a tree; with a platform's tag, for it alone."""
    words = [] if tag is None else [f"-C--build-option=--plat-name={tag}"]
    (wheel,) = run_build(tree, place / f"wheel-{tag}", moment, "--wheel", *words)
    return wheel


def run_build(tree: Path, out: Path, moment: int, *words: str) -> list[Path]:
    """Run the build front end and return what it made; raises with what it said."""
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), *words, str(tree)]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(moment), "PYTHONHASHSEED": "0"}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    if ended.returncode:
        raise SystemExit(f"the build has failed: {ended.stdout[-2000:]}{ended.stderr[-2000:]}")
    return list(out.iterdir())


def pack_evenly(archive: Path, moment: int) -> bytes:
    """Return a .tar.gz with the same files in the order of their names, without owners, all of one time."""
    with tarfile.open(archive) as old:
        members = [(member, old.extractfile(member)) for member in old.getmembers()]
        plain = io.BytesIO()
        with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as new:
            for member, content in sorted(members, key=lambda pair: pair[0].name):
                member.mtime, member.uid, member.gid, member.uname, member.gname = moment, 0, 0, "", ""
                member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
                member.pax_headers = {}
                new.addfile(member, content)
    return gzip.compress(plain.getvalue(), mtime=moment)


def unpack(archive: Path, folder: Path) -> Path:
    """Unpack the sources and return their tree."""
    with tarfile.open(archive) as file:
        file.extractall(folder, filter="data")
    (tree,) = folder.iterdir()
    return tree


def run_code(tree: Path, code: str) -> None:
    """Run code of a tree's own, which compiles what its wheel will carry."""
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(tree / "src")}, check=True)


def tag_platform() -> str:
    """Return this system's tag in the names of wheels."""
    if sys.platform == "darwin":  # Python may be built for two processors, kernels are for this one
        return f"macosx_11_0_{platform.machine()}"
    system = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return system.replace("linux_", "manylinux_2_17_")
